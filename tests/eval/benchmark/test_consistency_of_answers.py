"""The three checks of consistency, over answers alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.baselines.systems.contract import Answer, Failure, Outcome, Ranked
from cohortium.eval.benchmark.agreement import Expected, expected_agreement
from cohortium.eval.benchmark.consistency import CHECKS, consistency, summary

SAME = Expected("paraphrase", "brand", "A", "B")
WITHIN = Expected("subtype", "a kind of it", "C", "P")
BOTH = Expected("intersection", "a further criterion", "C", "P")


def found(patients: str, failed: str = "") -> Answer:
    """An answer that names these patients, and failed on those."""
    ranked = tuple(Ranked(one, 1.0) for one in patients)
    return Answer("", ranked, len(ranked), failures=tuple(Failure(one, "timeout") for one in failed))


def row(expected: Expected, first: Answer | None, second: Answer | None) -> dict:
    """The one comparison."""
    given_ = {expected.first: first, expected.second: second}
    answers = {id_: one for id_, one in given_.items() if one is not None}
    (one,) = consistency(answers, [expected]).compared
    return one.as_dict()


def test_paraphrases_are_compared_both_ways():
    """A names a, b, c, d and B names c, d, e: |A - B| is 2 of 4, |B - A| is 1 of 3."""
    told = row(SAME, found("abcd"), found("cde"))
    assert told["status"] == "violated"
    assert (told["first_size"], told["second_size"]) == (4, 3)
    assert (told["only_first"], told["only_second"]) == (2, 1)
    assert (told["only_first_share"], told["only_second_share"]) == pytest.approx((1 / 2, 1 / 3))
    assert (told["patients_only_first"], told["patients_only_second"]) == (["a", "b"], ["e"])


@pytest.mark.parametrize("expected", [WITHIN, BOTH])
def test_a_subset_is_compared_one_way(expected: Expected):
    """C names a, b, x and P names a, b, c, d: |C - P| is 1 of 3; c and d violate nothing."""
    told = row(expected, found("abx"), found("abcd"))
    assert (told["status"], told["only_first"], told["only_second"]) == ("violated", 1, 0)
    assert told["only_first_share"] == pytest.approx(1 / 3)
    assert row(expected, found("ab"), found("abcd"))["status"] == "consistent"


def test_the_paper_s_second_table_comes_out():
    """13 for Tagrisso, 12 for osimertinib, 10 in common: 3 (23%) and 2 (17%)."""
    shared = "abcdefghij"
    told = row(SAME, found(shared + "kl"), found(shared + "xyz"))
    assert (told["only_first"], told["only_second"]) == (2, 3)
    assert (round(told["only_first_share"], 2), round(told["only_second_share"], 2)) == (0.17, 0.23)


def test_empty_answers_agree_and_show_little():
    """No share can be had of nobody; a child without patients is within any parent."""
    told = row(SAME, found(""), found(""))
    assert (told["status"], told["only_first_share"], told["only_second_share"]) == ("consistent", None, None)
    assert consistency({"A": found(""), "B": found("")}, [SAME]).compared[0].empty
    assert not consistency({"A": found("a"), "B": found("")}, [SAME]).compared[0].empty
    assert consistency({"C": found(""), "P": found("a")}, [WITHIN]).compared[0].empty


DECLINED = Answer("", outcome=Outcome.ABSTAINED)
FAILED = Answer("", outcome=Outcome.FAILED)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (found("a"), DECLINED, "abstained"),
        (DECLINED, DECLINED, "abstained"),
        (FAILED, found("a"), "failed"),
        (DECLINED, FAILED, "failed"),
        (found("a"), None, "missing"),
        (None, FAILED, "missing"),
    ],
)
def test_what_was_not_answered_is_neither_consistent_nor_violated(
    first: Answer | None, second: Answer | None, status: str
):
    """Two that were declined do not agree, either."""
    told = row(SAME, first, second)
    assert (told["status"], told["only_first"], told["only_second"]) == (status, 0, 0)


def test_patients_on_whom_an_answer_failed_are_left_out_of_the_pair():
    """b is named by A alone, but B failed on b: nothing is known of what B says. d is named by both."""
    told = row(SAME, found("bd"), found("d", failed="b"))
    assert (told["status"], told["first_size"], told["second_size"], told["left_out"]) == ("consistent", 1, 1, 1)


def test_the_summary_counts_every_pair_once():
    """One holds, one holds of nobody, one is violated, one declined, one failed, one was never asked."""
    answers = {"a": found("xy"), "b": found("xy"), "c": found("xyz"), "e": found(""), "d": DECLINED, "f": FAILED}
    pairs = [Expected("paraphrase", "order", "a", other) for other in "bcdfg"]
    pairs.append(Expected("paraphrase", "order", "e", "e"))
    told = summary(consistency(answers, pairs).compared)
    assert told == {
        "expected": 6,
        "checked": 3,
        "consistent": 2,
        "of_empty_sets": 1,
        "violated": 1,
        "abstained": 1,
        "failed": 1,
        "missing": 1,
        "violated_share": pytest.approx(1 / 3),
        "patients_contradicting": 1,
        "patients_share": pytest.approx(1 / 9),
    }


def test_the_summary_of_nothing():
    """No pairs, no shares."""
    told = summary([])
    assert (told["expected"], told["violated_share"], told["patients_share"]) == (0, None, None)


def test_a_run_without_answers_checks_nothing():
    """Every shipped pair is missing, none is consistent."""
    told = consistency({}).as_dict()
    assert tuple(told) == CHECKS
    assert all(told[check]["missing"] == told[check]["expected"] > 0 for check in CHECKS)
    assert sum(told[check]["expected"] for check in CHECKS) == len(expected_agreement())


SETS = st.sets(st.sampled_from("abcdef")).map("".join)


@given(SETS, SETS)
def test_the_order_of_a_paraphrase_does_not_matter(first: str, second: str):
    """The other way round the two differences change places."""
    one, other = row(SAME, found(first), found(second)), row(SAME, found(second), found(first))
    assert (one["status"], one["only_first"], one["only_second"]) == (
        other["status"],
        other["only_second"],
        other["only_first"],
    )


@given(SETS, SETS)
def test_a_system_that_intersects_is_never_inconsistent(first: str, second: str):
    """What two answers have in common lies within each of them."""
    common = "".join(set(first) & set(second))
    assert row(BOTH, found(common), found(first))["status"] == "consistent"
    assert row(BOTH, found(common), found(second))["status"] == "consistent"


@given(SETS, SETS)
def test_equal_sets_are_subsets_both_ways(first: str, second: str):
    """A paraphrase holds exactly when each answer is within the other."""
    equal = row(SAME, found(first), found(second))["status"]
    ways = {row(WITHIN, found(one), found(other))["status"] for one, other in ((first, second), (second, first))}
    assert (equal == "consistent") == (ways == {"consistent"})
