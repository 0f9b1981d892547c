"""Unique names of an abstract, and how two sets of them compare (NeuroTrialNER, section 4.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.ner.abstracts import canonical_names, compare, names_of
from cohortium.eval.extraction.ner.short_forms import long_forms
from cohortium.eval.extraction.ner.tagging import Entity
from cohortium.eval.extraction.ner.terminology import Terminology
from cohortium.eval.measures.scoring import Counts


def entity(text: str, kind: str = "CONDITION") -> Entity:
    return Entity(0, len(text), kind, text)


# Each pair was counted by hand by the paper's rules: what is close on both sides, on one, on none.
@pytest.mark.parametrize(
    ("target", "predicted", "exact", "partial"),
    [
        ([], [], Counts(tn=1), Counts(tn=1)),
        (["gait training"], [], Counts(fn=1), Counts(fn=1)),
        ([], ["gait training"], Counts(fp=1), Counts(fp=1)),
        (["stroke"], ["stroke"], Counts(tp=1), Counts(tp=1)),
        # The two examples of the paper that are given in full (section 4.2.1, table 7).
        (["hemiplegic cerebral palsy"], ["cerebral palsy"], Counts(fp=1, fn=1), Counts(tp=2)),
        (
            ["cannabis misuse", "misuse cannabis", "schizophrenia"],
            ["cannabis", "schizophrenia"],
            Counts(tp=1, fp=1, fn=2),
            Counts(tp=4),
        ),
        (["placebo"], ["place"], Counts(fp=1, fn=1), Counts(tp=2)),
        # 5 of the 6 letters of "stroke" are not enough of "strike rate": 2 * 6 / 17 is under 0.6 …
        (["stroke"], ["strike a pose"], Counts(fp=1, fn=1), Counts(fp=1, fn=1)),
        (["asthma", "stroke"], ["stroke", "gout"], Counts(tp=1, fp=1, fn=1), Counts(tp=1, fp=1, fn=1)),
    ],
)
def test_counts_of_a_pair_of_sets(target: list[str], predicted: list[str], exact: Counts, partial: Counts) -> None:
    """Names are counted over both sides together; a close one on the other side is enough for a partial match."""
    assert compare(target, predicted, partial=False) == exact
    assert compare(target, predicted, partial=True) == partial


@pytest.mark.parametrize(
    ("target", "predicted", "exact", "partial"),
    [
        ("emergent seizure|seizure", "emergent seizure rm|seizure|seizure rm|seizure rms", 0.33, 1.00),
        # The extracted text of the paper has "spm" for the target; its F1 is that of "spmi".
        ("drug abuse|spmi", "drug abuse|drug use|dual disordered|spmi|substance abuse", 0.57, 0.75),
        ("cannabis misuse|misuse cannabis|schizophrenia", "cannabis|schizophrenia", 0.40, 1.00),
        ("electromagnetic tracking|electromagnetic tracking system", "electromagnetic tracking tracking", 0.00, 1.00),
        ("lithium|lurasidone|lurasidone hcl", "lithium|lurasidone", 0.80, 1.00),
        ("pasireotide|somatostatin analogues", "pasireotide|pasireotide lar|somatostatin analogue", 0.40, 1.00),
        (
            "meditation relaxation therapy|meditation-relaxation|mr therapy",
            "meditation-relaxation (|meditation relaxation therapy|mr therapy",
            0.67,
            1.00,
        ),
        (
            "aerobic dance training|aerobic dance training with home practice",
            "aerobic dance training|aerobic dance training practice|physical exercise",
            0.40,
            0.86,
        ),
        ("precision gait retraining", "pre gait retraining", 0.00, 1.00),
        ("brief talking therapy", "brief intervention|talking therapy", 0.00, 0.80),
        ("placebo", "place", 0.00, 1.00),
        ("standard of care", "standard of care method|standard of care techniques", 0.00, 1.00),
    ],
)
def test_worked_examples_of_table_7(target: str, predicted: str, exact: float, partial: float) -> None:
    """Exact and partial F1 of the trials that the paper lists are those that it prints."""

    def f1(close: bool) -> float:
        counts = compare(target.split("|"), predicted.split("|"), close)
        return 2 * counts.tp / (2 * counts.tp + counts.fp + counts.fn)

    assert (round(f1(False), 2), round(f1(True), 2)) == (exact, partial)


NAMES = st.lists(st.text(alphabet="abcd ", min_size=1, max_size=8), max_size=5, unique=True)


@given(NAMES, NAMES)
def test_a_partial_match_is_never_harder_than_an_exact_one(target: list[str], predicted: list[str]) -> None:
    """What is found exactly is found partially, and nothing becomes wrong by the looser rule."""
    exact, partial = compare(target, predicted, partial=False), compare(target, predicted, partial=True)
    assert partial.tp >= exact.tp
    assert partial.fp <= exact.fp
    assert partial.fn <= exact.fn


@given(NAMES)
def test_an_answer_equal_to_the_gold_has_no_error(names: list[str]) -> None:
    """Every name is found, none too many, whichever the rule."""
    for partial in (False, True):
        counts = compare(names, names, partial)
        assert (counts.tp, counts.fp, counts.fn, counts.tn) == (len(names), 0, 0, int(not names))


def test_names_are_unique_small_and_written_out() -> None:
    """Repeats are one, letters small, short forms long, blanks of joined tokens gone, broken word pieces left out."""
    entities = [
        entity("RLS"),
        entity("Restless Legs Syndrome"),
        entity("rls"),
        entity("##less"),
        entity("new - onset gout"),
    ]
    forms = long_forms("Trial of restless legs syndrome (RLS)")
    assert names_of(entities, forms) == {"CONDITION": ["new-onset gout", "restless legs syndrome"]}


def test_canonical_forms_join_names_and_count_twice_alone() -> None:
    """Two names of one thing are one where both sides have names, and two false positives where one side is empty."""
    lists = Terminology({"CONDITION": {"pd": frozenset({"parkinson disease"})}})
    names = canonical_names({"CONDITION": ["parkinson disease", "pd"], "OTHER": ["pd"]}, lists)
    assert names == {"CONDITION": ["parkinson disease", "parkinson disease"], "OTHER": ["pd"]}
    assert compare(names["CONDITION"], ["parkinson disease"], partial=False) == Counts(tp=1)
    assert compare([], names["CONDITION"], partial=False) == Counts(fp=2)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Patients with restless legs syndrome (RLS)", {"RLS": "restless legs syndrome"}),
        ("transcranial direct current stimulation (tDCS)", {"tDCS": "transcranial direct current stimulation"}),
        ("improves mood (see below) and sleep", {}),
        ("an open bracket ( RLS and no more", {}),
        ("a line of wrong) brackets (RLS", {}),
        ("gait training (gt)\nlater: gene therapy (GT)", {"gt": "gait training", "GT": "gene therapy"}),
        ("multiple sclerosis (“MS”)", {"MS": "multiple sclerosis"}),
        ("", {}),
    ],
)
def test_short_forms(text: str, pairs: dict[str, str]) -> None:
    """A bracket of two to ten letters is a short form when its letters stand in the words before it."""
    assert dict(long_forms(text)) == pairs


@given(st.text(alphabet="aB (-)\n;,'", max_size=60))
def test_short_forms_are_total(text: str) -> None:
    """Any text is read, and a long form stands in it and ends before a bracket."""
    for short, long in long_forms(text).items():
        assert long
        assert short
