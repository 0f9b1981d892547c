"""The edits of a sequence of facts for one patient: each step, each gap, what must not lie between, the order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ...query_lang import nodes
from ..reference.time import separated
from ..reference.views import Seen
from .cost import DETAIL, MOST_TIES
from .events import Edited, EventEdits
from .record import BELIEVED, Change, Record, bits
from .times import Way, eased_gap, in_gap, moved_gaps, seen_in


class _Chain(NamedTuple):
    """The first steps, edited, with the gaps between them and what was changed."""

    steps: tuple[nodes.Events, ...]
    gaps: tuple[nodes.Gap, ...]
    changes: tuple[Change, ...]


class SequenceEdits:
    """The edits of one sequence of one record."""

    def __init__(self, record: Record, node: nodes.Sequence, steps: Sequence[EventEdits]) -> None:
        """``steps`` edit its facts."""
        self._record = record
        self._node = node
        self._steps = steps
        self._between: dict[tuple[nodes.Events, int], list[tuple[Seen, ...]]] = {}

    def versions(self, places: Sequence[int], widen: bool) -> Iterator[Way]:
        """The sequence as it stands and edited."""
        if widen and len(places) == 1:
            yield from self._in_one_place(places[0])
        else:
            yield from self._in_places(places, widen)

    # --- to hold, in one place ----------------------------------------------------------------------------------------

    def _in_one_place(self, place: int) -> Iterator[Way]:
        """Event after event, by the cheapest way to each; or the facts without their order."""
        targets = [step.targets(place).found for step in self._steps]
        reached = {
            at: (cost, [_Chain(one.events, (), one.changes) for one in made]) for at, (cost, made) in targets[0].items()
        }
        for gap, step in zip(self._node.gaps, targets[1:], strict=True):
            reached = self._next(reached, gap, step, place)
        least = min((cost for cost, _ in reached.values()), default=None)
        yield int(least == 0), 0, self._node, ()
        for cost, chains in reached.values():
            if cost == least:
                for chain in chains:
                    yield 1, cost, self._assembled(chain), chain.changes
        if all(targets):
            cheapest = [min(cost for cost, _ in step.values()) for step in targets]
            ways = [
                [one for spent, made in step.values() if spent == cost for one in made][:MOST_TIES]
                for step, cost in zip(targets, cheapest, strict=True)
            ]
            yield from self._without_order(ways, sum(cheapest), 1)

    def _next(
        self,
        reached: dict[int, tuple[int, list[_Chain]]],
        gap: nodes.Gap,
        step: dict[int, tuple[int, list[Edited]]],
        place: int,
    ) -> dict[int, tuple[int, list[_Chain]]]:
        found: dict[int, tuple[int, list[_Chain]]] = {}
        for (earlier, (cost, chains)), (later, (more, made)) in product(reached.items(), step.items()):
            days = self._record.days[later] - self._record.days[earlier]
            eased = eased_gap((gap.minimum, gap.maximum), days, 1)
            if eased is None or earlier == later:
                continue
            (low, high), extra = eased
            kept = gap.without
            changes: tuple[Change, ...] = ()
            if kept is not None and self._separated(kept, earlier, later, place):
                kept, changes = None, (Change("details", gap.without, None),)
            edited = nodes.Gap(low, high, kept)
            if extra:
                changes = (*changes, Change("windows", gap, edited))
            total = cost + more + extra + DETAIL * (kept is not gap.without)
            if later in found and found[later][0] < total:
                continue
            longer = [
                _Chain((*chain.steps, *one.events), (*chain.gaps, edited), chain.changes + one.changes + changes)
                for chain, one in product(chains, made)
            ]
            if later not in found or total < found[later][0]:
                found[later] = (total, [])
            found[later][1].extend(longer[: MOST_TIES - len(found[later][1])])
        return found

    # --- in many places, or not to hold -------------------------------------------------------------------------------

    def _in_places(self, places: Sequence[int], widen: bool) -> Iterator[Way]:
        sets = [step.sets(places, widen) for step in self._steps]
        gaps = []
        for gap, earlier, later in zip(self._node.gaps, sets, sets[1:], strict=False):
            days = {
                self._record.days[two] - self._record.days[one]
                for one, two in product(seen_in(earlier), seen_in(later))
                if one != two
            }
            ways = []
            for (low, high), cost in moved_gaps((gap.minimum, gap.maximum), days, 1, widen):
                moved = () if not cost else (Change("windows", gap, nodes.Gap(low, high, gap.without)),)
                ways.append((nodes.Gap(low, high, gap.without), cost, moved))
                if widen and gap.without is not None:
                    gone = Change("details", gap.without, None)
                    ways.append((nodes.Gap(low, high), cost + DETAIL, (*moved, gone)))
            gaps.append(ways)
        for steps in product(*sets):
            spent = sum(one.cost for one in steps)
            changed = tuple(change for one in steps for change in one.changes)
            for chosen in product(*gaps):
                held = sum(
                    1 << at
                    for at, place in enumerate(places)
                    if self._follows([one.witnesses[at] for one in steps], [gap for gap, _, _ in chosen], place)
                )
                changes = changed + tuple(change for _, _, some in chosen for change in some)
                chain = _Chain(tuple(one.events[0] for one in steps), tuple(gap for gap, _, _ in chosen), changes)
                yield held, spent + sum(cost for _, cost, _ in chosen), self._assembled(chain), changes
            if widen:
                held = sum(1 << at for at in range(len(places)) if all(one.witnesses[at] for one in steps))
                yield from self._without_order([[one] for one in steps], spent, held)

    def _follows(self, witnesses: Sequence[int], gaps: Sequence[nodes.Gap], place: int) -> bool:
        reached = list(bits(witnesses[0]))
        for mask, gap in zip(witnesses[1:], gaps, strict=True):
            reached = [
                later
                for later in bits(mask)
                if any(
                    earlier != later
                    and in_gap(self._record.days[later] - self._record.days[earlier], (gap.minimum, gap.maximum))
                    and not (gap.without is not None and self._separated(gap.without, earlier, later, place))
                    for earlier in reached
                )
            ]
        return bool(reached)

    def _separated(self, without: nodes.Events, earlier: int, later: int, place: int) -> bool:
        between = self._between.get((without, place))
        if between is None:
            between = self._record.meaning.witnesses(without, self._record.shown(place), BELIEVED)
            self._between[without, place] = between
        seen = self._record.view.events
        return separated("before", seen[earlier], seen[later], between, BELIEVED)

    def _assembled(self, chain: _Chain) -> nodes.PatientExpression:
        return nodes.Sequence(chain.steps, chain.gaps) if chain.changes else self._node

    def _without_order(self, ways: Sequence[Sequence[Edited]], cost: int, held: int) -> Iterator[Way]:
        for number, steps in enumerate(product(*ways)):
            if number == MOST_TIES:
                return
            changes = tuple(change for one in steps for change in one.changes)
            facts = nodes.And(tuple(nodes.Exists(one.events[0]) for one in steps))
            yield held, cost + DETAIL, facts, (*changes, Change("details", self._node, None))
