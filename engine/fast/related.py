"""Criteria about how events lie to each other, over frames: order, sequences, counts, ages, absence."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from ...kb.deadline import check
from ...kb.kinds import KIND_TABLE, OF_ONE_NOTE, values_of
from ...kb.model import LATEST_DAY, Value, World
from ...kb.ontology.scales import as_number
from ...query_lang import nodes
from ...query_lang.tree import attributes_of
from .bitmaps import OPPOSITE
from .choices import day_of_most, grouped, nth_of_fewest
from .concept_sets import ABSENT, concept_ids
from .frames import Array, Frame, ascending
from .witnesses import EventSets, Witnesses, groups_of, lies_in

#: For entries of two sets, pair by pair: whether the one stands in the relation to the other.
Linked = Callable[[Array, Array], Array]
_FAR: Final = np.iinfo(np.int64).max
#: More pairs of events than that are not looked at in one step: a column of them is held several times.
_PAIRS_AT_A_TIME: Final = 1 << 21
#: The ordinal of 1 January 1970.
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()


class RelatedEvents:
    """Truth of these criteria for each group of a frame: as :mod:`.reference` says."""

    def __init__(self, sets: EventSets) -> None:
        """``sets`` are those of the plan that the criteria stand in."""
        self._sets = sets
        self._rows = sets.rows
        self._concepts = sets.kb.concepts

    def holds(self, node: nodes.EventCriterion, frame: Frame, world: World) -> Array:
        """For each group of the frame, whether the criterion holds of it."""
        match node:
            case nodes.Ordered(left, _, right):
                lefts, rights = (self._sets.witnesses(events, frame, world) for events in (left, right))
                return groups_of(frame, self._reached(node, frame, lefts, rights, world))
            case nodes.Sequence():
                return self._sequence(node, frame, world)
            case nodes.Clear():
                return self._clear(node, frame, world)
            case nodes.Times():
                return self._times(node, frame, world)
            case nodes.AgeAt():
                return self._age_at(node, frame, world)
            case nodes.Lacking():
                return self._lacking(node, frame, world)
        raise nodes.QueryTreeError(f"the engine knows no {type(node).__name__} of events")

    # --- events in relation -----------------------------------------------------------------------------------------

    def _reached(self, node: nodes.Ordered, frame: Frame, lefts: Witnesses, rights: Witnesses, world: World) -> Array:
        """The entries of ``rights`` to which one of ``lefts`` is in the relation."""
        if _extremes_suffice(node, lefts, rights):
            return _reached_by_extremes(node, frame, lefts, rights, world)
        return _reached(frame, lefts, rights, self._linked(node, frame, lefts, rights, world))

    def _linked(self, node: nodes.Ordered, frame: Frame, lefts: Witnesses, rights: Witnesses, world: World) -> Linked:
        between = None if node.without is None else self._sets.witnesses(node.without, frame, OPPOSITE[world])
        # In one group no row has two entries.
        apart = not (lefts.mask & rights.mask).any()
        one_day = lefts.low is lefts.high and rights.low is rights.high

        def linked(first: Array, second: Array) -> Array:
            good = np.ones(len(first), dtype=bool) if apart else frame.row(first) != frame.row(second)
            if node.different:
                good &= self._unrelated(frame.row(first), frame.row(second))
            if node.relation in ("during", "overlapping"):
                return good & self._last_together(node.relation, frame, lefts, rights, first, second, world)
            if node.relation == "specimen":
                good &= self._on_one_specimen(frame, lefts, rights, first, second, world)
            if node.relation in nodes.GAP_RELATIONS:
                low = rights.low[second] - lefts.high[first]
                high = low if one_day else rights.high[second] - lefts.low[first]
                good &= _related(node, low, high, world)
            if between is not None:
                ways = {"before": [False], "after": [True]}.get(node.relation, [False, True])
                for turned in ways:
                    one, other = ((rights, second), (lefts, first)) if turned else ((lefts, first), (rights, second))
                    good &= ~_separated(frame, one, other, between, world)
            return good

        return linked

    def _unrelated(self, first: Array, second: Array) -> Array:
        """Whether neither concept of two rows is the other, or lies below it."""
        words = self._rows.concept
        pairs = words.codes[first].astype(np.int64) * max(1, len(words.distinct)) + words.codes[second]
        distinct, places = np.unique(pairs, return_inverse=True)
        verdicts = np.zeros(len(distinct), dtype=bool)
        for at, pair in enumerate(distinct.tolist()):
            one, other = (words.distinct[code] for code in divmod(pair, max(1, len(words.distinct))))
            verdicts[at] = bool(one and other) and one not in self._below(other) and other not in self._below(one)
        return verdicts[places]

    def _below(self, concept: str) -> frozenset[str]:
        return concept_ids(nodes.Under(nodes.Concept(concept, "")), self._concepts)

    # Both sides, and which entries of each are paired: as :meth:`_linked` has them at hand.
    def _last_together(
        self,
        relation: str,
        frame: Frame,
        lefts: Witnesses,
        rights: Witnesses,
        first: Array,
        second: Array,
        world: World,
    ) -> Array:
        left_until, right_until = (self._until(frame, side, world) for side in (lefts, rights))
        # The day by which each begins: certain, the last that it can; possible, the first.
        left_by, right_by = ((side.low if world is World.POSSIBLE else side.high) for side in (lefts, rights))
        found = left_by[first] <= right_until[second]
        if relation == "overlapping":
            return found & (right_by[second] <= left_until[first])
        if world is World.POSSIBLE:
            return found & (rights.low[second] <= lefts.high[first])
        return found & (rights.high[second] <= lefts.low[first])

    def _on_one_specimen(
        self, frame: Frame, lefts: Witnesses, rights: Witnesses, first: Array, second: Array, world: World
    ) -> Array:
        one, other = frame.row(first), frame.row(second)
        known, same = self._share("specimen_id", one, other)
        if world is not World.POSSIBLE:
            return same
        told = self._rows.attribute("specimen_id")
        both = np.flatnonzero(known & ~same)
        for codes in (told.codes[one[both]], told.codes[other[both]]):
            used, places = np.unique(codes, return_inverse=True)
            known[both] &= np.array([_is_an_id(told.distinct[code]) for code in used.tolist()], dtype=bool)[places]
        maybe = ~known & ~same & (lefts.low[first] <= rights.high[second]) & (rights.low[second] <= lefts.high[first])
        for name in ("specimen", "specimen_of", "specimen_site"):
            told, alike = self._share(name, one, other)
            maybe &= ~told | alike
        return np.asarray(same | maybe)

    def _share(self, name: str, one: Array, other: Array) -> tuple[Array, Array]:
        """Of pairs of rows, whether both tell of an attribute, and whether they have a value of it in common; of
        places, whether one holds the other."""
        told = self._rows.attribute(name)
        first, second = told.codes[one], told.codes[other]
        known = (first >= 0) & (second >= 0)
        same = known & (first == second)
        # What is not the same as a whole may be so in part: few values are several, or places.
        open_ = np.flatnonzero(known & ~same)
        if not len(open_):
            return known, same
        used = np.unique(np.concatenate([first[open_], second[open_]]))
        values = {code: values_of(name, told.distinct[code]) for code in used.tolist()}
        is_place = name == "specimen_site"
        partial = np.array([is_place or len(values[code]) > 1 for code in used.tolist()], dtype=bool)
        sought = partial[np.searchsorted(used, first[open_])] | partial[np.searchsorted(used, second[open_])]
        open_ = open_[sought]
        width = max(1, len(told.distinct))
        distinct, places = np.unique(first[open_] * width + second[open_], return_inverse=True)
        verdicts = np.zeros(len(distinct), dtype=bool)
        for at, pair in enumerate(distinct.tolist()):
            left, right = (values[code] for code in divmod(pair, width))
            verdicts[at] = not set(left).isdisjoint(right) or (
                is_place and any(self._holds_place(str(this), str(that)) for this in left for that in right)
            )
        same[open_] = verdicts[places]
        return known, same

    def _holds_place(self, one: str, other: str) -> bool:
        """Whether one of two places holds the other."""
        return other in self._below(one) or one in self._below(other)

    def _until(self, frame: Frame, side: Witnesses, world: World) -> Array:
        """The day until which each entry lasts: at least (certain), as believed, at most (possible)."""
        ends, low, high = (frame.entries_of(column) for column in self._rows.ends)
        match world:
            case World.CERTAIN:
                return np.where(ends, low, side.low)
            case World.POSSIBLE:
                return np.where(ends, high, LATEST_DAY)
        return np.where(ends, (low + high) // 2, side.low)

    def _sequence(self, node: nodes.Sequence, frame: Frame, world: World) -> Array:
        reached = self._sets.witnesses(node.steps[0], frame, world)
        for events, gap in zip(node.steps[1:], node.gaps, strict=True):
            later = self._sets.witnesses(events, frame, world)
            step = nodes.Ordered(events, "before", events, gap.minimum, gap.maximum, without=gap.without)
            reached = replace(later, mask=self._reached(step, frame, reached, later, world))
        return groups_of(frame, reached.mask)

    def _clear(self, node: nodes.Clear, frame: Frame, world: World) -> Array:
        found = self._sets.witnesses(node.events, frame, world)
        absent = self._sets.witnesses(node.absent, frame, OPPOSITE[world])
        # "With no B after it": it is B that would come after.
        relation = nodes.Ordered(node.absent, node.relation, node.events, node.minimum, node.maximum)
        blocking = np.zeros(frame.entries, dtype=np.int64)
        for first, second in _pairs(frame, found.mask, absent.mask):
            low, high = found.low[first] - absent.high[second], found.high[first] - absent.low[second]
            good = _related(relation, low, high, OPPOSITE[world]) & (frame.row(first) != frame.row(second))
            blocking += np.bincount(first[good], minlength=frame.entries)
        blocked = blocking == _sizes(frame, absent.mask)[frame.group] if absent.as_one else blocking > 0
        blocked &= blocking > 0
        free = found.mask & ~blocked
        if found.as_one:
            free = free & ~groups_of(frame, found.mask & blocked)[frame.group]
        return groups_of(frame, free)

    # --- counts and ages --------------------------------------------------------------------------------------------

    def _times(self, node: nodes.Times, frame: Frame, world: World) -> Array:
        found = self._sets.witnesses(node.events, frame, world)
        if node.by == "lines":
            column = self._rows.attribute("line")
            numbers = [as_number(value) for value in column.distinct]
            known = np.array([*(number is not None for number in numbers), False], dtype=bool)
            values = np.array([*(number or 0.0 for number in numbers), 0.0])
            codes = frame.entries_of(column.codes)
            return _has_distinct(frame, found.mask & known[codes], values[codes], node.n)
        if node.by == "days" and world is World.BELIEVED:
            return _has_distinct(frame, found.mask, found.low, node.n)
        holds = np.zeros(frame.groups, dtype=bool)
        for group, entries in grouped(frame, found.mask):
            if len(entries) >= node.n:
                holds[group] = self._counts(node, frame, found, entries, world)
        return holds

    def _counts(self, node: nodes.Times, frame: Frame, found: Witnesses, entries: list[int], world: World) -> bool:
        if node.by == "concepts":
            words = self._rows.concept
            concepts = {words.distinct[code] for code in words.codes[frame.row(np.array(entries))].tolist()} - {""}
            return sum(not ((self._below(one) - {one}) & concepts) for one in concepts) >= node.n
        days = [(int(found.low[entry]), int(found.high[entry])) for entry in entries]
        return (nth_of_fewest if world is World.CERTAIN else day_of_most)(node.n, days) is not None

    def _age_at(self, node: nodes.AgeAt, frame: Frame, world: World) -> Array:
        rows = self._rows
        births = np.flatnonzero(self._sets.members(nodes.Events("birth"), Frame.of_patients(rows), world))
        high = _FAR if node.high is None else node.high
        if node.day is not None:
            day = np.full(len(births), node.day)
            right = _of_age(node.low, high, rows.low[births], rows.high[births], day, day, world)
            holds = np.zeros(len(rows.patients), dtype=bool)
            holds[rows.owner[births[right]]] = True
            return holds[frame.patient]
        assert node.events is not None  # AgeAt has one of the two
        found = self._sets.witnesses(node.events, frame, world)
        entries = np.flatnonzero(found.mask)
        holds = np.zeros(frame.groups, dtype=bool)
        fitting: list[Array] = []
        for one, other in _matched(frame.patient[frame.group[entries]], rows.owner[births], len(rows.patients)):
            entry, birth = entries[one], births[other]
            days = rows.low[birth], rows.high[birth], found.low[entry], found.high[entry]
            right = _of_age(node.low, high, *days, world)
            holds[frame.group[entry[right]]] = True
            fitting.append(frame.group[entry[right]] * len(rows) + birth[right])
        if not found.as_one or not fitting:
            return holds
        # One birth must do for every entry of the group.
        pairs, often = np.unique(np.concatenate(fitting), return_counts=True)
        groups = pairs // len(rows)
        holds = np.zeros(frame.groups, dtype=bool)
        holds[groups[often == _sizes(frame, found.mask)[groups]]] = True
        return holds

    # --- absence ----------------------------------------------------------------------------------------------------

    def _lacking(self, node: nodes.Lacking, frame: Frame, world: World) -> Array:
        opposite = OPPOSITE[world]
        without = ~groups_of(frame, self._sets.witnesses(node.events, frame, opposite).mask)
        match node.how:
            case "denied":
                return without & self._denied(node.events, frame, world)
            case "silent":
                observed = self._observed(node.events, frame, world)
                return without & ~self._denied(node.events, frame, opposite) & observed
        observed = self._observed(node.events, frame, opposite)
        return without & ~self._denied(node.events, frame, opposite) & ~observed

    def _denied(self, events: nodes.Events, frame: Frame, world: World) -> Array:
        absent = nodes.Exists(replace(events, context=ABSENT, pick=nodes.Pick()))
        denied = self._all_denied(absent, frame, world)
        if events.condition is not None:
            other = self._sets.members(events, frame, world)
            other &= ~frame.entries_of(self._sets.satisfied_by(events.condition))
            for name in attributes_of(events.condition):
                other &= frame.entries_of(self._rows.where(name, lambda values: [True] * len(values)))
            denied = denied | groups_of(frame, other)
        return denied

    def _all_denied(self, node: nodes.PatientExpression, frame: Frame, world: World) -> Array:
        """For each group, whether there is a denial of what is asked, or one of each of several concepts."""
        if node.expansion is not None:
            return self._all_denied(node.expansion, frame, world)
        if isinstance(node, nodes.And):
            return np.logical_and.reduce([self._all_denied(part, frame, world) for part in node.parts])
        assert isinstance(node, nodes.Exists)  # denials expand into one of these
        return groups_of(frame, self._sets.witnesses(node.events, frame, world).mask)

    def _observed(self, events: nodes.Events, frame: Frame, world: World) -> Array:
        owner, source, low, high = self._rows.observations
        window = nodes.Window() if events.window is None else events.window
        observing = lies_in(window, low, high, world)
        if events.kind is not None:
            observing = observing & source.among(KIND_TABLE[events.kind].noted_in)
        if events.source:
            observing = observing & source.among((events.source,))
        observed = np.zeros(len(self._rows.patients), dtype=bool)
        observed[owner[observing]] = True
        return observed[frame.patient]


def _is_an_id(value: Value) -> bool:
    """Whether one of the ids of a specimen is more than what a single note gives it."""
    return any(not str(one).startswith(OF_ONE_NOTE) for one in values_of("specimen_id", value))


# --- pairs of entries -------------------------------------------------------------------------------------------------


def _reached(frame: Frame, lefts: Witnesses, rights: Witnesses, linked: Linked) -> Array:
    """The entries of ``rights`` to which one of ``lefts`` is linked; witnesses that are one are so all together."""
    if not lefts.as_one and not rights.as_one:
        reached = np.zeros(frame.entries, dtype=bool)
        for first, second in _pairs(frame, lefts.mask, rights.mask):
            reached[second[linked(first, second)]] = True
        return reached
    of_left, of_right = np.zeros(frame.entries, dtype=np.int64), np.zeros(frame.entries, dtype=np.int64)
    for first, second in _pairs(frame, lefts.mask, rights.mask):
        good = linked(first, second)
        of_left += np.bincount(first[good], minlength=frame.entries)
        of_right += np.bincount(second[good], minlength=frame.entries)
    if rights.as_one and not lefts.as_one:
        # One on the left must do with every one on the right.
        whole = lefts.mask & (of_left == _sizes(frame, rights.mask)[frame.group]) & (of_left > 0)
        return rights.mask & groups_of(frame, whole)[frame.group]
    reached = rights.mask & (of_right > 0)
    if lefts.as_one:
        reached &= of_right >= _sizes(frame, lefts.mask)[frame.group]
    if rights.as_one:
        return reached & ~groups_of(frame, rights.mask & ~reached)[frame.group]
    return reached


def _extremes_suffice(node: nodes.Ordered, lefts: Witnesses, rights: Witnesses) -> bool:
    """Whether the earliest or the latest of the lefts alone decides which rights are reached: no pair is needed."""
    return (
        node.relation in ("before", "after")
        and node.maximum is None
        and node.without is None
        and not (node.different or lefts.as_one or rights.as_one)
        and not (lefts.mask & rights.mask).any()
    )


def _reached_by_extremes(node: nodes.Ordered, frame: Frame, lefts: Witnesses, rights: Witnesses, world: World) -> Array:
    """As :func:`_related` says of the left that is easiest to be related to."""
    # Possible: some days of the two do; else all do (of a midpoint, first and last are one).
    left, right = (lefts.low, rights.high) if world is World.POSSIBLE else (lefts.high, rights.low)
    if node.relation == "before":
        earliest = frame.extreme(np.minimum, lefts.mask, left)
        return rights.mask & (right - earliest[frame.group] >= node.minimum)
    left, right = (lefts.high, rights.low) if world is World.POSSIBLE else (lefts.low, rights.high)
    latest = frame.extreme(np.maximum, lefts.mask, left)
    return rights.mask & (latest[frame.group] - right >= node.minimum)


def _related(node: nodes.Ordered, low: Array, high: Array, world: World) -> Array:
    """For each pair of events that are ``low`` to ``high`` days apart, whether their days relate in ``world``."""
    longest = _FAR if node.maximum is None else node.maximum
    ranges = []
    if node.relation in ("before", "within"):
        ranges.append((node.minimum, longest))
    if node.relation in ("after", "within"):
        ranges.append((-longest, -node.minimum))
    if node.relation == "within" and node.minimum == 0:
        ranges = [(-longest, longest)]
    if world is World.POSSIBLE:
        related = [(low <= upper) & (lower <= high) for lower, upper in ranges]
    else:
        related = [(lower <= low) & (high <= upper) for lower, upper in ranges]
    return np.logical_or.reduce(related)


def _separated(
    frame: Frame, one: tuple[Witnesses, Array], other: tuple[Witnesses, Array], between: Witnesses, world: World
) -> Array:
    """For each pair, whether an entry of ``between`` lies strictly between the one and the other."""
    (firsts, first), (lasts, last) = one, other
    third = np.flatnonzero(between.mask)
    often = np.zeros(len(first), dtype=np.int64)
    for pair, position in _matched(frame.group[first], frame.group[third], frame.groups):
        entry = third[position]
        if world is World.CERTAIN:
            earliest = np.maximum(between.low[entry], firsts.low[first[pair]] + 1)
            lies = earliest <= np.minimum(between.high[entry], lasts.high[last[pair]] - 1)
        else:
            lies = (firsts.high[first[pair]] < between.low[entry]) & (between.high[entry] < lasts.low[last[pair]])
        lies &= (frame.row(entry) != frame.row(first[pair])) & (frame.row(entry) != frame.row(last[pair]))
        often += np.bincount(pair[lies], minlength=len(first))
    if between.as_one:
        return (often == _sizes(frame, between.mask)[frame.group[first]]) & (often > 0)
    return often > 0


def _pairs(frame: Frame, left: Array, right: Array) -> Iterator[tuple[Array, Array]]:
    """Every entry of ``left`` with every entry of ``right`` of the same group, some millions of pairs at a time."""
    first, second = np.flatnonzero(left), np.flatnonzero(right)
    for one, other in _matched(frame.group[first], frame.group[second], frame.groups):
        yield first[one], second[other]


def _matched(left: Array, right: Array, keys: int) -> Iterator[tuple[Array, Array]]:
    """Every pair of positions in the two whose keys, which are below ``keys``, are equal; some millions at a time."""
    if not len(left) or not len(right):
        return
    size = np.bincount(right, minlength=keys)
    start = (np.cumsum(size) - size)[left]
    count = size[left]
    if ascending(right):
        order = None
    else:
        # Sixteen bits are sorted in two passes.
        order = np.argsort(right.astype(np.uint16) if keys <= 1 << 16 else right, kind="stable")
    before = np.cumsum(count) - count
    total = int(before[-1] + count[-1])
    cuts = np.unique(np.searchsorted(before, np.arange(0, total, _PAIRS_AT_A_TIME)))
    for at, end in pairwise([*cuts[cuts < len(left)].tolist(), len(left)]):
        check()
        here = count[at:end]
        one = np.repeat(np.arange(at, end), here)
        # The n-th pair of all is so many after the first one of its left.
        other = np.arange(before[at], before[at] + len(one)) + (start - before)[one]
        yield one, other if order is None else order[other]


def _sizes(frame: Frame, mask: Array) -> Array:
    return np.bincount(frame.group[mask], minlength=frame.groups)


def _has_distinct(frame: Frame, mask: Array, values: Array, n: int) -> Array:
    """For each group, whether its entries in the mask have at least ``n`` different values."""
    group = frame.group[mask]
    enough = np.bincount(group, minlength=frame.groups) >= n
    kept = enough[group]
    group, values = group[kept].astype(np.int64), values[mask][kept]
    if values.dtype.kind == "f":
        _, values = np.unique(values, return_inverse=True)
    width = int(values.max(initial=0)) + 1
    # Group and value side by side in one number: to sort numbers is cheaper than to tell values apart by hashes.
    keys = group * width + values
    keys.sort()
    fresh = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return np.asarray(np.bincount(keys[fresh] // width, minlength=frame.groups) >= n)


# Two intervals as four columns: midpoints and bounds are reckoned of each alone.
def _of_age(
    low: int, high: int, birth_low: Array, birth_high: Array, day_low: Array, day_high: Array, world: World
) -> Array:
    """Whether the age in completed years lies in the range: for all birthdays and days, the midpoints, or some."""
    if world is World.BELIEVED:
        middle = (birth_low + birth_high) // 2
        birth_low = birth_high = middle
        day_low = day_high = (day_low + day_high) // 2
    youngest = (_calendar(day_low) - _calendar(birth_high)) // 10_000
    oldest = (_calendar(day_high) - _calendar(birth_low)) // 10_000
    if world is World.POSSIBLE:
        return np.asarray((low <= oldest) & (youngest <= high))
    return np.asarray((low <= youngest) & (oldest <= high))


def _calendar(ordinal: Array) -> Array:
    """Days as one number a day, year, month and day side by side: 20190304."""
    date = (ordinal - _EPOCH).astype("datetime64[D]")
    month = date.astype("datetime64[M]")
    months = month.astype(np.int64)
    return np.asarray((months // 12 + 1970) * 10_000 + (months % 12 + 1) * 100 + (date - month).astype(np.int64) + 1)
