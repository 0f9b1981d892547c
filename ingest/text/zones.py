"""Zones: whom each sentence of a note is about, this patient, nobody, or another patient.

Reports and letters carry pages that are about no one: how a test is made, what a drug is for, what a handout warns of,
whom a trial wants. Each sentence has evidence (the section it stands in, the phrases in it, its grammar), told by
``cues/zones.toml`` in logarithms of odds; a change of zone costs, and costs less where something speaks for a boundary.
The likeliest way through the note is found by dynamic programming (Viterbi 1967): the cost grows with its length. A
second way is found by what was learned of words (:mod:`zone_words`): where that alone says that a stretch is about
nobody or another patient, it is in doubt.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.note_classes import PATHOLOGY, note_class
from .cue_files import cue_file
from .frame import Frame
from .gates import Gate, Gated, Places
from .named import OTHER, OWN, named_in
from .shape import BLANK_LINE, Section, Sentence
from .words import PhraseTrie
from .zone_words import Changes, Described, ZoneWords, zone_words

#: The zones, in the order of the states.
ZONES: Final = ("patient", "nobody", "another")
_PATIENT, _NOBODY, _ANOTHER = range(3)
#: What learning calls the begin of a note among boundaries.
START: Final = "start"
#: The zone for or against which the tables of the file speak.
_STATES: Final = ((_NOBODY, "nobody"), (_ANOTHER, "another"), (_NOBODY, "patient"))
#: What a day or a value with its unit says of a person.
_OF_A_DAY: Final = Gated(
    re.compile(r"\b\d{1,2}/\d{1,2}/(?:\d\d){1,2}\b|\b(?:19|20)\d\d-\d\d-\d\d\b"), begins=r"\d{1,4}(?!\w)"
)
_POINTS_OF_A_DAY: Final = -1.5
#: A note of fewer sentences is about its patient, but for what the table says: nothing is pasted in it.
_FEWEST: Final = 4
#: Where learning gives other zones fewer points than these, the patterns of the table are not looked for.
_OPEN: Final = -2.0


class Zone(NamedTuple):
    """What a sentence belongs to: one of ``ZONES``; ``why`` and the span of the strongest evidence for it; whether only
    learned words say so."""

    name: str
    why: str
    start: int
    end: int
    learned: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a phrase says of the sentence that it stands in."""

    zone: int
    why: str
    points: float


#: What the case of one of several patients says of its sentences.
_OF_CASE: Final = {
    OTHER: Evidence(_ANOTHER, "another's case", 8.0),
    OWN: Evidence(_ANOTHER, "the patient's case", -8.0),
}


class _Seen(NamedTuple):
    """A sentence as both ways see it: ``first`` and ``last``: its words; ``found``: the evidence of its phrases, with
    their spans; ``reach``: how far its section's heading is; ``marks``: what learning sees beside its words."""

    sentence: Sentence
    first: int
    last: int
    found: Sequence[tuple[Evidence, int, int]]
    section: Section
    reach: str
    dated: bool
    marks: Sequence[str]


class _Said(NamedTuple):
    """What one sentence says of each zone, by the table, and the strongest evidence."""

    points: tuple[float, float, float]
    why: tuple[str, int, int]


class _Pattern(NamedTuple):
    """A pattern with its evidence. Some word that opens ``holds`` stands in whatever it matches, and so do some of the
    small letters of ``needs``; without either it may match anything."""

    pattern: re.Pattern[str]
    evidence: Evidence
    holds: Gate | None
    needs: tuple[str, ...]

    def may_match(self, small: str, places: Places, start: int, end: int) -> bool:
        """Whether it may match between two places of a text; ``small``: what stands there, in small letters."""
        if self.holds is not None:
            return self.holds.stands_in(places, start, end)
        return not self.needs or any(map(small.__contains__, self.needs))


@dataclass(frozen=True, slots=True)
class ZoneTable:
    """``cues/zones.toml`` with its phrases in one trie."""

    phrases: PhraseTrie[Evidence]
    patterns: Sequence[_Pattern]
    prior: tuple[float, float, float]
    change: Mapping[str, float]
    section: Mapping[str, float]
    reach: Mapping[str, float]
    most: Mapping[str, float]


_TABLE: Final = cue_file("zones")
#: Words for one man, and for one woman.
_STAGED: Final = re.compile(_TABLE["persons"]["staged"])
_HE, _SHE = (frozenset(_TABLE["persons"][one]) for one in ("he", "she"))
# Made when the module is loaded: no note may have been parted before all gates are known.
_HOLDERS: Final = {
    entry["holds"]: Gate(begins=f"(?i:{entry['holds']})")
    for _, name in _STATES
    for entry in _TABLE[name]
    if "holds" in entry
}


@lru_cache(maxsize=1)
def zone_table() -> ZoneTable:
    """The shipped table, built once a process."""
    table = _TABLE
    evidence = [
        (phrase, Evidence(state, entry["why"], float(entry["points"])))
        for state, name in _STATES
        for entry in table[name]
        for phrase in entry.get("phrases", ())
    ]
    patterns = tuple(
        _Pattern(
            re.compile("|".join(entry["patterns"]), re.IGNORECASE | re.MULTILINE),
            Evidence(state, entry["why"], float(entry["points"])),
            _HOLDERS.get(entry.get("holds", "")),
            tuple(entry.get("needs", ())),
        )
        for state, name in _STATES
        for entry in table[name]
        if "patterns" in entry
    )
    return ZoneTable(
        PhraseTrie(evidence),
        patterns,
        (0.0, table["prior"]["nobody"], table["prior"]["another"]),
        table["change"],
        table["section"],
        table["reach"],
        table["most"],
    )


def zones_of(frame: Frame, table: ZoneTable | None = None, learned: ZoneWords | None = None) -> dict[int, Zone]:
    """Start of a sentence → its zone, for those that are not about this patient."""
    table = table or zone_table()
    learned = learned or zone_words()
    if not frame.shape.sentences:
        return {}
    seen = _all_seen(frame, table)
    boundaries = [_boundary(frame, one, other) for one, other in itertools.pairwise(seen)]
    points = learned.points(frame.words.written, [(one.first, one.last, one.marks) for one in seen])
    changes = [learned.change(boundary) for boundary in boundaries]
    zones: dict[int, Zone] = {}
    states = _likeliest(points, changes, learned.change(START)[_PATIENT])
    if note_class(frame.note.type, frame.note.title) == PATHOLOGY:
        states = _seconded(seen, states)
    for one, state in zip(seen, states, strict=True):
        if state != _PATIENT and len(seen) >= _FEWEST and not (state == _NOBODY and _of_somebody(frame, one)):
            start, end = one.sentence.start, one.sentence.end
            zones[start] = Zone(ZONES[state], "words", start, end, learned=True)
    said = _all_said(frame, seen, points, table)
    if said:
        costs = [_costs(table.change[boundary]) for boundary in boundaries]
        states = _likeliest([one.points for one in said], costs, (0.0, 0.0, 0.0))
        for one, told, state in zip(seen, said, states, strict=True):
            if state != _PATIENT:
                why = told.why if told.why[0] else ("beside it", one.sentence.start, one.sentence.end)
                zones[one.sentence.start] = Zone(ZONES[state], *why)
    return zones


def _seconded(seen: Sequence[_Seen], states: Sequence[int]) -> list[int]:
    """The zones that were learned, of a report that tells in the present tense what a slide shows, as a textbook would:
    a stretch is about nobody only where a phrase of the table says so as well."""
    kept: list[int] = []
    for state, run in itertools.groupby(zip(seen, states, strict=True), key=lambda pair: pair[1]):
        stretch = [one for one, _ in run]
        told = any(evidence.points > 0 for one in stretch for evidence, _, _ in one.found)
        kept += [state if told else _PATIENT] * len(stretch)
    return kept


def _of_somebody(frame: Frame, seen: _Seen) -> bool:
    """Whether a sentence speaks of one person (*I started him on dopamine*), not of anybody (*his or her doctor*), or
    tells one tumor's categories."""
    words = frame.words.norms[seen.first : seen.last]
    if _HE.isdisjoint(words) != _SHE.isdisjoint(words):
        return True
    return _STAGED.search(frame.text, seen.sentence.start, seen.sentence.end) is not None


def described_note(frame: Frame) -> list[tuple[Described, str]]:
    """Each sentence as learning sees it, and what parts it from the one before; for training."""
    seen = _all_seen(frame, zone_table())
    boundaries = [START, *(_boundary(frame, one, other) for one, other in itertools.pairwise(seen))]
    written, norms = frame.words.written, frame.words.norms
    return [
        (Described(written[one.first : one.last], norms[one.first : one.last], one.marks), boundary)
        for one, boundary in zip(seen, boundaries, strict=False)
    ]


def _all_seen(frame: Frame, table: ZoneTable) -> list[_Seen]:
    """The sentences of a note with what stands in them."""
    text, shape = frame.text, frame.shape
    marks: dict[int, list[str]] = {}
    for start, who in named_in(text, frame.note.title, frame.places):
        marks.setdefault(shape.sentence_index_at(start), []).append(f"named {who}")
    cases = iter(frame.cases)
    case = next(cases, None)
    days = {shape.sentence_index_at(day.start()) for day in _OF_A_DAY.find(frame.places, text)}
    seen = []
    reach = _Reach(text, shape.section_at(0))
    for number, sentence in enumerate(shape.sentences):
        start, end = sentence.start, sentence.end
        first, last = frame.token_range(start, end)
        section = shape.section_at(start)
        if section is not reach.section:
            reach = _Reach(text, section)
        far = reach.to(start)
        found = [
            (one, match.start, match.end)
            for match in frame.phrases(table.phrases, first, last)
            for one in match.payloads
        ]
        while case is not None and case.end <= start:
            case = next(cases, None)
        told = marks.get(number, [])
        if case is not None and case.start < end:
            told.append(f"case {case.who}")
            if case.who in _OF_CASE:
                found.append((_OF_CASE[case.who], start, end))
        told += (f"section {section.effect} {far}", f"sign {text[start]}", f"end {text[end - 1]}")
        told += [f"told {one.why}" for one, _, _ in found if one.points > 0]
        if first < last:
            told.append(f"first {frame.words.norms[first]}")
        if number in days:
            told.append("day")
        seen.append(_Seen(sentence, first, last, found, section, far, number in days, told))
    return seen


def _all_said(
    frame: Frame, seen: Sequence[_Seen], points: Sequence[tuple[float, float, float]], table: ZoneTable
) -> list[_Said]:
    """What each sentence says by the table; nothing where no sentence has anything for a zone of its own.

    Patterns are looked for where the ``points`` that were learned leave it open that the sentence is of such a zone.
    """
    small, places = frame.text.lower(), frame.places
    patterns = [one for one in table.patterns if one.may_match(small, places, 0, len(small))]
    found = []
    for one, (_, nobody, another) in zip(seen, points, strict=True):
        here = one.found
        if patterns and (nobody > _OPEN or another > _OPEN):
            here = [*here, *_matched(patterns, frame.text, places, one.sentence)]
        found.append(here)
    if not any(table.section.get(one.section.effect, 0.0) > 0 for one in seen) and not any(
        evidence.points > 0 for here in found for evidence, _, _ in here
    ):
        return []
    return [_said(one, here, table) for one, here in zip(seen, found, strict=True)]


def _matched(
    patterns: Iterable[_Pattern], text: str, places: Places, sentence: Sentence
) -> Iterator[tuple[Evidence, int, int]]:
    """The evidence of the patterns that match in a sentence."""
    start, end, _ = sentence
    words = text[start:end]
    small = words.lower()
    for one in patterns:
        if one.may_match(small, places, start, end) and (matched := one.pattern.search(words)):
            yield one.evidence, start + matched.start(), start + matched.end()


def _said(seen: _Seen, found: Iterable[tuple[Evidence, int, int]], table: ZoneTable) -> _Said:
    points = [0.0, table.prior[_NOBODY], table.prior[_ANOTHER]]
    points[_NOBODY] += table.section.get(seen.section.effect, 0.0) * table.reach[seen.reach]
    gained, lost = 0.0, _POINTS_OF_A_DAY if seen.dated else 0.0
    why, best = ("", seen.sentence.start, seen.sentence.end), 0.0
    for one, low, high in found:
        if one.zone == _ANOTHER:
            points[_ANOTHER] += one.points
        elif one.points > 0:
            gained += one.points
        else:
            lost += one.points
        if one.points > best:
            why, best = (one.why, low, high), one.points
    points[_NOBODY] += min(gained, table.most["nobody"]) - min(-lost, table.most["patient"])
    return _Said((points[0], points[1], points[2]), why)


def _likeliest(
    points: Sequence[tuple[float, float, float]], changes: Sequence[Changes], first: tuple[float, float, float]
) -> list[int]:
    """The zones of all sentences that have the most points together with the changes between them.

    ``changes``: before each sentence but the first; ``first``: what it says to begin with a zone.
    """
    best = [one + begun for one, begun in zip(points[0], first, strict=True)]
    came_from: list[tuple[int, int, int]] = []
    for change, (patient, nobody, another) in zip(changes, points[1:], strict=True):
        came, now = [], []
        for state, own in enumerate((patient, nobody, another)):
            ways = (best[0] + change[0][state], best[1] + change[1][state], best[2] + change[2][state])
            most = max(ways)
            came.append(ways.index(most))
            now.append(most + own)
        came_from.append((came[0], came[1], came[2]))
        best = now
    state = best.index(max(best))
    states = [state]
    for came_by in reversed(came_from):
        state = came_by[state]
        states.append(state)
    states.reverse()
    return states


@lru_cache(maxsize=16)
def _costs(cost: float) -> Changes:
    """What a change costs, whichever it is."""
    return (0.0, -cost, -cost), (-cost, 0.0, -cost), (-cost, -cost, 0.0)


def _boundary(frame: Frame, before: _Seen, one: _Seen) -> str:
    """What parts two sentences, by its name in the table."""
    if one.section is not before.section:
        return "heading"
    text, start, end = frame.text, before.sentence.end, one.sentence.start
    breaks = text.count("\n", start, end)
    if breaks > 1 and not BLANK_LINE.search(text, start, end):
        breaks = 1
    return "blank_line" if breaks > 1 else "next_line" if breaks else "same_line"


class _Reach:
    """How far from its heading a place of a section stands: what parts them is sought once for all of its sentences."""

    __slots__ = ("_blank_line", "_next_line", "section")

    def __init__(self, text: str, section: Section) -> None:
        self.section = section
        beyond = len(text) + 1
        line = text.find("\n", section.heading_end)
        blank = BLANK_LINE.search(text, line) if line >= 0 else None
        self._next_line = line + 1 if line >= 0 else beyond
        self._blank_line = blank.end() if blank else beyond

    def to(self, place: int) -> str:
        """What parts the two, by its name in the table."""
        return "blank_line" if place >= self._blank_line else "next_line" if place >= self._next_line else "same_line"
