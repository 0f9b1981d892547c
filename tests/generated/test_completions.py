"""The three worlds bound what holds when everything that a record leaves open is filled, in every way there is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.engine import world_bounds
from cohortium.engine.reference import meaning as reference
from cohortium.engine.reference.views import View
from cohortium.kb.model import DayInterval, Event, Journey, World
from cohortium.kb.ontology.scales import as_number
from cohortium.query_lang import nodes as q
from cohortium.query_lang.tree import find
from tests.generated import kb_strategies as small
from tests.generated.completions import believed_completion, completions, number_of_completions, random_completion
from tests.generated.queries import features
from tests.generated.records import CONCEPTS, SCALES

MOST_COMPLETIONS = 400


def holds(query: q.Query, journey: Journey, world: World = World.BELIEVED) -> bool:
    """The defining answer for one patient."""
    return reference.matches(query, journey, CONCEPTS, SCALES, world)


@given(small.journeys("P", most=4, widest=3, unknown=False), small.queries())
def test_the_worlds_bound_every_completion(journey: Journey, query: q.Query) -> None:
    """What is certain holds in each completion, and what holds in one is possible: the bounds are sound."""
    assume(number_of_completions(journey) <= MOST_COMPLETIONS)
    truths = {holds(query, completion) for completion in completions(journey)}
    if holds(query, journey, World.CERTAIN):
        assert truths == {True}
    if not holds(query, journey, World.POSSIBLE):
        assert truths == {False}


@given(small.journeys("P", most=8), small.queries(), st.randoms(use_true_random=False))
def test_the_worlds_bound_completions_of_wide_dates(journey: Journey, query: q.Query, random) -> None:
    """Completions drawn at random lie between the bounds, too, where dates are wide or not given."""
    truths = {holds(query, random_completion(random, journey)) for _ in range(20)}
    assert not (holds(query, journey, World.CERTAIN) and False in truths)
    assert holds(query, journey, World.POSSIBLE) or True not in truths


@given(small.journeys("P", most=8), small.queries())
def test_believed_is_the_answer_in_one_completion(journey: Journey, query: q.Query) -> None:
    """Believed is what holds when midpoints are taken, what is only possible is not so, and what hangs on no tumor
    stays so."""
    assert holds(query, journey) == holds(query, believed_completion(journey))


@given(small.journeys("P", most=4, widest=3, unknown=False))
def test_completions_are_counted_and_leave_nothing_open(journey: Journey) -> None:
    """There are as many as are counted, no two alike, the believed one among them; days are known, facts settled."""
    assume(number_of_completions(journey) <= MOST_COMPLETIONS)
    every = list(completions(journey))
    assert len(every) == number_of_completions(journey)
    choices = {tuple((event.day, event.end, event.world, event.tumor) for event in one.events) for one in every}
    assert len(choices) == len(every)
    assert believed_completion(journey) in every
    for one in every:
        assert all(event.day.low == event.day.high for event in one.events)
        assert all(event.world in (World.CERTAIN, World.NONE) for event in one.events)


def test_an_unattached_fact_gets_each_tumor_or_none() -> None:
    """The tumors that the record names are tried, and none; no tumor is made up, nor one that is in no world."""
    day = DayInterval(small.DAY, small.DAY)
    events = (
        Event("P", "diagnosis", "carcinoma", day, tumor="t1"),
        Event("P", "diagnosis", "carcinoma", day, tumor="t2", world=World.POSSIBLE),
        Event("P", "diagnosis", "carcinoma", day, tumor="t3", world=World.NONE),
        Event("P", "biomarker", "her2", day),
    )
    found = {one.events[3].tumor for one in completions(Journey("P", events=events))}
    assert found == {"", "t1", "t2"}


@given(small.journeys("P", most=5, widest=0, unknown=False), small.queries())
def test_a_record_that_leaves_nothing_open_has_one_answer(journey: Journey, query: q.Query) -> None:
    """With known days, settled facts, known tumors and each number that is added up told, the three worlds agree,
    whatever the query: nothing is lost."""
    added = {one.attribute for one in find(query, q.Total)}
    settled = tuple(
        replace(
            event,
            attributes={**event.attributes, **{name: _number(event, name) for name in added}},
            world=World.CERTAIN if event.world else World.NONE,
            tumor=event.tumor or "t1",
            end=event.end or event.day,
        )
        for event in journey.events
    )
    record = replace(journey, events=settled)
    answers = {holds(query, record, world) for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE)}
    assert len(answers) == 1


def _number(event: Event, name: str) -> float:
    told = as_number(event.attributes.get(name, ""))
    return 1.0 if told is None else told


@pytest.fixture(scope="module")
def few_pairs() -> world_bounds.Tally:
    """What the measuring script counts out on a few groups."""
    tally = world_bounds.Tally()
    for group in range(6):
        world_bounds.measure(tally, 2, group, world_bounds.counted_out(2, group))
        world_bounds.measure(tally, 2, group, world_bounds.sampled(2, group))
    return tally


def test_the_measured_pairs_are_sound(few_pairs: world_bounds.Tally) -> None:
    """No completion lies outside the bounds, and enough pairs have an answer that is open."""
    assert few_pairs.violations == []
    assert few_pairs.open_answers >= few_pairs.pairs // 20


def test_the_measure_tells_an_unsound_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were possible answered as believed is, the script would say so, and name the pair."""
    sound = world_bounds._holds

    def unsound(asked: q.Query, view: View, world: World = World.BELIEVED) -> bool:
        return sound(asked, view, World.BELIEVED if world is World.POSSIBLE else world)

    monkeypatch.setattr(world_bounds, "_holds", unsound)
    tally = world_bounds.Tally()
    world_bounds.measure(tally, 2, 0, world_bounds.counted_out(2, 0))
    assert {one["what"] for one in tally.violations} >= {"not possible, and a completion says yes"}
    assert tally.violations[0]["pair"].startswith("group 0, record ")


def test_the_bounds_of_one_atom_are_exact() -> None:
    """Of a single criterion about events, certain and possible are the very answers in all and in some completion."""
    seen = 0
    for group in range(50):
        tally = world_bounds.Tally()
        for position, one in enumerate(world_bounds.counted_out(3, group)):
            for number in range(world_bounds.QUERIES):
                asked = world_bounds.drawn_query(3, group, position, number, one)
                # How long a fact lasted hangs on both of its days, and an end that nothing tells is not counted out.
                loose = {"pick: nth 2", "pick: nth 3", "moment: end", "node: Lasting"}
                if isinstance(asked.body, q.Exists) and not features(asked) & loose:
                    tally.add("", asked, one)
        assert tally.violations == []
        counts = tally.rows.get("all", {})
        assert counts.get("certain_exact", 0) == counts.get("possible_exact", 0) == tally.pairs
        seen += tally.open_answers
    assert seen >= 20
