"""What stands in a sentence that bears on context: cues, their terminators, and people beside the patient.

The words are data (``cues/context.toml``, ``cues/statements.toml``): which phrases there are, what each sets, who is
the subject of what is said, and where a sentence tells of people at large.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...kb.kinds import ILLNESSES, kinds_named
from ..text.cue_files import cue_file
from ..text.frame import Frame
from ..text.statements import goes_on_with, needs, statement
from ..text.words import PhraseMatch, PhraseTrie, words_of

#: Cues of people who are most often named because they come along: they must be the subject of what is said.
_ONLY_SUBJECTS: Final = frozenset({"subject_of_kin", "subject_of_other"})
#: The cues of people who may be named because they come along, help, or tell of the patient.
NAMED_BESIDE: Final = _ONLY_SUBJECTS | {"descendant", "spouse", "kin_by_marriage", "other_person"}
#: Cues of what others have, or may have; they leave the patient what is called the patient's own.
_OF_OTHERS: Final = frozenset({"someone_else", "read_about", "fear"})
#: Statements about people at large.
_STATEMENTS: Final = ("people_at_large", "carriers_at_large")
#: The stretch of a sentence that tells of nobody else.
NOBODY: Final = (0, 0)
#: One of these folded words stands in each sentence of people or tumors at large.
AT_LARGE: Final = frozenset[str]().union(*map(needs, (*_STATEMENTS, "general_opening")))
#: So far before somebody may the words of coming along begin (characters).
_REACH_OF_COMPANY = 60
#: And so far before what is said the word that calls it the patient's own.
_REACH_OF_POSSESSION = 40


def is_subject(text: str, person: PhraseMatch[Any], sentence: tuple[int, int], cue: str) -> bool:
    """Whether what follows the words for a person is said of that person, rather than of the patient.

    ``cue``: the name of the person's cue, one of :data:`NAMED_BESIDE`.
    """
    before = max(sentence[0], person.start - _REACH_OF_COMPANY)
    if cue in _ONLY_SUBJECTS and statement("own_occupation").search(text, before, person.start):
        return False
    if statement("has_it").match(text, person.end, sentence[1]):
        return True
    if cue in _ONLY_SUBJECTS or statement("tells_of_patient").match(text, person.end, sentence[1]):
        return False
    return not statement("keeps_company").search(text, before, person.start)


def comes_along(text: str, person: PhraseMatch[Any], target: int, sentence: int) -> bool:
    """``here with her husband for breast cancer``: who comes along does not have what the patient comes for.

    ``target``: where what is said begins; ``sentence``: where the sentence does.
    """
    return bool(
        person.end <= target
        and statement("companion_before").search(text, max(sentence, person.start - _REACH_OF_COMPANY), person.start)
        and statement("companion_behind").match(text, person.end, target)
        and not statement("companion_has").search(text, person.end, target)
    )


def is_compared_with(text: str, person: PhraseMatch[Any], target: int, sentence: int) -> bool:
    """``Like her mother, she has asthma``, ``she and her sister have asthma``: it is the patient who has it.

    ``target``: where what is said begins; ``sentence``: where the sentence does. What stands in the words of the
    comparison (``unlike her mother's asthma``) is the relative's.
    """
    low = max(sentence, person.start - _REACH_OF_COMPANY)
    if statement("compared_with").search(text, low, person.start):
        return target < person.start or "," in text[person.end : target]
    return target >= person.end and statement("patient_and").search(text, low, person.start) is not None


def comes_back(text: str, person: PhraseMatch[Any], target: int) -> bool:
    """Whether a clause between a relative and what is said, which begins at ``target``, has the patient as its subject.

    *She* behind a mother may be either: the patient where the mother's tense is past and the clause's is not.
    """
    clause = statement("clause_of_patient").search(text, person.end, target)
    if clause is None:
        return False
    of_kin = text[person.start : person.end]
    female = statement("female_kin").search(of_kin) is not None
    male = statement("male_kin").search(of_kin) is not None
    if female != male and (clause["who"].lower() == "she") is not female:
        return True
    past = statement("over_for_relative").search(text, person.end, clause.start())
    return clause["now"] is not None and past is not None


def is_called_own(cue: str, kind: str, text: str, target: int, sentence: int) -> bool:
    """``read about olaparib for her ovarian cancer``: the word right before it gives it back to the patient.

    ``cue``: the name of the cue before it; ``kind``: that of what is said, which begins at ``target``.
    """
    if cue not in _OF_OTHERS or kind not in ILLNESSES:
        return False
    return bool(statement("possessed").search(text, max(sentence, target - _REACH_OF_POSSESSION), target))


def people_at_large(text: str, norms: Sequence[str], sentence: tuple[int, int]) -> tuple[int, int]:
    """The stretch of a sentence that tells of people at large, up to where it comes back to the patient; else empty.

    ``norms``: its folded words.
    """
    said = text[sentence[0] : sentence[1]]
    for name in _STATEMENTS:
        if not _may_hold(name, norms):
            continue
        found = statement(name).search(said)
        if found is None or statement("people_like_patient").search(said, found.start()):
            continue
        back = statement("back_to_patient").search(said, found.end())
        return sentence[0] + found.start(), sentence[0] + (back.start() if back else len(said))
    return NOBODY


def opens_at_large(text: str, norms: Sequence[str], sentence: tuple[int, int]) -> bool:
    """Whether a sentence opens as one about people or tumors at large."""
    return not needs("general_opening").isdisjoint(norms[:2]) and bool(
        statement("general_opening").match(text, *sentence)
    )


def _may_hold(name: str, norms: Sequence[str]) -> bool:
    words, behind = needs(name), goes_on_with(name)
    return not words.isdisjoint(norms) and any(
        norm in words and following in behind for norm, following in itertools.pairwise(norms)
    )


#: The lists of ``[general]``, and what a sentence with one of their phrases speaks of; "": a look-alike, of nothing.
_AT_LARGE = {"phrases": "general", "trial": "trial", "handed": "handed", "pseudo": ""}


OF_STATUS: Final = ("status",)


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
    #: The parts of a context that it sets: what sets a status sets the rest by it, and is asked of treatments alone.
    parts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", OF_STATUS if "status" in self.sets else tuple(self.sets))


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
            _phrases(entry),
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


def _phrases(entry: Mapping[str, Any]) -> list[str]:
    """The phrases of a cue; with ``whose`` each behind each of these ("her dog", "the patient's dog")."""
    phrases: list[str] = entry["phrases"]
    return [f"{whose} {phrase}" for whose in entry["whose"] for phrase in phrases] if "whose" in entry else phrases


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
    cued = stopped = ended = spoken = 0
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
            if general is not None and index >= spoken:
                spoken = behind
                speaks_of.update(general)
    return SentenceCues(found, hard, negation, links, speaks_of, people)


def is_spelled(text: str, match: PhraseMatch[Means], spelled: frozenset[str]) -> bool:
    """Whether a cue is written in one of its spellings; a sign before the first word (``-ve``) may be part of it."""
    written = text[match.start : match.end].lower()
    return written in spelled or text[max(0, match.start - 1) : match.start] + written in spelled
