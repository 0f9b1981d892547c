"""The scored run, on answers that are given by hand."""

import json

import pytest

from cohortium.eval.bank.acr.bank import BankQuery, load_bank
from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.bank.acr.page import page
from cohortium.eval.bank.acr.run import run_acr, score
from cohortium.eval.measures.scoring import Counts
from cohortium.eval.measures.terms import Terms
from cohortium.query_lang.errors import QueryError

BANK = (
    BankQuery(1, "Who?", "base", "one"),
    BankQuery(2, "Which?", "low", "two"),
    BankQuery(3, "None?", "low", "three"),
    BankQuery(4, "What?", "hard", "four"),
)
#: P4 is labelled and not in the knowledge base; P9 is there and not labelled.
HELD = ("P1", "P2", "P3", "P9")
LABELS = Labels(
    match={
        "P1": frozenset({1, 2, 4}),
        "P2": frozenset({1, 2}),
        "P3": frozenset(),
        "P4": frozenset({1}),
    },
    ambiguous={"P1": frozenset({2}), "P2": frozenset(), "P3": frozenset({1}), "P4": frozenset()},
)


def find(query):
    if query == "four":
        raise QueryError("'four' is not known")
    return {"one": {"P1", "P3", "P9"}, "two": {"P2", "P3"}, "three": {"P2"}}[query]


@pytest.fixture
def report():
    return score(find, HELD, LABELS, BANK, Terms(2, 1))


def test_counts_of_each_query(report):
    """1: P3 is open, P9 unlabelled, P4 missed though not held. 2: P1 is open. 3: nobody. 4: not answered."""
    assert [one.counts for one in report.queries] == [
        Counts(tp=1, fp=0, fn=2, tn=0),
        Counts(tp=1, fp=1, fn=0, tn=1),
        Counts(tp=0, fp=1, fn=0, tn=3),
        Counts(tp=0, fp=0, fn=1, tn=3),
    ]


def test_the_report_in_json(report):
    """Every number of the contract, by hand: 2 tp, 2 fp, 3 fn, 7 tn in all."""
    found = json.loads(json.dumps(report.as_dict()))
    assert found["micro"]["precision"] == 0.5
    assert found["micro"]["recall"] == 0.4
    assert found["micro"]["f1"] == pytest.approx(4 / 9)
    low, high = found["micro"]["ci"]
    assert low <= 4 / 9 <= high
    assert found["zero_result_false_positives"] == 1
    # Agreement 9/14; chance (4 * 5 + 10 * 9) / 196.
    assert found["kappa"] == pytest.approx((9 / 14 - 110 / 196) / (1 - 110 / 196))
    assert found["unresolved"] == [{"id": 4, "reason": "'four' is not known"}]
    assert found["coverage"] == 0.75
    assert found["answered"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "wrong": 2}
    assert found["queries"][0] == {"id": 1, "query": "one", "tp": 1, "fp": 0, "fn": 2, "abstained": False}
    assert [one["abstained"] for one in found["queries"]] == [False, False, False, True]
    assert found["patients"] == {"labelled": 4, "missing_from_kb": 1, "unlabelled": 1}


def test_classes_of_size_have_their_own_means(report):
    """Three wanted is broad; one wanted is narrow (twice); nobody wanted is zero: its false positives alone."""
    sizes = report.as_dict()["by_size"]
    assert sizes["broad"]["ids"] == [1]
    assert sizes["broad"]["precision"] == 1.0
    assert sizes["narrow"]["ids"] == [2, 4]
    assert sizes["narrow"]["mean"] == "macro"
    assert sizes["narrow"]["f1"] == pytest.approx((2 / 3 + 0) / 2)
    assert sizes["narrow"]["hallucination_ratio"] == 0.5
    assert sizes["sparse"]["queries"] == 0
    assert sizes["sparse"]["f1"] is None
    assert sizes["zero"]["ids"] == [3]
    assert sizes["zero"]["f1"] is None
    assert sizes["zero"]["false_positives"] == 1


def test_sparse_queries_have_a_micro_mean():
    """With beta 2, the two queries that one patient matches are sparse: 1 tp, 1 fp, 1 fn."""
    sizes = score(find, HELD, LABELS, BANK, Terms(3, 2)).as_dict()["by_size"]
    assert sizes["sparse"]["ids"] == [2, 4]
    assert sizes["sparse"]["mean"] == "micro"
    assert sizes["sparse"]["f1"] == 0.5


def test_classes_of_complexity(report):
    """Low: 1 tp and 2 fp over two queries; medium has none."""
    classes = report.as_dict()["by_complexity"]
    assert classes["low"]["queries"] == 2
    assert classes["low"]["precision"] == pytest.approx(1 / 3)
    assert classes["medium"]["queries"] == 0
    assert classes["medium"]["f1"] is None


def test_the_wrong_patients_are_listed_when_asked_for(report):
    """Neither the ambiguous nor the unlabelled are among them."""
    plain, listed = report.as_dict(), report.as_dict(errors=True)
    assert "false_negatives" not in plain["queries"][0]
    assert listed["queries"][0]["false_negatives"] == ["P2", "P4"]
    assert listed["queries"][0]["false_positives"] == []
    assert listed["queries"][1]["false_positives"] == ["P3"]


def test_the_page_holds_the_scores_and_escapes_what_it_shows(report):
    """One page, nothing from elsewhere, and no mark-up out of a query."""
    scores = report.as_dict(errors=True)
    scores["queries"][0]["query"] = "<script>"
    made = page(scores)
    assert "0.444" in made
    assert "&lt;script&gt;" in made
    assert "<script" not in made
    assert "http" not in made


class _Session:
    """Finds everyone for every query."""

    patients = ("P1", "P2")

    def find(self, query):
        return self.patients

    def info(self):
        return {"generation": "abc", "schema_version": 1, "versions": {"pipeline": "1"}, "events": {"death": 2}}


def test_a_run_over_the_bank(tmp_path):
    """Labels from a file, answers from a session: the bank is asked whole, and the signature says of what."""
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"patient_id": "P1", "match": [57, 58], "ambiguous": [59]}\n', encoding="utf-8")
    found = run_acr(_Session(), labels).as_dict()
    assert len(found["queries"]) == len(load_bank())
    assert sum(one["tp"] for one in found["queries"]) == 2
    assert sum(one["fp"] for one in found["queries"]) == 111
    assert found["patients"]["unlabelled"] == 1
    signature = found["signature"]
    assert signature["kb"] == {"generation": "abc", "schema_version": 1, "versions": {"pipeline": "1"}}
    assert len(signature["labels_sha256"]) == 64
    assert signature["cohortium"]
    assert signature["interval"]["seed"] == 0


def test_the_same_seed_gives_the_same_report():
    """The interval is drawn, and still repeatable."""
    first, second = (score(find, HELD, LABELS, BANK, Terms(seed=5)).as_dict() for _ in range(2))
    assert first == second
