"""Ranking: certainty first, then the weakest evidence that is needed; the same order every time."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.engine.answers.strength import SILENT, Strengths
from cohortium.engine.api import OpenKb
from cohortium.engine.reference import meaning as reference
from cohortium.engine.reference.meaning import Meaning
from cohortium.engine.reference.views import View
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Event, Journey, World
from cohortium.query_lang import nodes
from tests.generated.queries import dividing_query
from tests.generated.records import CONCEPTS, SCALES, records

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)


def strength(query: nodes.PatientExpression, *events: Event, world: World = World.BELIEVED) -> float:
    """How strong the evidence of a patient with these events is."""
    view = View.from_journey(Journey("P", events=events))
    return Strengths(nodes.Query(query), view, Meaning(CONCEPTS, SCALES)).of_query(world).value


def had(kind: str, concept: str = "") -> nodes.Exists:
    """Patients with such an event."""
    return nodes.Exists(nodes.Events(kind, nodes.Under(nodes.Concept(concept, concept)) if concept else None))


ONE = Event("P", "diagnosis", "carcinoma", sources=1)
THREE = Event("P", "medication", "cisplatin", sources=3)


def test_more_independent_notes_are_stronger() -> None:
    """One note counts a half, three seven eighths; doubtful reading counts less."""
    assert strength(had("diagnosis"), ONE) == 0.5
    assert strength(had("medication"), THREE) == 0.875
    assert strength(had("diagnosis"), replace(ONE, confidence=0.8)) == 0.4


def test_what_was_concluded_is_weaker() -> None:
    """An event none of whose mentions names its concept counts half."""
    assert strength(had("diagnosis"), replace(ONE, evidence=("unknown mention",))) == 0.25


def test_and_takes_the_weakest_or_the_strongest() -> None:
    """So do *at least n of* and the several events that meet one criterion."""
    both = had("diagnosis"), had("medication")
    assert strength(nodes.And(both), ONE, THREE) == 0.5
    assert strength(nodes.Or(both), ONE, THREE) == 0.875
    assert strength(nodes.AtLeast(2, (*both, had("stage"))), ONE, THREE) == 0.5
    assert strength(had("diagnosis"), ONE, replace(ONE, concept="lung_cancer", sources=2)) == 0.75


def test_an_absence_is_no_stronger_than_silence() -> None:
    """Unless something denies it."""
    assert strength(nodes.And((had("diagnosis"), nodes.Not(had("medication")))), ONE) < SILENT + 1e-9


@given(seed=st.integers(0, 2**32))
def test_every_member_has_a_strength_in_every_world(seed: int) -> None:
    """From 0 to 1, whatever the query."""
    random = Random(f"rank {seed}")
    journeys = records(random, 4)
    query = dividing_query(random, journeys, deepest=3)
    meaning = Meaning(CONCEPTS, SCALES, query.definitions)
    for journey in journeys:
        for world in WORLDS:
            if reference.matches(query, journey, CONCEPTS, SCALES, world):
                found = Strengths(query, View.from_journey(journey), meaning).of_query(world)
                assert 0 < found.value <= 1
                assert found.says


def test_the_doubtful_come_last_and_equals_by_id(kb: OpenKb) -> None:
    """The possible stand after the certain; of equal strength the patient id decides."""
    cohort = kb.find("breast cancer or metastasis to liver or metastasis to brain").possible
    ranked = cohort.rank(None)
    assert [one.rank for one in ranked] == [1, 2, 3, 4]
    keys = [(one.certainty != "certain", -one.strength, one.patient_id) for one in ranked]
    assert keys == sorted(keys)
    assert cohort.rank(2) == ranked[:2]
    doubtful = kb.find("metastasis").possible.rank()
    assert [(one.patient_id, one.certainty) for one in doubtful] == [("Dan", "certain"), ("Cleo", "possible")]
    assert all(one.weakest == "metastasis" for one in doubtful)


def test_a_negative_number_is_an_error(kb: OpenKb) -> None:
    """It says what would do."""
    with pytest.raises(UsageError, match="0 or more"):
        kb.find("metastasis").rank(-1)
