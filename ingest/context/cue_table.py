"""The cues of context as tables: which phrases there are, what each sets, and where they stand in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...kb.kinds import kinds_named
from ..text.cue_files import cue_file
from ..text.frame import Frame
from ..text.phrases import PhraseMatch, PhraseTrie
from ..text.tokens import words_of
from .people import AT_LARGE, NOBODY, opens_at_large, people_at_large

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


class Means(NamedTuple):
    """What a phrase is to each of four tables; None (or empty): it is none of theirs."""

    #: The cues of this name; none: it only blocks those within it.
    cues: tuple[CueKind, ...] | None
    hard: bool
    #: The terminator of a negation, as it is listed.
    negation: str
    #: What a sentence that has it speaks of; nothing: a look-alike.
    general: tuple[str, ...] | None


class Found(NamedTuple):
    """A cue in a sentence, with the span of its words."""

    kind: CueKind
    match: PhraseMatch[Means]


class SentenceCues(NamedTuple):
    """What bears on the context of all in a sentence: cues, the spans of words of terminators, and what it tells of."""

    found: Sequence[Found] = ()
    hard: Sequence[tuple[int, int]] = ()
    negation: Sequence[tuple[int, int]] = ()
    #: Links that end a negation but carry an uncertainty on ("suggestive of carcinoma with carcinomatosis").
    links: Sequence[tuple[int, int]] = ()
    speaks_of: Set[str] = frozenset()
    #: The stretch that tells of people at large.
    people: tuple[int, int] = NOBODY


_NOTHING: Final = SentenceCues()
_OPENING: Final = frozenset({"general", "trial"})
_LINKS: Final = frozenset({"with", "on", "given"})


#: The phrases of cues with pseudo-cues, terminators and medicine at large in one trie: a note is gone over once.
CueTable = PhraseTrie[Means]


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    """The shipped cues as a table, built once a process."""
    return cue_table_of(shipped_cues())


def shipped_cues() -> dict[str, Any]:
    """``cues/context.toml`` as it is written."""
    return cue_file("context")


def cue_table_of(table: Mapping[str, Any]) -> CueTable:
    """Cues in the form of :func:`shipped_cues` as a table."""
    kinds = [
        (
            CueKind(
                entry["name"],
                entry["sets"],
                entry["direction"],
                entry["reach"],
                kinds_named(entry.get("kinds", ())),
                frozenset(entry.get("spelled", ())),
            ),
            entry["phrases"],
        )
        for entry in table["cue"]
    ]
    listed: dict[str, list[tuple[str, Any]]] = {
        "cues": [(phrase, kind) for kind, phrases in kinds for phrase in phrases],
        "pseudo": [(phrase, None) for phrase in table["pseudo"]["phrases"]],
        "hard": [(phrase, phrase) for phrase in table["terminators"]["hard"]],
        "negation": [(phrase, phrase) for phrase in table["terminators"]["negation"]],
        "general": [(phrase, of) for name, of in _AT_LARGE.items() for phrase in table["general"].get(name, ())],
    }
    # Phrases that are written in different ways are one where their words are.
    spelled: dict[tuple[str, ...], str] = {}
    said: dict[tuple[str, ...], dict[str, list[Any]]] = {}
    for name, phrases in listed.items():
        for phrase, of in phrases:
            words = tuple(words_of(phrase).norms)
            spelled.setdefault(words, phrase)
            said.setdefault(words, {}).setdefault(name, []).append(of)
    return PhraseTrie(
        (
            spelled[words],
            Means(
                () if "pseudo" in of else tuple(of["cues"]) if "cues" in of else None,
                "hard" in of,
                of["negation"][0] if "negation" in of else "",
                tuple(filter(None, of["general"])) if "general" in of else None,
            ),
        )
        for words, of in said.items()
    )


def sentence_cues(table: CueTable, frame: Frame, sentence: tuple[int, int], first: int, last: int) -> SentenceCues:
    """What stands in a sentence, which has the words from ``first`` up to ``last``.

    Of each of the four kinds of phrases the longest at each word, left to right, without overlap.
    """
    text, start = frame.text, sentence[0]
    here = frame.words.norms[first:last]
    at = frame.beginnings(table, first, last)
    people, opening = NOBODY, frozenset[str]()
    if not AT_LARGE.isdisjoint(here):
        people = people_at_large(text, here, sentence)
        opening = _OPENING if opens_at_large(text, here, sentence) else opening
    if not at:
        return SentenceCues(speaks_of=opening, people=people) if opening or people is not NOBODY else _NOTHING
    found: list[Found] = []
    hard, negation, links = [], [], []
    speaks_of = set(opening)
    # Up to where what was found of each table reaches.
    cued = stopped = ended = told = 0
    for index in at:
        for match in reversed(table.matches_at(text, frame.words, index)):
            behind = match.last
            if behind > last:
                continue
            cues, is_hard, terminator, general = match.payloads[0]
            if cues is not None and index >= cued:
                cued = behind
                for kind in cues:
                    # Vital signs: what joins two things opens no sentence.
                    if (not kind.spelled or is_spelled(text, match, kind.spelled)) and (
                        match.end - match.start != 2 or text[start : match.end].strip() != "VS"
                    ):
                        found.append(Found(kind, match))
            if is_hard and index >= stopped:
                stopped = behind
                hard.append((index, behind))
            if terminator and index >= ended:
                ended = behind
                negation.append((index, behind))
                if terminator in _LINKS:
                    links.append((index, behind))
            if general is not None and index >= told:
                told = behind
                speaks_of.update(general)
    return SentenceCues(found, hard, negation, links, speaks_of, people)


def is_spelled(text: str, match: PhraseMatch[Means], spelled: frozenset[str]) -> bool:
    """Whether a cue is written in one of its spellings; a sign before the first word (``-ve``) may be part of it."""
    written = text[match.start : match.end].lower()
    return written in spelled or text[max(0, match.start - 1) : match.start] + written in spelled
