"""Criteria about several events, in the verifier's own words: orders, sequences, clear times, counts, ages, absence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ....kb.kinds import KIND_TABLE
from ....kb.model import DayInterval, World
from ....kb.note_classes import note_class
from ....kb.ontology.scales import as_number
from ....query_lang import nodes
from ....query_lang.tree import attributes_of
from .faults import items
from .gaps import Witness, gap_of, is_aged, is_before, lasts_until, lie_apart, relate
from .picks import earliest_days, fewest_days
from .sets import Sets, UnknownNode, in_context, in_window
from .views import NEGATED, Seen, View
from .walk import Proof, Step, Walk

#: What rounding may take from a number, and from one above 1 as a part of it.
_SLACK: Final = 1e-9


def _between(
    walk: Walk, sets: Sequence[nodes.Events | None], proof: Proof, at: int, view: View, world: World
) -> list[list[Witness]]:
    """The witnesses of what must not lie between; the proof tells those sets behind the others."""
    found: list[list[Witness]] = []
    for events in sets:
        if events is None:
            found.append([])
            continue
        stated = walk.set_of(proof, at, NEGATED[world])
        found.append(walk.whole(events, stated, view, NEGATED[world]))
        at += 1
    return found


# What every step of a walk is given, with the steps of the sequence and their relations.
def _in_order(
    walk: Walk,
    steps: Sequence[nodes.Events],
    relations: Sequence[nodes.Ordered],
    proof: Proof,
    view: View,
    world: World,
    holds: bool,
) -> list[Witness] | None:
    """Holds: the chosen witnesses, one of each step, if each stands in its relation to the one before. Fails: there is
    no such chain among all of them."""
    between = _between(walk, [relation.without for relation in relations], proof, len(steps), view, world)
    stated = [walk.set_of(proof, at, world) for at in range(len(steps))]
    if holds:
        chosen = [walk.chosen(step, one, view, world) for step, one in zip(steps, stated, strict=True)]
        if not all(chosen):
            return None
        for relation, middle, (one, two) in zip(relations, between, itertools.pairwise(chosen), strict=True):
            right = relate(relation, one, two, world, walk.sets, middle)
            walk.findings.require(right, "day", "the chosen events are not so related")
        return chosen
    all_ones = [walk.whole(step, one, view, world) for step, one in zip(steps, stated, strict=True)]
    reached = all_ones[0]
    for relation, middle, following in zip(relations, between, all_ones[1:], strict=True):
        reached = [
            two for two in following if any(relate(relation, one, two, world, walk.sets, middle) for one in reached)
        ]
    walk.findings.require(not reached, "day", "events stand in the relation")
    return None


def _ordered(walk: Walk, node: nodes.Ordered, proof: Proof, view: View, world: World, holds: bool) -> None:
    chosen = _in_order(walk, (node.left, node.right), (node,), proof, view, world, holds)
    if chosen is not None and node.relation in nodes.GAP_RELATIONS:
        one, other = chosen
        walk.findings.require(proof.get("gap") == gap_of(one, other, world), "day", "the days between them are others")


def _sequence(walk: Walk, node: nodes.Sequence, proof: Proof, view: View, world: World, holds: bool) -> None:
    relations = [
        nodes.Ordered(one, "before", two, gap.minimum, gap.maximum, without=gap.without)
        for (one, two), gap in zip(itertools.pairwise(node.steps), node.gaps, strict=True)
    ]
    chosen = _in_order(walk, node.steps, relations, proof, view, world, holds)
    if chosen is not None:
        gaps = [gap_of(one, two, world) for one, two in itertools.pairwise(chosen)]
        walk.findings.require(proof.get("gaps") == gaps, "day", "the days between the steps are others")


def _clear(walk: Walk, node: nodes.Clear, proof: Proof, view: View, world: World, holds: bool) -> None:
    absent = walk.whole(node.absent, walk.set_of(proof, 1, NEGATED[world]), view, NEGATED[world])

    def is_clear(witness: Witness) -> bool:
        return not any(
            all(
                one.event_id != seen.event_id
                and lie_apart(node.relation, one, seen, node.minimum, node.maximum, NEGATED[world])
                for one in other
            )
            for seen in witness
            for other in absent
        )

    stated = walk.set_of(proof, 0, world)
    if holds:
        chosen = walk.chosen(node.events, stated, view, world)
        walk.findings.require(not chosen or is_clear(chosen), "day", "an event that must not be there lies there")
    else:
        clear = [one for one in walk.whole(node.events, stated, view, world) if is_clear(one)]
        walk.findings.require(not clear, "day", "an event has none of the absent beside it")


def _times(walk: Walk, node: nodes.Times, proof: Proof, view: View, world: World, holds: bool) -> None:
    walk.findings.require((proof.get("n"), proof.get("by")) == (node.n, node.by), "query", "it counts otherwise")
    found = [seen for one in walk.whole(node.events, walk.set_of(proof, 0, world), view, world) for seen in one]
    if holds:
        walk.relied.update(seen.event_id for seen in found)
    enough = _count(walk.sets, node, found, world) >= node.n
    walk.findings.require(enough == holds, "event", "another number of them is there")


def _count(sets: Sets, node: nodes.Times, found: Sequence[Seen], world: World) -> int:
    if node.by == "lines":
        return len({as_number(seen.event.attributes.get("line", "")) for seen in found} - {None})
    if node.by == "concepts":
        concepts = {seen.event.concept for seen in found} - {""}
        return sum(not any(one != other and one in sets.above(other) for other in concepts) for one in concepts)
    if node.by != "days":
        raise UnknownNode(f"a count by {node.by!r}")
    if world is World.BELIEVED:
        return len({seen.middle for seen in found})
    days = [(seen.low, seen.high) for seen in found]
    return len(fewest_days(days) if world is World.CERTAIN else earliest_days(days, node.n))


def _repeated(walk: Walk, node: nodes.Repeated, proof: Proof, view: View, world: World, holds: bool) -> None:
    walk.findings.require(proof.get("n") == node.n, "query", "it counts to another number")
    counted = [seen for one in walk.whole(node.events, walk.set_of(proof, 0, world), view, world) for seen in one]
    relation = nodes.Ordered(node.events, node.relation, node.other, node.minimum, node.maximum)
    times = nodes.Times(node.n, node.events)

    def beside(other: Witness) -> list[Seen]:
        return [seen for seen in counted if relate(relation, (seen,), other, world, walk.sets)]

    stated = walk.set_of(proof, 1, world)
    if holds:
        chosen = walk.chosen(node.other, stated, view, world)
        found = beside(chosen) if chosen else []
        walk.relied.update(seen.event_id for seen in found)
        right = not chosen or _count(walk.sets, times, found, world) >= node.n
        walk.findings.require(right, "day", "too few days stand in the relation")
    else:
        others = walk.whole(node.other, stated, view, world)
        enough = any(_count(walk.sets, times, beside(other), world) >= node.n for other in others)
        walk.findings.require(not enough, "day", "as many days stand in the relation")


def _change(walk: Walk, node: nodes.Change, proof: Proof, view: View, world: World, holds: bool) -> None:
    order = nodes.Ordered(node.events, "before", node.events, 1, node.maximum)
    beginning = nodes.Ordered(node.events, "during", node.events)

    def changes(one: Seen, other: Seen) -> bool:
        return (
            one.event.concept == other.event.concept
            and _moves(node, *(as_number(seen.event.attributes.get(node.attribute, "")) for seen in (one, other)))
            and relate(order, (one,), (other,), world, walk.sets)
        )

    def lasts(during: Witness, one: Seen, other: Seen) -> bool:
        return all(relate(beginning, (seen,), during, world, walk.sets) for seen in (one, other))

    if holds:
        chosen = [walk.chosen(node.events, walk.set_of(proof, at, world), view, world) for at in (0, 1)]
        during: Witness = ()
        if node.during is not None:
            during = walk.chosen(node.during, walk.set_of(proof, 2, world), view, world)
        if all(len(one) == 1 for one in chosen):
            (one,), (other,) = chosen
            walk.findings.require(changes(one, other), "event", "the two values do not so change")
            walk.findings.require(lasts(during, one, other), "day", "they are not both during the other event")
            right = proof.get("gap") == gap_of((one,), (other,), world)
            walk.findings.require(right, "day", "the days between them are others")
        return
    found = [seen for one in walk.whole(node.events, walk.set_of(proof, 0, world), view, world) for seen in one]
    lasting: list[Witness] = [()]
    if node.during is not None:
        lasting = walk.whole(node.during, walk.set_of(proof, 1, world), view, world)
    changing = any(
        changes(one, other) and any(lasts(during, one, other) for during in lasting)
        for one, other in itertools.permutations(found, 2)
    )
    walk.findings.require(not changing, "event", "two values so change")


def _moves(node: nodes.Change, earlier: float | None, later: float | None) -> bool:
    """Whether a number goes as far up, or down, as is asked for, but for what rounding takes away."""
    if earlier is None or later is None or (node.relative and not earlier > 0):
        return False
    far = (later - earlier) * {"rise": 1, "fall": -1}[node.way]
    wanted = node.amount * earlier / 100 if node.relative else node.amount
    slack = _SLACK * max(1.0, abs(earlier), abs(later))
    return far > wanted + slack if node.operator == ">" else far >= wanted - slack


def _total(walk: Walk, node: nodes.Total, proof: Proof, view: View, world: World, holds: bool) -> None:
    walk.findings.require(proof.get("attribute") == node.attribute, "query", "it adds up something else")
    worlds = [world] if world is World.BELIEVED else [World.CERTAIN, World.POSSIBLE]
    found = [
        {
            seen.event_id: seen.event
            for witness in walk.whole(node.events, walk.set_of(proof, at, one), view, one)
            for seen in witness
        }
        for at, one in enumerate(worlds)
    ]
    sure, all_ones = found[0], found[-1]
    if holds:
        walk.relied.update(sure if world is World.CERTAIN else all_ones)
    amounts = {one: as_number(event.attributes.get(node.attribute, "")) for one, event in all_ones.items()}
    low = math.fsum(number for one, number in amounts.items() if number and (one in sure or number < 0))
    high = math.fsum(number for one, number in amounts.items() if number and (one in sure or number > 0))
    if None in amounts.values():
        high = math.inf
    there = all_ones if world is World.POSSIBLE else sure
    compared = bool(there) and _adds_up(node, low, high, world)
    walk.findings.require(compared == holds, "event", "they add up to something else")


def _adds_up(node: nodes.Total, low: float, high: float, world: World) -> bool:
    """Whether all of the sums are as is asked for; of the possible ones, whether one is."""
    wanted, slack = node.amount, _SLACK * max(1.0, abs(node.amount))
    if world is World.POSSIBLE:
        low, high = high, low
    passes = {
        ">=": low >= wanted - slack,
        ">": low > wanted + slack,
        "<=": high <= wanted + slack,
        "<": high < wanted - slack,
        "=": low >= wanted - slack and high <= wanted + slack,
    }
    if node.operator not in passes:
        raise UnknownNode(f"a total compared by {node.operator!r}")
    return passes[node.operator]


def _age_at(walk: Walk, node: nodes.AgeAt, proof: Proof, view: View, world: World, holds: bool) -> None:
    births = {event_id: event for event_id, event in view.record.events.items() if event.kind == "birth"}
    walk.named.update(births)
    walk.findings.require(
        sorted(map(str, items(proof.get("births")))) == sorted(births), "event", "the births that are told are others"
    )
    known = [event.day for event in births.values() if in_context("present", event, world)]
    if node.events is None:
        aged = any(is_aged(node, day, None, world) for day in known)
    else:
        found = walk.whole(node.events, walk.set_of(proof, 0, world), view, world)
        fitting = [one for one in found if any(all(is_aged(node, day, seen, world) for seen in one) for day in known)]
        aged = bool(fitting)
        walk.relied.update(seen.event_id for one in fitting for seen in one)
    walk.findings.require(aged == holds, "day", "the age is another")


def _ongoing(walk: Walk, node: nodes.Ongoing, proof: Proof, view: View, world: World, holds: bool) -> None:
    """Courses and deaths, all of them: one of the courses goes on at the day, and none of the deaths lies before it."""
    day = nodes.known_day(node.day)
    deaths = {event_id: event for event_id, event in view.record.events.items() if event.kind == "death"}
    walk.named.update(deaths)
    walk.findings.require(
        sorted(map(str, items(proof.get("deaths")))) == sorted(deaths), "event", "the deaths that are told are others"
    )
    died = any(
        in_context("present", event, NEGATED[world]) and is_before(event.day, day, NEGATED[world])
        for event in deaths.values()
    )
    found = walk.whole(node.events, walk.set_of(proof, 0, world), view, world)
    lasting = {seen.event_id for one in found for seen in one if lasts_until(seen, day, world)}
    walk.relied.update(lasting)
    walk.findings.require((bool(lasting) and not died) == holds, "day", "what goes on at the day is other")


def _lacking(walk: Walk, node: nodes.Lacking, proof: Proof, view: View, world: World, holds: bool) -> None:
    """None of the events, and the reason that is asked for and no other."""
    events, opposite = node.events, NEGATED[world]
    walk.findings.require(proof.get("how") == node.how, "query", "it is another kind of absence")
    stated = {str(one) for one in items(proof.get("told"))}
    walk.named.update(stated)
    right = {
        seen.event_id
        for seen in view.seen
        if str(seen.event.context.polarity) != "present"
        and (events.kind in (None, seen.event.kind) or walk.sets.denials.may_deny(events, seen.event))
    }
    walk.findings.require(stated == right, "event", "what is told to be absent or uncertain is other")
    notes = {note_id for note_id, stored in view.record.notes.items() if stored.status == "current"}
    walk.findings.require({str(one) for one in items(proof.get("notes"))} == notes, "note", "the notes are others")
    walk.notes.update(notes)
    found = walk.whole(events, walk.set_of(proof, 0, opposite), view, opposite)
    if found:
        lacking = False
    elif node.how == "denied":
        lacking = _is_denied(walk.sets, events, view, world)
    elif node.how == "silent":
        lacking = not _is_denied(walk.sets, events, view, opposite) and _is_observed(events, view, world)
    elif node.how == "unobservable":
        lacking = not _is_denied(walk.sets, events, view, opposite) and not _is_observed(events, view, opposite)
    else:
        raise UnknownNode(f"the absence {node.how!r}")
    walk.findings.require(lacking == holds, "event", "the kind of absence is another")


def _is_observed(events: nodes.Events, view: View, world: World) -> bool:
    """Whether a note that would tell of such an event lies in the window."""
    for stored in view.record.notes.values():
        if stored.status != "current":
            continue
        note, kind = stored.note, note_class(stored.note.type, stored.note.title)
        written = DayInterval() if note.date is None else DayInterval(note.date.toordinal(), note.date.toordinal())
        if (
            (events.kind is None or kind in KIND_TABLE[events.kind].noted_in)
            and events.source in ("", kind)
            and (events.window is None or in_window(events.window, written, world))
        ):
            return True
    return False


def _is_denied(sets: Sets, events: nodes.Events, view: View, world: World) -> bool:
    """Whether a note says that there is none, of the concept or of one above it, or tells another value."""
    absent = nodes.Exists(replace(events, context="absent", pick=nodes.Pick()))
    if _all_denied(sets, absent, view, world):
        return True
    return events.condition is not None and any(
        all(seen.event.attributes.get(name, "") != "" for name in attributes_of(events.condition))
        and not sets.satisfies(events.condition, seen.event)
        for seen in sets.members(events, view, world)
    )


def _all_denied(sets: Sets, node: nodes.PatientExpression, view: View, world: World) -> bool:
    """Whether each of the concepts that are asked for apart is denied."""
    match node.expansion or node:
        case nodes.And(parts):
            return all(_all_denied(sets, part, view, world) for part in parts)
        case nodes.Exists(events):
            return bool(sets.witnesses(events, view, world))
    raise UnknownNode(f"the denial of a {type(node).__name__}")


def _among(walk: Walk, node: nodes.Among, proof: Proof, view: View, world: World, holds: bool) -> None:
    patient = view.record.patient_id
    walk.findings.require(proof.get("patient") == patient, "query", "it is another patient")
    walk.findings.require((patient in node.patients) == holds, "query", "the list of patients says otherwise")


#: The steps of :mod:`.walk` that this module adds.
LEAVES: Final[Mapping[type[Any], Step]] = {
    nodes.Ordered: _ordered,
    nodes.Sequence: _sequence,
    nodes.Clear: _clear,
    nodes.Times: _times,
    nodes.Repeated: _repeated,
    nodes.Change: _change,
    nodes.Total: _total,
    nodes.AgeAt: _age_at,
    nodes.Ongoing: _ongoing,
    nodes.Lacking: _lacking,
    nodes.Among: _among,
}
