"""The pairs on which the agreement of the engines is counted: what they contain, and that the count is honest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from pyroaring import BitMap

from benchmarks.engine import agreement as engine_agreement
from cohortium.engine.fast import evaluate as fast
from cohortium.kb.model import Event, World
from cohortium.query_lang import nodes as q
from tests.generated.queries import NODE_CLASSES, features, query, wanted
from tests.generated.records import records

PAIRS = 300


@pytest.fixture(scope="module")
def tally() -> engine_agreement.Tally:
    """A small run of the script."""
    return engine_agreement.run(seed=7, pairs=PAIRS)


def test_both_engines_agree_on_generated_pairs(tally: engine_agreement.Tally) -> None:
    """On stored knowledge bases, in the three worlds, both engines find the same patients."""
    assert tally.pairs == PAIRS
    assert tally.disagreements == []


def test_answers_divide_the_patients(tally: engine_agreement.Tally) -> None:
    """Of most pairs, and of every class of node in a third of its pairs, the answer is neither nobody nor everybody.

    So each class that the language defines is asked about; one that is added must be generated, too.
    """
    assert {"Exists", "Ordered", "SameTumor", "NotThat", "Name", "Query"} <= set(NODE_CLASSES)
    assert tally.dividing["all"] > PAIRS / 2
    for name in NODE_CLASSES:
        assert tally.dividing[f"node: {name}"] > tally.contained[f"node: {name}"] / 3


def test_every_pick_relation_context_and_nesting_is_drawn() -> None:
    """Whatever a node can say is said, in a run of some size."""
    random = Random("coverage")
    journeys = records(random, 24)
    found: Counter[str] = Counter()
    for _ in range(3_000):
        found.update(features(query(random, journeys)))
    assert sorted(wanted() - set(found)) == []


def test_records_leave_everything_open_that_can_be() -> None:
    """Each world, each precision of date, ties, several tumors, facts of all tumors and of none are drawn."""
    drawn = records(Random("records"), 200)
    events = [event for journey in drawn for event in journey.events]
    assert {event.world for event in events} == set(World)
    assert {event.tumor for event in events} >= {"", "*", "t1", "t2", "t3"}
    spans = {event.day.high - event.day.low for event in events}
    assert {0, 30, 364} <= spans
    assert any(not event.day.known for event in events)
    assert {event.context.assertion for event in events} >= {"present", "historical", "absent", "uncertain", "planned"}

    def ties(one: tuple[Event, ...]) -> bool:
        days = Counter((event.kind, event.day) for event in one)
        return any(times > 1 for times in days.values())

    assert sum(ties(journey.events) for journey in drawn) > 30


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    """The same seed gives the same records and queries, another seed others; one pair can be drawn by itself."""
    journeys = engine_agreement.generated_kb(7, 3)
    assert journeys == engine_agreement.generated_kb(7, 3)
    assert journeys != engine_agreement.generated_kb(8, 3)
    first = [engine_agreement.generated_query(7, 3, number, journeys) for number in range(10)]
    assert first[9] == engine_agreement.generated_query(7, 3, 9, journeys)
    assert len(set(map(repr, first))) > 5


def test_a_disagreement_is_told_with_its_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the fast engine to find nobody, each pair with an answer would be listed, with world, query and place."""

    def nobody(*_: object) -> BitMap:
        return BitMap()

    monkeypatch.setattr(fast, "evaluate", nobody)
    tally = engine_agreement.run(seed=7, pairs=10)
    assert tally.disagreements
    first: Mapping[str, object] = tally.disagreements[0]
    assert str(first["pair"]).startswith("0:")
    assert first["fast"] == []
    assert first["reference"] != []
    assert "Query(" in str(first["query"])


def test_features_name_what_a_query_contains() -> None:
    """A class, a pick, a relation with its bounds, a context, a nesting: each is told by name."""
    latest = q.Events("stage", context="historical", pick=q.Pick("latest"))
    asked = q.Query(q.SameTumor(q.SameEvent(q.Ordered(latest, "before", q.Events("lab"), 3, 9))))
    assert features(asked) >= {
        "node: SameTumor",
        "node: Ordered",
        "pick: latest",
        "pick: any",
        "context: historical",
        "relation: before min max",
        "nesting: SameTumor > SameEvent",
        "inside: SameEvent > Ordered",
    }
