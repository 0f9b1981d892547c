"""Every edit of a query, written out one by one: what the search of ``why_not`` is measured against.

This says anew, and naively, what an edit is and what it costs (``docs/guide/why_not.md``): no dynamic programming, no
bits. A fact is edited in all ways, and of those that hold of the same views the cheapest is kept; of the tree every
combination is built, and the reference engine is asked whether it admits the patient. For small records and queries
alone.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence

from cohortium.engine.reference.meaning import Meaning
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes
from cohortium.query_lang.tree import children, event_sets
from tests.generated.enumerated_facts import FARTHEST, FREE, Cost, Costed, SetEdits, TooMany, cost, moved, plus, windows


class Enumeration(SetEdits):
    """The edits of one query for one patient that cost less than ``limit``."""

    def __init__(self, query: nodes.Query, journey: Journey, meaning: Meaning, limit: Cost, most: int = 20_000) -> None:
        """``most``: so many edits of facts, or of whole queries, are looked at before :class:`TooMany`."""
        super().__init__(journey, meaning, limit, most)
        self._body = written_out(query)

    def cheaper(self) -> Costed | None:
        """An edit below the limit that admits the patient; None if there is none."""
        if cost(drops=facts(self._body)) < self._limit:
            return cost(drops=facts(self._body)), self._body
        for spent, edited in sorted(self._trees(self._body, True, ""), key=lambda one: one[0]):
            self._count()
            if self._meaning.holds(edited, self._whole, World.BELIEVED):
                return spent, edited
        return None

    # --- the tree -----------------------------------------------------------------------------------------------------

    def _trees(self, node: nodes.PatientExpression, widen: bool, scope: str) -> list[Costed]:
        match node:
            case nodes.Not(part):
                return [(spent, nodes.Not(one)) for spent, one in self._trees(part, not widen, scope)]
            case nodes.And(parts):
                return [
                    (spent, kept[0] if len(kept) == 1 else nodes.And(kept))
                    for spent, kept in self._combined(parts, widen, scope, may_drop=widen)
                ]
            case nodes.Or(parts):
                return [
                    (spent, kept[0] if len(kept) == 1 else nodes.Or(kept))
                    for spent, kept in self._combined(parts, widen, scope, may_drop=not widen)
                ]
            case nodes.AtLeast(n, parts):
                return [
                    (total, nodes.AtLeast(m, kept))
                    for spent, kept in self._combined(parts, widen, scope, may_drop=not widen)
                    for m in range(1, len(kept) + 1)
                    if m == n or (m < n) is widen
                    if (total := plus(spent, moved(abs(m - n) / n) if m != n else FREE)) < self._limit
                ]
            case nodes.Except(left, right):
                return self._trees(nodes.And((left, nodes.Not(right))), widen, scope)
            case nodes.SameTumor(body) | nodes.SameEvent(body):
                inner = "event" if isinstance(node, nodes.SameEvent) else scope or "tumor"
                found: list[Costed] = [(spent, type(node)(one)) for spent, one in self._trees(body, widen, inner)]
                if widen:
                    loose = ((plus(spent, cost(details=1)), one) for spent, one in self._trees(body, True, inner))
                    found += [one for one in loose if one[0] < self._limit]
                return found
        return self._facts(node, widen, scope)

    def _combined(
        self, parts: Sequence[nodes.PatientExpression], widen: bool, scope: str, *, may_drop: bool
    ) -> Iterator[tuple[Cost, tuple[nodes.PatientExpression, ...]]]:
        ways: list[list[tuple[Cost, tuple[nodes.PatientExpression, ...]]]] = []
        for part in parts:
            own = [(spent, (one,)) for spent, one in self._trees(part, widen, scope)]
            ways.append([*own, (cost(drops=facts(part)), ())] if may_drop else own)  # type: ignore[list-item]
        partial: list[tuple[Cost, tuple[nodes.PatientExpression, ...]]] = [(FREE, ())]
        for some in ways:
            if len(partial) * len(some) > 50_000:
                raise TooMany
            partial = [
                (total, kept + one)
                for (spent, kept), (more, one) in itertools.product(partial, some)
                if (total := plus(spent, more)) < self._limit
            ]
        return ((spent, kept) for spent, kept in partial if kept)

    # --- one fact, or two in a relation -------------------------------------------------------------------------------

    def _facts(self, node: nodes.PatientExpression, widen: bool, scope: str) -> list[Costed]:
        """All edits of a leaf; of those that hold of the same views, the cheapest."""
        views = [self._whole]
        tumors = [self._whole.of_tumor(tumor) for tumor in self._whole.tumors]
        if scope:
            views += tumors
        if scope == "event":
            views += [self._whole.of_event(seen) for seen in self._whole.events]
        best: dict[tuple[bool, ...], Costed] = {}
        for spent, edited in self._of_leaf(node, widen):
            if spent >= self._limit:
                continue
            self._count()
            holds = tuple(self._meaning.holds(edited, view, World.BELIEVED) for view in views)
            if holds not in best or spent < best[holds][0]:
                best[holds] = (spent, edited)
        return list(best.values())

    def _of_leaf(self, node: nodes.PatientExpression, widen: bool) -> Iterator[Costed]:
        yield FREE, node
        if any(events.moment == "end" for events in event_sets(node)):
            return
        match node:
            case nodes.Exists(events) if node.expansion is None:
                for spent, sets in self._of_events(events, widen):
                    yield spent, any_of(map(nodes.Exists, sets))
            case nodes.Ordered():
                yield from self._of_order(node, widen)
            case nodes.Sequence():
                yield from self._of_sequence(node, widen)
            case nodes.Clear(events):
                for spent, one in self._alone(events, widen):
                    if widen:
                        yield plus(spent, cost(details=1)), nodes.Exists(one)
                    for extra, low, high in self._gaps(node.relation, node.minimum, node.maximum, not widen):
                        yield (
                            plus(spent, extra),
                            dataclasses.replace(node, events=one, minimum=low, maximum=high),
                        )
            case nodes.Times(n, events):
                for spent, one in self._alone(events, widen):
                    for m in range(1, n + 1) if widen else range(n, n + 12):
                        extra = moved(abs(m - n) / n) if m != n else FREE
                        yield plus(spent, extra), dataclasses.replace(node, n=m, events=one)
            case nodes.AgeAt(None):
                for extra, low, high in self._ages(node, widen):
                    yield extra, dataclasses.replace(node, low=low, high=high)
            case nodes.AgeAt(nodes.Events() as events):
                for spent, one in self._alone(events, widen):
                    if widen:
                        yield plus(spent, cost(details=1)), nodes.Exists(one)
                    for extra, low, high in self._ages(node, widen):
                        yield plus(spent, extra), dataclasses.replace(node, events=one, low=low, high=high)
            case nodes.Lacking(_, events) if widen:
                for spent, sets in self._of_events(events, False):
                    yield plus(spent, cost(details=1)), nodes.Not(any_of(map(nodes.Exists, sets)))

    def _of_order(self, node: nodes.Ordered, widen: bool) -> Iterator[Costed]:
        lefts = self._distinct(self._of_events(node.left, widen))
        rights = self._distinct(self._of_events(node.right, widen))
        eased = [(FREE, node)]
        if node.relation in nodes.GAP_RELATIONS:
            eased = [
                (extra, dataclasses.replace(node, minimum=low, maximum=high))
                for extra, low, high in self._gaps(node.relation, node.minimum, node.maximum, widen)
            ]
        if widen and node.different and node.relation != "beside":
            eased += [(plus(extra, cost(details=1)), dataclasses.replace(one, different=False)) for extra, one in eased]
        if widen and node.without is not None:
            eased += [(plus(extra, cost(details=1)), dataclasses.replace(one, without=None)) for extra, one in eased]
        for (spent, left), (more, right) in itertools.product(lefts, rights):
            base = plus(spent, more)
            if base >= self._limit:
                continue
            for extra, one in eased:
                if (total := plus(base, extra)) < self._limit:
                    yield (
                        total,
                        any_of(
                            dataclasses.replace(one, left=first, right=second)
                            for first, second in itertools.product(left, right)
                        ),
                    )
            if widen and (total := plus(base, cost(details=1))) < self._limit:
                yield total, nodes.And((any_of(map(nodes.Exists, left)), any_of(map(nodes.Exists, right))))
        for side in (lefts, rights) if widen else ():
            for spent, sets in side:
                yield plus(spent, cost(drops=1)), any_of(map(nodes.Exists, sets))

    def _of_sequence(self, node: nodes.Sequence, widen: bool) -> Iterator[Costed]:
        ways = [self._distinct(self._of_events(step, widen, alone=True)) for step in node.steps]
        gaps = []
        for gap in node.gaps:
            own = [
                (extra, nodes.Gap(low, high, gap.without))
                for extra, low, high in self._gaps("before", gap.minimum, gap.maximum, widen)
            ]
            if widen and gap.without is not None:
                own += [(plus(extra, cost(details=1)), nodes.Gap(one.minimum, one.maximum)) for extra, one in own]
            gaps.append(own)
        for steps in itertools.product(*ways):
            base = plus(*(spent for spent, _ in steps))
            if base >= self._limit:
                continue
            sets = tuple(some[0] for _, some in steps)
            if widen and (total := plus(base, cost(details=1))) < self._limit:
                yield total, nodes.And(tuple(map(nodes.Exists, sets)))
            for chosen in itertools.product(*gaps):
                if (total := plus(base, *(extra for extra, _ in chosen))) < self._limit:
                    yield total, nodes.Sequence(sets, tuple(gap for _, gap in chosen))

    def _alone(self, events: nodes.Events, widen: bool) -> Iterator[tuple[Cost, nodes.Events]]:
        for spent, sets in self._distinct(self._of_events(events, widen, alone=True)):
            yield spent, sets[0]

    def _ages(self, node: nodes.AgeAt, widen: bool) -> Iterator[tuple[Cost, int, int | None]]:
        lows = [node.low] if not node.low else range(node.low + 1) if widen else range(node.low, node.low + 125)
        highs: Iterable[int | None] = [None]
        if node.high is not None:
            highs = range(node.high, node.high + 125) if widen else range(node.high + 1)
        for low, high in itertools.product(lows, highs):
            if high is None or low <= high:
                spent = moved(abs(low - node.low) / max(1, node.low)) if low != node.low else FREE
                if high is not None and node.high is not None and high != node.high:
                    spent = plus(spent, moved(abs(high - node.high) / max(1, node.high)))
                yield spent, low, high

    def _gaps(
        self, relation: str, minimum: int, maximum: int | None, widen: bool
    ) -> Iterator[tuple[Cost, int, int | None]]:
        least = 0 if relation == "within" else 1
        told = [least, minimum, *self._gaps_told]
        lows = {low for low in told if (least <= low <= minimum if widen else low >= minimum)}
        highs: set[int | None] = {None}
        if maximum is not None:
            highs = {high for high in [maximum, *told] if (high >= maximum if widen else minimum <= high <= maximum)}
        for low, high in itertools.product(lows, highs):
            if max(abs(low - minimum), abs((high or 0) - (maximum or 0))) > FARTHEST:
                continue
            if high is None or low <= high:
                spent = windows(low - minimum, 0 if high is None or maximum is None else high - maximum)
                if spent < self._limit:
                    yield spent, low, high


def written_out(query: nodes.Query) -> nodes.PatientExpression:
    """The query without definitions."""
    bodies: dict[str, nodes.PatientExpression] = {}

    def replaced(node: nodes.PatientExpression) -> nodes.PatientExpression:
        match node:
            case nodes.Defined(name):
                return bodies[name]
            case nodes.And(parts) | nodes.Or(parts) | nodes.AtLeast(_, parts):
                return dataclasses.replace(node, parts=tuple(map(replaced, parts)))
            case nodes.Not(part):
                return nodes.Not(replaced(part))
            case nodes.Except(left, right):
                return nodes.Except(replaced(left), replaced(right))
            case nodes.SameTumor(body) | nodes.SameEvent(body):
                return type(node)(replaced(body))
        return node

    for definition in query.definitions:
        bodies[definition.name] = replaced(definition.body)
    return replaced(query.body)


def facts(node: nodes.PatientExpression) -> int:
    """How many facts a criterion without definitions asks for."""
    match node:
        case nodes.Ordered():
            return 2
        case nodes.Sequence(steps):
            return len(steps)
    return sum(map(facts, children(node))) or 1


def any_of(criteria: Iterable[nodes.PatientExpression]) -> nodes.PatientExpression:
    """One of the criteria."""
    some = tuple(criteria)
    return some[0] if len(some) == 1 else nodes.Or(some)
