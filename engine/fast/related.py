"""Criteria about how events lie to each other, over frames: order, sequences, counts, ages, absence."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from ...kb.courses import STATUS, told_by
from ...kb.deadline import check
from ...kb.kinds import COURSES, KIND_TABLE, OF_ONE_NOTE, values_of
from ...kb.model import EARLIEST_DAY, LATEST_DAY, REASONS, Value, World
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
            case nodes.Repeated():
                return self._repeated(node, frame, world)
            case nodes.Change():
                return self._change(node, frame, world)
            case nodes.Total():
                return self._total(node, frame, world)
            case nodes.AgeAt():
                return self._age_at(node, frame, world)
            case nodes.Ongoing():
                return self._ongoing(node, frame, world)
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
            both_told, alike = self._share(name, one, other)
            maybe &= ~both_told | alike
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
        if side.moment == "end":
            # The end of an event lasts for its day.
            return side.high if world is World.POSSIBLE else side.low
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

    def _repeated(self, node: nodes.Repeated, frame: Frame, world: World) -> Array:
        lefts, rights = (self._sets.witnesses(events, frame, world) for events in (node.events, node.other))
        order = nodes.Ordered(node.events, node.relation, node.other, node.minimum, node.maximum)
        linked = self._linked(order, frame, lefts, rights, world)
        found: list[tuple[Array, Array]] = []
        for first, second in _pairs(frame, lefts.mask, rights.mask):
            good = linked(first, second)
            found.append((first[good], second[good]))
        if not found:
            return np.zeros(frame.groups, dtype=bool)
        entries, others = (np.concatenate(side) for side in zip(*found, strict=True))
        if not rights.as_one:
            enough = _on_days(others, frame.entries, lefts.low[entries], lefts.high[entries], node.n, world)
            return groups_of(frame, enough)
        # What is related to each of those that the other may be is related to it.
        often = np.bincount(entries, minlength=frame.entries)
        beside = np.flatnonzero((often > 0) & (often == _sizes(frame, rights.mask)[frame.group]))
        return _on_days(frame.group[beside], frame.groups, lefts.low[beside], lefts.high[beside], node.n, world)

    # --- numbers of several events ----------------------------------------------------------------------------------

    def _numbers(self, attribute: str, frame: Frame) -> tuple[Array, Array]:
        """Of each entry the place of its number in the attribute among the different ones, which ascend; of one that
        tells none, a place behind them."""
        column = self._rows.attribute(attribute)
        told = [as_number(value) for value in column.distinct]
        numbers = np.array(sorted({number for number in told if number is not None}))
        place = {number: at for at, number in enumerate(numbers.tolist())}
        places = np.array([*(len(place) if one is None else place[one] for one in told), len(place)], dtype=np.int64)
        return places[frame.entries_of(column.codes)], numbers

    def _change(self, node: nodes.Change, frame: Frame, world: World) -> Array:
        found = self._sets.witnesses(node.events, frame, world)
        ranks, numbers = self._numbers(node.attribute, frame)
        entries = np.flatnonzero(found.mask & (ranks < len(numbers)))
        words = self._rows.concept
        # By concept first, as rows are: the fewer of them need to be put in order.
        series = words.codes[frame.row(entries)].astype(np.int64) * max(1, frame.groups) + frame.group[entries]
        days = (found.low, found.high) if world is World.POSSIBLE else (found.high, found.low)
        values = _Series(node, series, ranks[entries], numbers, *(side[entries] for side in days))
        moved = values.moved()
        holds = np.zeros(frame.groups, dtype=bool)
        if node.maximum is None and node.during is None:
            holds[frame.group[entries[moved]]] = True
            return holds
        # Only what has a value to move from at all is paired, and with what can be so near.
        lasting = None if node.during is None else self._sets.witnesses(node.during, frame, world)
        order = nodes.Ordered(node.events, "before", node.events, 1, node.maximum)
        low, high = found.low[entries], found.high[entries]
        widest = int((high - low).max(initial=0))
        since = low - widest if world is World.POSSIBLE else high
        later = np.flatnonzero(moved)
        for one, other in values.before(later, None if node.maximum is None else since - node.maximum):
            kept = values.moves(other, one)
            first, last = entries[other[kept]], entries[one[kept]]
            good = _related(order, found.low[last] - found.high[first], found.high[last] - found.low[first], world)
            good &= frame.row(first) != frame.row(last)
            first, last = first[good], last[good]
            if lasting is not None:
                last = last[self._during_one(frame, found, lasting, first, last, world)]
            holds[frame.group[last]] = True
        return holds

    # Both sides, and which entries of them are paired: as :meth:`_last_together`.
    def _during_one(
        self, frame: Frame, found: Witnesses, lasting: Witnesses, first: Array, last: Array, world: World
    ) -> Array:
        """Of each pair of entries, whether both begin while one of ``lasting`` lasts."""
        third = np.flatnonzero(lasting.mask)
        often = np.zeros(len(first), dtype=np.int64)
        for pair, position in _matched(frame.group[first], frame.group[third], frame.groups):
            entry = third[position]
            good = np.ones(len(pair), dtype=bool)
            for side in (first[pair], last[pair]):
                good &= frame.row(side) != frame.row(entry)
                good &= self._last_together("during", frame, found, lasting, side, entry, world)
            often += np.bincount(pair[good], minlength=len(first))
        if lasting.as_one:
            return (often == _sizes(frame, lasting.mask)[frame.group[first]]) & (often > 0)
        return often > 0

    def _total(self, node: nodes.Total, frame: Frame, world: World) -> Array:
        worlds = (world,) if world is World.BELIEVED else (World.CERTAIN, World.POSSIBLE)
        masks = [self._sets.witnesses(node.events, frame, one).mask for one in worlds]
        sure, maybe = masks[0], masks[-1]
        ranks, told = self._numbers(node.attribute, frame)
        known, numbers = ranks < len(told), np.append(told, 0.0)[ranks]

        def added(mask: Array) -> Array:
            entries = np.flatnonzero(mask & known)
            return np.bincount(frame.group[entries], weights=numbers[entries], minlength=frame.groups)

        low = high = added(sure)
        if maybe is not sure:
            low = low + added(maybe & ~sure & (numbers < 0))
            high = high + added(maybe & ~sure & (numbers > 0))
        high = np.where(groups_of(frame, maybe & ~known), np.inf, high)
        there = groups_of(frame, maybe if world is World.POSSIBLE else sure)
        return there & _compares(node, low, high, world)

    def _age_at(self, node: nodes.AgeAt, frame: Frame, world: World) -> Array:
        rows = self._rows
        births = np.flatnonzero(self._sets.members(nodes.Events("birth"), Frame.of_patients(rows), world))
        high = _FAR if node.high is None else node.high
        if node.day is not None:
            day = np.full(len(births), nodes.known_day(node.day))
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

    def _ongoing(self, node: nodes.Ongoing, frame: Frame, world: World) -> Array:
        """A course that goes on at the day, and no death before it."""
        day, rows = nodes.known_day(node.day), self._rows
        found = self._sets.witnesses(node.events, frame, world)
        begun = found.low if world is World.POSSIBLE else found.high
        ends, end_low, end_high = (frame.entries_of(column) for column in rows.ends)
        match world:
            case World.CERTAIN:
                until = np.where(ends, end_low, found.low)
            case World.POSSIBLE:
                until = np.where(ends, end_high, found.high)
            case _:
                until = np.where(ends, (end_low + end_high) // 2, found.low)
        lasting = (day <= until) | (~ends & frame.entries_of(self._told_to_go_on(world)))
        going_on = found.mask & (begun <= day) & lasting
        if node.events.kind is None:
            going_on &= frame.entries_of(np.logical_or.reduce([rows.among(kind) for kind in sorted(COURSES)]))
        holds = groups_of(frame, going_on)
        deaths = np.flatnonzero(self._sets.members(nodes.Events("death"), Frame.of_patients(rows), OPPOSITE[world]))
        match world:
            case World.CERTAIN:
                by = rows.low[deaths]
            case World.POSSIBLE:
                by = rows.high[deaths]
            case _:
                by = rows.middle[deaths]
        died = np.zeros(len(rows.patients), dtype=bool)
        died[rows.owner[deaths[by < day]]] = True
        return holds & ~died[frame.patient]

    def _told_to_go_on(self, world: World) -> Array:
        """The rows of which neither status nor reason says that, in this world, they do not go on after their day."""
        status = self._rows.attribute(STATUS)
        by_status = np.array([told_by(value) >= world for value in (*status.distinct, "")], dtype=bool)
        found: Array = by_status[status.codes]
        for reason in REASONS:
            told = told_by(reason)
            if told < World.BELIEVED and told < world:
                found = found & ~self._rows.in_context(reason=reason)
        return found

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


#: So far apart are two numbers that are not the same; of numbers above 1, so great a part of the number.
_CLOSE: Final = 1e-9
#: More than the days of any interval: a series and a day make one key.
_DAYS: Final = 1 << 22


class _Series:
    """The numbers of the entries of a change, by the series that each is in: those of one concept in one group."""

    # Columns of the same entries, and the numbers that there are.
    def __init__(
        self, node: nodes.Change, series: Array, ranks: Array, numbers: Array, day: Array, until: Array
    ) -> None:
        """``ranks`` are places among the ascending ``numbers``. An entry comes before another whose ``until`` is later
        than its own ``day``."""
        self._node = node
        self._keys = _dense(series) * _DAYS
        self._ranks = ranks
        self._numbers = numbers
        self._until = self._keys + (until.astype(np.int64) - EARLIEST_DAY)
        times = self._keys + (day.astype(np.int64) - EARLIEST_DAY)
        self._order = np.argsort(times, kind="stable")
        self._times = times[self._order]

    def moved(self) -> Array:
        """Which entries a number of the same series has moved to, of an entry before it.

        The lowest number before it is the easiest to rise from, the highest to fall from; of a percentage, the lowest
        or highest above 0.
        """
        worst = len(self._numbers)
        ladder = self._numbers if self._node.way == "rise" else self._numbers[::-1]
        ranks = self._ranks if self._node.way == "rise" else worst - 1 - self._ranks
        if self._node.relative:
            ranks = np.where(self._numbers[self._ranks] > 0, ranks, worst)
        steps = self._keys[self._order] // _DAYS * (worst + 1)
        # Each series lies below the one before it, so that the least so far is one of its own.
        best = np.minimum.accumulate(ranks[self._order] - steps) + steps
        before = np.searchsorted(self._times, self._until) - 1
        some = (before >= 0) & (self._times[before] >= self._keys)
        rank = np.where(some, best[before], worst) if len(best) else ranks
        return (rank < worst) & self._far_enough(np.append(ladder, 0.0)[rank], self._numbers[self._ranks])

    def before(self, later: Array, since: Array | None) -> Iterator[tuple[Array, Array]]:
        """Each of the entries ``later`` with each of its series before it, on a day of ``since`` at the earliest; some
        millions at a time."""
        first = self._keys[later]
        if since is not None:
            first = first + np.maximum(since[later].astype(np.int64) - EARLIEST_DAY, 0)
        start = np.searchsorted(self._times, first)
        count = np.maximum(np.searchsorted(self._times, self._until[later]) - start, 0)
        for one, other in _spread(start, count):
            yield later[one], self._order[other]

    def moves(self, earlier: Array, later: Array) -> Array:
        """Of each pair of entries, whether the number moves so far."""
        return self._far_enough(*(self._numbers[self._ranks[side]] for side in (earlier, later)))

    def _far_enough(self, earlier: Array, later: Array) -> Array:
        """Of each pair of numbers, whether the later is so much higher, or lower, than the earlier."""
        node = self._node
        difference = later - earlier if node.way == "rise" else earlier - later
        bound = node.amount / 100 * earlier if node.relative else node.amount
        near = _CLOSE * np.maximum(1.0, np.maximum(np.abs(earlier), np.abs(later)))
        moved = difference > bound + near if node.operator == ">" else difference >= bound - near
        return np.asarray(moved & (earlier > 0) if node.relative else moved)


def _dense(keys: Array) -> Array:
    """The same keys as numbers from 0 up without a gap, in the same order."""
    if not len(keys) or not ascending(keys):
        return np.unique(keys, return_inverse=True)[1]
    return np.cumsum(np.concatenate([[0], keys[1:] != keys[:-1]]))


def _spread(start: Array, count: Array) -> Iterator[tuple[Array, Array]]:
    """The place of each range with each number of it, the ranges being ``count`` from ``start`` up; some millions at a
    time."""
    if not len(count):
        return
    before = np.cumsum(count) - count
    total = int(before[-1] + count[-1])
    cuts = np.unique(np.searchsorted(before, np.arange(0, total, _PAIRS_AT_A_TIME)))
    for at, end in pairwise([*cuts[cuts < len(count)].tolist(), len(count)]):
        check()
        one = np.repeat(np.arange(at, end), count[at:end])
        yield one, np.arange(before[at], before[at] + len(one)) + (start - before)[one]


def _compares(node: nodes.Total, low: Array, high: Array, world: World) -> Array:
    """Whether all sums from low to high compare so with the amount; possible: whether one does."""
    near = _CLOSE * max(1.0, abs(node.amount))
    first, last = (low, high) if world is not World.POSSIBLE else (high, low)
    match node.operator:
        case ">=":
            compared = first >= node.amount - near
        case ">":
            compared = first > node.amount + near
        case "<=":
            compared = last <= node.amount + near
        case "<":
            compared = last < node.amount - near
        case _:
            compared = (first >= node.amount - near) & (last <= node.amount + near)
    return np.asarray(compared)


def _on_days(keys: Array, size: int, low: Array, high: Array, n: int, world: World) -> Array:
    """For each key below ``size``, whether the intervals of it lie on at least ``n`` different days."""
    enough = np.bincount(keys, minlength=size) >= n
    kept = enough[keys]
    keys, low, high = keys[kept].astype(np.int64), low[kept], high[kept]
    exact = low == high
    days = np.unique(keys[exact] * _DAYS + (low[exact].astype(np.int64) - EARLIEST_DAY))
    found = np.bincount(days // _DAYS, minlength=size) >= n
    # Where known days do not suffice, the others are shared out one by one.
    open_ = np.zeros(size, dtype=bool)
    open_[keys[~exact]] = True
    rest = np.flatnonzero((open_ & ~found)[keys])
    rest = rest[np.argsort(keys[rest], kind="stable")]
    counted = nth_of_fewest if world is World.CERTAIN else day_of_most
    for part in np.split(rest, np.flatnonzero(np.diff(keys[rest])) + 1) if len(rest) else ():
        check()
        own = list(zip(low[part].tolist(), high[part].tolist(), strict=True))
        found[keys[part[0]]] = counted(n, own) is not None
    return np.asarray(found)


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
