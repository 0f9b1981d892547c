"""The edits of counts, ages, gaps without an event and kinds of absence for one patient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from ...kb.ontology.scales import as_number
from ...query_lang import nodes
from ..reference.time import completed_years
from .cost import DETAIL, bound_cost
from .events import Edited, EventEdits
from .record import Change, Record, bits
from .times import Way, in_gap, least_gap, moved_gaps


def clear_versions(
    record: Record, node: nodes.Clear, edits: EventEdits, places: Sequence[int], widen: bool
) -> Iterator[Way]:
    """*A with no B within …*: the fact and the gap edited (to hold, the gap shrinks), the absence let go.

    What must not be there is let go as a whole, or stays as it is.
    """
    absent = [record.found(node.absent, place) for place in places]
    days = record.days

    def gap_between(event: int, other: int) -> int:
        between = days[other] - days[event]
        return {"after": between, "before": -between}.get(node.relation, abs(between))

    everywhere = {other for mask in absent for other in bits(mask)}
    ways = found_sets(edits, places, widen)
    events = {event for one in ways for mask in one.witnesses for event in bits(mask)}
    distances = {gap_between(event, other) for event, other in product(events, everywhere) if event != other}
    gaps = moved_gaps((node.minimum, node.maximum), distances, least_gap(node), not widen)
    for one in ways:
        for gap, cost in gaps:
            held = sum(
                1 << at
                for at, (mask, others) in enumerate(zip(one.witnesses, absent, strict=True))
                if any(
                    not any(event != other and in_gap(gap_between(event, other), gap) for other in bits(others))
                    for event in bits(mask)
                )
            )
            edited = replace(node, events=one.events[0], minimum=gap[0], maximum=gap[1])
            changes = one.changes if not cost else (*one.changes, Change("windows", node, edited))
            yield held, one.cost + cost, edited if changes else node, changes
        if widen:
            held = sum(1 << at for at, mask in enumerate(one.witnesses) if mask)
            yield held, one.cost + DETAIL, nodes.Exists(one.events[0]), (*one.changes, Change("details", node, None))


def times_versions(
    record: Record, node: nodes.Times, edits: EventEdits, places: Sequence[int], widen: bool
) -> Iterator[Way]:
    """*at least n times*: the facts and the number edited."""
    for one in edits.sets(places, widen):
        counted = [times_of(record, node.by, mask) for mask in one.witnesses]
        numbers = (
            {number for number in counted if 1 <= number < node.n} if widen else {number + 1 for number in counted}
        )
        for n in sorted({node.n, *(number for number in numbers if widen or number > node.n)}):
            held = sum(1 << at for at, number in enumerate(counted) if number >= n)
            edited = replace(node, n=n, events=one.events[0])
            changes, cost = one.changes, one.cost
            if n != node.n:
                cost += bound_cost(abs(n - node.n) / node.n)
                changes = (*changes, Change("bounds", node.n, n))
            yield held, cost, edited if changes else node, changes


def times_of(record: Record, by: str, mask: int) -> int:
    """How many different days, lines or concepts these events have."""
    match by:
        case "days":
            return len({record.days[position] for position in bits(mask)})
        case "lines":
            lines = {as_number(record.events[position].attributes.get("line", "")) for position in bits(mask)}
            return len(lines - {None})
    recorded = {record.events[position].concept for position in bits(mask)} - {""}
    concepts = record.meaning.concepts
    return sum(not any(other != one and concepts.is_a(other, one) for other in recorded) for one in recorded)


def age_versions(
    record: Record, node: nodes.AgeAt, edits: EventEdits | None, places: Sequence[int], widen: bool
) -> Iterator[Way]:
    """*aged … at …*: the fact and the stated ages edited, the age let go."""
    births = [record.days[position] for position in bits(record.having("birth", context="present"))]
    ways: list[Edited | None] = [None]
    if edits is not None:
        ways = list(found_sets(edits, places, widen))
    ages = {completed_years(birth, day) for birth in births for day in _days(record, node, ways)}
    ranges = _ages(node, ages, widen)
    for one in ways:
        recorded = [
            {completed_years(birth, day) for birth in births for day in days}
            for days in (
                [[nodes.known_day(node.day)] if node.day is not None else [] for _ in places]
                if one is None
                else [[record.days[position] for position in bits(mask)] for mask in one.witnesses]
            )
        ]
        changes = () if one is None else one.changes
        spent = 0 if one is None else one.cost
        for (low, high), cost in ranges:
            held = sum(
                1 << at
                for at, some in enumerate(recorded)
                if any(low <= age and (high is None or age <= high) for age in some)
            )
            edited = replace(node, low=low, high=high, events=node.events if one is None else one.events[0])
            changed = changes if not cost else (*changes, Change("bounds", node, edited))
            yield held, spent + cost, edited if changed else node, changed
        if widen and one is not None:
            held = sum(1 << at for at, mask in enumerate(one.witnesses) if mask)
            yield held, spent + DETAIL, nodes.Exists(one.events[0]), (*changes, Change("details", node, None))


def _days(record: Record, node: nodes.AgeAt, ways: Sequence[Edited | None]) -> set[int]:
    if node.day is not None:
        return {nodes.known_day(node.day)}
    return {
        record.days[position] for one in ways if one is not None for mask in one.witnesses for position in bits(mask)
    }


def _ages(node: nodes.AgeAt, ages: set[int], widen: bool) -> list[tuple[tuple[int, int | None], int]]:
    """The range of ages, and those that tell the ages apart: wider ones or narrower. Only stated ends move."""
    low, high = node.low, node.high
    lows: list[int] = [low]
    highs: list[int | None] = [high]
    if low > 0:
        lows += [age for age in ages if 0 <= age < low] if widen else [age + 1 for age in ages if age >= low]
    if high is not None:
        highs += [age for age in ages if age > high] if widen else [age - 1 for age in ages if 1 <= age <= high]
    found = []
    for first, last in product(dict.fromkeys(lows), dict.fromkeys(highs)):
        if last is not None and first > last:
            continue
        cost = bound_cost((abs(first - low)) / max(1, low)) if first != low else 0
        if last != high and last is not None and high is not None:
            cost += bound_cost(abs(last - high) / max(1, high))
        found.append(((first, last), cost))
    return found


def found_sets(edits: EventEdits, places: Sequence[int], widen: bool) -> list[Edited]:
    """The event set as it stands and edited: in one place, to hold, by the cheapest way to each event."""
    if not widen or len(places) != 1:
        return edits.sets(places, widen)
    as_it_stands = Edited((edits.record.found(edits.events, places[0]),), 0, (edits.events,), ())
    return [as_it_stands, *(one for _, made in edits.targets(places[0]).found.values() for one in made)]
