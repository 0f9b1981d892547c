"""Proofs of who is in a cohort by facts that occur twice in its query: accepted as given, refused when changed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from cohortium.engine.reference.meaning import OPPOSITE, matches
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes as q
from cohortium.query_lang.render import render_expression
from tests.amounts import examples
from tests.engine.proofs.test_walk import faults, proved
from tests.generated.records import CONCEPTS, SCALES
from tests.generated.repeated_facts import facts, joined, record, scoped

BOUNDS = (World.CERTAIN, World.POSSIBLE)


def drawn(seed: int) -> tuple[q.Query, Journey]:
    """A query that asks facts again and again, and a record that leaves much open, each event once."""
    random = Random(seed)
    journey = record(random, random.choice((3, 6, 14)))
    journey = replace(journey, events=tuple({event.event_id: event for event in journey.events}.values()))
    kind = random.choice((lambda: scoped(random), lambda: q.Exists(facts(random))))
    return q.Query(joined(random, [kind(), kind(), kind()], 2)), journey


def claims(seed: int) -> Iterator[tuple[q.Query, Journey, World]]:
    """What holds in each world: the query or its opposite."""
    query, journey = drawn(seed)
    for world in BOUNDS:
        if matches(query, journey, CONCEPTS, SCALES, world):
            yield query, journey, world
        else:
            yield q.Query(q.Not(query.body)), journey, OPPOSITE[world]


def test_what_is_decided_together_is_proved() -> None:
    """Each member has a proof that the walk accepts; no patient has one who is no member."""
    together = 0
    for seed in range(examples(300)):
        for query, journey, world in claims(seed):
            criterion = proved(query, journey, world)
            together += "together" in criterion
            assert not faults(query, journey, world, criterion), seed
            other = drawn(seed + 1)[1]
            if not matches(query, other, CONCEPTS, SCALES, world):
                assert faults(query, other, world, criterion), seed
    assert together > 20


def _dropped_criterion(told: dict) -> None:
    del told["criteria"][-1]


def _raised_criterion(told: dict) -> None:
    one = next(one for one in told["criteria"] if one["is"] == "possible")
    one["is"] = "certain"


def _dropped_fact(told: dict) -> None:
    del told["facts"][0]


def _another_event(told: dict) -> None:
    told["facts"][0]["event"] = "0" * 16


def _fewer_ways(told: dict) -> None:
    del told["facts"][0]["ways"][0]


def _more_ways(told: dict) -> None:
    told["ways"] += 1


def _another_case(told: dict) -> None:
    told["case"] = [99]


def _no_case(told: dict) -> None:
    del told["case"]


CHANGES = (
    _dropped_criterion,
    _raised_criterion,
    _dropped_fact,
    _another_event,
    _fewer_ways,
    _more_ways,
    _another_case,
    _no_case,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__.strip("_"))
def test_a_changed_telling_is_refused(change: Callable[[dict], None]) -> None:
    """Of the criteria, the facts, their ways and the case."""
    made = 0
    for seed in range(400):
        for query, journey, world in claims(seed):
            criterion = copy.deepcopy(proved(query, journey, world))
            if "together" not in criterion:
                continue
            try:
                change(criterion["together"])
            except (KeyError, IndexError, StopIteration):
                continue
            made += 1
            assert faults(query, journey, world, criterion), (change.__name__, seed)
        if made > 9:
            return
    pytest.fail("nothing was changed")


def test_parts_alone_do_not_prove_what_is_impossible_together() -> None:
    """That X is possible, and that it may not be so, does not show that both can be at once."""
    for seed in range(200):
        random = Random(seed)
        journey = record(random, 2)
        one = q.Exists(facts(random, windows=False))
        both = q.Query(q.And((one, q.Not(one))))
        alone = q.Query(one)
        open_ = matches(alone, journey, CONCEPTS, SCALES, World.POSSIBLE) and matches(
            q.Query(q.Not(one)), journey, CONCEPTS, SCALES, World.POSSIBLE
        )
        assert not matches(both, journey, CONCEPTS, SCALES, World.POSSIBLE)
        if not open_:
            continue
        parts = [
            {"part": at, **proved(q.Query(part), journey, World.POSSIBLE)} for at, part in enumerate(both.body.parts)
        ]
        forged = {
            "node": "and",
            "text": render_expression(both.body),
            "world": "possible",
            "holds": True,
            "parts": parts,
        }
        told = {fault.message for fault in faults(both, journey, World.POSSIBLE, forged)}
        assert told == {"what occurs twice is not told"}
        return
    pytest.fail("no fact is open")
