"""Equal queries have equal bounds: by the laws of sets, and against every completion of a small record."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.engine.reference.open_facts import MOST_WAYS, OpenFacts, form_of
from cohortium.engine.reference.views import View
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes as q
from tests.amounts import examples
from tests.generated.completions import completions, number_of_completions
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, SCALES
from tests.generated.repeated_facts import equal_pairs, facts, joined, record, scoped

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
seeds = st.integers(0, 2**40)


def by_reference(body: q.PatientExpression, records: list[Journey], world: World) -> frozenset[str]:
    """The defining answer."""
    return reference.evaluate(q.Query(body), records, CONCEPTS, SCALES, world)


def by_fast(body: q.PatientExpression, records: list[Journey], world: World) -> frozenset[str]:
    """The fast answer."""
    kb = MemoryKb(records, CONCEPTS, SCALES)
    return frozenset(kb.patients[number] for number in fast.evaluate(q.Query(body), kb, world))


ENGINES = pytest.mark.parametrize("answer", [by_reference, by_fast], ids=["reference", "fast"])


def gone_through(body: q.PatientExpression, journey: Journey) -> bool:
    """Whether what occurs twice comes to few enough ways, in the record as a whole and in each tumor and event."""
    meaning, form, whole = reference.Meaning(CONCEPTS, SCALES), form_of(body, ()), View.from_journey(journey)
    tumors = [whole.of_tumor(tumor) for tumor in whole.tumors]
    views = [whole, *tumors, *(view.of_event(seen) for view in (whole, *tumors) for seen in view.events)]
    asked = OpenFacts(meaning, form)
    return all(
        asked.shared(view, cone, asked.of_leaves(view, cone)).number_of_ways <= MOST_WAYS
        for cone in form.cones
        for view in views
    )


@ENGINES
@settings(max_examples=examples(200, 8))
@given(seeds)
def test_the_laws_of_sets_hold_in_the_bounds(answer, seed: int) -> None:
    """Whatever the criteria, two ways to write one set find the same patients in all three worlds."""
    random = Random(seed)
    records = [record(random, 6, patient=f"P{number}") for number in range(4)]
    for left, right in random.sample(equal_pairs(*(scoped(random) for _ in range(3))), 3):
        for journey in records:
            assume(gone_through(left, journey) and gone_through(right, journey))
        for world in WORLDS:
            assert answer(left, records, world) == answer(right, records, world)


@settings(max_examples=examples(200, 8))
@given(seeds)
def test_both_engines_agree_on_what_occurs_twice(seed: int) -> None:
    """Also where more is open than is gone through."""
    random = Random(seed)
    records = [record(random, random.choice((4, 20)), patient=f"P{number}") for number in range(4)]
    body = joined(random, [scoped(random), scoped(random)], 1)
    answers = {world: by_reference(body, records, world) for world in WORLDS}
    assert answers[World.CERTAIN] <= answers[World.BELIEVED] <= answers[World.POSSIBLE]
    for world in WORLDS:
        assert by_fast(body, records, world) == answers[world]


# --- every completion -------------------------------------------------------------------------------------------------


@settings(max_examples=examples(400, 8))
@given(seeds)
def test_bounds_of_facts_joined_are_exact(seed: int) -> None:
    """Of criteria of which one fact is enough, however they are joined, certain is what holds in every completion, and
    possible what holds in one."""
    random = Random(seed)
    journey = record(random, 4)
    assume(number_of_completions(journey) <= 600)
    body = joined(random, [q.Exists(facts(random)) for _ in range(3)])
    assume(gone_through(body, journey))
    truths = {bool(by_reference(body, [one], World.BELIEVED)) for one in completions(journey)}
    for answer in (by_reference, by_fast):
        assert bool(answer(body, [journey], World.CERTAIN)) == (truths == {True})
        assert bool(answer(body, [journey], World.POSSIBLE)) == (True in truths)


@settings(max_examples=examples(400, 8))
@given(seeds)
def test_bounds_of_any_criteria_are_sound(seed: int) -> None:
    """What is certain holds in every completion, and what holds in one is possible, whatever the criteria."""
    random = Random(seed)
    journey = record(random, 4)
    assume(number_of_completions(journey) <= 600)
    body = joined(random, [scoped(random), scoped(random)], 1)
    truths = {bool(by_reference(body, [one], World.BELIEVED)) for one in completions(journey)}
    for answer in (by_reference, by_fast):
        assert not (answer(body, [journey], World.CERTAIN) and False in truths)
        assert answer(body, [journey], World.POSSIBLE) or True not in truths
