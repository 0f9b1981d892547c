"""The bank asked of an abstraction: what is left of the score is explained, and facts that nobody knows are listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cohortium
from cohortium.eval.bank.acr.abstraction import AbstractionScores, Disagreement, run_abstraction
from cohortium.eval.bank.acr.bank import BankQuery
from cohortium.eval.bank.acr.labels import LabelError
from cohortium.eval.bank.acr.run import run_acr
from cohortium.eval.measures.terms import Terms
from cohortium.kb.errors import UsageError

QUERIES = (
    BankQuery(58, "Who has breast cancer?", "base", "diagnosis breast cancer"),
    BankQuery(
        2,
        "Whose breast cancer is positive for ER?",
        "low",
        "same tumor (diagnosis breast cancer and biomarker ER = positive)",
    ),
    BankQuery(3, "Who had capecitabine?", "low", "medication capecitabine"),
    BankQuery(4, "Who has the sea sickness of the moon?", "hard", "condition moonsickness"),
)

FACTS: list[dict[str, Any]] = [
    {
        "patient_id": "A",
        "facts": [
            {"kind": "diagnosis", "concept": "ca breast, left", "date": "2020-01-01", "docs": ["A1"]},
            {"kind": "biomarker", "concept": "ER", "value": "90%", "attributes": {"result": "positive"},
             "date": "2020-01-09", "docs": ["A1"], "evidence": "Estrogen receptor strongly expressed (90%)."},
            {"kind": "symptom", "concept": "zzyx", "value": "of the left toe"},
            {"kind": "symptom", "concept": "fatigue", "assertion": "sometimes"},
        ],
    },
    {
        "patient_id": "B",
        "facts": [
            {"kind": "diagnosis", "concept": "right breast cancer", "date": "2019-01-01"},
            {"kind": "medication", "concept": "Xeloda", "attributes": {"status": "declined"}, "assertion": "absent"},
        ],
    },
    {"patient_id": "C", "facts": [{"kind": "diagnosis", "concept": "melanoma", "date": "2018-01-01"}]},
    {"patient_id": "D", "facts": []},
]  # fmt: skip

#: B is labelled with capecitabine, which was declined: wrong. A is not labelled with ER: wrong. C is open on 58.
LABELS: list[dict[str, Any]] = [
    {"patient_id": "A", "match": [58]},
    {"patient_id": "B", "match": [58, 3]},
    {"patient_id": "C", "match": [], "ambiguous": [58]},
    {"patient_id": "E", "match": [58]},
]


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the knowledge base of the facts is kept."""
    return tmp_path_factory.mktemp("kept") / "kept.kb"


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory, kept: Path) -> AbstractionScores:
    """Four queries asked of four patients; one patient has no labels, one label no patient."""
    folder = tmp_path_factory.mktemp("scores")
    facts, labels = written(folder, "facts.jsonl", FACTS), written(folder, "labels.jsonl", LABELS)
    return run_abstraction(facts, labels, QUERIES, kb=kept, terms=Terms(2, 1))


def of_pair(scores: AbstractionScores, patient: str, query: int) -> Disagreement:
    """The one disagreement about a patient and a query."""
    (found,) = [one for one in scores.disagreements if (one.patient_id, one.id) == (patient, query)]
    return found


def test_every_disagreement_is_listed_once(scores: AbstractionScores) -> None:
    """They are the false positives and false negatives of the queries, and nothing else."""
    listed = sorted((one.patient_id, one.id, one.labelled, one.answered) for one in scores.disagreements)
    assert listed == [("A", 2, False, True), ("B", 3, True, False), ("E", 58, True, False)]
    counts = [one.counts for one in scores.report.queries]
    assert sum(one.fp for one in counts) == 1
    assert sum(one.fn for one in counts) == 2
    assert all(one.explanation and all(one.explanation) for one in scores.disagreements)


def test_kappa_is_that_of_the_pairs(scores: AbstractionScores) -> None:
    """Four patients and four queries, one pair left open: 2 tp, 1 fp, 2 fn, 10 tn."""
    assert scores.pairs == 15
    agreed, chance = 12 / 15, (3 * 4 + 12 * 11) / 15**2
    kappa = scores.as_dict()["kappa"]
    assert kappa == pytest.approx((agreed - chance) / (1 - chance))
    assert kappa < 1


def test_an_answer_is_explained_by_its_facts(scores: AbstractionScores) -> None:
    """What was found and is not labelled: each criterion with the fact that makes it hold, as it was written."""
    lines = of_pair(scores, "A", 2).explanation
    assert any("breast cancer" in line and "ca breast, left" in line for line in lines)
    assert any("2020-01-09" in line and "ER: 90%" in line for line in lines)


def test_no_answer_is_explained_by_its_criteria(scores: AbstractionScores) -> None:
    """What is labelled and was not found: the criterion that does not hold, and the fact nearest to it, and why."""
    (line,) = of_pair(scores, "B", 3).explanation
    assert line.startswith("does not hold: medication capecitabine")
    assert "declined" in line


def test_a_patient_who_is_not_there_is_told(scores: AbstractionScores) -> None:
    """A labelled patient without facts of their own counts as missed, with that reason."""
    assert of_pair(scores, "E", 58).explanation == ("the abstraction has no such patient",)
    assert scores.report.patients == {"labelled": 4, "missing_from_kb": 1, "unlabelled": 1}


def test_unresolved_facts_and_queries_are_listed(scores: AbstractionScores) -> None:
    """Both stand under "unresolved", each with a reason; bad records stand by their place."""
    told = json.loads(json.dumps(scores.as_dict()))
    queries = [one for one in told["unresolved"] if "id" in one]
    facts = [one for one in told["unresolved"] if "id" not in one]
    assert [one["id"] for one in queries] == [4]
    assert [(one["patient_id"], one["number"], one["kind"], one["concept"]) for one in facts] == [
        ("A", 3, "symptom", "zzyx")
    ]
    assert all(one["reason"] for one in told["unresolved"])
    assert told["facts"]["unresolved"] == 1
    assert told["facts"]["facts"] == 6
    assert [one["place"] for one in told["facts"]["bad"]] == ["line 1, fact 4"]
    assert told["coverage"] == 0.75


def test_right_labels_agree_fully(tmp_path: Path) -> None:
    """With the labels that the facts bear out, kappa is 1 and there is nothing to explain."""
    labels = [
        {"patient_id": "A", "match": [58, 2]},
        {"patient_id": "B", "match": [58]},
        {"patient_id": "C", "match": []},
    ]
    found = run_abstraction(
        written(tmp_path, "facts.jsonl", FACTS), written(tmp_path, "labels.jsonl", labels), QUERIES[:3]
    )
    assert found.as_dict()["kappa"] == 1.0
    assert found.disagreements == ()


@pytest.mark.usefixtures("scores")
def test_the_knowledge_base_is_kept_where_it_is_asked_for(kept: Path, tmp_path: Path) -> None:
    """With ``kb`` it can be asked afterwards; a second run to the same place is refused, and nothing there changes."""
    with cohortium.open(kept) as session:
        generation = session.info()["generation"]
        assert sorted(session.find("diagnosis breast cancer")) == ["A", "B"]
    with pytest.raises(UsageError, match=r"kept\.kb"):
        run_abstraction(tmp_path / "facts.jsonl", tmp_path / "labels.jsonl", QUERIES, kb=kept)
    with cohortium.open(kept) as session:
        assert session.info()["generation"] == generation


@pytest.mark.parametrize("rows", [None, [{"patient_id": "A"}], [{"patient_id": "A", "match": [9999]}]])
def test_labels_that_cannot_be_used_leave_the_place_free(tmp_path: Path, rows: list[dict[str, Any]] | None) -> None:
    """Missing, malformed, or of no known query: nothing is kept, and the corrected run can keep its own there."""
    facts, labels, kb = written(tmp_path, "facts.jsonl", FACTS), tmp_path / "labels.jsonl", tmp_path / "kept.kb"
    if rows is not None:
        written(tmp_path, labels.name, rows)
    with pytest.raises(LabelError, match=r"labels\.jsonl"):
        run_abstraction(facts, labels, QUERIES, kb=kb)
    assert not kb.exists()
    written(tmp_path, labels.name, LABELS)
    assert len(run_abstraction(facts, labels, QUERIES[:1], kb=kb).disagreements) == 1


def test_bounds_that_contradict_leave_the_place_free(tmp_path: Path) -> None:
    """Alpha below beta is told before the facts are read."""
    facts, labels = written(tmp_path, "facts.jsonl", FACTS), written(tmp_path, "labels.jsonl", LABELS)
    with pytest.raises(ValueError, match="alpha 1 and beta 2"):
        run_abstraction(facts, labels, QUERIES, kb=tmp_path / "kept.kb", terms=Terms(1, 2))
    assert not (tmp_path / "kept.kb").exists()


def test_a_part_of_the_bank_is_asked_with_labels_of_all(tmp_path: Path) -> None:
    """Of facts and of notes alike: labels may name any query of the bank; one that is not asked counts nowhere."""
    facts, kb = written(tmp_path, "facts.jsonl", FACTS), tmp_path / "kept.kb"
    labels = written(tmp_path, "labels.jsonl", [{"patient_id": "A", "match": [58, 112], "ambiguous": [114]}])
    found = run_abstraction(facts, labels, QUERIES[:1], kb=kb)
    assert (found.pairs, found.disagreements) == (1, ())
    assert run_acr(kb, labels, QUERIES[:1]).queries == found.report.queries


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """The message names the file that is not there."""
    labels = written(tmp_path, "labels.jsonl", LABELS)
    with pytest.raises(UsageError, match=r"nowhere\.jsonl"):
        run_abstraction(tmp_path / "nowhere.jsonl", labels, QUERIES)
