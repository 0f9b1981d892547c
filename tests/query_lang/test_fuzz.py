"""No text breaks the language: whatever is written ends soon, in a query or in an error of ours, and stays small."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.amounts import examples
from tests.generated import fuzzed_texts as fuzzed

QUIET = settings(deadline=None, max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
SHAPES = (
    "({})", "not {}", "same tumor ({})", "same event ({})", "(death or {})", "(stage IV and {})",
    "at least 1 of ({}, death)", "(death except {})",
)  # fmt: skip
SEEDS = st.integers(0, 2**32).map(Random)


@QUIET
@given(st.lists(st.sampled_from(fuzzed.words()), max_size=25).map(" ".join))
def test_words_in_any_order(text: str) -> None:
    """Keywords, kinds, attributes, names and signs, thrown together."""
    assert fuzzed.run_query(text)


@QUIET
@given(SEEDS)
def test_real_queries_with_pieces_changed(random: Random) -> None:
    """Queries of the bank and the guide, cut, doubled, swapped and spliced."""
    assert fuzzed.run_query(fuzzed.mutated(random, fuzzed.seeds()))


@QUIET
@given(st.text(max_size=60))
def test_all_of_unicode(text: str) -> None:
    """Any characters, lone surrogates among them."""
    assert fuzzed.run_query(text)
    assert fuzzed.run_query(f"diagnosis '{text}' and {text}")


@QUIET
@given(st.integers(1, 120), st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4))
def test_deep_nesting(depth: int, shapes: list[str]) -> None:
    """Any criteria inside each other, up to the limit and beyond."""
    text = "metastasis"
    for level in range(depth):
        text = shapes[level % len(shapes)].format(text)
    assert fuzzed.run_query(text) in ("answered", "refused")


@pytest.mark.parametrize(
    "text",
    [
        " or ".join(["lung cancer", "stage IV", "HER2 positive"] * 300),
        " and ".join(f"metastasis since {1950 + at % 70}" for at in range(500)),
        "medication (" + " or ".join(["cisplatin", "carboplatin", "exactly oxaliplatin"] * 200) + ")",
        "stage in (" + ", ".join(["IIIA", "IIIB", "IV"] * 300) + ")",
        "at least 3 of (" + ", ".join(["death", "metastasis", "stage IV"] * 200) + ")",
        "variant EGFR with " + ", ".join(f"not exon = {at}" for at in range(300)),
        " then ".join(["surgery"] * 150),
        "".join(f"let a{at} be {'death' if at == 0 else f'a{at - 1} and a{at - 1}'};" for at in range(120)) + "a119",
        "(death or surgery or radiation) before (medication cisplatin or diagnosis or stage IV)",
        "patient in (" + ", ".join(f"'P{at}'" for at in range(2000)) + ")",
    ],
)  # fmt: skip
def test_long_lists(text: str) -> None:
    """Hundreds of alternatives, conditions, steps, definitions and patients."""
    assert fuzzed.run_query(text) == "answered"


@QUIET
@given(SEEDS)
def test_questions_with_pieces_changed(random: Random) -> None:
    """The translator answers or abstains."""
    assert fuzzed.run_question(fuzzed.mutated(random, fuzzed.questions()))


@settings(QUIET, max_examples=examples(40))
@given(SEEDS)
def test_definitions_with_fields_changed(random: Random) -> None:
    """The import of OHDSI definitions gives a query, or refuses."""
    assert fuzzed.run_document(fuzzed.mutated_document(random))


def test_a_finding_of_fuzzing_is_seen() -> None:
    """What is out of proportion, or slow, is told."""
    with pytest.raises(fuzzed.Grown, match="characters for a text"):
        fuzzed._small("the answer", "x" * 10**6, "x")
    with pytest.raises(fuzzed.Grown, match="seconds for a text"):
        fuzzed._soon(-1e6, "x")
