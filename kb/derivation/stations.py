"""Stations of lymph nodes: by which words of a report one count of nodes is told from another.

A report counts the nodes of each specimen or level, and often all of them once more: in the gross description, in a
frozen section, in a synopsis. A count is added to others only where the text itself tells that it is of another
station; what these words are is defined here, once for the reading that adds and once more for the check of a proof.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from ..files.text_files import text_of

#: The rule that a total of stations names.
SUM_OF_STATIONS: Final = "sum_of_stations"
_FILE: Final = Path(__file__).with_suffix(".toml")
_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50}
#: No heading of a specimen is longer: a label further before says nothing of a count (characters).
_REACH_OF_LABEL: Final = 1500
#: The words of a station stand no further before its count, and behind it (characters).
_REACH_BEFORE, _REACH_BEHIND = 160, 60

#: The heading of the levels of one side.
_SIDED_HEADING: Final = re.compile(
    r"(?:\A|(?<=[.:;)\n\-] ))(?:\(?\w{1,2}[.):]\s)?(?P<side>left|right)\s[^.:;]{0,40}:", re.IGNORECASE
)
_STATEMENT_ENDS: Final = re.compile(r"[.:;]\s|\s-{1,2}\s")
_CLAUSE_BEHIND: Final = re.compile(r"[^.;:()]*")
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
#: No name of a field is longer (characters).
_REACH_OF_FIELD: Final = 60


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a specimen: letters and numbers are lists of their own."""

    start: int
    kind: str
    order: int


def roman_number(letters: str) -> int:
    """A Roman number below ninety.

    >>> roman_number("XIX")
    19
    """
    values = [_ROMAN[letter] for letter in letters]
    return sum(-one if one < max(values[at:]) else one for at, one in enumerate(values))


def names_place(text: str) -> bool:
    """Whether some word of a short text names a place of nodes, or a level by its number."""
    return _words().places.search(text) is not None or _words().numbered.search(text) is not None


@dataclass(frozen=True, slots=True)
class Station:
    """What a text says of where the nodes of a count are: the label before it, and the words that name a place."""

    label: Label | None
    words: frozenset[str]
    #: The part of the report: how often it has begun anew before the count.
    part: int
    #: Whether the words say that all nodes are counted.
    total: bool
    #: Where the statement begins that names the place alone and so heads the count; -1 where none does.
    heading: int = -1
    #: Whether that statement tells how they were taken out: it heads a specimen of its own.
    taken: bool = False

    def is_other(self, than: Station) -> bool:
        """Whether the two can be no telling of the same nodes, in one part of a report: a later label, or words for a
        place of which neither only says more than the other."""
        if self.part != than.part or self.total or than.total:
            return False
        if self.label is not None and than.label is not None and self.label.start != than.label.start:
            return self.label.kind == than.label.kind and self.label.order != than.label.order
        if self.is_headed_apart(than):
            return True
        return bool(self.words and than.words) and not (self.words <= than.words or than.words <= self.words)

    @property
    def places(self) -> frozenset[str]:
        """Its words, without those for how nodes were chosen: sentinel nodes lie among the axillary ones."""
        return self.words - _words().chosen

    @property
    def is_level(self) -> bool:
        """Whether it names a level, and no region of which that may be a part."""
        named = self.places - _words().sides
        return bool(named) and named <= _words().levels | self._numbers

    @property
    def is_region(self) -> bool:
        """Whether it names a region or side alone, of which a level may be a part."""
        return bool(self.words) and self.places <= _words().regions

    @property
    def _numbers(self) -> frozenset[str]:
        return self.words - _words().names

    def is_headed_apart(self, than: Station) -> bool:
        """Whether each has a heading of its own, of another place."""
        if min(self.heading, than.heading) < 0 or self.heading == than.heading:
            return False
        if self.taken and than.taken:
            return self.words != than.words
        return bool(self.places and than.places) and self.places != than.places

    def is_of_other_side(self, than: Station) -> bool:
        """Whether their words name different sides, or different levels."""
        if self.is_level and than.is_level:
            return self.words.isdisjoint(than.words) or bool(self._numbers - than.words and than._numbers - self.words)
        sides = (self.words ^ than.words) & _words().sides
        return bool(sides & self.words and sides & than.words) or bool(
            self._numbers - than.words and than._numbers - self.words
        )


class Stations:
    """The stations of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = [match for match in _words().label.finditer(text) if not _is_value(text, match)]
        self._labels = [_label(match) for match in found]
        self._starts = [one.start for one in self._labels]
        self._parts = [_label(match) for match in found if match["part"] or match["part_number"]]
        self._starts_of_parts = [one.start for one in self._parts]
        self._anew = [match.start() for match in _words().anew.finditer(text)]
        sided = list(_SIDED_HEADING.finditer(text))
        self._ends_of_sided = [match.end() for match in sided]
        self._sides = [match["side"].casefold() for match in sided]

    def of_count(self, start: int, end: int, after: int) -> Station:
        """The station of a count that stands at ``start`` to ``end``; ``after``: where the count before it ends."""
        text, known = self._text, _words()
        part = bisect_right(self._anew, start)
        opened = self._anew[part - 1] if part else 0
        # Where specimens are told as parts, other letters and numbers list what was found in one.
        label = _last(self._parts, self._starts_of_parts, opened, start) or _last(
            self._labels, self._starts, opened, start
        )
        if label is not None and label.start > after and start - label.start > _REACH_OF_LABEL:
            label = None
        low = max(after, opened, start - _REACH_BEFORE, label.start if label else 0)
        behind = _CLAUSE_BEHIND.match(text, end, end + _REACH_BEHIND)
        total = known.total.search(text, max(low, start - _REACH_BEHIND), end) is not None
        at, words = self._places(low, start, behind.group() if behind else "")
        if words and words.isdisjoint(known.names):
            # "RIGHT NECK, LEVELS 2-4: level 2, 7 nodes": the levels are of the side that heads them.
            sided = bisect_right(self._ends_of_sided, start) - 1
            if sided >= 0 and self._ends_of_sided[sided] >= opened:
                words |= {self._sides[sided]}
        heading = self._heading(at, start) if words else ""
        taken = known.taken.search(heading) is not None
        return Station(label, words, part, total, at if heading else -1, taken)

    def _heading(self, at: int, start: int) -> str:
        """The statement that begins there, before a count, if it names a place of nodes and nothing else."""
        known, found = _words(), _STATEMENT_ENDS.search(self._text, at, start)
        # "Splenic hilum, 3": the place stands right before the count.
        end = found.start() if found else start
        begins = _words().label.match(self._text, at)
        rest = known.numbered.sub(" ", known.places.sub(" ", self._text[begins.end() if begins else at : end]))
        heads = all(known.heading.fullmatch(word) for word in _WORD.findall(rest))
        return self._text[at:end] if heads else ""

    def _places(self, low: int, start: int, behind: str) -> tuple[int, frozenset[str]]:
        """The words for a place in the statement of a count, else in the last one before it that has any; with where
        that statement begins."""
        text, known = self._text, _words()
        begins = [low, *(match.end() for match in _STATEMENT_ENDS.finditer(text, low, start))]
        for at in reversed(begins):
            stretch = f"{text[at:start]}\n{behind}"
            words = {str(match.lastgroup) for match in known.places.finditer(stretch)}
            words |= {re.sub(r"\W", "", match["number"]).casefold() for match in known.numbered.finditer(stretch)}
            if words:
                return at, frozenset(words)
        return start, frozenset()


def _last(labels: Sequence[Label], starts: Sequence[int], low: int, high: int) -> Label | None:
    """The last label that begins between the two places."""
    at = bisect_right(starts, high) - 1
    return labels[at] if at >= 0 and starts[at] >= low else None


def _is_value(text: str, match: re.Match[str]) -> bool:
    """Whether what looks like a label is the number that stands in a field: *Number examined: 15.*"""
    before = text[max(0, match.start() - _REACH_OF_FIELD) : match.start()]
    return match["number"] is not None and (int(match["number"]) == 0 or _words().value.search(before) is not None)


def _label(match: re.Match[str]) -> Label:
    if match["roman"]:
        return Label(match.start(), "roman", roman_number(match["roman"]))
    letter = match["letter"] or match["part"]
    if letter:
        return Label(match.start(), "letter", ord(letter))
    return Label(match.start(), "number", int(match["number"] or match["part_number"]))


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of ``stations.toml``, as patterns."""

    names: frozenset[str]
    sides: frozenset[str]
    chosen: frozenset[str]
    levels: frozenset[str]
    regions: frozenset[str]
    label: re.Pattern[str]
    places: re.Pattern[str]
    numbered: re.Pattern[str]
    total: re.Pattern[str]
    anew: re.Pattern[str]
    heading: re.Pattern[str]
    value: re.Pattern[str]
    taken: re.Pattern[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    table: Mapping[str, Any] = tomllib.loads(text_of(_FILE))
    places = "|".join(f"(?P<{name}>{'|'.join(words)})" for name, words in table["words"].items())
    numbered, numbers = ("|".join(table["numbered"][name]) for name in ("words", "numbers"))
    total, anew = ("|".join(table[name]["words"]) for name in ("total", "anew"))
    number = rf"(?P<number>(?:{numbers})(?:[\s\-\"]{{0,2}}(?:[AB]|sa|sb|[abdp])\b)?)"
    #: The label of a specimen at the beginning of a statement: ``(A)``, ``B.``, ``3)``, ``PART 2:``.
    label = (
        r"(?:\A|(?<=[.:;,)\n\-] )|(?<=[.:;)\n]))"
        rf"(?:(?:{'|'.join(table['part']['words'])})\s"
        r"(?:(?P<part>[A-Z])|(?P<part_number>\d{1,2}))(?!\w)[:.]?"
        r"|\[(?P<roman>[IVX]{1,4})\]"
        r"|\(?(?P<letter>[A-Z])(?:\)\.?|[.:]|\s?-(?=\s))|(?:(?:[Aa]d|[Rr]e)\s)?[(#]?(?P<number>\d{1,2})(?:\)[.:]?|[.:](?!\d)|\s-(?=\s)))"
        r"(?=\s?[A-Z(\"'\-]|(?<=[A-Z]\))\s[a-z]|(?<=[A-Z][.:)])\s\d|(?<=\d[.:)])\s(?:\d{1,2}|[a-z]{3,9})(?:\s(?:of|nodes?|lymph)|,\s(?:all|none|no))\b)"
    )
    return _Words(
        frozenset(table["words"]),
        frozenset(table["sides"]["words"]),
        frozenset(table["chosen"]["words"]),
        frozenset(table["levels"]["words"]),
        frozenset(table["levels"]["regions"]),
        re.compile(label),
        re.compile(rf"(?<![a-z])(?:{places})(?![a-z])", re.IGNORECASE),
        re.compile(rf"(?<![a-z])(?:{numbered})[\s\-]?{number}", re.IGNORECASE),
        re.compile(rf"(?<![a-z])(?:{total})(?![a-z])", re.IGNORECASE),
        re.compile(rf"(?:\A|(?<=[.:;)\n\-] )|(?<=\n))(?:{anew})(?![a-z])", re.IGNORECASE),
        re.compile("|".join(table["heading"]["words"]), re.IGNORECASE),
        re.compile(rf"(?<![a-z])(?:{'|'.join(table['value']['words'])})[^.;:]{{0,30}}:\s\Z", re.IGNORECASE),
        re.compile(rf"(?:{'|'.join(table['taken']['words'])})(?![a-z])", re.IGNORECASE),
    )
