"""Windows over long texts, and the numbers that words become."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.ingest.models.tagging.features import (
    CHARACTER_IDS,
    HASHES,
    SHAPE_IDS,
    Featurizer,
    hash_of,
    letters_of,
    shape_of,
)

ALL = ("word_mask", "shapes", "chars", "hashes")


@given(st.integers(0, 300), st.integers(32, 90), st.integers(0, 24), st.sets(st.integers(1, 299), max_size=30))
def test_every_word_is_in_the_core_of_exactly_one_window(words: int, size: int, margin: int, breaks: set[int]) -> None:
    """The cores follow one another without a gap, each within its window, no window larger than it may be."""
    windows = Featurizer(ALL, None, size, margin).windows(["word"] * words, sorted(breaks))
    at = 0
    for one in windows:
        assert one.core_first == at
        assert one.first <= one.core_first < one.core_last <= one.last
        assert one.last - one.first <= size - 2 or len(windows) == 1
        at = one.core_last
    assert at == words


def test_a_text_that_fits_is_one_window() -> None:
    """Nothing is cut that need not be."""
    (only,) = Featurizer(ALL, None, 64).windows(["word"] * 60, [10, 20])
    assert (only.first, only.last, only.core_first, only.core_last) == (0, 60, 0, 60)


def test_a_long_text_is_cut_where_a_sentence_begins() -> None:
    """Of the places where the core may end, the last beginning of a sentence is taken."""
    first = Featurizer(ALL, None, 64, margin=10).windows(["word"] * 200, [20, 45, 60])[0]
    assert first.core_last == 45


@given(st.text(max_size=40))
def test_any_word_becomes_numbers_in_range(word: str) -> None:
    """Whatever Unicode holds."""
    assert 0 < shape_of(word) < SHAPE_IDS
    assert 0 < hash_of(word) < HASHES
    assert all(0 < one < CHARACTER_IDS for one in letters_of(word))
    assert len(letters_of(word)) <= 16


def test_the_shape_tells_how_a_word_is_written() -> None:
    """One of each."""
    words = ["gout", "Gout", "HER", "A", "mRNA", "20", "B12", "%", "p.V600E"]
    assert [shape_of(word) for word in words] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_batch_holds_the_asked_arrays_alone_and_its_padding_is_zero() -> None:
    """Two texts of unlike length."""
    made = Featurizer(("word_mask", "chars"), None, 64).batch([["Larkadol"], ["for", "gout"]])
    assert {name: array.shape for name, array in made.items()} == {"word_mask": (2, 2), "chars": (2, 2, 16)}
    assert made["word_mask"].tolist() == [[1, 0], [1, 1]]
    assert not made["chars"][0, 1].any()


@pytest.mark.parametrize(
    ("inputs", "size", "hint"),
    [(("colour",), 64, "unknown input"), (("pieces",), 64, "tokenizer"), (ALL, 8, "too small")],
)
def test_what_cannot_be_is_told(inputs: tuple[str, ...], size: int, hint: str) -> None:
    """An unknown input, pieces without a tokenizer, a window of no size."""
    with pytest.raises(ValueError, match=hint):
        Featurizer(inputs, None, size)
