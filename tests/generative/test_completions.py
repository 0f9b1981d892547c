"""The three worlds bound what holds when everything that a record leaves open is filled, in every way there is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import kb_strategies as small
from hypothesis import assume, given

from cohortium.engine import reference
from cohortium.kb.model import NO_TUMOR, DayInterval, Event, Journey, World
from cohortium.query_lang import nodes as q

MOST_COMPLETIONS = 400


def fillings(event: Event, tumors: list[str]) -> list[Event]:
    """The event with a day chosen, there or not there, and with a tumor if it has none."""
    days = [DayInterval(day, day) for day in range(event.day.low, event.day.high + 1)]
    open_world = event.world in (World.POSSIBLE, World.BELIEVED)
    worlds = [World.CERTAIN, World.NONE] if open_world else [event.world]
    owners = tumors if event.tumor == NO_TUMOR and tumors else [event.tumor]
    return [replace(event, day=day, world=world, tumor=tumor) for day in days for world in worlds for tumor in owners]


def completions(journey: Journey) -> Iterator[Journey]:
    """Every completion of a record."""
    tumors = sorted({event.tumor for event in journey.events if event.tumor not in ("", "*") and event.world})
    for events in itertools.product(*(fillings(event, tumors) for event in journey.events)):
        yield replace(journey, events=events)


def number_of_completions(journey: Journey) -> int:
    """How many there are."""
    tumors = sorted({event.tumor for event in journey.events if event.tumor not in ("", "*") and event.world})
    return math.prod(len(fillings(event, tumors)) for event in journey.events)


def holds(query: q.Query, journey: Journey, world: World) -> bool:
    """The defining answer for one patient."""
    return reference.matches(query, journey, small.CONCEPTS, small.SCALES, world)


@given(small.journeys("P", most=4, widest=3, unknown=False), small.queries())
def test_the_worlds_bound_every_completion(journey: Journey, query: q.Query) -> None:
    """What is certain holds in each completion, and what holds in one is possible: the bounds are sound."""
    assume(number_of_completions(journey) <= MOST_COMPLETIONS)
    truths = {holds(query, completion, World.BELIEVED) for completion in completions(journey)}
    if holds(query, journey, World.CERTAIN):
        assert truths == {True}
    if not holds(query, journey, World.POSSIBLE):
        assert truths == {False}


@given(small.journeys("P", most=5, widest=4, unknown=False), small.queries())
def test_believed_is_the_answer_in_one_completion(journey: Journey, query: q.Query) -> None:
    """Believed is what holds when midpoints are taken and what is only possible is not so."""

    def designated(event: Event) -> Event:
        day = DayInterval(event.day.midpoint, event.day.midpoint)
        return replace(event, day=day, world=World.CERTAIN if event.world >= World.BELIEVED else World.NONE)

    completion = replace(journey, events=tuple(designated(event) for event in journey.events))
    # Tumors that are named stay so; an unattached event belongs to none of them, which is what believed says of it.
    assert holds(query, journey, World.BELIEVED) == holds(query, completion, World.BELIEVED)


@given(small.journeys("P", most=5, widest=0, unknown=False), small.queries())
def test_a_record_that_leaves_nothing_open_has_one_answer(journey: Journey, query: q.Query) -> None:
    """With known days, settled facts and known tumors the three worlds agree, whatever the query: nothing is lost."""
    settled = tuple(
        replace(event, world=World.CERTAIN if event.world else World.NONE, tumor=event.tumor or "t1")
        for event in journey.events
    )
    record = replace(journey, events=settled)
    answers = {holds(query, record, world) for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE)}
    assert len(answers) == 1
