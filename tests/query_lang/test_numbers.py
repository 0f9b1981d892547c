"""Counts, changes and totals as they are written, refused and read back."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang import nodes as q
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import QueryTreeError
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text

CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("increase in PSA > 50%", "rise of PSA > 50%"),
        ("drop of lab PSA", "fall of lab PSA"),
        ("fall of lab hemoglobin >= 20 g/L within 2 weeks", "fall of lab hemoglobin >= 2 g/dL within 14 days"),
        ("fall of lab hemoglobin with value < 9 >= 2", "fall of lab hemoglobin with value < 9 >= 2"),
        ("rise of ECOG >= 2", "rise of performance 'ECOG performance status' >= 2"),
        ("rise of vital sign body temperature >= 1.8 F", "rise of vital sign temperature >= 1 °C"),
        ("total cycles of carboplatin since 2020 = 6", "total cycles of medication carboplatin since 2020-01-01 = 6"),
        ("exactly 0 tumors (death)", "not same tumor (death)"),
        ("at most 1 time (death on the same day as surgery)", "not at least 2 times (death within 0 days of surgery)"),
    ],
)
def test_what_is_written_has_one_form(text: str, resolved: str) -> None:
    """Other spellings and units come to the same query, which says itself."""
    query = resolve_text(text, CONCEPTS, SCALES)
    assert render(query) == resolved
    assert resolve_text(resolved, CONCEPTS, SCALES) == query


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rise of medication docetaxel >= 2", "medication has no number that rises or falls"),
        ("rise of stage >= 2", "the 'stage' of stage is no number"),
        ("rise of lab hemoglobin >= 2 mmHg", "a value in mmHg is none of 'hemoglobin'"),
        ("rise of lab PSA < 3", "a rise is by more than a number, or by that at least"),
        ("rise of lab PSA >= high", "'high' is no number to rise or fall by"),
        ("fall of lab PSA > 120%", "what falls by more than 100% is below zero"),
        ("rise of first lab PSA >= 2", "first chooses one event, and a change is between two"),
        ("rise of lab PSA on at least 2 days", "a change or a total is of one sort of fact"),
        ("total intent of medication >= 2", "the 'intent' of medication is no number"),
        ("total cycles of diagnosis > 3", "diagnosis has no attribute 'cycles'"),
        ("at least 2 times (lab PSA and another lab PSA)", "'beside' is not one of before"),
        ("at least 0 tumors (death)", "a number of tumors is 1 or more"),
    ],
)
def test_what_means_nothing_is_refused(text: str, message: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(QueryError) as caught:
        resolve_text(text, CONCEPTS, SCALES)
    assert message in str(caught.value)


def test_a_total_is_compared_in_order() -> None:
    """A node with an operator that orders nothing does not exist."""
    with pytest.raises(QueryTreeError):
        q.Total("cycles", q.Events("medication"), "!=", 3.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "rise of lab creatinine > 0.3 mg/dL within 2 days",
            "Patients with a rise of the value by more than 0.3 mg/dL within 2 days, from one to a later laboratory "
            "value for creatinine.",
        ),
        (
            "total cycles of medication carboplatin >= 7",
            "Patients with a total of 7 or more, adding up the number of cycles of every drug treatment with "
            "carboplatin.",
        ),
        (
            "not at least 2 tumors (death)",
            "Patients with fewer than 2 different tumors, each with a record of death.",
        ),
    ],
)
def test_it_reads_as_a_sentence(text: str, words: str) -> None:
    """What is asked stands there in English."""
    assert read_back(resolve_text(text, CONCEPTS, SCALES), CONCEPTS, rules=False) == words
