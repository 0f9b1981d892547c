"""Completions of a record: a day in each date interval, a reading for each open fact, a tumor for each unattached one.

An unattached fact gets one of the tumors that its record names, or stays with none of them: the believed answer is the
answer in one completion, and there what no rule could attach belongs to no tumor. No tumor is made up for it, for
silence is never completed. In a completion a fact is certain or in no world, so that one world remains to be asked:
the believed one. What has no recorded end ends on its day, or never.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from cohortium.kb.kinds import LASTING
from cohortium.kb.model import ALL_TUMORS, LATEST_DAY, NO_TUMOR, DayInterval, Event, Journey, World


def number_of_completions(journey: Journey) -> int:
    """How many there are; counted, not made."""
    tumors = _tumors(journey)
    return math.prod(
        (event.day.high - event.day.low + 1) * len(_worlds(event)) * len(_owners(event, tumors)) * len(_ends(event))
        for event in journey.events
    )


def completions(journey: Journey) -> Iterator[Journey]:
    """Every completion of the record."""
    tumors = _tumors(journey)
    for events in itertools.product(*(_fillings(event, tumors) for event in journey.events)):
        yield _completed(journey, events)


def random_completion(random: Random, journey: Journey) -> Journey:
    """One completion. Days fall on the ends of intervals, and on days that bound another fact, more often than else."""
    tumors = _tumors(journey)
    bounds = sorted({day for event in journey.events for day in (event.day.low, event.day.high)})
    return _completed(
        journey,
        tuple(
            _filled(
                event,
                _random_day(random, event.day, bounds),
                random.choice(_worlds(event)),
                random.choice(_owners(event, tumors)),
                _random_end(random, event, bounds),
            )
            for event in journey.events
        ),
    )


def believed_completion(journey: Journey) -> Journey:
    """The designated one: midpoints, decisions as made, what is only possible not so, what is unattached left so."""
    return _completed(
        journey,
        tuple(
            _filled(
                event,
                event.day.midpoint,
                World.CERTAIN if event.world >= World.BELIEVED else World.NONE,
                event.tumor,
                None if event.end is None else event.end.midpoint,
            )
            for event in journey.events
        ),
    )


def _completed(journey: Journey, events: tuple[Event, ...]) -> Journey:
    """The record with these events, each in the place of its own; decisions name them by their new ids."""
    renamed = {old.event_id: new.event_id for old, new in zip(journey.events, events, strict=True)}
    decisions = tuple(
        replace(
            decision,
            believed=tuple(renamed.get(one, one) for one in decision.believed),
            rejected=tuple(renamed.get(one, one) for one in decision.rejected),
        )
        for decision in journey.decisions
    )
    return replace(journey, events=events, decisions=decisions)


def _fillings(event: Event, tumors: Sequence[str]) -> list[Event]:
    days = range(event.day.low, event.day.high + 1)
    return [
        _filled(event, day, world, tumor, end)
        for day in days
        for world in _worlds(event)
        for tumor in _owners(event, tumors)
        for end in _ends(event)
    ]


def _filled(event: Event, day: int, world: World, tumor: str, end: int | None) -> Event:
    return replace(
        event,
        day=DayInterval(day, day),
        world=world,
        tumor=tumor,
        end=None if end is None else DayInterval(end, end),
    )


def _ends(event: Event) -> list[int | None]:
    """The days on which it can end; None stands for the day on which it is, which it is for what does not last."""
    if event.end is None:
        return [None, LATEST_DAY] if event.kind in LASTING else [None]
    return list(range(event.end.low, event.end.high + 1))


def _random_end(random: Random, event: Event, bounds: Sequence[int]) -> int | None:
    if event.end is None:
        return random.choice(_ends(event))
    return _random_day(random, event.end, bounds)


def _worlds(event: Event) -> tuple[World, ...]:
    open_ = event.world in (World.POSSIBLE, World.BELIEVED)
    return (World.CERTAIN, World.NONE) if open_ else (event.world,)


def _owners(event: Event, tumors: Sequence[str]) -> tuple[str, ...]:
    return (NO_TUMOR, *tumors) if event.tumor == NO_TUMOR else (event.tumor,)


def _tumors(journey: Journey) -> list[str]:
    """The tumors that the record names, be it by a fact that is only possible."""
    return sorted({event.tumor for event in journey.events if event.world} - {ALL_TUMORS, NO_TUMOR})


def _random_day(random: Random, day: DayInterval, bounds: Sequence[int]) -> int:
    how = random.random()
    if how < 0.2:
        return day.low
    if how < 0.4:
        return day.high
    if how < 0.8:
        near = random.choice(bounds) + random.choice((-1, 0, 0, 1))
        return min(max(near, day.low), day.high)
    return random.randint(day.low, day.high)
