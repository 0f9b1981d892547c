"""What ``why_not`` says of small invented records: the failing part and its place, near evidence, the edit in words."""

from __future__ import annotations

import json

import pytest

from cohortium.engine.api import OpenKb
from cohortium.kb.errors import UnknownPatient, UsageError

#: Query, patient, the failing text, what the first near event lacks (part of it), the first step, the cost that counts.
CASES = [
    (
        "diagnosis breast cancer since 2019 and not metastasis",
        "Ben",
        "diagnosis breast cancer since 2019-01-01",
        "12 days before the window",
        "move the window: since 2019-01-01 → since 2018-12-20",
        {"windows": 1, "days": 12},
    ),
    (
        "latest ECOG <= 1",
        "Cleo",
        "latest ECOG <= 1",
        "value is 2, asked: value <= 1 (off by 1 step on the scale)",
        "move the bound: value <= 1 → value <= 2",
        {"bounds": 1},
    ),
    (
        "metastasis to liver",
        "Cleo",
        "metastasis to liver",
        "uncertain",
        "take the context less strictly: present → present or uncertain",
        {"uncertain": 1},
    ),
    (
        "medication trastuzumab and breast cancer",
        "Ben",
        "medication trastuzumab",
        "",
        "climb: trastuzumab → ",
        {},
    ),
    (
        "breast cancer and not medication trastuzumab",
        "Ana",
        "medication trastuzumab",
        "",
        "drop: not medication trastuzumab",
        {"drops": 1},
    ),
    (
        "breast cancer except medication 'systemic therapy'",
        "Ana",
        "medication systemic therapy",
        "",
        "take a concept away: systemic therapy → systemic therapy other than ",
        {"concepts": 1},
    ),
    (
        "same tumor (breast cancer and HER2+)",
        "Ben",
        "diagnosis breast cancer",
        "of another tumor or event",
        "",
        {},
    ),
    (
        "medication carboplatin within 30 days after lung cancer",
        "Ben",
        "medication carboplatin within 30 days after diagnosis lung cancer",
        "51 days after the other fact",
        "move the gap: within 30 days after → within 51 days after",
        {"windows": 1, "days": 21},
    ),
    (
        "at least 2 of (metastasis, lung cancer, medication)",
        "Cleo",
        "metastasis",
        "uncertain",
        "",
        {},
    ),
    (
        "let spread be metastasis to liver or metastasis to bone; breast cancer and spread",
        "Cleo",
        "metastasis to liver",
        "uncertain",
        "take the context less strictly",
        {"uncertain": 1},
    ),
]


@pytest.mark.parametrize(("query", "patient", "failing", "lacks", "step", "cost"), CASES)
def test_the_failing_part_and_the_edit(
    kb: OpenKb, query: str, patient: str, failing: str, lacks: str, step: str, cost: dict[str, int]
) -> None:
    """The part that fails is named with its place, the nearest event with what it lacks, the edit with its cost."""
    found = kb.find(query).why_not(patient)
    assert not found.admitted
    part = next(part for part in found.failing if part.text == failing)
    assert found.query[part.start : part.end] == failing
    if lacks:
        assert any(lacks in said for near in part.nearest for said in near.lacks)
    assert found.edit is not None
    assert any(one.says.startswith(step) for one in found.edit.steps)
    assert cost.items() <= found.edit.cost.items()


@pytest.mark.parametrize("query", [case[0] for case in CASES])
def test_the_edited_text_finds_the_patient(kb: OpenKb, query: str) -> None:
    """Asked as text, the edited query finds the patient, and as many others as is said."""
    cohort = kb.find(query)
    for patient in set(kb.patients) - set(cohort):
        edit = cohort.why_not(patient).edit
        assert edit is not None
        edited = kb.find(edit.query) if edit.query else set(kb.patients)
        assert patient in edited
        assert len(set(edited) - set(cohort)) == edit.admits + 1
        assert len(set(cohort) - set(edited)) == edit.loses


def test_a_fact_that_excludes_is_told_as_such(kb: OpenKb) -> None:
    """What holds and must not is shown with the events that make it hold."""
    (part,) = kb.find("breast cancer and not medication trastuzumab").why_not("Ana").failing
    assert part.excluded
    assert [near.event.name for near in part.nearest] == ["trastuzumab"]


def test_a_member_is_told_to_be_one(kb: OpenKb) -> None:
    """There is nothing to edit."""
    found = kb.find("breast cancer").why_not("Ana")
    assert found.admitted
    assert found.edit is None
    assert "is in the cohort (certain)" in found.as_text()


def test_dropping_the_only_criterion_leaves_every_patient(kb: OpenKb) -> None:
    """Where nothing is left of the query there is no text, and everybody is admitted."""
    edit = kb.find("death").why_not("Ana").edit
    assert edit is not None
    assert (edit.query, edit.admits, edit.cost["drops"]) == ("", len(kb.patients) - 1, 1)


def test_of_equally_cheap_edits_the_one_that_admits_fewest(kb: OpenKb) -> None:
    """Each of two windows would do with one day more; that which lets nobody else in is taken."""
    query = "performance until 2019-05-31 or diagnosis breast cancer until 2019-04-30"
    edit = kb.find(query).why_not("Cleo").edit
    assert edit is not None
    assert edit.cost["days"] == 1
    assert edit.equally_cheap == 2
    assert edit.admits == 0


def test_as_dict_is_json(kb: OpenKb) -> None:
    """All of it can be written as JSON."""
    found = kb.find("latest ECOG <= 1 and metastasis").why_not("Cleo")
    assert json.loads(json.dumps(found.as_dict()))["edit"]["query"]


def test_only_the_believed_answer_is_asked_about(kb: OpenKb) -> None:
    """Another world, and a patient who is not there, are errors that say so."""
    with pytest.raises(UsageError, match="believed"):
        kb.find("metastasis").possible.why_not("Ana")
    with pytest.raises(UnknownPatient):
        kb.find("metastasis").why_not("Nobody")


@pytest.mark.parametrize(
    "text",
    [
        "breast   ca and HER2- and planned lobectomy",
        "HER2-neg",
        "let a be her2-; breast ca and   a",
        "  latest ECOG<=0 or (NSCLC and metastasis to   brain)",
        "ECOG 0 and\tNSCLC",
        "not (breast ca)",
        "same tumor (NSCLC and HER2+)",
        "at least 2 of (NSCLC, HER2-, trastuzumab before 2019)",
    ],
)
def test_places_are_those_of_what_was_typed(kb: OpenKb, text: str) -> None:
    """A part stands, in the typed text, at words that are understood as that part; and in the query as understood."""
    found = kb.find(text).why_not("Ana")
    assert found.typed == text
    assert not found.admitted
    for part in found.failing:
        assert found.query[part.start : part.end] == part.text
        assert part.typed_start is not None
        words = text[part.typed_start : part.typed_end]
        if words != "a":
            # A part of a clinical term stands at the name of the term.
            understood = kb.find(words).resolved
            assert understood in (part.text, f"({part.text})") or f" {part.text}" in understood.partition(";")[0]
        assert f"(characters {part.typed_start}–{part.typed_end})" in found.as_text()
    assert found.edit is not None
    assert all(step.typed_start is not None for step in found.edit.steps)


def test_places_of_a_tree_are_those_of_the_query_as_understood(kb: OpenKb) -> None:
    """Where nothing was typed, and in definitions of another file, the one place that there is is named."""
    found = kb.find(kb.find("HER2- and lung cancer").query).why_not("Ana")
    assert all(part.typed_start is None for part in found.failing)
    assert "of the query as it was understood)" in found.as_text()


@pytest.mark.parametrize(
    "text", ["HER2 = negative", "biomarker HER2-", "biomarker HER2 exactly negative", "HER2 in (negative, '1+')"]
)
def test_an_edit_is_what_somebody_would_ask(kb: OpenKb, text: str) -> None:
    """Another marker says nothing of this one, and *any value* is none: the condition is let go, or the fact."""
    edit = kb.find(text).why_not("Ana").edit
    assert edit is not None
    assert "receptor status" not in edit.query
    assert "result value" not in edit.query
    assert edit.steps[0].says.startswith(("let go: the condition", "drop: "))
