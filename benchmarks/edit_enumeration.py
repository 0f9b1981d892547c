"""Every edit of a query, written out one by one: what the search of ``why_not`` is measured against.

This says anew, and naively, what an edit is and what it costs (``docs/why_not.md``): no dynamic programming, no bits. A fact
is edited in all ways, and of those that hold of the same views the cheapest is kept; of the tree every combination is built,
and the reference engine is asked whether it admits the patient. For small records and queries alone.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

from cohortium.engine.reference import Meaning, View
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY, Journey, Value, World
from cohortium.query_lang import nodes

#: Facts dropped, details let go, facts taken less strictly, steps between concepts, bounds moved, ends of windows moved,
#: by how much of a bound in millionths, by how many days.
Cost = tuple[int, int, int, int, int, int, int, int]
FREE: Cost = (0, 0, 0, 0, 0, 0, 0, 0)
FARTHEST = 3_653

Costed = tuple[Cost, nodes.PatientExpression]


def plus(*costs: Cost) -> Cost:
    """The costs added up."""
    return tuple(map(sum, zip(*costs, strict=True)))  # type: ignore[return-value]


def cost(**named: int) -> Cost:
    """A cost by the names of its places."""
    places = ("drops", "details", "uncertain", "concepts", "bounds", "windows", "shares", "days")
    return tuple(named.get(place, 0) for place in places)  # type: ignore[return-value]


class Enumeration:
    """The edits of one query for one patient that cost less than ``limit``."""

    def __init__(self, query: nodes.Query, journey: Journey, meaning: Meaning, limit: Cost) -> None:
        self._journey = journey
        self._meaning = dataclasses.replace(meaning, definitions=())
        self._limit = limit
        self._body = written_out(query)
        self._whole = View.of(journey)
        days = [event.day.midpoint for event in journey.events] or [0]
        self._days = range(min(days) - 1, max(days) + 2)

    def cheaper(self) -> Costed | None:
        """An edit below the limit that admits the patient; None if there is none."""
        if cost(drops=facts(self._body)) < self._limit:
            return cost(drops=facts(self._body)), self._body
        for spent, edited in sorted(self._trees(self._body, True, ""), key=lambda one: one[0]):
            if self._meaning.holds(edited, self._whole, World.BELIEVED):
                return spent, edited
        return None

    # --- the tree -----------------------------------------------------------------------------------------------------

    def _trees(self, node: nodes.PatientExpression, widen: bool, scope: str) -> list[Costed]:
        match node:
            case nodes.Exists() | nodes.Ordered():
                return self._facts(node, widen, scope)
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
        raise TypeError(type(node).__name__)

    def _combined(
        self, parts: Sequence[nodes.PatientExpression], widen: bool, scope: str, *, may_drop: bool
    ) -> Iterator[tuple[Cost, tuple[nodes.PatientExpression, ...]]]:
        ways: list[list[tuple[Cost, tuple[nodes.PatientExpression, ...]]]] = []
        for part in parts:
            own = [(spent, (one,)) for spent, one in self._trees(part, widen, scope)]
            ways.append([*own, (cost(drops=facts(part)), ())] if may_drop else own)  # type: ignore[list-item]
        partial: list[tuple[Cost, tuple[nodes.PatientExpression, ...]]] = [(FREE, ())]
        for some in ways:
            partial = [
                (total, kept + one)
                for (spent, kept), (more, one) in itertools.product(partial, some)
                if (total := plus(spent, more)) < self._limit
            ]
        return ((spent, kept) for spent, kept in partial if kept)

    # --- one fact, or two in a relation -------------------------------------------------------------------------------

    def _facts(self, node: nodes.Exists | nodes.Ordered, widen: bool, scope: str) -> list[Costed]:
        """All edits of a leaf; of those that hold of the same views, the cheapest."""
        views = [self._whole]
        tumors = [self._whole.of_tumor(tumor) for tumor in self._whole.tumors]
        if scope:
            views += tumors
        if scope == "event":
            views += [self._whole.of_event(seen) for seen in self._whole.events]
        best: dict[tuple[bool, ...], Costed] = {}
        ways = self._of_exists(node.events, widen) if isinstance(node, nodes.Exists) else self._of_order(node, widen)
        for spent, edited in ways:
            if spent >= self._limit:
                continue
            holds = tuple(self._meaning.holds(edited, view, World.BELIEVED) for view in views)
            if holds not in best or spent < best[holds][0]:
                best[holds] = (spent, edited)
        return list(best.values())

    def _of_exists(self, events: nodes.Events, widen: bool) -> Iterator[Costed]:
        for spent, sets in self._of_events(events, widen):
            some = tuple(nodes.Exists(one) for one in sets)
            yield spent, some[0] if len(some) == 1 else nodes.Or(some)

    def _of_order(self, node: nodes.Ordered, widen: bool) -> Iterator[Costed]:
        lefts, rights = list(self._of_events(node.left, widen)), list(self._of_events(node.right, widen))
        lefts, rights = self._distinct(lefts), self._distinct(rights)
        gaps = list(self._gaps(node, widen))
        for (spent, left), (more, right) in itertools.product(lefts, rights):
            base = plus(spent, more)
            if base >= self._limit:
                continue
            for extra, low, high in gaps:
                if (total := plus(base, extra)) < self._limit:
                    yield total, any_of(
                        dataclasses.replace(node, left=one, right=other, minimum=low, maximum=high)
                        for one, other in itertools.product(left, right)
                    )
            if widen and (total := plus(base, cost(details=1))) < self._limit:
                yield total, nodes.And((any_of(map(nodes.Exists, left)), any_of(map(nodes.Exists, right))))
        for side in (lefts, rights) if widen else ():
            for spent, sets in side:
                yield plus(spent, cost(drops=1)), any_of(map(nodes.Exists, sets))

    def _distinct(
        self, ways: list[tuple[Cost, tuple[nodes.Events, ...]]]
    ) -> list[tuple[Cost, tuple[nodes.Events, ...]]]:
        """Of the edits of one side that find the same events in every view, the cheapest."""
        views = [self._whole, *(self._whole.of_tumor(tumor) for tumor in self._whole.tumors)]
        best: dict[object, tuple[Cost, tuple[nodes.Events, ...]]] = {}
        for spent, sets in ways:
            found = tuple(
                frozenset(
                    seen.position
                    for one in sets
                    for witness in self._meaning.witnesses(one, view, World.BELIEVED)
                    for seen in witness
                )
                for view in views
            )
            if found not in best or spent < best[found][0]:
                best[found] = (spent, sets)
        return list(best.values())

    def _gaps(self, node: nodes.Ordered, widen: bool) -> Iterator[tuple[Cost, int, int | None]]:
        least = 0 if node.relation == "within" else 1
        longest = len(self._days) + 2
        lows = range(least, node.minimum + 1) if widen else range(node.minimum, node.minimum + longest)
        highs: Sequence[int | None] = [None]
        if node.maximum is not None:
            far = max(longest, node.maximum)
            highs = range(node.maximum, far + 1) if widen else range(node.minimum, node.maximum + 1)
        for low, high in itertools.product(lows, highs):
            if high is None or low <= high:
                ends = low - node.minimum, 0 if high is None or node.maximum is None else high - node.maximum
                yield windows(*ends), low, high

    # --- the parts of an event set ------------------------------------------------------------------------------------

    def _of_events(self, events: nodes.Events, widen: bool) -> Iterator[tuple[Cost, tuple[nodes.Events, ...]]]:
        picks = [(FREE, events.pick)]
        if widen and events.pick.how != "any":
            picks.append((cost(details=1), nodes.Pick()))
        contexts = [(FREE, (events.context,))]
        if widen and events.context in ("current", "historical"):
            contexts += [(cost(uncertain=1), ("present",)), (cost(uncertain=2), ("present", "uncertain"))]
        if widen and events.context == "present":
            contexts.append((cost(uncertain=1), ("present", "uncertain")))
        parts = (
            list(self._windows(events.window, widen)),
            list(self._concepts(events, widen)),
            [one for one in self._conditions(events, widen) if one[0] < self._limit],
            contexts,
            picks,
        )
        for (a, window), (b, concept), (c, condition), (d, some), (e, pick) in itertools.product(*parts):
            spent = plus(a, b, c, d, e)
            if spent < self._limit:
                yield (
                    spent,
                    tuple(
                        nodes.Events(events.kind, concept, condition, context, pick, window) for context in some
                    ),
                )

    def _windows(self, window: nodes.Window | None, widen: bool) -> Iterator[tuple[Cost, nodes.Window | None]]:
        if window is None:
            yield FREE, None
            return
        lows = [window.low] if window.low == EARLIEST_DAY else [*self._days, window.low]
        highs = [window.high] if window.high == LATEST_DAY else [*self._days, window.high]
        for low, high in itertools.product(lows, highs):
            outwards = low <= window.low and high >= window.high
            inwards = window.low <= low <= high <= window.high
            if outwards if widen else inwards:
                yield windows(low - window.low, high - window.high), nodes.Window(low, high)
        if widen:
            yield cost(details=1), None

    def _concepts(
        self, events: nodes.Events, widen: bool
    ) -> Iterator[tuple[Cost, nodes.ConceptExpression | None]]:
        if events.concept is None:
            yield FREE, None
            return
        if widen:
            yield from ((cost(concepts=steps), one) for steps, one in self._climbed(events.concept))
            if events.kind is not None:
                yield cost(details=1), None
            return
        yield FREE, events.concept
        table = self._meaning.concepts
        inside = [one for one in sorted(self._meaning.concept_ids(events.concept)) if one in table]
        named = set(names(events.concept))
        removable = [nodes.Under(term(one), one in named) for one in inside]
        for number in (1, 2, 3):
            for taken in itertools.combinations(removable, number):
                gone: nodes.ConceptExpression = taken[0] if number == 1 else nodes.Union(taken)
                yield cost(concepts=number), nodes.OtherThan(events.concept, gone)

    def _climbed(self, concept: nodes.ConceptExpression) -> Iterator[tuple[int, nodes.ConceptExpression]]:
        match concept:
            case nodes.Under(nodes.Concept(id), exact):
                yield 0, concept
                if exact:
                    yield 1, nodes.Under(term(id))
                for above, steps in self._above(id).items():
                    yield steps + exact, nodes.Under(term(above))
            case nodes.Union(parts):
                for ways in itertools.product(*(list(self._climbed(part)) for part in parts)):
                    yield sum(steps for steps, _ in ways), nodes.Union(tuple(one for _, one in ways))
            case nodes.OtherThan(base, excluded):
                parts = excluded.parts if isinstance(excluded, nodes.Union) else (excluded,)
                for steps, one in self._climbed(base):
                    yield steps, nodes.OtherThan(one, excluded)
                    for kept in itertools.chain.from_iterable(
                        itertools.combinations(parts, number) for number in range(len(parts))
                    ):
                        left = (
                            one
                            if not kept
                            else nodes.OtherThan(one, kept[0] if len(kept) == 1 else nodes.Union(kept))
                        )
                        yield steps + len(parts) - len(kept), left

    @functools.cache  # noqa: B019 - an enumeration is short-lived
    def _above(self, concept: str) -> dict[str, int]:
        table = self._meaning.concepts
        if concept not in table:
            return {}
        found: dict[str, int] = {}
        for parent in table.parents(concept):
            for above, steps in {parent: 0, **self._above(parent)}.items():
                found[above] = min(found.get(above, steps + 1), steps + 1)
        return found

    def _conditions(
        self, events: nodes.Events, widen: bool
    ) -> Iterator[tuple[Cost, nodes.Condition | None]]:
        condition = events.condition
        if condition is None:
            yield FREE, None
            return
        best: dict[tuple[bool, ...], tuple[Cost, nodes.Condition]] = {}
        kinds = [events.kind] if events.kind else sorted({event.kind for event in self._journey.events})
        for spent, one in self._condition(condition, widen):
            probes = [nodes.Events(kind, condition=one, context="any") for kind in kinds]
            holds = tuple(
                bool(self._meaning.witnesses(probe, self._whole.of_event(seen), World.BELIEVED))
                for probe in probes
                for seen in self._whole.events
            )
            if holds not in best or spent < best[holds][0]:
                best[holds] = (spent, one)
        yield from best.values()
        if widen:
            yield cost(details=comparisons(condition)), None

    def _condition(self, condition: nodes.Condition, widen: bool) -> Iterator[tuple[Cost, nodes.Condition]]:
        match condition:
            case nodes.AllOf(parts) | nodes.AnyOf(parts):
                may_drop = isinstance(condition, nodes.AllOf) is widen
                ways: list[list[tuple[Cost, nodes.Condition | None]]] = [
                    [
                        *self._condition(part, widen),
                        *([(cost(details=comparisons(part)), None)] if may_drop else []),
                    ]
                    for part in parts
                ]
                for way in itertools.product(*ways):
                    kept = tuple(one for _, one in way if one is not None)
                    spent = plus(*(each for each, _ in way))
                    if kept and spent < self._limit:
                        yield spent, kept[0] if len(kept) == 1 else type(condition)(kept)
                return
            case nodes.NotThat(part):
                yield from ((spent, nodes.NotThat(one)) for spent, one in self._condition(part, not widen))
                return
        yield FREE, condition
        match condition:
            case nodes.Is(attribute, values, exact) if widen:
                if exact:
                    yield cost(concepts=1), nodes.Is(attribute, values)
                for at, value in enumerate(values):
                    if isinstance(value, nodes.Concept):
                        for above, steps in self._above(value.id).items():
                            climbed = (*values[:at], term(above), *values[at + 1 :])
                            yield cost(concepts=steps + exact), nodes.Is(attribute, tuple(dict.fromkeys(climbed)))
            case nodes.Compare() | nodes.Between():
                yield from self._ranges(condition, widen)

    def _ranges(
        self, condition: nodes.Compare | nodes.Between, widen: bool
    ) -> Iterator[tuple[Cost, nodes.Condition]]:
        scales, attribute = self._meaning.scales, condition.attribute
        match condition:
            case nodes.Between(_, low, high):
                ends: list[tuple[str, str | float]] = [(">=", low), ("<=", high)]
            case nodes.Compare(_, "=", value) if widen:
                ends = [(">=", value), ("<=", value)]
            case nodes.Compare(_, operator, value) if operator not in ("=", "!="):
                ends = [(operator, value)]
            case _:
                return
        values: list[Value] = list(scales.values(attribute))
        values += {event.attributes[attribute] for event in self._journey.events if attribute in event.attributes}
        values += [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 79.0, 81.0]
        ways = []
        for operator, bound in ends:
            sign = operator[0]
            own: list[tuple[Cost, str, str | float]] = [(FREE, operator, bound)]
            for value, strict in itertools.product(values, (False, True)):
                way = self._end(attribute, operator, bound, sign + "=" * (not strict), value, widen)
                if way is not None:
                    written = value if isinstance(value, str) or not isinstance(bound, str) else f"{value:g}"
                    own.append((way, sign + "=" * (not strict), written))
            ways.append(own)
        for way in itertools.product(*ways):
            spent = plus(*(each for each, _, _ in way))
            if spent == FREE or spent >= self._limit:
                continue
            compared = tuple(nodes.Compare(attribute, operator, value) for _, operator, value in way)
            if len(compared) == 2:
                strict = any(len(one.operator) == 1 for one in compared)
                if not scales.compare(attribute, compared[0].value, "<" if strict else "<=", compared[1].value):
                    continue
            yield spent, compared[0] if len(compared) == 1 else nodes.AllOf(compared)

    def _end(
        self, attribute: str, operator: str, bound: Value, new: str, value: Value, widen: bool
    ) -> Cost | None:
        """The cost of moving an end of a range; None if that is not in the direction wanted."""
        scales = self._meaning.scales
        first, second = scales.span(attribute, bound), scales.span(attribute, value)
        sign = 1 if operator[0] == ">" else -1
        if first is not None and second is not None:

            def at(one: str, span: tuple[int, int]) -> float:
                return {">=": span[0], ">": span[1] + 0.5, "<=": span[1], "<": span[0] - 0.5}[one]

            inwards = sign * (at(new, second) - at(operator, first))
            size = float(len(scales.values(attribute)))
            stricter = 0
        else:
            number, other = as_number(bound), as_number(value)
            if number is None or other is None:
                return None
            inwards, size = sign * (other - number), max(1.0, abs(number))
            stricter = len(operator) - len(new)
        if (inwards, stricter) == (0, 0):
            return None
        towards_fewer = inwards > 0 or (inwards == 0 and stricter > 0)
        return None if towards_fewer is widen else moved(abs(inwards) / size)


def as_number(value: Value) -> float | None:
    """The number that a value is or spells."""
    try:
        return float(value)
    except ValueError:
        return None


def moved(share: float) -> Cost:
    """One bound moved by a share of itself."""
    return cost(bounds=1, shares=min(1_000_000_000, round(share * 1_000_000)))


def windows(*days: int) -> Cost:
    """Ends of a window moved by so many days."""
    return cost(windows=sum(1 for one in days if one), days=sum(map(abs, days)))


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
    if isinstance(node, nodes.Ordered):
        return 2
    return sum(map(facts, nodes.children(node))) or 1


def comparisons(condition: nodes.Condition) -> int:
    """How many comparisons a condition makes."""
    match condition:
        case nodes.AllOf(parts) | nodes.AnyOf(parts):
            return sum(map(comparisons, parts))
        case nodes.NotThat(part):
            return comparisons(part)
    return 1


def names(concept: nodes.ConceptExpression) -> Iterator[str]:
    """The concepts that an expression names and does not exclude."""
    match concept:
        case nodes.Under(nodes.Concept(id)):
            yield id
        case nodes.Union(parts):
            yield from itertools.chain.from_iterable(map(names, parts))
        case nodes.OtherThan(base, _):
            yield from names(base)


def term(concept: str) -> nodes.Concept:
    """A resolved name."""
    return nodes.Concept(concept, concept.replace("_", " "))


def any_of(criteria: Iterable[nodes.PatientExpression]) -> nodes.PatientExpression:
    """One of the criteria."""
    some = tuple(criteria)
    return some[0] if len(some) == 1 else nodes.Or(some)
