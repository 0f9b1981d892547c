"""The cues of context as tables: which phrases there are, what each sets, and where they stand in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .cue_files import cue_file
from .phrases import Payload, PhraseMatch, PhraseTrie
from .tokens import Token

#: The lists of ``[general]``, and what a sentence with one of their phrases speaks of; "": a look-alike, of nothing.
_AT_LARGE = {"phrases": "general", "trial": "trial", "handed": "handed", "pseudo": ""}


@dataclass(frozen=True, slots=True)
class CueKind:
    """One ``[[cue]]`` table: what it sets, on which side it stands, how far it reaches."""

    name: str
    sets: dict[str, str]
    direction: str
    reach: int
    kinds: frozenset[str]
    #: The only spellings that count, where words that read alike mean different things; empty: any.
    spelled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CueTable:
    """The shipped cues as tries: cues with pseudo-cues, and terminators."""

    cues: PhraseTrie[CueKind | None]
    hard: PhraseTrie[str]
    negation: PhraseTrie[str]
    general: PhraseTrie[str]
    #: Whether a phrase of any of them begins with a word: asked of every word of a sentence, for all four at once.
    begins: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        tries = (self.cues, self.hard, self.negation, self.general)
        object.__setattr__(self, "begins", frozenset(word for trie in tries for word in trie.first_words()))


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    """The shipped cues as tries, built once a process."""
    return cue_table_of(shipped_cues())


def shipped_cues() -> dict[str, Any]:
    """``cues/context.toml`` as it is written."""
    return cue_file("context")


def cue_table_of(table: Mapping[str, Any]) -> CueTable:
    """Cues in the form of :func:`shipped_cues` as tries."""
    cues: PhraseTrie[CueKind | None] = PhraseTrie()
    for entry in table["cue"]:
        kind = CueKind(
            entry["name"],
            entry["sets"],
            entry["direction"],
            entry["reach"],
            frozenset(entry.get("kinds", ())),
            frozenset(entry.get("spelled", ())),
        )
        for phrase in entry["phrases"]:
            cues.add(phrase, kind)
    for phrase in table["pseudo"]["phrases"]:
        cues.add(phrase, None)
    terminators = table["terminators"]
    return CueTable(
        cues,
        PhraseTrie((phrase, phrase) for phrase in terminators["hard"]),
        PhraseTrie((phrase, phrase) for phrase in terminators["negation"]),
        PhraseTrie((phrase, of) for name, of in _AT_LARGE.items() for phrase in table["general"].get(name, ())),
    )


def is_spelled(text: str, match: PhraseMatch[CueKind | None], spelled: frozenset[str]) -> bool:
    """Whether a cue is written in one of its spellings; a sign before the first word (``-ve``) may be part of it."""
    written = text[match.start : match.end].lower()
    return written in spelled or text[max(0, match.start - 1) : match.start] + written in spelled


def longest(
    trie: PhraseTrie[Payload], text: str, tokens: Sequence[Token], at: Sequence[int]
) -> list[PhraseMatch[Payload]]:
    """As :meth:`PhraseTrie.find`, of tokens none of which but those ``at`` begins a phrase."""
    found: list[PhraseMatch[Payload]] = []
    first_words, behind = trie.first_words(), 0
    for index in at:
        if index >= behind and tokens[index].norm in first_words:
            matches = trie.matches_at(text, tokens, index)
            if matches:
                found.append(matches[-1])
                behind = matches[-1].last
    return found
