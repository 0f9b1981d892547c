"""A vocabulary only remembers: a frame tells the same of every text with one and without."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.text.frame import Frame, Vocabulary
from cohortium.ingest.text.gates import Gate
from cohortium.ingest.text.words import PhraseTrie, Words
from cohortium.kb.model import Note
from tests.amounts import examples

WORDS = "no evidence of evidences brain Brain metastasis metastases the tumour's tumor ŕ 12".split()
TEXTS = st.lists(st.sampled_from([*WORDS, ",", "-", ".", "\n"]), max_size=30).map(" ".join)
PHRASES = ["no evidence", "no evidence of", "evidence of tumor", "brain", "brain metastasis", "metastasis, brain"]


@pytest.fixture(scope="module")
def trie() -> PhraseTrie[str]:
    """Some phrases."""
    return PhraseTrie((phrase, phrase) for phrase in PHRASES)


@pytest.fixture(scope="module")
def other() -> PhraseTrie[str]:
    """Phrases that the vocabulary is not asked to remember."""
    return PhraseTrie([("of brain", "of brain")])


@pytest.fixture(scope="module")
def vocabulary(trie: PhraseTrie[str]) -> Vocabulary:
    """One for all texts: what it remembers of earlier ones must not matter."""
    return Vocabulary([trie])


def frames(text: str, vocabulary: Vocabulary) -> tuple[Frame, Frame]:
    """A text without and with the vocabulary."""
    note = Note("P1", "N1", text)
    return Frame(note), Frame(note, vocabulary=vocabulary)


@settings(max_examples=examples(300), deadline=None)
@given(text=TEXTS)
def test_it_tells_what_is_told_without(
    text: str, vocabulary: Vocabulary, trie: PhraseTrie[str], other: PhraseTrie[str]
) -> None:
    """Words, places of gates, and where phrases begin, of a trie that it knows and of one that it does not."""
    plain, known = frames(text, vocabulary)
    assert known.words == plain.words
    assert known.places == plain.places
    for one in (trie, other):
        assert known.beginnings(one) == plain.beginnings(one) == one.may_begin_at(plain.words.norms)


@settings(max_examples=examples(300), deadline=None)
@given(text=TEXTS, cut=st.integers(0, 30))
def test_phrases_of_a_stretch_are_those_of_its_words_alone(
    text: str, cut: int, vocabulary: Vocabulary, trie: PhraseTrie[str]
) -> None:
    """A stretch of a note holds the phrases that a search of its words by themselves finds."""
    for frame in frames(text, vocabulary):
        words = frame.words
        for first, last in pairwise(sorted({0, min(cut, len(words.norms)), len(words.norms)})):
            alone = Words(*(column[first:last] for column in words))
            found = frame.phrases(trie, first, last)
            assert [match[:2] for match in found] == [match[:2] for match in trie.find(text, alone)]
            assert all(first <= match.first < match.last <= last for match in found)


def test_a_gate_that_comes_later_is_known(vocabulary: Vocabulary) -> None:
    """Words that were looked at before open the gates of a module that is loaded afterwards."""
    assert frames("zygomycosis", vocabulary)[1].words.written == ["zygomycosis"]
    gate = Gate(begins="zygom")
    plain, known = frames("no zygomycosis", vocabulary)
    assert list(known.places[gate.number]) == list(plain.places[gate.number]) == [3]
