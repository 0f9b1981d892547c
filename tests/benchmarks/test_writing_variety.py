"""Measures of variety, worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.reading.variety import variety, variety_of_file
from cohortium.kb.errors import UsageError


def test_the_same_note_again_and_again_is_no_variety() -> None:
    """Two equal notes of five words: five types in ten tokens, four bigrams in eight, no sentence once, all shared."""
    found = variety([("a", "one two three four five")] * 2, words=100)
    assert found["distinct 1-grams"] == found["types per token"] == 0.5
    assert found["distinct 2-grams"] == 0.5
    assert found["distinct 3-grams"] == 0.5
    assert found["sentences that occur once"] == 0
    assert found["overlap of 4-grams within a type"] == 1


def test_notes_without_a_common_word_are_all_variety() -> None:
    """No n-gram occurs twice, each sentence once, and no pair of one type shares a 4-gram."""
    found = variety([("a", "one two three four five"), ("a", "six seven eight nine ten")], words=100)
    assert [found[f"distinct {n}-grams"] for n in (1, 2, 3)] == [1, 1, 1]
    assert found["sentences that occur once"] == 1
    assert found["overlap of 4-grams within a type"] == 0


def test_sentences_that_differ_in_numbers_alone_are_told_apart_only_where_asked() -> None:
    """As they stand both occur once; with their numbers made equal none does."""
    found = variety([("a", "pulse is 62 today. pulse is 71 today.")], words=100)
    assert found["sentences that occur once"] == 1
    assert found["sentences that occur once, numbers made equal"] == 0


def test_notes_of_different_types_are_not_compared() -> None:
    """With one note of each type there is no pair, and no overlap is given."""
    assert variety([("a", "one two"), ("b", "one two")], words=100)["overlap of 4-grams within a type"] is None


def test_nothing_at_all_has_no_variety() -> None:
    """Zero notes give zeros, not an error of division."""
    found = variety([])
    assert found["distinct 1-grams"] == 0
    assert found["words per note"]["mean"] == 0


def test_the_sample_is_of_the_size_that_was_asked_for(tmp_path: Path) -> None:
    """Notes are drawn until the words are reached, whatever the file holds; the lengths are those of all notes."""
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps({"type": "a", "text": f"word{i} " * 10}) + "\n" for i in range(50)))
    found = variety_of_file(path, words=100)
    assert found["sampled notes"] == 10
    assert found["notes"] == 50
    with pytest.raises(UsageError):
        variety_of_file(tmp_path / "none.jsonl")
