"""Entities by place: what tags mark, and the entity-level score against the library that defines it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.extraction.ner.placed import exact_counts, overlap_counts
from cohortium.eval.extraction.ner.tagging import (
    Entity,
    chunks,
    entities_of_tags,
    token_spans,
    token_types,
    token_types_of_entities,
)
from cohortium.eval.measures.scoring import Counts

TYPES = ("DRUG", "CONDITION", "OTHER")
TAGS = st.lists(st.sampled_from(["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in TYPES)]), max_size=12)


# The library is slow to import.
@settings(deadline=None)
@given(st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=4))
def test_exact_entities_are_those_of_seqeval(pairs: list[tuple[list[str], list[str]]]) -> None:
    """Precision, recall and F1 over generated sequences are the library's, stray inside-tags included."""
    metrics = pytest.importorskip("seqeval.metrics")
    gold, found = [], []
    total = Counts()
    for one, other in pairs:
        length = min(len(one), len(other))
        gold.append(one[:length])
        found.append(other[:length])
        tokens = [f"w{at}" for at in range(length)]
        sides = [entities_of_tags(tags, tokens, " ".join(tokens)) for tags in (one[:length], other[:length])]
        for kind in TYPES:
            total += exact_counts(*sides, kind)
    expected = [
        score(gold, found, zero_division=0)
        for score in (metrics.precision_score, metrics.recall_score, metrics.f1_score)
    ]
    ours = [
        total.tp / total.found if total.found else 0.0,
        total.tp / total.wanted if total.wanted else 0.0,
        2 * total.tp / (total.found + total.wanted) if total.found + total.wanted else 0.0,
    ]
    assert ours == pytest.approx(expected)


@given(TAGS)
def test_chunks_cover_what_is_not_outside(tags: list[str]) -> None:
    """Every token that is not outside lies in one chunk, of its own type."""
    covered = {at: kind for begin, end, kind in chunks(tags) for at in range(begin, end)}
    assert covered == {at: tag[2:] for at, tag in enumerate(tags) if tag != "O"}


def test_tokens_have_the_type_of_the_entity_over_their_first_letter() -> None:
    """Places give the same types as tags; a place inside a word reaches no token."""
    text, tokens = "new-onset gout", ["new", "-", "onset", "gout"]
    spans = token_spans(tokens, text)
    assert spans == [(0, 3), (3, 4), (4, 9), (10, 14)]
    assert token_types_of_entities([Entity(0, 14, "CONDITION", text)], spans) == ["CONDITION"] * 4
    assert token_types_of_entities([Entity(11, 14, "CONDITION", "out")], spans) == [""] * 4
    assert token_types(["B-DRUG", "I-DRUG", "O"]) == ["DRUG", "DRUG", ""]
    assert token_spans(["gout", "new"], text) is None


def test_blanks_may_be_written_otherwise() -> None:
    """Line ends that a table changed, or dropped, move no other token."""
    tokens = ["gout", "\n\n", "care", " "]
    assert token_spans(tokens, "gout\n\ncare ") == [(0, 4), (4, 6), (6, 10), (10, 11)]
    assert token_spans(tokens, "gout\r\n\r\ncare") == [(0, 4), (4, 4), (8, 12), (12, 12)]
    assert token_spans(tokens, "gout care\n\n") == [(0, 4), (4, 4), (5, 9), (9, 9)]


def test_words_as_their_text_writes_them() -> None:
    """An entity of tags has its words joined by blanks, or cut from the text where that is asked for and can be."""
    tags, tokens = ["B-CONDITION", "I-CONDITION", "I-CONDITION"], ["Bell", "'s", "palsy"]
    assert [one.text for one in entities_of_tags(tags, tokens, "Bell's palsy")] == ["Bell 's palsy"]
    assert [one.text for one in entities_of_tags(tags, tokens, "Bell's palsy", as_written=True)] == ["Bell's palsy"]
    assert [one.text for one in entities_of_tags(tags, tokens, "gout", as_written=True)] == ["Bell 's palsy"]


def span(start: int, end: int, text: str, kind: str = "CONDITION") -> Entity:
    return Entity(start, end, kind, text)


@pytest.mark.parametrize(
    ("gold", "found", "counts"),
    [
        ([], [], Counts()),
        ([span(0, 6, "stroke")], [], Counts(fn=1)),
        ([], [span(0, 6, "stroke")], Counts(fp=1)),
        # 14 letters of 25 are common: 28 / 39 is over 0.6.
        ([span(0, 25, "hemiplegic cerebral palsy")], [span(11, 25, "cerebral palsy")], Counts(tp=1)),
        # Alike, but elsewhere; in one place, but not alike; in one place, but of another type.
        ([span(0, 6, "stroke")], [span(10, 16, "stroke")], Counts(fp=1, fn=1)),
        ([span(0, 25, "hemiplegic cerebral palsy")], [span(0, 4, "hemi")], Counts(fp=1, fn=1)),
        ([span(0, 6, "stroke")], [span(0, 6, "stroke", "DRUG")], Counts(fn=1)),
        # One mention has one partner: the second half of a cut name is too many.
        ([span(0, 12, "gait problem")], [span(0, 8, "gait pro"), span(4, 12, " problem")], Counts(tp=1, fp=1)),
    ],
)
def test_overlapping_entities(gold: list[Entity], found: list[Entity], counts: Counts) -> None:
    """A partial match of mentions: one type, a common place, a similarity of 0.6, one partner each."""
    assert overlap_counts(gold, found, "CONDITION") == counts
