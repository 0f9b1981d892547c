"""Entities and BIO tags: what a sequence of tags marks, where tokens stand in their text, which type a token has.

A tag ``I-X`` with no entity of ``X`` before it begins one, as in the CoNLL script and in seqeval's default mode.
Source: E. Tjong Kim Sang and S. Buchholz, CoNLL-2000.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Entity:
    """A typed name in a text. ``start`` and ``end`` are characters, the end exclusive."""

    start: int
    end: int
    type: str
    text: str


_BLANKS: Final = re.compile(r"\s+")
#: The place of a name that has none: no letter of a text is in it.
NOWHERE: Final = (0, 0)
#: first token, token behind the last, type
Chunk = tuple[int, int, str]


def chunks(tags: Sequence[str]) -> Iterator[Chunk]:
    """What BIO tags mark, in order. A tag that is neither ``B-X`` nor ``I-X`` is outside of all."""
    begin, kind = 0, ""
    for at, tag in enumerate((*tags, "O")):
        prefix, _, name = tag.partition("-")
        if kind and (prefix != "I" or name != kind):
            yield begin, at, kind
            kind = ""
        if prefix in ("B", "I") and name and not kind:
            begin, kind = at, name


def token_spans(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    """Where each token stands in the text, one behind the other; None when one of them does not.

    A token of blanks alone may be written otherwise in the text (line ends), or not at all: it then has no width.
    """
    spans, at = [], 0
    for token in tokens:
        if not token.strip() and not ((blanks := _BLANKS.match(text, at)) and token in blanks.group()):
            spans.append((at, at))
            continue
        start = text.find(token, at)
        if start < 0:
            return None
        at = start + len(token)
        spans.append((start, at))
    return spans


def entities_of_tags(
    tags: Sequence[str], tokens: Sequence[str], text: str, *, as_written: bool = False
) -> list[Entity]:
    """The entities of a tagged text: their words joined by blanks (or as the text writes them), and their places.

    Where the tokens do not all stand in the text, the places are those in the tokens joined by blanks.
    """
    placed = token_spans(tokens, text)
    spans = placed or token_spans(tokens, " ".join(tokens)) or []
    entities = []
    for begin, end, kind in chunks(tags):
        start, stop = spans[begin][0], spans[end - 1][1]
        words = text[start:stop] if placed and as_written else " ".join(tokens[begin:end])
        entities.append(Entity(start, stop, kind, words))
    return entities


def token_types(tags: Iterable[str]) -> list[str]:
    """The type of each token, empty outside: beginning and inside are not told apart."""
    return [name if prefix in ("B", "I") else "" for prefix, _, name in (tag.partition("-") for tag in tags)]


def token_types_of_entities(entities: Iterable[Entity], spans: Sequence[tuple[int, int]]) -> list[str]:
    """The type of each token by the place of its first letter; of entities over one another, the first."""
    types = [""] * len(spans)
    for entity in entities:
        for at, (start, _) in enumerate(spans):
            if entity.start <= start < entity.end and not types[at]:
                types[at] = entity.type
    return types


def tags_of_words(tokens: Sequence[str], entities: Iterable[tuple[int, int, str]]) -> list[str]:
    """BIO tags of all tokens for entities in words: (first, behind the last, type), where a token of blanks is no word.
    Such a token is inside where an entity goes on behind it; entities without a word are left out."""
    words = [number for number, token in enumerate(tokens) if token.strip()]
    tags = ["O"] * len(tokens)
    for first, behind, kind in entities:
        if first < behind:
            begin, end = words[first], words[behind - 1] + 1
            tags[begin:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - begin - 1)]
    return tags
