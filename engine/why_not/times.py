"""The edits of a time relation for one patient: both facts, the gap between them, and the relation let go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from ...query_lang import nodes
from ..reference.specimens import on_one_specimen
from ..reference.time import lasts_with, separated
from ..reference.views import Seen
from .cost import DETAIL, DROP, MOST_DAYS, ends_cost
from .events import Edited, EventEdits
from .record import BELIEVED, Change, Record, bits

#: Of which places it holds (a bit each), the cost, the edited criterion, what was changed.
Way = tuple[int, int, nodes.PatientExpression, tuple[Change, ...]]
#: The shortest and the longest gap.
_Gap = tuple[int, int | None]


class _Terms(NamedTuple):
    """What is asked of a pair besides the two facts: the gap, that the concepts differ, that nothing lies between."""

    gap: _Gap
    different: bool
    without: bool


class OrderEdits:
    """The edits of one relation of one record."""

    def __init__(self, record: Record, node: nodes.Ordered, left: EventEdits, right: EventEdits) -> None:
        """``left`` and ``right`` edit its two facts."""
        self._record = record
        self._node = node
        self._left = left
        self._right = right
        self._terms = _Terms((node.minimum, node.maximum), node.different, node.without is not None)
        self._between: dict[int, list[tuple[Seen, ...]]] = {}

    def versions(self, places: Sequence[int], widen: bool) -> Iterator[Way]:
        """The relation as it stands and edited."""
        if widen and len(places) == 1:
            yield from self._in_one_place(places[0])
        else:
            yield from self._in_places(places, widen)

    # --- to hold, in one place ----------------------------------------------------------------------------------------

    def _in_one_place(self, place: int) -> Iterator[Way]:
        """A pair of events that is made to relate; each costs what it costs to find the two, and what they lack."""
        lefts, rights = self._left.targets(place).found, self._right.targets(place).found
        best: int | None = None
        found: list[tuple[int, list[Edited], list[Edited], _Terms | None]] = []
        for (first, (left_cost, left)), (second, (right_cost, right)) in product(lefts.items(), rights.items()):
            cost = left_cost + right_cost
            if best is not None and cost > best:
                continue
            ways: list[tuple[int, _Terms | None]] = [(cost + DETAIL, None)]
            reached = self._reached(first, second, place)
            if reached is not None:
                ways.append((cost + reached[1], reached[0]))
            for total, terms in ways:
                if best is None or total < best:
                    best = total
                    found.clear()
                if total == best:
                    found.append((total, left, right, terms))
        yield int(best == 0), 0, self._node, ()
        for cost, left, right, terms in found:
            for one, other in product(left, right):
                yield 1, cost, *self._assembled(one, other, terms)
        for ways_of, gone in ((lefts, self._node.right), (rights, self._node.left)):
            least = min((cost for cost, _ in ways_of.values()), default=None)
            for cost, made in ways_of.values():
                if cost == least:
                    for edited in made:
                        change = Change("drops", nodes.Exists(gone), None)
                        yield 1, cost + DROP, any_of(edited.events), (*edited.changes, change)

    def _reached(self, left: int, right: int, place: int) -> tuple[_Terms, int] | None:
        """What is asked, eased so that the two events relate, and the cost; None where only letting go would do."""
        if left == right:
            return None
        gap, cost = self._terms.gap, 0
        if self._node.relation in nodes.GAP_RELATIONS:
            eased = eased_gap(gap, self._gap(left, right), least_gap(self._node))
            if eased is None:
                return None
            gap, cost = eased
        elif not self._lasts(left, right):
            return None
        different = self._node.different and self._differ(left, right)
        if self._node.different and not different:
            if self._node.relation == "beside":
                return None
            cost += DETAIL
        without = self._node.without is not None and not self._separated(left, right, place)
        if self._node.without is not None and not without:
            cost += DETAIL
        return _Terms(gap, different, without), cost

    # --- in many places, or not to hold -------------------------------------------------------------------------------

    def _in_places(self, places: Sequence[int], widen: bool) -> Iterator[Way]:
        lefts, rights = self._left.sets(places, widen), self._right.sets(places, widen)
        eased = list(self._eased(lefts, rights, widen))
        for left, right in product(lefts, rights):
            cost = left.cost + right.cost
            pairs = [
                [
                    (one, other, place)
                    for one in bits(first)
                    for other in bits(second)
                    if one != other and self._lasts(one, other)
                ]
                for first, second, place in zip(left.witnesses, right.witnesses, places, strict=True)
            ]
            for terms, more in eased:
                held = sum(
                    1 << at for at, some in enumerate(pairs) if any(self._relates(*pair, terms) for pair in some)
                )
                yield held, cost + more, *self._assembled(left, right, terms)
            if widen:
                both = zip(left.witnesses, right.witnesses, strict=True)
                held = sum(1 << at for at, (first, second) in enumerate(both) if first and second)
                yield held, cost + DETAIL, *self._assembled(left, right, None)
        for ways, gone in ((lefts, self._node.right), (rights, self._node.left)) if widen else ():
            for edited in ways:
                held = sum(1 << at for at, witnesses in enumerate(edited.witnesses) if witnesses)
                change = Change("drops", nodes.Exists(gone), None)
                yield held, edited.cost + DROP, any_of(edited.events), (*edited.changes, change)

    def _eased(self, lefts: Sequence[Edited], rights: Sequence[Edited], widen: bool) -> Iterator[tuple[_Terms, int]]:
        """What is asked, in all ways that tell pairs of events apart: eased, or made stricter."""
        node = self._node
        gaps: list[tuple[_Gap, int]] = [(self._terms.gap, 0)]
        if node.relation in nodes.GAP_RELATIONS:
            days = {self._gap(left, right) for left, right in product(seen_in(lefts), seen_in(rights)) if left != right}
            gaps = moved_gaps(self._terms.gap, days, least_gap(node), widen)
        differents = [(node.different, 0)]
        if widen and node.different and node.relation != "beside":
            differents.append((False, DETAIL))
        withouts = [(node.without is not None, 0)]
        if widen and node.without is not None:
            withouts.append((False, DETAIL))
        for (gap, cost), (different, more), (without, still) in product(gaps, differents, withouts):
            yield _Terms(gap, different, without), cost + more + still

    # --- pairs --------------------------------------------------------------------------------------------------------

    def _relates(self, left: int, right: int, place: int, terms: _Terms) -> bool:
        """Whether two events of the place, which are two and last together where they must, are as asked."""
        if self._node.relation in nodes.GAP_RELATIONS and not in_gap(self._gap(left, right), terms.gap):
            return False
        if terms.different and not self._differ(left, right):
            return False
        return not (terms.without and self._separated(left, right, place))

    def _gap(self, left: int, right: int) -> int:
        """The days between the two, counted in the direction of the relation."""
        days = self._record.days[right] - self._record.days[left]
        return {"before": days, "after": -days}.get(self._node.relation, abs(days))

    def _lasts(self, left: int, right: int) -> bool:
        seen = self._record.view.events
        if self._node.relation == "specimen":
            return on_one_specimen(seen[left], seen[right], BELIEVED, self._record.meaning.concepts)
        if self._node.relation not in ("during", "overlapping"):
            return True
        return lasts_with(self._node.relation, seen[left], seen[right], BELIEVED)

    def _differ(self, left: int, right: int) -> bool:
        one, other = (self._record.events[at].concept for at in (left, right))
        return bool(one and other) and not self._record.meaning.concepts.related(one, other)

    def _separated(self, left: int, right: int, place: int) -> bool:
        node = self._node
        assert node.without is not None
        between = self._between.get(place)
        if between is None:
            view = self._record.shown(place)
            between = self._between[place] = self._record.meaning.witnesses(node.without, view, BELIEVED)
        seen = self._record.view.events
        return separated(node.relation, seen[left], seen[right], between, BELIEVED)

    def _assembled(
        self, left: Edited, right: Edited, terms: _Terms | None
    ) -> tuple[nodes.PatientExpression, tuple[Change, ...]]:
        """The criterion with both sides edited and what is asked of them; None: the relation is let go."""
        node, changes = self._node, left.changes + right.changes
        if terms is None:
            parts = (any_of(left.events), any_of(right.events))
            return nodes.And(parts), (*changes, Change("details", node, None))
        eased = node
        if terms.gap != self._terms.gap:
            eased = replace(node, minimum=terms.gap[0], maximum=terms.gap[1])
            changes = (*changes, Change("windows", node, eased))
        if terms.different != node.different:
            eased = replace(eased, different=False)
            changes = (*changes, Change("details", "another concept", None))
        if node.without is not None and not terms.without:
            eased = replace(eased, without=None)
            changes = (*changes, Change("details", node.without, None))
        if not changes:
            return node, ()
        some = tuple(replace(eased, left=one, right=other) for one, other in product(left.events, right.events))
        return some[0] if len(some) == 1 else nodes.Or(some), changes


# --- gaps, for all criteria that have one -----------------------------------------------------------------------------


def in_gap(days: int, gap: _Gap) -> bool:
    """Whether so many days lie in the gap."""
    return gap[0] <= days and (gap[1] is None or days <= gap[1])


def eased_gap(gap: _Gap, days: int, least: int) -> tuple[_Gap, int] | None:
    """The gap widened to hold so many days, with the cost; None when that is too far, or below the ``least``."""
    if days < least:
        return None
    low, high = min(gap[0], days), None if gap[1] is None else max(gap[1], days)
    moved = gap[0] - low, 0 if high is None or gap[1] is None else high - gap[1]
    return None if max(moved) > MOST_DAYS else ((low, high), ends_cost(*moved))


def moved_gaps(gap: _Gap, days: Collection[int], least: int, widen: bool) -> list[tuple[_Gap, int]]:
    """The gap and all gaps that tell these numbers of days apart, wider ones or narrower, with their costs."""
    low, high = gap
    lows, highs = [low], [high]
    if widen:
        lows += sorted(day for day in days if least <= day < low)
    else:
        lows += sorted(day + 1 for day in days if low <= day)
    if high is not None:
        highs += sorted(day for day in days if day > high) if widen else []
        highs += sorted(day - 1 for day in days if low <= day - 1 and day <= high) if not widen else []
    found = []
    for first, last in product(lows, highs):
        moved = abs(first - low), 0 if last is None or high is None else abs(last - high)
        if (last is None or first <= last) and max(moved) <= MOST_DAYS:
            found.append(((first, last), ends_cost(*moved)))
    return found


def seen_in(sets: Sequence[Edited]) -> list[int]:
    """The events that any of the sets finds anywhere."""
    mask = 0
    for one in sets:
        for witnesses in one.witnesses:
            mask |= witnesses
    return list(bits(mask))


def any_of(events: Sequence[nodes.Events]) -> nodes.PatientExpression:
    """Patients with an event of one of the sets."""
    some = tuple(nodes.Exists(one) for one in events)
    return some[0] if len(some) == 1 else nodes.Or(some)


def least_gap(node: nodes.Ordered | nodes.Clear) -> int:
    """The fewest days that the gap can be widened to; that the same day counts must be asked for."""
    return 0 if node.relation == "within" else min(node.minimum, 1)
