"""Every measure, worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.measures.bootstrap import averages, between, interval, paired_interval, resampled
from cohortium.eval.measures.classes import SizeBounds
from cohortium.eval.measures.metrics import (
    COVERAGE,
    F1,
    FALSE_POSITIVE_RATE,
    HALLUCINATION_RATIO,
    KAPPA,
    MEASURES,
    PER_QUERY,
    PRECISION,
    RECALL,
)
from cohortium.eval.measures.scoring import (
    Counts,
    count,
    coverage,
    macro,
    micro,
    spread,
    total,
    value,
    values,
    zero_result_false_positives,
)


def test_counts_of_an_answer():
    """Found and wanted, only found, only wanted, neither: a is tp, b is fp, c is fn, d is tn."""
    assert count({"a", "b"}, {"a", "c"}, "abcd") == Counts(tp=1, fp=1, fn=1, tn=1)


def test_an_ambiguous_pair_counts_neither_way_even_where_the_label_says_match():
    """Whatever was found or labelled of b and c, they are in no count."""
    assert count({"a", "b"}, {"a", "b", "c"}, "abcd", open_to={"b", "c"}) == Counts(tp=1, tn=1)


def test_an_answer_outside_the_labelled_patients_is_left_out():
    """Nothing is known of z."""
    assert count({"a", "z"}, {"a"}, "ab") == Counts(tp=1, tn=1)


def test_a_wanted_patient_that_is_not_found_is_a_false_negative():
    """Whether the knowledge base holds the patient or not."""
    assert count(set(), {"gone"}, ["gone"]) == Counts(fn=1)


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1", "ratio"),
    [
        (Counts(tp=3, fp=1, fn=2), 0.75, 0.6, 6 / 9, 0.2),
        (Counts(tp=1, fp=6, fn=1), 1 / 7, 0.5, 2 / 9, 3.0),
        (Counts(tp=4), 1.0, 1.0, 1.0, 0.0),
        (Counts(fn=5), 0.0, 0.0, 0.0, 0.0),
        (Counts(fp=2, tn=9), 0.0, 0.0, 0.0, None),
        (Counts(tn=9), None, None, None, None),
    ],
)
def test_measures_of_one_query(counts, precision, recall, f1, ratio):
    """An empty answer scores 0 where something was wanted; nothing is defined where nothing was wanted or found."""
    taken = [value(measure, counts) for measure in (PRECISION, RECALL, F1, HALLUCINATION_RATIO)]
    assert taken == [one if one is None else pytest.approx(one) for one in (precision, recall, f1, ratio)]


@pytest.mark.parametrize(
    ("counts", "rate"),
    [
        (Counts(tp=3, fp=1, fn=2, tn=3), 0.25),
        (Counts(fp=2), 1.0),
        (Counts(fn=1, tn=9), 0.0),
        (Counts(tp=4, fn=1), None),
        (Counts(), None),
    ],
)
def test_the_false_positive_rate(counts, rate):
    """Of the patients who were not wanted, the share who were found; undefined where everybody was wanted."""
    assert value(FALSE_POSITIVE_RATE, counts) == rate


QUERIES = (Counts(tp=3, fp=1), Counts(tp=1, fn=1), Counts(fp=2, tn=3), Counts(tn=4))


def test_macro_weighs_queries_and_leaves_out_the_undefined():
    """(0.75 + 1 + 0) / 3, (1 + 0.5 + 0) / 3, (6/7 + 2/3 + 0) / 3; the last query is in none."""
    assert macro(PRECISION, QUERIES) == pytest.approx(1.75 / 3)
    assert macro(RECALL, QUERIES) == pytest.approx(0.5)
    assert macro(F1, QUERIES) == pytest.approx((6 / 7 + 2 / 3) / 3)


def test_the_hallucination_ratio_is_averaged_over_queries_with_gold():
    """(1/3 + 0) / 2: the two queries that nobody matches have none."""
    assert macro(HALLUCINATION_RATIO, QUERIES) == pytest.approx(1 / 6)


def test_micro_weighs_pairs():
    """4 tp, 3 fp, 1 fn, 7 tn in all: the query that nobody matches brings its false positives."""
    assert total(QUERIES) == Counts(4, 3, 1, 7)
    assert micro(PRECISION, QUERIES) == pytest.approx(4 / 7)
    assert micro(RECALL, QUERIES) == pytest.approx(4 / 5)
    assert micro(F1, QUERIES) == pytest.approx(8 / 12)


def test_the_spread_is_the_sample_standard_deviation_over_queries():
    """Precisions 3/4, 1, 0 about their mean 7/12: the root of (4 + 25 + 49) / 144 / 2; the last query has none."""
    assert spread(PRECISION, QUERIES) == pytest.approx(39**0.5 / 12)
    assert spread(F1, [Counts(tp=1)] * 3) == 0.0


def test_the_spread_of_one_query_is_undefined():
    """Or of none, or where the measure is defined of one alone."""
    assert spread(F1, [Counts(tp=1)]) is None
    assert spread(F1, []) is None
    assert spread(F1, [Counts(tp=1), Counts(tn=4)]) is None


COUNTS = st.builds(Counts, *[st.integers(0, 5)] * 4)


@given(st.lists(COUNTS, max_size=8))
def test_many_counts_at_once_give_the_values_one_by_one(queries):
    """NaN where the single value is None."""
    table = np.array([(one.tp, one.fp, one.fn, one.tn) for one in queries], dtype=np.int64).reshape(-1, 4)
    for measure in PER_QUERY:
        taken = [None if np.isnan(one) else float(one) for one in values(measure, table)]
        assert taken == [value(measure, one) for one in queries]


def test_only_ratios_of_counts_are_taken_of_a_table():
    """Coverage has no counts, and kappa is no ratio of two sums."""
    for measure in (COVERAGE, KAPPA):
        with pytest.raises(KeyError):
            values(measure, np.zeros((1, 4), dtype=np.int64))


@given(COUNTS)
def test_measures_hang_together(counts):
    """F1 is the harmonic mean of precision and recall; the hallucination ratio is recall times the odds of a wrong one;
    all but that ratio lie between 0 and 1."""
    precision, recall, f1, rate, ratio = (value(measure, counts) for measure in PER_QUERY)
    if precision and recall:
        assert f1 == pytest.approx(2 / (1 / precision + 1 / recall))
        assert ratio == pytest.approx(recall * (1 - precision) / precision)
    assert all(0 <= one <= 1 for one in (precision, recall, f1, rate) if one is not None)
    assert (f1 is None) == (precision is None) == (recall is None)


@given(st.lists(COUNTS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter(queries, random_):
    """For each mean and for the spread."""
    shuffled = random_.sample(queries, len(queries))
    for measure in PER_QUERY:
        for taken in (micro, macro, spread):
            assert taken(measure, shuffled) == pytest.approx(taken(measure, queries))


@given(st.lists(COUNTS, min_size=2, max_size=8))
def test_the_spread_of_shares_is_at_most_that_of_zeros_and_ones(queries):
    """Values between 0 and 1 deviate at most as half of them at either end: n/4 over n - 1, under the root."""
    for measure in (PRECISION, RECALL, F1, FALSE_POSITIVE_RATE):
        told = spread(measure, queries)
        defined = sum(value(measure, one) is not None for one in queries)
        assert told is None or 0 <= told <= (defined / 4 / (defined - 1)) ** 0.5 + 1e-12


def test_means_of_nothing_are_undefined():
    """No queries, or none of which the measure is defined."""
    assert macro(F1, []) is None
    assert micro(F1, []) is None
    assert macro(F1, [Counts(tn=2)]) is None


def test_zero_result_false_positives_are_those_of_queries_that_nobody_matches():
    """The 2 of the third query; the 1 of the first is not counted."""
    assert zero_result_false_positives(QUERIES) == 2


def test_kappa_by_hand():
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: agreement 0.7, chance 0.5, kappa 0.4."""
    assert value(KAPPA, Counts(tp=20, fp=5, fn=10, tn=15)) == pytest.approx(0.4)


def test_kappa_at_its_ends():
    """Agreement on both classes is 1, disagreement on all is -1, no better than chance is 0."""
    assert value(KAPPA, Counts(tp=1, tn=9)) == 1
    assert value(KAPPA, Counts(fp=5, fn=5)) == -1
    assert value(KAPPA, Counts(tp=4, fp=4, fn=4, tn=4)) == 0


def test_kappa_is_undefined_where_chance_agrees_on_everything():
    """One class only, or no pairs at all."""
    assert value(KAPPA, Counts(tn=9)) is None
    assert value(KAPPA, Counts(tp=9)) is None
    assert value(KAPPA, Counts()) is None


def test_coverage():
    """Three of four answered; of nothing asked, nothing is known."""
    assert coverage(4, 1) == 0.75
    assert coverage(0, 0) is None


@pytest.mark.parametrize(("patients", "bounds"), [(1436, (50, 10)), (31, (2, 1)), (300, (10, 2)), (0, (2, 1))])
def test_size_bounds_scale_with_the_patients(patients, bounds):
    """50 and 10 at the paper's 1,436 patients, and never below 2 and 1."""
    found = SizeBounds.scaled(patients)
    assert (found.alpha, found.beta) == bounds


def test_size_classes():
    """From alpha up broad, from beta up narrow, from 1 up sparse, else zero."""
    bounds = SizeBounds.scaled(1436)
    assert [bounds.size(wanted) for wanted in (50, 49, 10, 9, 1, 0)] == [
        "broad", "narrow", "narrow", "sparse", "sparse", "zero",
    ]  # fmt: skip


def test_size_bounds_can_be_given_and_must_not_contradict():
    """A broad query is never smaller than a narrow one."""
    assert SizeBounds.scaled(31, alpha=5, beta=3) == SizeBounds(5, 3)
    with pytest.raises(ValueError, match="at least beta"):
        SizeBounds.scaled(31, alpha=2, beta=3)


def test_the_interval_is_the_same_for_the_same_seed_and_holds_the_value():
    """Eight patients right, four wrong: F1 of 16/20 lies inside, and the seed decides the draw."""
    patients = [Counts(tp=1)] * 8 + [Counts(fp=1)] * 2 + [Counts(fn=1)] * 2
    low, high = interval(F1, patients, seed=3)
    assert (low, high) == interval(F1, patients, seed=3)
    assert low < 16 / 20 < high
    assert 0 <= low <= high <= 1
    assert interval(F1, patients, seed=4) != (low, high)


def test_equal_patients_leave_no_doubt():
    """Whoever is drawn, F1 is 2/3."""
    assert interval(F1, [Counts(tp=1, fp=1)] * 5) == pytest.approx((2 / 3, 2 / 3))


def test_there_is_no_interval_of_nothing():
    """No patients, or patients of whom F1 is never defined."""
    assert interval(F1, []) is None
    assert interval(F1, [Counts(tn=3)] * 4) is None


def test_paired_runs_draw_the_same_patients():
    """A run held against itself never differs; one that misses a patient more never gains; unlike lengths clash."""
    first = [Counts(tp=1)] * 8 + [Counts(fn=1)] * 2
    second = [Counts(tp=1)] * 7 + [Counts(fn=1)] * 3
    assert paired_interval(F1, first, first) == (0.0, 0.0)
    low, high = paired_interval(F1, second, first)
    assert low < 0.0
    assert high <= 0.0
    assert low > interval(F1, second)[0] - interval(F1, first)[1], "narrower than two draws apart"
    assert paired_interval(F1, [], []) is None
    with pytest.raises(ValueError, match="10 and 9"):
        paired_interval(F1, first, second[1:])


def test_tables_are_drawn_as_patients_are():
    """The micro mean of each draw of a table makes the interval that the counts of the patients make."""
    patients = [Counts(tp=1, fp=2), Counts(fn=1), Counts(tn=1), Counts(tp=2)]
    table = np.array([[(one.tp, one.fp, one.fn, one.tn)] for one in patients])
    drawn = averages(F1, resampled(table, seed=3, resamples=50), "micro")
    assert between(drawn) == pytest.approx(interval(F1, patients, seed=3, resamples=50))


def test_a_draw_takes_as_many_patients_as_there_are():
    """Each patient has one count of each query, so that a draw sums to the number of patients."""
    table = np.zeros((7, 3, 4), dtype=np.int64)
    table[np.arange(7), :, np.arange(7) % 4] = 1
    draws = resampled(table, resamples=20)
    assert draws.shape == (20, 3, 4)
    assert (draws.sum(axis=2) == 7).all()
    assert resampled(table[:0]).shape == (0, 3, 4)


def test_averages_of_draws():
    """Two draws of two queries. Macro precision: (1/2 + 1) / 2; then of the second query alone. Micro: 2/3, 1/2."""
    draws = np.array([[(1, 1, 0, 0), (1, 0, 0, 0)], [(0, 0, 0, 2), (1, 1, 0, 0)]])
    assert averages(PRECISION, draws, "macro") == pytest.approx([0.75, 0.5])
    assert averages(PRECISION, draws, "micro") == pytest.approx([2 / 3, 0.5])
    assert between(averages(PRECISION, draws[:, :0], "macro")) is None


def test_every_measure_says_what_it_is():
    """Names differ, and each has a definition."""
    assert len({measure.name for measure in MEASURES}) == len(MEASURES)
    assert all(measure.definition for measure in MEASURES)
    assert set(PER_QUERY) <= set(MEASURES)
