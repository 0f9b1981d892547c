"""Every edit of one set of events, written out one by one: its window, concept, context, pick, condition, and the rest.

What an edit is and costs is told in ``docs/guide/why_not.md``; see :mod:`edit_enumeration`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cohortium.engine.reference.meaning import Meaning, View
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY, Journey, Value, World
from cohortium.query_lang import nodes

#: Facts dropped, details let go, facts taken less strictly, steps between concepts, bounds moved, ends of windows
#: moved, by how much of a bound in millionths, by how many days.
Cost = tuple[int, int, int, int, int, int, int, int]
FREE: Cost = (0, 0, 0, 0, 0, 0, 0, 0)
FARTHEST = 3_653

Costed = tuple[Cost, nodes.PatientExpression]
#: Where a fact is told, whether undisputed, by how many notes, in which way; of its beginning, and how long it lasted.
_Known = tuple[str, bool, int, str, str, nodes.Lasting | None]


def plus(*costs: Cost) -> Cost:
    """The costs added up."""
    return tuple(map(sum, zip(*costs, strict=True)))  # type: ignore[return-value]


def cost(**named: int) -> Cost:
    """A cost by the names of its places."""
    places = ("drops", "details", "uncertain", "concepts", "bounds", "windows", "shares", "days")
    return tuple(named.get(place, 0) for place in places)  # type: ignore[return-value]


class TooMany(Exception):
    """There are more edits than were to be written out."""


class SetEdits:
    """The edits of the event sets of one patient that cost less than ``limit``."""

    def __init__(self, journey: Journey, meaning: Meaning, limit: Cost, most: int = 20_000) -> None:
        """``most``: so many edits of facts, or of whole queries, are looked at before :class:`TooMany`."""
        self._journey = journey
        self._left = most
        self._meaning = dataclasses.replace(meaning, definitions=())
        self._limit = limit
        self._whole = View.from_journey(journey)
        # The days about those of the events: an end elsewhere divides them no otherwise, and moves farther.
        days = [event.day.midpoint for event in journey.events]
        self._days = sorted({day + about for day in days for about in (-1, 0, 1)})
        self._gaps_told = sorted({abs(one - other) + about for one in days for other in days for about in (-1, 0, 1)})

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooMany

    def _distinct(
        self, ways: Iterable[tuple[Cost, tuple[nodes.Events, ...]]]
    ) -> list[tuple[Cost, tuple[nodes.Events, ...]]]:
        """Of the edits of one side that find the same events in every view, the cheapest."""
        views = [self._whole, *(self._whole.of_tumor(tumor) for tumor in self._whole.tumors)]
        best: dict[object, tuple[Cost, tuple[nodes.Events, ...]]] = {}
        for spent, sets in ways:
            self._count()
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

    def _of_events(
        self, events: nodes.Events, widen: bool, *, alone: bool = False
    ) -> Iterator[tuple[Cost, tuple[nodes.Events, ...]]]:
        picks = [(FREE, events.pick)]
        if widen and events.pick.how != "any":
            picks.append((cost(details=1), nodes.Pick()))
        contexts = [(FREE, (events.context,))]
        if widen and events.context in ("current", "historical"):
            contexts += [(cost(uncertain=1), ("present",)), (cost(uncertain=2), ("present", "uncertain"))]
        if widen and events.context == "present":
            contexts.append((cost(uncertain=1), ("present", "uncertain")))
        if alone:
            contexts = [one for one in contexts if len(one[1]) == 1]
        # What a part lets through is all that matters of it: of those that let the same events through, the cheapest.
        days = [event.day.midpoint for event in self._journey.events]
        told = [event.concept for event in self._journey.events]
        parts = (
            self._least(self._known(events, widen), lambda known: tuple(self._passes_known(known, events))),
            self._least(
                self._windows(events.window, widen),
                lambda window: tuple(window is None or window.low <= day <= window.high for day in days),
            ),
            self._least(self._concepts(events, widen), lambda concept: self._admitted(concept, told)),
            [one for one in self._conditions(events, widen) if one[0] < self._limit],
            contexts,
            picks,
        )
        for (a, known), (b, window), (c, concept), (d, condition), (e, some), (f, pick) in itertools.product(*parts):
            spent = plus(a, b, c, d, e, f)
            if spent < self._limit:
                yield (
                    spent,
                    tuple(
                        nodes.Events(events.kind, concept, condition, context, pick, window, *known) for context in some
                    ),
                )

    def _least(self, ways: Iterable[tuple[Cost, Any]], through: Callable[[Any], object]) -> list[tuple[Cost, Any]]:
        best: dict[object, tuple[Cost, Any]] = {}
        for spent, one in ways:
            if spent < self._limit:
                key = through(one)
                if key not in best or spent < best[key][0]:
                    best[key] = (spent, one)
        return list(best.values())

    def _admitted(self, concept: nodes.ConceptExpression | None, told: Sequence[str]) -> tuple[bool, ...]:
        if concept is None:
            return tuple(True for _ in told)
        inside = self._meaning.concept_ids(concept)
        return tuple(one in inside for one in told)

    def _passes_known(self, known: _Known, events: nodes.Events) -> Iterator[bool]:
        for seen in self._whole.events:
            probe = nodes.Events(seen.event.kind, None, None, "any", nodes.Pick(), None, *known)
            yield bool(self._meaning.witnesses(probe, self._whole.of_event(seen), World.BELIEVED))

    def _known(self, events: nodes.Events, widen: bool) -> Iterator[tuple[Cost, _Known]]:
        for source, undisputed, way, lasting in itertools.product(
            {events.source, ""}, {events.undisputed, False}, {events.known, ""}, {events.lasting, None}
        ):
            gone = (source != events.source) + (undisputed != events.undisputed) + (way != events.known)
            gone += lasting != events.lasting
            for n in range(1, events.sources + 5) if events.sources > 1 else (1,):
                extra = moved(abs(n - events.sources) / events.sources) if n != events.sources else FREE
                if (n == events.sources or (n < events.sources) is widen) and (widen or not gone):
                    yield plus(cost(details=gone), extra), (source, undisputed, n, way, "begin", lasting)

    def _windows(self, window: nodes.Window | None, widen: bool) -> Iterator[tuple[Cost, nodes.Window | None]]:
        if window is None:
            yield FREE, None
            return
        lows = [window.low] if window.low == EARLIEST_DAY else [*self._days, window.low]
        highs = [window.high] if window.high == LATEST_DAY else [*self._days, window.high]
        for low, high in itertools.product(lows, highs):
            if max(abs(low - window.low), abs(high - window.high)) > FARTHEST:
                continue
            outwards = low <= window.low and high >= window.high
            inwards = window.low <= low <= high <= window.high
            if outwards if widen else inwards:
                yield windows(low - window.low, high - window.high), nodes.Window(low, high)
        if widen:
            yield cost(details=1), None

    def _concepts(self, events: nodes.Events, widen: bool) -> Iterator[tuple[Cost, nodes.ConceptExpression | None]]:
        if events.concept is None or events.context == "absent":
            yield FREE, events.concept
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
        removable = [nodes.Under(term(one)) for one in inside if one not in named]
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
                for above, steps in self._instead(id).items():
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
                            one if not kept else nodes.OtherThan(one, kept[0] if len(kept) == 1 else nodes.Union(kept))
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

    def _instead(self, concept: str) -> dict[str, int]:
        """The concepts above that are asked for instead: no group of markers, and not any value whatever."""
        table = self._meaning.concepts
        if concept not in table or table.kind(concept) == "biomarker":
            return {}
        found = self._above(concept)
        return {one: steps for one, steps in found.items() if table.kind(one) != "value" or table.parents(one)}

    def _conditions(self, events: nodes.Events, widen: bool) -> Iterator[tuple[Cost, nodes.Condition | None]]:
        condition = events.condition
        if condition is None or events.context == "absent":
            yield FREE, condition
            return
        yield from self._of_condition(condition, events.kind, widen)
        if widen:
            yield cost(details=comparisons(condition)), None

    def _of_condition(
        self, condition: nodes.Condition, kind: str | None, widen: bool
    ) -> list[tuple[Cost, nodes.Condition]]:
        """Its edits; of those that hold of the same events, the cheapest."""
        kinds = [kind] if kind else sorted({event.kind for event in self._journey.events})

        def holds(one: nodes.Condition) -> tuple[int, ...]:
            self._count()
            return tuple(
                witness[0].position
                for each in kinds
                for witness in self._meaning.witnesses(
                    nodes.Events(each, condition=one, context="any"), self._whole, World.BELIEVED
                )
            )

        return self._least(self._condition(condition, kind, widen), holds)

    def _condition(
        self, condition: nodes.Condition, kind: str | None, widen: bool
    ) -> Iterator[tuple[Cost, nodes.Condition]]:
        match condition:
            case nodes.AllOf(parts) | nodes.AnyOf(parts):
                may_drop = isinstance(condition, nodes.AllOf) is widen
                ways: list[list[tuple[Cost, nodes.Condition | None]]] = [
                    [
                        *self._of_condition(part, kind, widen),
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
                yield from ((spent, nodes.NotThat(one)) for spent, one in self._of_condition(part, kind, not widen))
                return
        yield FREE, condition
        match condition:
            case nodes.Is(attribute, values, exact) if widen:
                if exact:
                    yield cost(concepts=1), nodes.Is(attribute, values)
                for at, value in enumerate(values):
                    if isinstance(value, nodes.Concept):
                        for above, steps in self._instead(value.id).items():
                            climbed = (*values[:at], term(above), *values[at + 1 :])
                            yield cost(concepts=steps + exact), nodes.Is(attribute, tuple(dict.fromkeys(climbed)))
            case nodes.Compare() | nodes.Between():
                yield from self._ranges(condition, widen)

    def _ranges(self, condition: nodes.Compare | nodes.Between, widen: bool) -> Iterator[tuple[Cost, nodes.Condition]]:
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

    def _end(self, attribute: str, operator: str, bound: Value, new: str, value: Value, widen: bool) -> Cost | None:
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
