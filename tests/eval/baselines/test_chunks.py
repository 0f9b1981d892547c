"""Chunks are windows of tokens with exact places in their notes."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.baselines.retrieval.chunks import split, windows
from cohortium.kb.errors import UsageError
from tests.eval.baselines.fictional import corpus
from tests.eval.baselines.hashed_encoder import HashedEncoder


def test_windows_worked_by_hand() -> None:
    """Ten tokens in fours of which one is shared: 0-4, 3-7, 6-10; the last holds the end and nothing follows it."""
    assert windows(10, 4, 1) == [(0, 4), (3, 7), (6, 10)]
    assert windows(11, 4, 1) == [(0, 4), (3, 7), (6, 10), (9, 11)]
    assert windows(4, 4, 1) == [(0, 4)]
    assert windows(1, 4, 1) == [(0, 1)]
    assert windows(0, 4, 1) == []
    with pytest.raises(ValueError, match="cannot share"):
        windows(5, 4, 4)


@given(st.integers(0, 300), st.integers(1, 40), st.data())
def test_windows_cover_all_and_share_exactly(tokens: int, most: int, data: st.DataObject) -> None:
    """Every token is in a window, neighbours share exactly what was said, and none lies inside its neighbour."""
    shared = data.draw(st.integers(0, most - 1))
    found = windows(tokens, most, shared)
    assert {one for first, behind in found for one in range(first, behind)} == set(range(tokens))
    assert all(behind - first == most for first, behind in found[:-1])
    for (_, behind), (first, following) in itertools.pairwise(found):
        assert behind - first == shared
        assert following > behind


TEXTS = st.text(st.sampled_from("ab é𝄞–\n.1"), max_size=80)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(2, 9))
def test_chunks_point_at_their_text(texts: list[str], most: int) -> None:
    """The text of a chunk is what stands at its quote, and begins and ends with a token; no chunk leaves its note."""
    held = corpus({"A": texts})
    encoder = HashedEncoder(most_tokens=most)
    chunks = split(held, encoder, overlap=0.5)
    by_id = {note.doc_id: note for note in held.notes}
    for index, chunk in enumerate(chunks.items):
        note = by_id[chunk.quote.doc_id]
        text = note.text[chunk.start : chunk.end]
        assert chunks.text(index) == text == text.strip()
        (spans,) = encoder.offsets([text])
        assert 1 <= len(spans) <= most
    for note, spans in zip(held.notes, encoder.offsets([one.text for one in held.notes]), strict=True):
        mine = [one for one in chunks.items if one.doc_id == note.doc_id]
        wanted = windows(len(spans), most, most // 2)
        assert [(one.start, one.end) for one in mine] == [(spans[a][0], spans[b - 1][1]) for a, b in wanted]


def test_notes_without_tokens_have_no_chunk_and_are_counted() -> None:
    """Blank notes are not searched; their patients stay patients of the corpus."""
    chunks = split(corpus(), HashedEncoder())
    assert chunks.empty_notes == 1
    assert chunks.signature()["notes_without_chunk"] == 1
    assert len(chunks) == 9
    assert {one.patient_id for one in chunks.items} == {"A", "B", "C", "D"}
    assert [chunks.corpus.patients[number] for number in chunks.patient_numbers] == list("AABBBCCDD")


def test_the_encoders_limit_is_kept_and_told() -> None:
    """1,000 tokens with a tenth shared, or the encoder's limit if that is less; the signature says which."""
    long = corpus({"A": ["word " * 2100]})
    paper = split(long, HashedEncoder(most_tokens=8000))
    assert (paper.most_tokens, paper.shared_tokens, len(paper)) == (1000, 100, 3)
    limited = split(long, HashedEncoder(most_tokens=254))
    assert (limited.signature()["tokens"], limited.signature()["shared_tokens"]) == (254, 25)
    assert limited.signature()["counted_by"] == "hashed"


@pytest.mark.parametrize(("most", "overlap"), [(0, 0.1), (10, 1.0), (10, -0.1)])
def test_sizes_that_make_no_window_are_refused(most: int, overlap: float) -> None:
    """A chunk has tokens, and something new in each."""
    with pytest.raises(UsageError):
        split(corpus(), HashedEncoder(), most_tokens=most, overlap=overlap)
