"""What entities are worth by the rules of Real-MedNLP (overview, section 4.1), worked by hand."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.mednlp.matching import LEVELS, POLICIES, Credit, credit, frequencies, nearest, weight
from cohortium.eval.extraction.mednlp.reports import MedicalEntity, Report

# Fictional: 0–7 "nodules", 11–21 "right lung", 25–33 "effusion".
TEXT = "nodules in right lung or effusion"
NODULES = MedicalEntity(0, 7, "d", "positive")
LUNG = MedicalEntity(11, 21, "a")
EFFUSION = MedicalEntity(25, 33, "d", "suspicious")
GOLD = Report("1", TEXT, (NODULES, LUNG, EFFUSION))
LABELS = ("d", "a")


@pytest.mark.parametrize(("frequency", "expected"), [(0, 1.0), (1, 0.59), (2, 0.48)])
def test_weights_are_those_of_the_overview(frequency: int, expected: float) -> None:
    """The three weights that the overview prints."""
    assert round(weight(frequency), 2) == expected


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("policy", POLICIES)
def test_the_gold_is_worth_all(level: str, policy: str) -> None:
    """Every entity of the gold as an answer is worth 1 on both sides."""
    assert credit(GOLD, GOLD.entities, LABELS, level, policy, None) == Credit(3.0, 3, 3.0, 3)


@pytest.mark.parametrize(
    ("level", "exact", "partial"),
    [
        # "lungs" of "right lung" as d; "nodules" with another modality; "effusion" as it is.
        ("span", Credit(2.0, 3, 2.0, 3), Credit(3.0, 3, 2.4, 3)),
        ("label", Credit(2.0, 3, 2.0, 3), Credit(2.0, 3, 2.0, 3)),
        ("label_modality", Credit(1.0, 3, 1.0, 3), Credit(1.0, 3, 1.0, 3)),
    ],
)
def test_levels(level: str, exact: Credit, partial: Credit) -> None:
    """A level asks for the span, the label too, the modality too."""
    found = [MedicalEntity(0, 7, "d", "negative"), MedicalEntity(17, 21, "d", "positive"), EFFUSION]
    assert credit(GOLD, found, LABELS, level, "exact", None) == exact
    partly = credit(GOLD, found, LABELS, level, "partial", None)
    assert (partly.predicted, partly.recalled) == pytest.approx((partial.predicted, partial.recalled))


def test_a_partial_match_is_a_share_of_letters() -> None:
    """One prediction over two entities shares 10 of its 22 letters with the longer; each gold one is met whole."""
    found = [MedicalEntity(11, 33, "d")]
    told = credit(Report("1", TEXT, (EFFUSION, MedicalEntity(11, 21, "d"))), found, LABELS, "label", "partial", None)
    assert told.predicted == pytest.approx(10 / 22)
    assert told.recalled == pytest.approx(2.0)
    assert credit(GOLD, found, LABELS, "label", "exact", None) == Credit(0.0, 1, 0.0, 3)


def test_frequent_entities_weigh_less() -> None:
    """Sums are weighted and numbers are not: a right answer that training has once is worth 0.59 on both sides."""
    training = [
        Report("t", "effusion", (MedicalEntity(0, 8, "d"),)),
        Report("u", "Effusion", (MedicalEntity(0, 8, "d"),)),
    ]
    known = frequencies(training)
    told = credit(GOLD, [EFFUSION, LUNG], LABELS, "label", "exact", known)
    assert told == Credit(1 + weight(1), 2, 1 + weight(1), 3)
    half = credit(GOLD, [MedicalEntity(25, 29, "d")], LABELS, "label", "partial", known)
    assert half == Credit(weight(1), 1, weight(1) / 2, 3)
    # The same letters under another label are another entity.
    assert credit(GOLD, [LUNG], LABELS, "label", "exact", {("d", "right lung"): 9}).predicted == 1.0


def test_an_entity_is_met_once() -> None:
    """An answer given twice is one too many."""
    assert credit(GOLD, [LUNG, LUNG], LABELS, "span", "exact", None) == Credit(1.0, 2, 1.0, 3)


def test_labels_outside_the_set_do_not_count() -> None:
    """They are on neither side."""
    assert credit(GOLD, [LUNG], ("d",), "span", "exact", None) == Credit(0.0, 0, 0.0, 2)
    assert credit(Report("1", ""), [], LABELS, "span", "exact", None) == Credit()


ENTITIES = st.lists(
    st.builds(
        lambda start, length, label, modality: MedicalEntity(start, start + length, label, modality),
        st.integers(0, 12),
        st.integers(1, 6),
        st.sampled_from(["d", "a"]),
        st.sampled_from(["", "positive"]),
    ),
    max_size=5,
)


@given(ENTITIES, ENTITIES, st.sampled_from(POLICIES))
def test_levels_and_policies_are_ordered(gold: list[MedicalEntity], found: list[MedicalEntity], policy: str) -> None:
    """span >= +label >= +label+mod, partial >= exact, plain >= weighted, as the overview says."""
    report = Report("1", "abcdefghijklmnopqrs", tuple(gold))
    known = frequencies([report])
    plain = [credit(report, found, LABELS, level, policy, None) for level in LEVELS]
    for one, other in itertools.pairwise(plain):
        assert one.predicted >= other.predicted - 1e-9
        assert one.recalled >= other.recalled - 1e-9
    for level, one in zip(LEVELS, plain, strict=True):
        assert credit(report, found, LABELS, level, policy, known).recalled <= one.recalled + 1e-9
        assert credit(report, found, LABELS, level, "exact", None).recalled <= one.recalled + 1e-9
        assert 0 <= one.predicted <= len(found) + 1e-9
        assert 0 <= one.recalled <= len(gold) + 1e-9


SPANS = st.lists(
    st.builds(
        lambda start, length, label: MedicalEntity(start, start + length, label),
        st.integers(0, 9), st.integers(1, 9), st.sampled_from("da"),
    ),
    max_size=9,
)  # fmt: skip


@given(SPANS, SPANS, st.sampled_from(LEVELS))
def test_the_nearest_is_that_of_holding_each_against_each(
    ones: list[MedicalEntity], others: list[MedicalEntity], level: str
) -> None:
    """The most common letters, and of several others that have as many the first."""

    def common(one: MedicalEntity, other: MedicalEntity) -> int:
        alike = level == "span" or one.label == other.label
        return max(0, min(one.end, other.end) - max(one.start, other.start)) if alike else 0

    for one, (letters, at) in zip(ones, nearest(ones, others, level), strict=True):
        each = [common(one, other) for other in others]
        assert letters == max(each, default=0)
        assert at == (each.index(letters) if letters else -1)
