"""Spelling: an unknown word that is one slip away from a known one is read as that one, and the answer says so."""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from ...kb.ontology.concepts import ConceptTable
from . import book
from .wording import texts_of, tokens_of, word_key

_SHORTEST = 5
#: From so many letters on two slips are allowed, between equal beginnings and ends.
_LONG = 10
#: Shorter words are corrected only where letters were swapped, lost or doubled.
_PLAIN = 7
_DATA: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("ordinary.toml").read_text(encoding="utf-8"))
#: Words that are no misspelling of another (``ordinary.toml``).
_ORDINARY: Final = frozenset(_DATA["words"])
_CONTRASTS: Final[tuple[tuple[str, str], ...]] = tuple((first, second) for first, second in _DATA["contrasts"])
#: So many times as often must the likeliest of two words that are as near stand in names.
_CLEARLY = 4


def corrected(text: str, concepts: ConceptTable) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text with misspelled words replaced, and each change. A word that anything knows is never changed."""
    known = _known(concepts)
    changes: list[tuple[str, str]] = []
    pieces: list[str] = []
    at = 0
    for token in tokens_of(text):
        word = token.text
        if not word.isalpha() or word_key(word) in known or _is_symbol(word):
            continue
        framed = _of_frame(word, concepts)
        if framed:
            pieces += [text[at : token.start], framed]
            at = token.end
            changes.append((word, framed))
            continue
        if len(word) < _SHORTEST:
            continue
        if word.lower() in _ORDINARY:
            continue
        if concepts.lookup(word) or (word.isupper() and not text.isupper()):
            # Names in capitals are symbols: another letter is another gene.
            continue
        near = _nearest(word.lower(), known, concepts) or _nearest(word_key(word), known, concepts)
        right = None if near is None else known[near]
        if right is not None:
            pieces += [text[at : token.start], right]
            at = token.end
            changes.append((word, right))
    return "".join([*pieces, text[at:]]), tuple(changes)


def _of_frame(word: str, concepts: ConceptTable) -> str:
    """The word of a question's frame that this one is with two neighboring letters swapped; empty if none."""
    low = word.lower()
    if len(low) < 4 or word.isupper() or concepts.lookup(word):
        return ""
    swapped = {low[:at] + low[at + 1] + low[at] + low[at + 2 :] for at in range(len(low) - 1)}
    found = swapped & set(book.data("words")["frame"]["words"].split())
    return found.pop() if len(found) == 1 else ""


def _is_symbol(word: str) -> bool:
    """Names of genes and drugs in development are not words to correct."""
    return any(letter.isupper() for letter in word[1:]) and not word.isupper()


def _nearest(word: str, known: Mapping[str, str], concepts: ConceptTable) -> str | None:
    """The key of the one nearest known word: one slip for short words, two for long ones; None if two are as near."""
    most = 1 if len(word) < _LONG else 2
    choices = _by_length(tuple(known))
    candidates = [one for length in range(len(word) - most, len(word) + most + 1) for one in choices.get(length, ())]
    found = process.extract(word, candidates, scorer=DamerauLevenshtein.distance, score_cutoff=most, limit=8)
    if not found:
        return None
    if len(word) < _PLAIN:
        found = [one for one in found if _slipped(word, one[0])]
    found = [one for one in found if not _is_opposite(word, known[one[0]])]
    found = [one for one in found if one[1] < 2 or (one[0][:3] == word[:3] and one[0][-2:] == word[-2:])]
    if not found:
        return None
    best = found[0][1]
    often = _frequencies(concepts)
    nearest = sorted(
        {str(one) for one, distance, _ in found if distance == best}, key=lambda one: -often.get(known[one], 0)
    )
    ending = [one for one in nearest if known[one][-1] == word[-1]]
    if len(ending) == 1 and all(one.startswith(ending[0][:4]) for one in nearest):
        # Forms of one word: "localy" is "locally" rather than "local".
        return ending[0]
    times = [often.get(known[one], 0) for one in nearest]
    if len(times) > 1 and times[0] < _CLEARLY * max(1, times[1]):
        return None
    return nearest[0]


def _is_opposite(word: str, right: str) -> bool:
    """Whether the two differ by a beginning that turns a word into its opposite (*hyper-* and *hypo-*)."""
    return any(
        one.startswith(first) and other.startswith(second) and one[len(first) :] == other[len(second) :]
        for first, second in _CONTRASTS
        for one, other in ((word, right), (right, word))
    )


def _slipped(word: str, right: str) -> bool:
    """Whether letters were swapped, lost or doubled: another letter makes a short word another word."""
    if len(word) == len(right):
        return sorted(word) == sorted(right)
    short, long = sorted((word, right), key=len)
    left = iter(long)
    return all(letter in left for letter in short)


@functools.cache
def _by_length(words: tuple[str, ...]) -> Mapping[int, tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for word in words:
        found.setdefault(len(word), []).append(word)
    return {length: tuple(held) for length, held in found.items()}


@functools.lru_cache(maxsize=8)
def _frequencies(concepts: ConceptTable) -> Mapping[str, int]:
    """How many names of the ontology a word stands in."""
    return Counter(map(str.lower, _words_of_names(concepts)))


def _words_of_names(concepts: ConceptTable) -> list[str]:
    """The words of all names of the ontology, in their order; each as often as it stands there."""
    return texts_of("\n".join(chain.from_iterable(concepts.names(row.id) for row in concepts.rows())))


@functools.lru_cache(maxsize=8)
def _known(concepts: ConceptTable) -> Mapping[str, str]:
    """Key -> spelling of every word of the ontology's names and of the front end's own phrases."""
    found: dict[str, str] = {}
    for word in dict.fromkeys(_words_of_names(concepts)):
        if word.isalpha() and len(word) >= 3:
            found.setdefault(word_key(word), word.lower())
    for word in book.own_words():
        if word.isalpha():
            found.setdefault(word, word)
    for word in book.respellings():
        found.setdefault(word, word)
    return found
