"""The edits of a set of events for one patient: its window, concept, context, pick and condition, together.

Towards more events (``widen``) each part is relaxed, towards fewer each is tightened; what a pick then takes is
looked up, for it may be another event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ...query_lang import nodes
from .concepts import Climbs, ConceptEdits
from .conditions import ConditionEdits
from .cost import DETAIL, MOST_DAYS, MOST_TIES, UNCERTAIN, bound_cost, ends_cost, undominated
from .record import Change, Option, Record, bits

#: Contexts that an atom can be given besides its own, each with how many facts are taken less strictly.
_LOOSER: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {
    "present": ((("present", "uncertain"), 1),),
    "current": ((("present",), 1), (("present", "uncertain"), 2)),
    "historical": ((("present",), 1), (("present", "uncertain"), 2)),
}
#: The fields of an event set that tell how an event is known, and how long it lasted, in the order in which an edit
#: gives them.
_PROVENANCE = ("source", "undisputed", "sources", "known", "lasting")


class Edited(NamedTuple):
    """An event set, edited or not: for each place (a mask of the events seen there) those that are then found; the
    cost; the set, or several whose events are found together; and what was changed."""

    witnesses: tuple[int, ...]
    cost: int
    events: tuple[nodes.Events, ...]
    changes: tuple[Change, ...]


class Cheapest:
    """The cheapest edits for each key, with those that are equally cheap, up to so many."""

    def __init__(self) -> None:
        self.found: dict[Any, tuple[int, list[Any]]] = {}

    def add(self, key: Any, cost: int, made: Any) -> None:
        """One more way to ``key``."""
        known = self.found.get(key)
        if known is None or cost < known[0]:
            self.found[key] = (cost, [made])
        elif cost == known[0] and len(known[1]) < MOST_TIES:
            known[1].append(made)

    def cost(self, key: Any) -> int | None:
        """The cost so far."""
        known = self.found.get(key)
        return None if known is None else known[0]


class EventEdits:
    """The edits of one event set of one record."""

    def __init__(self, record: Record, events: nodes.Events, climbs: Climbs, *, alone: bool = False) -> None:
        """``alone``: the edited set must be one, as in a sequence or a count, and not two joined by *or*."""
        self.record = record
        self._alone = alone
        self.events = events
        #: A denial is edited in what it must be known by and when: of less, it would be another question.
        self._of_denials = events.context == "absent"
        self._all = record.denying(events) if self._of_denials else record.of_kind(events.kind)
        self._climbs = climbs
        self._parts: dict[bool, tuple[list[Option], ...]] = {}

    # --- towards more, in one place -----------------------------------------------------------------------------------

    def targets(self, place: int) -> Cheapest:
        """For each event that is seen there, the cheapest edits that find it: :class:`Edited` of that one place."""
        found = Cheapest()
        for pick, pick_cost, pick_changes in self._picks(True):
            if pick.how == "any":
                self._targets_of_any(place, pick, pick_cost, pick_changes, found)
                continue
            contexts_of, conditions = self._options(True)[-2:]
            for members, contexts in product(self._selections(True, place), contexts_of):
                for context in contexts.value:
                    taken = self._chosen(pick, members.mask & self._context(context) & place)
                    if not taken:
                        continue
                    good = [one for one in conditions if not taken & ~one.mask]
                    for condition in good:
                        if condition.cost > good[0].cost:
                            break
                        cost = members.cost + contexts.cost + condition.cost + pick_cost
                        made = self._made((members, contexts, condition), pick, pick_changes, cost, (taken,))
                        for position in bits(taken):
                            found.add(position, cost, made)
        return found

    def _targets_of_any(
        self, place: int, pick: nodes.Pick, pick_cost: int, pick_changes: tuple[Change, ...], found: Cheapest
    ) -> None:
        seen = self._all & place
        parts = [_by_bit(options, seen) for options in self._options(True, one_end=True)]
        for position in bits(seen):
            if not all(position in part for part in parts):
                continue
            ways = [part[position] for part in parts]
            cost = pick_cost + sum(way[0].cost for way in ways)
            for chosen in _some(product(*ways)):
                mask = seen
                for option in chosen:
                    mask &= option.mask
                *selecting, context, condition = chosen
                joined = self._join(selecting)
                found.add(
                    position, cost, self._made((joined, context, condition), pick, pick_changes, cost, (mask & place,))
                )

    # --- in many places, in either direction --------------------------------------------------------------------------

    def sets(self, places: Sequence[int], widen: bool) -> list[Edited]:
        """The set as it stands and edited, by what is found in each place."""
        found = Cheapest()
        everywhere = 0
        for place in places:
            everywhere |= place
        *_, contexts, conditions = self._options(widen)
        for pick, pick_cost, pick_changes in self._picks(widen):
            if pick.how == "any":
                joined = [
                    one._replace(mask=one.mask & everywhere, value=(one,), changes=())
                    for one in self._selections(widen, everywhere)
                ]
                for options in (contexts, conditions):
                    joined = undominated(
                        (
                            Option(one.mask & other.mask, one.cost + other.cost, (*one.value, other))
                            for one, other in product(joined, options)
                        ),
                        widen,
                    )
                for way in joined:
                    witnesses = tuple(way.mask & place for place in places)
                    cost = way.cost + pick_cost
                    found.add(witnesses, cost, self._made(way.value, pick, pick_changes, cost, witnesses))
                continue
            for members, context in product(self._selections(widen, everywhere), contexts):
                taken = [
                    [self._chosen(pick, members.mask & self._context(one) & place) for one in context.value]
                    for place in places
                ]
                for condition in conditions:
                    witnesses = tuple(
                        sum_of(one for one in of_place if not one & ~condition.mask) for of_place in taken
                    )
                    cost = members.cost + context.cost + condition.cost + pick_cost
                    found.add(
                        witnesses,
                        cost,
                        self._made((members, context, condition), pick, pick_changes, cost, witnesses),
                    )
        return [one for _, ways in found.found.values() for one in ways]

    # --- the parts ----------------------------------------------------------------------------------------------------

    def _options(self, widen: bool, *, one_end: bool = False) -> tuple[list[Option], ...]:
        """Windows, concepts, what makes it known, contexts, conditions; with ``one_end``, windows of which one end
        moved, at most."""
        found = self._parts.get(widen)
        if found is None:
            kind, events = self.events.kind, self.events
            conditions = [Option(self._all, 0, events.condition)]
            if not self._of_denials:
                conditions = ConditionEdits(self.record, kind, self._climbs.instead).options(events.condition, widen)
            others = (list(self._windows(widen, both=True)), list(self._provenance(widen)), list(self._contexts(widen)))
            among = self._all
            for options in (*others, *([conditions] if events.pick.how == "any" else [])):
                among &= next(one.mask for one in options if not one.cost)
            concepts = [Option(self._all, 0, events.concept)]
            if not self._of_denials:
                concepts = ConceptEdits(self.record, kind, self._climbs).options(events.concept, widen, among)
            windows, provenance, contexts = others
            found = self._parts[widen] = (windows, concepts, provenance, contexts, conditions)
        return (list(self._windows(widen, both=False)), *found[1:]) if one_end else found

    def _selections(self, widen: bool, among: int) -> list[Option]:
        """Windows, concepts and what makes it known: by the events among those given that they admit, the cheapest."""
        found = Cheapest()
        for parts in product(*self._options(widen)[:3]):
            joined = self._join(parts)
            found.add(joined.mask & among, joined.cost, joined)
        ways = [one for _, ways in found.found.values() for one in ways]
        return undominated(ways, widen) if self.events.pick.how == "any" else ways

    def _join(self, parts: Sequence[Option]) -> Option:
        mask = self._all
        for part in parts:
            mask &= part.mask
        changes = tuple(change for part in parts for change in part.changes)
        return Option(mask, sum(part.cost for part in parts), tuple(part.value for part in parts), changes)

    def _windows(self, widen: bool, *, both: bool) -> Iterator[Option]:
        window = self.events.window
        if window is None:
            yield Option(self._all, 0, None)
            return
        low, high = window.low, window.high
        days = sorted({self.record.days[position] for position in bits(self._all)})
        lows, highs = [low], [high]
        if low > EARLIEST_DAY:
            lows += [day for day in days if day < low] if widen else [day + 1 for day in days if low <= day < high]
        if high < LATEST_DAY:
            highs += [day for day in days if day > high] if widen else [day - 1 for day in days if low < day <= high]
        for first, last in product(lows, highs):
            moved = abs(first - low), abs(last - high)
            if first > last or max(moved) > MOST_DAYS or (all(moved) and not both):
                continue
            changed = nodes.Window(first, last)
            change = () if changed == window else (Change("windows", window, changed),)
            yield Option(self._between(first, last), ends_cost(*moved), changed, change)
        if widen:
            yield Option(self._all, DETAIL, None, (Change("details", window, None),))

    def _between(self, first: int, last: int) -> int:
        return sum(1 << position for position in bits(self._all) if first <= self.record.days[position] <= last)

    def _provenance(self, widen: bool) -> Iterator[Option]:
        """How an event must be known: where it is told, undisputed, by how many notes, in which way."""
        events = self.events
        # A denial may be of another kind than what it denies.
        kind = None if self._of_denials else events.kind
        plain = nodes.Events(events.kind, events.concept)
        if all(getattr(events, name) == getattr(plain, name) for name in _PROVENANCE):
            yield Option(self._all, 0, ("", False, 1, "", None))
            return
        recorded = {event.sources for event in self.record.events}
        if events.sources == 1:
            # It is not stated, so it does not move.
            numbers = set()
        elif widen:
            numbers = {n for n in recorded if 1 <= n < events.sources}
        else:
            numbers = {n + 1 for n in recorded if n >= events.sources}
        for source, undisputed, n, known, lasting in product(
            {events.source, ""} if widen else {events.source},
            {events.undisputed, False} if widen else {events.undisputed},
            sorted({events.sources, *numbers}),
            {events.known, ""} if widen else {events.known},
            {events.lasting, None} if widen else {events.lasting},
        ):
            cost, changes = 0, []
            if source != events.source:
                cost += DETAIL
                changes.append(Change("details", f"according to {events.source}", None))
            if undisputed != events.undisputed:
                cost += DETAIL
                changes.append(Change("details", "undisputed", None))
            if n != events.sources:
                cost += bound_cost(abs(n - events.sources) / events.sources)
                changes.append(Change("bounds", f"from {events.sources} notes", f"from {n} notes"))
            if known != events.known:
                cost += DETAIL
                changes.append(Change("details", f"as {events.known}", None))
            if lasting != events.lasting:
                cost += DETAIL
                changes.append(Change("details", events.lasting, None))
            told = {"source": source, "undisputed": undisputed, "sources": n, "known": known}
            mask = self.record.having(kind, **told, lasting=lasting)
            yield Option(mask, cost, (*told.values(), lasting), tuple(changes))

    def _contexts(self, widen: bool) -> Iterator[Option]:
        own = self.events.context
        yield Option(self._context(own), 0, (own,))
        for contexts, times in _LOOSER.get(own, ()) if widen else ():
            if self._alone and len(contexts) > 1:
                continue
            mask = sum_of(self._context(one) for one in contexts)
            yield Option(mask, UNCERTAIN * times, contexts, (Change("uncertain", (own,), contexts),))

    def _context(self, context: str) -> int:
        if self._of_denials:
            return self.record.denials
        return self.record.having(self.events.kind, context=context)

    def _chosen(self, pick: nodes.Pick, members: int) -> int:
        by_value = pick.how in ("worst", "best")
        return self.record.chosen(None if self._of_denials and not by_value else self.events.kind, pick, members)

    def _picks(self, widen: bool) -> Iterator[tuple[nodes.Pick, int, tuple[Change, ...]]]:
        pick = self.events.pick
        yield pick, 0, ()
        if widen and pick.how != "any":
            yield nodes.Pick(), DETAIL, (Change("details", pick, None),)

    def _made(
        self,
        parts: tuple[Option, Option, Option],
        pick: nodes.Pick,
        pick_changes: tuple[Change, ...],
        cost: int,
        witnesses: tuple[int, ...],
    ) -> Edited:
        selection, contexts, condition = parts
        window, concept, provenance = selection.value
        changes = selection.changes + contexts.changes + condition.changes + pick_changes
        if not changes:
            return Edited(witnesses, cost, (self.events,), ())
        whole = replace(
            self.events,
            window=window,
            concept=concept,
            condition=condition.value,
            pick=pick,
            **dict(zip(_PROVENANCE, provenance, strict=True)),
        )
        return Edited(witnesses, cost, tuple(replace(whole, context=one) for one in contexts.value), changes)


def sum_of(masks: Iterable[int]) -> int:
    """The union of masks."""
    found = 0
    for mask in masks:
        found |= mask
    return found


def _by_bit(options: Iterable[Option], among: int) -> dict[int, list[Option]]:
    """For each event the cheapest options that admit it."""
    found: dict[int, list[Option]] = {}
    for option in sorted(options, key=lambda one: one.cost):
        for position in bits(option.mask & among):
            known = found.setdefault(position, [])
            if not known or (known[0].cost == option.cost and len(known) < MOST_TIES):
                known.append(option)
    return found


def _some(ways: Iterable[Any]) -> Iterator[Any]:
    for number, way in enumerate(ways):
        if number == MOST_TIES:
            return
        yield way
