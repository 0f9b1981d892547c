"""Facts that are recorded as corrected or withdrawn: decisions that the record and the explanations show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.ingest.abstraction.load import load_abstractions
from cohortium.kb.model import Journey, World

DIAGNOSIS = {"kind": "diagnosis", "concept": "left breast cancer", "date": "2020-01-01", "docs": ["D1"]}
WRONG = {
    "kind": "biomarker", "concept": "HER2", "value": "3+", "attributes": {"result": "positive", "reason": "corrected"},
    "date": "2020-01-05", "assertion": "absent", "docs": ["D1"], "evidence": "HER2 3+ (reported in error)",
}  # fmt: skip
RIGHT = {
    "kind": "biomarker", "concept": "HER2", "value": "1+", "attributes": {"result": "negative"},
    "date": "2020-01-12", "docs": ["D1"], "evidence": "Amended report: HER2 1+, negative",
}  # fmt: skip
OTHER = {"kind": "biomarker", "concept": "ER", "value": "positive", "date": "2020-01-05", "docs": ["D1"]}
WITHDRAWN = {
    "kind": "diagnosis", "concept": "lymphoma", "date": "2019-01-01", "assertion": "absent",
    "attributes": {"reason": "withdrawn: wrong patient"},
}  # fmt: skip


def decisions_of(journey: Journey) -> list[tuple[set[str], set[str], str]]:
    """For each decision the concepts and results that are believed and rejected, and its rule."""
    events = {
        event.event_id: f"{event.concept} {event.attributes.get('result', '')}".strip() for event in journey.events
    }
    return [
        ({events[one] for one in decision.believed}, {events[one] for one in decision.rejected}, decision.rule)
        for decision in journey.decisions
    ]


def test_a_correction_is_a_decision_for_what_stands(journey_of: Callable[..., Journey]) -> None:
    """The corrected result is rejected for the one that stands of the same marker and tumor; another marker is not
    part of it."""
    journey = journey_of([DIAGNOSIS, WRONG, RIGHT, OTHER])
    ((believed, rejected, rule),) = decisions_of(journey)
    assert {one.split()[0] for one in believed} == {one.split()[0] for one in rejected} == {"her2"}
    assert rule == "correction over error"
    (gone,) = [event for event in journey.events if event.event_id in journey.decisions[0].rejected]
    assert gone.world is World.NONE
    assert gone.context.reason == "retracted"
    assert "HER2" in journey.decisions[0].explanation


def test_the_order_of_the_facts_changes_no_decision(journey_of: Callable[..., Journey]) -> None:
    """A correction may be written before or after what it corrects."""
    decisions = [decisions_of(journey_of(facts)) for facts in ([DIAGNOSIS, WRONG, RIGHT], [RIGHT, WRONG, DIAGNOSIS])]
    assert decisions[0] == decisions[1] != []


def test_a_withdrawal_without_a_successor_is_a_decision(journey_of: Callable[..., Journey]) -> None:
    """Nothing stands instead; what was withdrawn is rejected all the same, and is no tumor."""
    journey = journey_of([WITHDRAWN])
    assert decisions_of(journey) == [(set(), {"lymphoma"}, "correction over error")]
    assert {event.world for event in journey.events} == {World.NONE}


@pytest.mark.parametrize(
    "attributes", [{}, {"result": "negative"}, {"status": "declined"}], ids=["plain", "negative", "declined"]
)
def test_what_is_only_absent_is_no_decision(attributes: dict[str, str], journey_of: Callable[..., Journey]) -> None:
    """A denial, a negative test and a refusal correct nothing."""
    kind = "medication" if "status" in attributes else "genomic_variant"
    concept = "letrozole" if "status" in attributes else "ESR1 D538G"
    absent = {"kind": kind, "concept": concept, "attributes": attributes, "assertion": "absent"}
    journey = journey_of([DIAGNOSIS, absent])
    assert journey.decisions == ()


def test_a_correction_of_another_side_does_not_stand_instead(journey_of: Callable[..., Journey]) -> None:
    """What is found of another tumor is no answer to what was corrected of this one."""
    journey = journey_of(
        [
            DIAGNOSIS,
            {**DIAGNOSIS, "concept": "right breast cancer", "docs": ["D2"]},
            {**WRONG, "attributes": {**WRONG["attributes"], "laterality": "left"}},
            {**RIGHT, "attributes": {**RIGHT["attributes"], "laterality": "right"}},
        ]
    )
    ((believed, rejected, _),) = decisions_of(journey)
    assert rejected
    assert believed == set()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, write: Any) -> Iterator[OpenKb]:
    """A knowledge base of the corrected patient."""
    folder = tmp_path_factory.mktemp("decisions")
    path = write(folder / "facts.jsonl", [{"patient_id": "A", "facts": [DIAGNOSIS, WRONG, RIGHT, OTHER, WITHDRAWN]}])
    load_abstractions(path, folder / "facts.kb")
    with cohortium.open(folder / "facts.kb") as opened:
        yield opened


def test_the_record_shows_the_decisions(session: OpenKb) -> None:
    """``journey`` tells which events are believed and which are not, and why."""
    decisions = {decision.rejected[0].concept: decision for decision in session.journey("A").decisions}
    assert len(decisions) == 2
    (her2,) = [one for one in decisions.values() if one.believed]
    assert "HER2" in her2.explanation
    assert {one.earliest for one in her2.rejected} == {"2020-01-05"}
    assert {one.earliest for one in her2.believed} == {"2020-01-12"}


def test_a_query_answers_with_what_stands(session: OpenKb) -> None:
    """The corrected result is in no world; what stands is certain."""
    for query in ("biomarker HER2 = positive", "diagnosis lymphoma"):
        assert set(session.find(query)) == set()
        assert set(session.find(query).possible) == set()
    assert set(session.find("biomarker HER2 = negative").certain) == {"A"}


def test_the_explanation_shows_the_decision(session: OpenKb) -> None:
    """Why a patient is not in the answer: the fact that was corrected, and that it was."""
    for query, word in (("biomarker HER2 = positive", "HER2"), ("diagnosis lymphoma", "lymphoma")):
        told = session.find(query).explain("A").as_text()
        assert "decided:" in told, told
        assert "corrected or withdrawn" in told
        assert word in told
