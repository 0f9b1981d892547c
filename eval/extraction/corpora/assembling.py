"""Documents out of what the formats give: tokens with tags, or a text with places; words, breaks, checked offsets."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from ....ingest.models.tagging.words import word_spans
from ....ingest.text.shape import sentences_of
from ..ner.tagging import chunks
from .corpus import AnnotatedDocument, LabelledSpan

#: Prefixes of other schemes, as the two of BIO: an entity of one word, and the last word of one.
_PREFIXES: Final = {"B": "B", "I": "I", "S": "B", "U": "B", "E": "I", "L": "I"}
_ENDS: Final = frozenset({".", "!", "?"})
#: What parts a title from its text in a registry's export.
_BAR: Final = "|"


def plain_tag(tag: str) -> str | None:
    """A tag of BIO, IOB1, IOBES or BILOU as one of ``O``, ``B-X``, ``I-X``; None for what is no tag."""
    if tag in ("O", "o"):
        return "O"
    prefix, dash, name = tag.partition("-")
    known = _PREFIXES.get(prefix)
    return f"{known}-{name}" if known and dash and name else None


def of_tokens(
    id: str, tokens: Sequence[str], tags: Sequence[str], sentences: Iterable[int] | None = None, group: str = ""
) -> AnnotatedDocument:
    """A document of tokens with BIO tags: the text is the tokens joined by blanks, so that every offset is exact.

    A token of blanks alone stands in the text in place of the blank, and is no word. ``I-X`` with nothing of ``X``
    before it begins an entity (as in IOB1). ``sentences``: numbers of tokens at which a sentence begins; without them,
    one begins behind a full stop that a capital or figure follows, behind a line end, and behind a bar.
    """
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    joined = True  # nothing stands before the next token that it must be parted from
    for token in tokens:
        blank = not token.strip()
        if not blank and not joined:
            pieces.append(" ")
            at += 1
        places.append((at, at + len(token)))
        pieces.append(token)
        at += len(token)
        joined = blank
    words = [number for number, token in enumerate(tokens) if token.strip()]
    begins = _token_breaks(tokens) if sentences is None else sentences
    spans = []
    for first, behind, label in chunks(tags):
        inside = words[bisect.bisect_left(words, first) : bisect.bisect_left(words, behind)]
        if inside:
            spans.append(LabelledSpan(places[inside[0]][0], places[inside[-1]][1], label))
    breaks = sorted({bisect.bisect_left(words, one) for one in begins})
    return AnnotatedDocument(
        id,
        "".join(pieces),
        tuple(places[one] for one in words),
        tuple(spans),
        tuple(one for one in breaks if 0 < one < len(words)),
        group,
    )


def _token_breaks(tokens: Sequence[str]) -> list[int]:
    """Where sentences seem to begin in a run of tokens."""
    begins = []
    for number, (before, after) in enumerate(pairwise(tokens), 1):
        stop = before in _ENDS and (after[:1].isupper() or after[:1].isdigit())
        if stop or before == _BAR or (not before.strip() and "\n" in before):
            begins.append(number)
    return begins


def of_text(
    id: str,
    text: str,
    spans: Iterable[LabelledSpan],
    words: Sequence[tuple[int, int]] | None = None,
    breaks: Sequence[int] | None = None,
    group: str = "",
) -> AnnotatedDocument:
    """A document of a text with placed entities. Without ``words`` and ``breaks`` they are those that the recogniser
    would see: ``word_spans``, and the sentences of the pipeline."""
    places = tuple(word_spans(text) if words is None else words)
    begins = tuple(breaks) if breaks is not None else sentence_breaks(text, places)
    return AnnotatedDocument(id, text, places, tuple(sorted(set(spans))), begins, group)


def sentence_breaks(text: str, words: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Numbers of the words with which a sentence of the pipeline begins, 0 left out."""
    starts = [start for start, _ in words]
    begins = {bisect.bisect_left(starts, sentence.start) for sentence in sentences_of(text)}
    return tuple(sorted(one for one in begins if 0 < one < len(words)))


def why_not_a_place(text: str, start: int, end: int, quote: str | None = None) -> str:
    """Why an annotation's place is none in the text, in words without any of it; empty when it is one."""
    if not 0 <= start < end:
        return f"the span {start} {end} ends where it begins, or before"
    if end > len(text):
        return f"the span {start} {end} lies outside the text of {len(text)} characters"
    if not text[start:end].strip():
        return f"the span {start} {end} holds blanks alone"
    if quote is not None and "".join(quote.split()) != "".join(text[start:end].split()):
        return f"the words quoted are not those at {start} {end}"
    return ""
