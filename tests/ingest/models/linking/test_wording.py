"""What linking reads of a name: words, head, numbers, contrasts, contraries, runs of letters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.ingest.models.linking.features import word_nearness
from cohortium.ingest.models.linking.ngrams import GramIndex
from cohortium.ingest.models.linking.wording import allowed_kinds, contrary, wording


def test_fillers_endings_and_signs_are_left_out() -> None:
    """Carcinomas of the (left) lung are carcinoma, left, lung; the head is what the phrase is about."""
    held = wording("Carcinomas of the (left) Lung")
    assert held.words == ("carcinoma", "left", "lung")
    assert held.head == "carcinoma"
    assert held.sides["laterality"] == frozenset({0})


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("type 2 diabetes", {"2"}), ("type II diabetes", {"2"}), ("I feel well", set()), ("grade 3 neuropathy", {"3"})],
)
def test_numbers_are_read_in_both_spellings(text: str, numbers: set[str]) -> None:
    """Roman numerals are numbers, except where a text begins with one."""
    assert wording(text).numbers == numbers


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("hypokalemia", "hyperkalemia", True),
        ("nonseminoma", "seminoma", True),
        ("bradycardia", "tachycardia", True),
        ("typical", "atypical", True),
        ("lung", "lungs", False),
        ("carcinoma", "carcinoma", False),
        ("osimertinib", "erlotinib", False),
    ],
)
def test_contraries_differ_by_their_beginning(one: str, other: str, expected: bool) -> None:
    """A word and its contrary are told, whichever comes first."""
    assert contrary(one, other) is expected
    assert contrary(other, one) is expected


@given(st.text("abcdehipr", max_size=9), st.text("abcdehipr", max_size=9))
def test_nearness_is_mutual_and_whole_for_equal_words(one: str, other: str) -> None:
    """The order of two words does not matter; a word is as near to itself as can be; contraries are not near."""
    assert word_nearness(one, other) == word_nearness(other, one)
    assert word_nearness(one, one) == 1
    assert not contrary(one, other) or word_nearness(one, other) == 0


def test_stems_are_near_and_contraries_are_not() -> None:
    """Esophagus and esophageal are one stem; hypo and hyper are not."""
    assert word_nearness("esophagus", "esophageal") >= 0.75
    assert word_nearness("hypokalemia", "hyperkalemia") == 0


def test_letters_of_a_name_are_nearest_to_itself() -> None:
    """The cosine with itself is 1, with a name of other letters 0; a text without letters has none."""
    index = GramIndex(["lung cancer", "erlotinib", ""])
    found = index.cosines("lung cancer")
    assert math.isclose(found[0], 1, abs_tol=1e-6)
    assert found[1] == found[2] == 0
    assert not index.cosines("").any()


def test_the_index_of_no_names_answers_nothing() -> None:
    """An empty index gives an empty row."""
    assert len(GramIndex([]).cosines("lung")) == 0


def test_kinds_that_go_together_begin_with_their_own() -> None:
    """An unknown kind goes with itself alone; no kind goes with all."""
    assert allowed_kinds("diagnosis")[0] == "diagnosis"
    assert allowed_kinds("weather") == ("weather",)
    assert allowed_kinds("") == ()
