"""Zones: whom each sentence of a note is about, this patient, nobody, or another patient.

Reports and letters carry pages that are about no one: how a test is made, what a drug is for, what a handout warns of,
whom a trial wants. Each sentence has evidence (the section it stands in, the phrases in it, its grammar), told by
``cues/zones.toml`` in logarithms of odds; a change of zone costs, and costs less where something speaks for a boundary.
The likeliest way through the note is found by dynamic programming (Viterbi 1967): the cost grows with its length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from .cue_files import cue_file
from .frame import Frame
from .shape import Sentence
from .words import PhraseTrie

#: The zones, in the order of the states.
ZONES: Final = ("patient", "nobody", "another")
_PATIENT, _NOBODY, _ANOTHER = range(3)
#: The zone for or against which the tables of the file speak.
_STATES: Final = ((_NOBODY, "nobody"), (_ANOTHER, "another"), (_NOBODY, "patient"))
#: What a day or a value with its unit says of a person.
_OF_A_DAY: Final = re.compile(r"\b\d{1,2}/\d{1,2}/(?:\d\d){1,2}\b|\b(?:19|20)\d\d-\d\d-\d\d\b")
_POINTS_OF_A_DAY: Final = -1.5
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\r?\n")


class Zone(NamedTuple):
    """What a sentence belongs to: one of ``ZONES``; ``why`` and the span of the strongest evidence for it."""

    name: str
    why: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a phrase says of the sentence that it stands in."""

    zone: int
    why: str
    points: float


class _Said(NamedTuple):
    """What one sentence says of each zone."""

    points: tuple[float, float, float]
    why: tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class ZoneTable:
    """``cues/zones.toml`` with its phrases in one trie."""

    phrases: PhraseTrie[Evidence]
    patterns: Sequence[tuple[re.Pattern[str], Evidence]]
    #: For each of the patterns, small letters of which some stand in whatever it matches; none: it may match anything.
    needed: Sequence[tuple[str, ...]]
    prior: tuple[float, float, float]
    change: Mapping[str, float]
    section: Mapping[str, float]
    reach: Mapping[str, float]
    most: Mapping[str, float]


@lru_cache(maxsize=1)
def zone_table() -> ZoneTable:
    """The shipped table, built once a process."""
    table = cue_file("zones")
    evidence = [
        (phrase, Evidence(state, entry["why"], float(entry["points"])))
        for state, name in _STATES
        for entry in table[name]
        for phrase in entry.get("phrases", ())
    ]
    patterns = tuple(
        (
            re.compile("|".join(entry["patterns"]), re.IGNORECASE | re.MULTILINE),
            Evidence(state, entry["why"], float(entry["points"])),
        )
        for state, name in _STATES
        for entry in table[name]
        if "patterns" in entry
    )
    needed = tuple(tuple(entry.get("needs", ())) for _, name in _STATES for entry in table[name] if "patterns" in entry)
    return ZoneTable(
        PhraseTrie(evidence),
        patterns,
        needed,
        (0.0, table["prior"]["nobody"], table["prior"]["another"]),
        table["change"],
        table["section"],
        table["reach"],
        table["most"],
    )


def zones_of(frame: Frame, table: ZoneTable | None = None) -> dict[int, Zone]:
    """Start of a sentence → its zone, for those that are not about this patient."""
    table = table or zone_table()
    sentences = frame.shape.sentences
    if not sentences or not _may_hold_any(frame, table):
        return {}
    said = [_said(frame, sentence, table) for sentence in sentences]
    states = _likeliest(frame, sentences, said, table)
    return {
        sentence.start: Zone(ZONES[state], *(one.why if one.why[0] else ("beside it", sentence.start, sentence.end)))
        for sentence, one, state in zip(sentences, said, states, strict=True)
        if state != _PATIENT
    }


def _may_hold_any(frame: Frame, table: ZoneTable) -> bool:
    """Whether anything at all speaks for a zone of its own; most notes are about their patient."""
    if any(table.section.get(section.effect, 0.0) > 0 for section in frame.shape.sections):
        return True
    words = frame.words
    for index in frame.beginnings(table.phrases):
        for match in table.phrases.matches_at(frame.text, words, index):
            if any(one.points > 0 for one in match.payloads):
                return True
    small = frame.text.lower()
    return any(
        pattern.search(frame.text)
        for (pattern, one), needed in zip(table.patterns, table.needed, strict=True)
        if one.points > 0 and (not needed or any(map(small.__contains__, needed)))
    )


def _said(frame: Frame, sentence: Sentence, table: ZoneTable) -> _Said:
    start, end = sentence.start, sentence.end
    first, last = frame.token_range(start, end)
    points = [0.0, table.prior[_NOBODY], table.prior[_ANOTHER]]
    section = frame.shape.section_at(start)
    points[_NOBODY] += table.section.get(section.effect, 0.0) * table.reach[_between(frame, section.heading_end, start)]
    gained = lost = 0.0
    why, best = ("", start, end), 0.0
    found = [
        (one, match.start, match.end) for match in frame.phrases(table.phrases, first, last) for one in match.payloads
    ]
    for pattern, one in table.patterns:
        matched = pattern.search(frame.text[start:end])
        if matched:
            found.append((one, start + matched.start(), start + matched.end()))
    for one, low, high in found:
        if one.zone == _ANOTHER:
            points[_ANOTHER] += one.points
        elif one.points > 0:
            gained += one.points
        else:
            lost += one.points
        if one.points > best:
            why, best = (one.why, low, high), one.points
    if _OF_A_DAY.search(frame.text, start, end):
        lost += _POINTS_OF_A_DAY
    points[_NOBODY] += min(gained, table.most["nobody"]) - min(-lost, table.most["patient"])
    return _Said((points[0], points[1], points[2]), why)


def _likeliest(frame: Frame, sentences: Sequence[Sentence], said: Sequence[_Said], table: ZoneTable) -> list[int]:
    """The zones of all sentences that have the most points together, less what the changes between them cost."""
    best = list(said[0].points)
    came_from: list[tuple[int, int, int]] = []
    for before, sentence, one in zip(sentences, sentences[1:], said[1:], strict=False):
        cost = table.change[_boundary(frame, before, sentence)]
        came, now = [], []
        for state in range(len(ZONES)):
            ways = [best[other] - (0.0 if other == state else cost) for other in range(len(ZONES))]
            chosen = max(range(len(ZONES)), key=ways.__getitem__)
            came.append(chosen)
            now.append(ways[chosen] + one.points[state])
        came_from.append((came[0], came[1], came[2]))
        best = now
    state = max(range(len(ZONES)), key=best.__getitem__)
    states = [state]
    for came_by in reversed(came_from):
        state = came_by[state]
        states.append(state)
    states.reverse()
    return states


def _boundary(frame: Frame, before: Sentence, sentence: Sentence) -> str:
    """What parts two sentences, by its name in the table."""
    shape = frame.shape
    if shape.section_at(sentence.start) is not shape.section_at(before.start):
        return "heading"
    return _between(frame, before.end, sentence.start)


def _between(frame: Frame, start: int, end: int) -> str:
    """What parts two places of the text, by its name in the table."""
    breaks = frame.text.count("\n", start, end)
    if breaks > 1 and not _BLANK_LINE.search(frame.text, start, end):
        breaks = 1
    return "blank_line" if breaks > 1 else "next_line" if breaks else "same_line"
