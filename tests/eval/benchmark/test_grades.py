"""Answers held against labels: cohorts, rankings, and what was not answered."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.baselines.systems.contract import Answer, Failure, Outcome, Question, Ranked
from cohortium.eval.benchmark.grades import MISSING, Graded, grade, retrieved
from cohortium.eval.measures.metrics import F1, PRECISION, RECALL
from cohortium.eval.measures.scoring import Counts, value

BREAST = Question("58", "Find me patients with breast cancer", of=58)
PATIENTS = tuple("abcdef")


def labels_of(wanted: str, unsure: str = "", patients: str = "abcdef") -> Labels:
    """Labels of question 58 alone."""
    return Labels(
        {one: frozenset({58} if one in wanted else ()) for one in patients},
        {one: frozenset({58} if one in unsure else ()) for one in patients},
    )


def answered(ranking: str, size: int | None = None, failed: str = "") -> Answer:
    """An answer with this ranking, of which the first ``size`` are the cohort (by default all)."""
    ranked = tuple(Ranked(one, 1.0 - place / 100) for place, one in enumerate(ranking))
    failures = tuple(Failure(one, "timeout") for one in failed)
    return Answer("58", ranked, len(ranking) if size is None else size, failures=failures)


def graded(answer: Answer | None, labels: Labels) -> Graded:
    """The one graded question."""
    (one,) = grade({} if answer is None else {"58": answer}, [BREAST], labels).questions
    return one


def test_the_cohort_is_counted_and_the_ranking_cut_at_the_size_of_the_gold_cohort():
    """Three are wanted (a, b, c). The cohort is a, d: tp 1, fp 1, fn 2, tn 2. The first three are a, d, b: tp 2, fp 1,
    fn 1, tn 2, although b stands behind the cohort."""
    one = graded(answered("adbcef", size=2), labels_of("abc"))
    assert one.counts == Counts(tp=1, fp=1, fn=2, tn=2)
    assert one.top == Counts(tp=2, fp=1, fn=1, tn=2)
    assert (one.wrongly_found, one.missed) == (("d",), ("b", "c"))


def test_a_ranking_shorter_than_the_gold_cohort_is_taken_as_it_is():
    """One of three is ranked: precision 1, recall 1/3."""
    one = graded(answered("a"), labels_of("abc"))
    assert one.top == Counts(tp=1, fn=2, tn=3)
    assert value(PRECISION, one.top) == 1.0
    assert value(RECALL, one.top) == pytest.approx(1 / 3)


def test_an_ambiguous_patient_takes_no_place_in_the_cut():
    """Wanted a and b, ambiguous d: of the ranking d, a, c the first two that count are a and c."""
    one = graded(answered("dac"), labels_of("ab", unsure="d"))
    assert one.counts == Counts(tp=1, fp=1, fn=1, tn=2)
    assert one.top == Counts(tp=1, fp=1, fn=1, tn=2)
    assert one.wrongly_found == ("c",)


def test_a_patient_without_labels_takes_no_place_in_the_cut():
    """z is unknown to the labels: the first of the ranking that counts is a."""
    one = graded(answered("za", size=1), labels_of("a"))
    assert one.counts == Counts(fn=1, tn=5)
    assert one.top == Counts(tp=1, tn=5)
    assert one.wrongly_found == ()


def test_nothing_is_cut_off_a_ranking_where_nobody_matches():
    """The gold cohort has the size 0, and so has the cut; the cohort of two is two false positives."""
    one = graded(answered("ab"), labels_of(""))
    assert one.counts == Counts(fp=2, tn=4)
    assert one.top == Counts(tn=6)
    assert value(F1, one.top) is None


@pytest.mark.parametrize(
    "answer",
    [
        None,
        Answer("58", outcome=Outcome.ABSTAINED, reason="no words that it knows"),
        Answer("58", outcome=Outcome.FAILED, reason="the endpoint did not answer"),
        Answer("58", (Ranked("a", 1.0), Ranked("b", 0.5)), outcome=Outcome.FAILED),
    ],
)
def test_what_was_not_answered_is_an_empty_answer_and_bears_its_outcome(answer: Answer | None):
    """Also where a ranking was left behind: it earns nothing, in the cut neither."""
    one = graded(answer, labels_of("ab"))
    assert one.outcome == (MISSING if answer is None else answer.outcome)
    assert not one.answered
    assert one.counts == one.top == Counts(fn=2, tn=4)
    assert one.missed == ("a", "b")
    assert one.reason == ("" if answer is None else answer.reason)


def test_a_patient_on_whom_the_system_failed_is_never_scored_as_found():
    """a is wanted and stands in the cohort, but the reading failed: a false negative, in the cut as well."""
    answer = answered("ab", failed="a")
    assert retrieved(answer) == {"b"}
    one = graded(answer, labels_of("ab"))
    assert one.counts == one.top == Counts(tp=1, fn=1, tn=4)
    assert [failure.patient_id for failure in one.failures] == ["a"]


def test_a_question_without_labels_is_not_graded():
    """It is asked, but nothing is known of its answer."""
    assert grade({"x": Answer("x")}, [Question("x", "anything")], labels_of("a")).questions == ()


def test_questions_that_cannot_be_graded_are_refused():
    """One that is asked twice, one that is not in the bank."""
    with pytest.raises(ValueError, match="twice"):
        grade({}, [BREAST, BREAST], labels_of("a"))
    with pytest.raises(ValueError, match="9999"):
        grade({}, [Question("x", "anything", of=9999)], labels_of("a"))


def test_the_row_of_a_question_holds_its_counts_and_measures():
    """tp 1, fp 1, fn 2, tn 2: precision 1/2, recall 1/3, F1 2/5, FPR 1/3, hallucination ratio 1/3."""
    row = graded(answered("adbcef", size=2), labels_of("abc")).as_dict()
    assert (row["id"], row["of"], row["complexity"], row["outcome"]) == ("58", 58, "base", "answered")
    assert (row["gold"], row["found"]) == (3, 2)
    measures = ("precision", "recall", "f1", "false_positive_rate", "hallucination_ratio")
    assert [row[name] for name in measures] == pytest.approx([1 / 2, 1 / 3, 2 / 5, 1 / 3, 1 / 3])
    assert (row["false_positives"], row["false_negatives"]) == (["d"], ["b", "c"])


SUBSETS = st.sets(st.sampled_from(PATIENTS)).map("".join)


@given(SUBSETS, SUBSETS, st.permutations(PATIENTS), st.integers(0, 6))
def test_the_cut_of_a_full_ranking_finds_as_many_as_it_misses(wanted: str, unsure: str, ranking: list[str], size: int):
    """Everybody is ranked: as many are found as are wanted, so precision, recall and F1 are one number."""
    one = graded(answered("".join(ranking), size), labels_of(wanted, unsure))
    assert one.top.fp == one.top.fn
    assert value(PRECISION, one.top) == value(RECALL, one.top) == value(F1, one.top)


@given(SUBSETS, SUBSETS, st.permutations(PATIENTS), st.integers(0, 6), st.randoms(use_true_random=False))
def test_other_names_of_the_patients_change_no_count(
    wanted: str, unsure: str, ranking: list[str], size: int, random_: random.Random
):
    """Nor, with them, the order in which the patients are looked at."""
    named = dict(zip(PATIENTS, random_.sample(PATIENTS, len(PATIENTS)), strict=True))

    def renamed(some: str | list[str]) -> str:
        return "".join(named[one] for one in some)

    one = graded(answered("".join(ranking), size), labels_of(wanted, unsure))
    other = graded(answered(renamed(ranking), size), labels_of(renamed(wanted), renamed(unsure)))
    assert (one.counts, one.top) == (other.counts, other.top)


@given(SUBSETS, SUBSETS, SUBSETS)
def test_each_patient_is_counted_once_or_is_ambiguous(wanted: str, unsure: str, found: str):
    """The table holds one 1 for each patient, and none for one on whom experts may differ."""
    table = grade({"58": answered(found)}, [BREAST], labels_of(wanted, unsure)).cohorts
    assert table.shape == (6, 1, 4)
    assert np.array_equal(table[:, 0].sum(axis=1), [one not in unsure for one in PATIENTS])
