"""Short forms that stand for several things: which of them is meant, by the ontology's cues among the other words."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...kb.ontology.concepts import ConceptTable
from . import book
from .chunks import Chunk, Unclear

#: What is tested and the test of it bear one name.
_TOGETHER = frozenset({"gene", "biomarker", "lab", "value"})
_WORDS = re.compile(r"[A-Za-z0-9]+")
_WHOLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


@functools.lru_cache(maxsize=8)
def _short_forms(concepts: ConceptTable) -> Mapping[str, tuple[tuple[str, frozenset[str]], ...]]:
    """A short form in lower case -> the concepts that it stands for, each with the cues of that reading."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for row in concepts.rows():
        for short in row.abbreviations:
            cues = frozenset(word.casefold() for cue in short.cues for word in _WORDS.findall(cue))
            found.setdefault(short.text.casefold(), []).append((row.id, cues))
    return {text: tuple(readings) for text, readings in found.items()}


def stands_for(word: str, others: frozenset[str], concepts: ConceptTable) -> tuple[str, ...]:
    """The concepts that a short form, in whatever case, can mean beside the other words of a question.

    Those whose cues are among the words, if there are any; else all that need none; else all.
    """
    readings = _short_forms(concepts).get(word.casefold(), ())
    cued = [one for one, cues in readings if cues & others]
    plain = [one for one, cues in readings if not cues]
    return tuple(dict.fromkeys(cued or plain or [one for one, _ in readings]))


def words_beside(text: str, word: str) -> frozenset[str]:
    """The other words of a question, in lower case."""
    return frozenset(one.casefold() for one in _WORDS.findall(text)) - {word.casefold()}


def _said_beside(chunk: Chunk, chunks: Sequence[Chunk], text: str, concepts: ConceptTable) -> frozenset[str]:
    """The other words of a question, and the short forms of what they name."""
    named = {one for other in chunks if other is not chunk for one in other.ids if one in concepts}
    above = {wider for one in named for wider in (one, *concepts.parents(one))}
    short = {word.casefold() for one in above for name in concepts.names(one) for word in _WORDS.findall(name)}
    return words_beside(text, chunk.text) | short


def meant(chunks: Sequence[Chunk], text: str, concepts: ConceptTable) -> list[Chunk]:
    """The chunks, each short form with several readings as the one whose cues stand among the other words."""
    found: list[Chunk] = []
    for chunk in chunks:
        kinds = {chunk.type, *chunk.others}
        several = len(chunk.ids) > 1 or len(kinds) > 1 and not kinds & _TOGETHER
        if several and chunk.text.casefold() in _short_forms(concepts):
            meant_ids = stands_for(chunk.text, _said_beside(chunk, chunks, text, concepts), concepts)
            held = [*chunk.ids, *(one for ids in chunk.others.values() for one in ids)]
            chosen = tuple(one for one in held if one in meant_ids)
            if len(chosen) == 1:
                kind = concepts.get(chosen[0]).kind
                chunk = replace(chunk, type=kind, ids=chosen, others={})
        found.append(chunk)
    return found


@functools.cache
def _ambiguous() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Short form in small letters -> what it can stand for, each with the words that settle it (``ambiguous.toml``)."""
    return {
        form: {meaning: frozenset(words.split()) for meaning, words in meanings.items()}
        for form, meanings in book.data("ambiguous")["forms"].items()
    }


def check_ambiguous(text: str, chunks: Sequence[Chunk]) -> None:
    """Unclear for a short form that stands for several things and that the other words do not settle."""
    hurried = text == text.lower()
    spoken = {chunk.text.casefold() for chunk in chunks if chunk.type in ("skip", "join")}
    for word in _WHOLE.findall(text):
        meanings = _ambiguous().get(word.casefold(), {})
        if len(meanings) < 2 or not (word.isupper() or hurried) or word.casefold() in spoken:
            continue
        others = words_beside(text, word)
        settled = [meaning for meaning, words in meanings.items() if words & others]
        usual = [meaning for meaning, words in meanings.items() if "*" in words]
        if settled not in ([], usual) if usual else len(settled) != 1:
            raise Unclear(f"'{word}' can be {' or '.join(meanings)}: write it out", (word,))


def check_short(chunks: Sequence[Chunk], text: str, concepts: ConceptTable) -> None:
    """Unclear for a short form all of whose readings need a cue that the question does not have."""
    for chunk in chunks:
        readings = _short_forms(concepts).get(chunk.text.casefold(), ())
        kinds = {concepts.get(one).kind for one, _ in readings}
        known = chunk.text.lower() in book.data("words")["settled"] or kinds & _TOGETHER
        if not chunk.ids or len(chunk.text) > 3 or not chunk.text.isalpha() or known:
            continue
        others = _said_beside(chunk, chunks, text, concepts)
        several = len({one for one, _ in readings}) > 1
        if several and all(cues and not cues & others for _, cues in readings):
            names = " or ".join(concepts.name(one) for one, _ in readings[:3])
            raise Unclear(f"'{chunk.text}' can be {names}: write it out", (chunk.text,))
