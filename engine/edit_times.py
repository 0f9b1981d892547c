"""How a time relation can be edited for one patient: both facts, the gap between them, and the relation let go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from ..query_lang import nodes
from .edit_cost import DETAIL, DROP, MOST_DAYS, ends_cost
from .edit_events import Edited, EventEdits
from .edit_record import Change, Record, bits

#: Of which places it holds (a bit each), the cost, the edited criterion, what was changed.
_Way = tuple[int, int, nodes.PatientExpression, tuple[Change, ...]]


class OrderEdits:
    """The edits of one relation of one record."""

    def __init__(self, record: Record, node: nodes.Ordered, left: EventEdits, right: EventEdits) -> None:
        self._record = record
        self._node = node
        self._left = left
        self._right = right

    def versions(self, places: Sequence[int], widen: bool) -> Iterator[_Way]:
        """The relation as it stands and edited."""
        if widen and len(places) == 1:
            yield from self._in_one_place(places[0])
        else:
            yield from self._in_places(places, widen)

    # --- to hold, in one place ----------------------------------------------------------------------------------------

    def _in_one_place(self, place: int) -> Iterator[_Way]:
        """A pair of events that is made to relate; each costs what it costs to find the two, and to reach the gap."""
        lefts, rights = self._left.targets(place).found, self._right.targets(place).found
        best: int | None = None
        found: list[tuple[int, list[Edited], list[Edited], tuple[int, int | None] | None]] = []

        def add(cost: int, left: list[Edited], right: list[Edited], gap: tuple[int, int | None] | None) -> None:
            nonlocal best
            if best is None or cost < best:
                best = cost
                found.clear()
            if cost == best:
                found.append((cost, left, right, gap))

        stands = False
        for (first, (left_cost, left)), (second, (right_cost, right)) in product(lefts.items(), rights.items()):
            cost = left_cost + right_cost
            if best is not None and cost > best:
                continue
            if first != second:
                reached = self._reached(first, second)
                if reached is not None:
                    gap, gap_cost = reached
                    add(cost + gap_cost, left, right, gap)
                    stands = stands or not cost + gap_cost
            add(cost + DETAIL, left, right, None)
        yield int(stands), 0, self._node, ()
        for cost, left, right, gap in found:
            for one, other in product(left, right):
                yield 1, cost, *self._assembled(one, other, gap)
        for ways, gone in ((lefts, self._node.right), (rights, self._node.left)):
            least = min((cost for cost, _ in ways.values()), default=None)
            for cost, made in ways.values():
                if cost == least:
                    for one in made:
                        change = Change("drops", nodes.Exists(gone), None)
                        yield 1, cost + DROP, _any_of(one.events), (*one.changes, change)

    def _reached(self, left: int, right: int) -> tuple[tuple[int, int | None], int] | None:
        """The gap widened so that the two events relate, and its cost; None when it would be too far."""
        days, node = self._gap(left, right), self._node
        if days < _least_gap(node):
            return None
        minimum = min(node.minimum, days)
        maximum = None if node.maximum is None else max(node.maximum, days)
        moved = node.minimum - minimum, 0 if maximum is None or node.maximum is None else maximum - node.maximum
        return None if max(moved) > MOST_DAYS else ((minimum, maximum), ends_cost(*moved))

    # --- in many places, or not to hold -------------------------------------------------------------------------------

    def _in_places(self, places: Sequence[int], widen: bool) -> Iterator[_Way]:
        lefts, rights = self._left.sets(places, widen), self._right.sets(places, widen)
        gaps = self._gaps(lefts, rights, widen)
        for left, right in product(lefts, rights):
            pairs = [
                [(self._gap(one, other)) for one in bits(first) for other in bits(second) if one != other]
                for first, second in zip(left.witnesses, right.witnesses, strict=True)
            ]
            cost = left.cost + right.cost
            for gap, gap_cost in gaps:
                held = sum(
                    1 << at
                    for at, days in enumerate(pairs)
                    if any(gap[0] <= one and (gap[1] is None or one <= gap[1]) for one in days)
                )
                yield held, cost + gap_cost, *self._assembled(left, right, gap)
            if widen:
                both = zip(left.witnesses, right.witnesses, strict=True)
                held = sum(1 << at for at, (first, second) in enumerate(both) if first and second)
                yield held, cost + DETAIL, *self._assembled(left, right, None)
        for ways, gone in ((lefts, self._node.right), (rights, self._node.left)) if widen else ():
            for one in ways:
                held = sum(1 << at for at, witnesses in enumerate(one.witnesses) if witnesses)
                change = Change("drops", nodes.Exists(gone), None)
                yield held, one.cost + DROP, _any_of(one.events), (*one.changes, change)

    def _gaps(
        self, lefts: Sequence[Edited], rights: Sequence[Edited], widen: bool
    ) -> list[tuple[tuple[int, int | None], int]]:
        """Gaps that differ in which pairs of events they admit: wider ones, or narrower."""
        node = self._node
        days = {
            self._gap(one, other)
            for left, right in product(_seen(lefts), _seen(rights))
            for one, other in [(left, right)]
            if one != other
        }
        lows, highs = [node.minimum], [node.maximum]
        if widen:
            lows += sorted(day for day in days if _least_gap(node) <= day < node.minimum)
        else:
            lows += sorted(day + 1 for day in days if node.minimum <= day)
        if node.maximum is not None:
            maximum = node.maximum
            highs += sorted(day for day in days if day > maximum) if widen else []
            highs += sorted(day - 1 for day in days if node.minimum <= day - 1 < maximum) if not widen else []
        found = []
        for low, high in product(lows, highs):
            moved = abs(low - node.minimum), 0 if high is None or node.maximum is None else abs(high - node.maximum)
            if (high is None or low <= high) and max(moved) <= MOST_DAYS:
                found.append(((low, high), ends_cost(*moved)))
        return found

    def _gap(self, left: int, right: int) -> int:
        """The days between the two, counted in the direction of the relation."""
        days = self._record.days[right] - self._record.days[left]
        return {"before": days, "after": -days}.get(self._node.relation, abs(days))

    def _assembled(
        self, left: Edited, right: Edited, gap: tuple[int, int | None] | None
    ) -> tuple[nodes.PatientExpression, tuple[Change, ...]]:
        """The criterion with both sides edited and the gap; a gap of None: the relation is let go."""
        node, changes = self._node, left.changes + right.changes
        if gap is None:
            parts = (_any_of(left.events), _any_of(right.events))
            return nodes.And(parts), (*changes, Change("details", node, None))
        if gap != (node.minimum, node.maximum):
            changes = (*changes, Change("windows", node, replace(node, minimum=gap[0], maximum=gap[1])))
        if not changes:
            return node, ()
        some = tuple(
            replace(node, left=one, right=other, minimum=gap[0], maximum=gap[1])
            for one, other in product(left.events, right.events)
        )
        return some[0] if len(some) == 1 else nodes.Or(some), changes


def _least_gap(node: nodes.Ordered) -> int:
    return 0 if node.relation == "within" else 1


def _seen(sets: Sequence[Edited]) -> list[int]:
    mask = 0
    for one in sets:
        for witnesses in one.witnesses:
            mask |= witnesses
    return list(bits(mask))


def _any_of(events: Sequence[nodes.Events]) -> nodes.PatientExpression:
    some = tuple(nodes.Exists(one) for one in events)
    return some[0] if len(some) == 1 else nodes.Or(some)
