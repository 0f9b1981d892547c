"""Texts rewritten in places: the words, sentences and spans of a document move with what stands before them."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ....ingest.models.tagging.words import word_spans
from ...extraction.corpora.corpus import AnnotatedDocument, LabelledSpan


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters ``start`` to ``end`` of a text, and what is to stand there instead."""

    start: int
    end: int
    text: str


def rewritten(document: AnnotatedDocument, edits: Iterable[Edit], id: str = "") -> AnnotatedDocument:
    """The document with each edit made; ``id`` is the new one's name, else it keeps its own.

    A span in which an edit lies grows or shrinks with it; any other span still names what it named. The words of a new
    text are those of ``word_spans``; all others stay as the corpus divides them (one that an edit cuts keeps its rest).
    ValueError for edits that overlap, replace nothing or by nothing, lie outside the text, or cut a span.
    """
    made = sorted(edits)
    length = len(document.text)
    at = 0
    for edit in made:
        if not at <= edit.start < edit.end <= length:
            raise ValueError(f"an edit of characters {edit.start} to {edit.end} of {length}, behind one that ends {at}")
        if not edit.text.strip():
            raise ValueError(f"an edit of characters {edit.start} to {edit.end} leaves no word")
        at = edit.end
    moved = _Moved(made)
    pieces: list[str] = []
    words: list[tuple[int, int]] = []
    at = 0
    for edit in [*made, Edit(length, length, "")]:
        pieces.append(document.text[at : edit.start])
        words.extend(_kept_words(document.words, at, edit.start, moved.shift(at)))
        pieces.append(edit.text)
        begin = moved.start(edit.start)
        words.extend((begin + start, begin + end) for start, end in word_spans(edit.text))
        at = edit.end
    starts = [start for start, _ in words]
    breaks = {
        bisect.bisect_left(starts, moved.start(document.words[number][0]))
        for number in document.breaks
        if number < len(document.words)
    }
    spans = (LabelledSpan(moved.start(one.start, one), moved.end(one.end, one), one.label) for one in document.spans)
    return replace(
        document,
        id=id or document.id,
        text="".join(pieces),
        words=tuple(words),
        spans=tuple(sorted(spans)),
        breaks=tuple(sorted(number for number in breaks if 0 < number < len(words))),
    )


def cut(document: AnnotatedDocument, first: int, last: int, id: str) -> AnnotatedDocument:
    """Words ``first`` to ``last`` (exclusive) as a document of its own; a span that reaches beyond them is left out."""
    if not 0 <= first < last <= len(document.words):
        raise ValueError(f"words {first} to {last} of {len(document.words)} are no part of a document")
    start, end = document.words[first][0], document.words[last - 1][1]
    return replace(
        document,
        id=id,
        text=document.text[start:end],
        words=tuple((one - start, other - start) for one, other in document.words[first:last]),
        spans=tuple(
            LabelledSpan(one.start - start, one.end - start, one.label)
            for one in document.spans
            if start <= one.start and one.end <= end
        ),
        breaks=tuple(number - first for number in document.breaks if first < number < last),
    )


def sentences(document: AnnotatedDocument) -> list[tuple[int, int]]:
    """The sentences or lines of a document, as (first word, behind last word); none of them is empty."""
    borders = [0, *document.breaks, len(document.words)]
    return [(first, last) for first, last in itertools.pairwise(borders) if first < last]


class _Moved:
    """Where the characters of a text stand once its edits are made."""

    def __init__(self, edits: list[Edit]) -> None:
        self._edits = edits
        self._starts = [edit.start for edit in edits]
        self._ends = [edit.end for edit in edits]
        #: How far what stands behind the first n edits has moved.
        self._shifts = [0]
        for edit in edits:
            self._shifts.append(self._shifts[-1] + len(edit.text) - (edit.end - edit.start))

    def shift(self, at: int) -> int:
        """How far a place outside every edit, or at the end of one, has moved."""
        return self._shifts[bisect.bisect_right(self._ends, at)]

    def start(self, at: int, span: LabelledSpan | None = None) -> int:
        """Where a beginning stands: one inside an edit is the beginning of its new text (ValueError for a span's)."""
        number = bisect.bisect_right(self._ends, at)
        inside = number < len(self._edits) and self._starts[number] < at
        if inside and span is not None:
            raise _cuts(span)
        return (self._starts[number] if inside else at) + self._shifts[number]

    def end(self, at: int, span: LabelledSpan) -> int:
        """Where the end of a span stands."""
        number = bisect.bisect_left(self._ends, at)
        if number < len(self._edits) and self._starts[number] < at < self._ends[number]:
            raise _cuts(span)
        closed = number < len(self._edits) and self._ends[number] == at
        return at + self._shifts[number + closed]


def _cuts(span: LabelledSpan) -> ValueError:
    return ValueError(f"an edit cuts the span of characters {span.start} to {span.end}")


def _kept_words(words: tuple[tuple[int, int], ...], start: int, end: int, shift: int) -> Iterable[tuple[int, int]]:
    """The words, or what is left of them, between two places of the old text."""
    number = bisect.bisect_right(words, start, key=lambda one: one[1])
    while start < end and number < len(words) and words[number][0] < end:
        yield max(words[number][0], start) + shift, min(words[number][1], end) + shift
        number += 1
