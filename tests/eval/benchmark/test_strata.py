"""Strata: which questions and patients are in each, and the means, spreads and intervals over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.benchmark.strata import Table, document_groups
from cohortium.eval.measures.metrics import F1, PER_QUERY, PRECISION, RECALL

#: Two patients and three questions; summed: (tp 1, fp 1), (fn 1, tn 1), (tp 1, tn 1).
COUNTS = np.array(
    [
        [(1, 0, 0, 0), (0, 0, 1, 0), (1, 0, 0, 0)],
        [(0, 1, 0, 0), (0, 0, 0, 1), (0, 0, 0, 1)],
    ]
)


def test_both_means_and_the_spread_of_a_stratum():
    """Precision 1/2, 0, 1: macro 1/2, spread 1/2 (divisor 2), micro 2/3. Recall 1, 0, 1: macro 2/3, micro 2/3."""
    quality = Table.drawn_from(COUNTS, ["a", "b", "c"]).quality([0, 1, 2], "macro")
    precision, recall = quality.measures[PRECISION.name], quality.measures[RECALL.name]
    assert (precision.value, precision.micro, precision.spread, precision.defined) == pytest.approx(
        (0.5, 2 / 3, 0.5, 3)
    )
    assert (recall.macro, recall.micro) == pytest.approx((2 / 3, 2 / 3))
    assert quality.counts.tp == 2
    assert quality.questions == ("a", "b", "c")


def test_the_mean_that_the_paper_reports_is_the_value():
    """The same stratum by its micro mean; the spread stays that of the single questions."""
    precision = Table.drawn_from(COUNTS, ["a", "b", "c"]).quality([0, 1, 2], "micro").measures[PRECISION.name]
    assert precision.value == pytest.approx(2 / 3)
    assert precision.spread == pytest.approx(0.5)


def test_a_stratum_is_cut_from_the_chosen_questions():
    """Of the first and the third: precision 1/2 and 1, FPR 1 and 0."""
    quality = Table.drawn_from(COUNTS, ["a", "b", "c"]).quality([0, 2], "macro").as_dict()
    assert quality["ids"] == ["a", "c"]
    assert quality["precision"]["value"] == pytest.approx(0.75)
    assert quality["false_positive_rate"]["value"] == pytest.approx(0.5)


def test_an_empty_stratum_has_no_values():
    """No questions, or no patients: everything is undefined, nothing is 0."""
    for quality in (
        Table.drawn_from(COUNTS, ["a", "b", "c"]).quality([], "macro"),
        Table.drawn_from(COUNTS[:0], ["a", "b", "c"]).quality([0, 1, 2], "micro"),
    ):
        for one in PER_QUERY:
            told = quality.measures[one.name]
            assert (told.value, told.spread, told.ci, told.defined) == (None, None, None, 0)


def test_the_interval_of_one_patient_is_the_value():
    """Whoever is drawn, it is the same patient."""
    told = Table.drawn_from(COUNTS[:1], ["a", "b", "c"]).quality([0, 1, 2], "macro").measures[F1.name]
    assert told.ci == pytest.approx((2 / 3, 2 / 3))


def test_three_groups_by_documents():
    """Nine patients with 1 to 9 documents: bounds 4 and 7."""
    groups = document_groups("abcdefghi", dict(zip("abcdefghi", range(1, 10), strict=True)))
    assert [(one.low, one.high, "".join(one.patients)) for one in groups] == [
        (0, 4, "abc"),
        (4, 7, "def"),
        (7, None, "ghi"),
    ]


def test_patients_with_equal_numbers_of_documents_stay_together():
    """1, 1, 1, 1, 2, 3: no bound but 1 and 2 lies near two of six, and 1 parts nobody off. All the same: one group."""
    documents = dict(zip("abcdef", (1, 1, 1, 1, 2, 3), strict=True))
    groups = document_groups("abcdef", documents)
    assert [(one.low, one.high, "".join(one.patients)) for one in groups] == [
        (0, 1, ""),
        (1, 2, "abcd"),
        (2, None, "ef"),
    ]
    assert [len(one.patients) for one in document_groups("abc", dict.fromkeys("abc", 5))] == [0, 0, 3]


def test_a_patient_without_documents_is_in_the_bottom_third():
    """A labelled patient whom the corpus lacks has none."""
    groups = document_groups("abc", {"a": 3, "b": 9})
    assert groups[0].patients == ("c",)
    assert [one.patients for one in document_groups("", {})] == [(), (), ()]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_groups_part_the_patients_whatever_their_order(numbers: list[int], random_: object):
    """Each patient is in one group, between its bounds; another order makes the same groups."""
    documents = {f"p{place}": number for place, number in enumerate(numbers)}
    groups = document_groups(list(documents), documents)
    assert sorted(one for group in groups for one in group.patients) == sorted(documents)
    for group in groups:
        assert all(group.low <= documents[one] for one in group.patients)
        assert all(group.high is None or documents[one] < group.high for one in group.patients)
    shuffled = list(documents)
    random_.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [set(one.patients) for one in document_groups(shuffled, documents)] == [set(one.patients) for one in groups]


@given(st.integers(1, 30).flatmap(lambda number: st.just([3 * number, number])))
def test_without_ties_the_groups_are_equal(numbers: list[int]):
    """Three times as many patients as a group has."""
    patients, third = numbers
    documents = {f"p{place}": place for place in range(patients)}
    assert [len(one.patients) for one in document_groups(list(documents), documents)] == [third] * 3
