"""What speaks for and against a statement: the words around it, what it says, and how the record bears it out.

A sign has a name and a value. Words count once in their part (the sentence, right before, right behind, before the
sentence); the figures of a record tell how often the same is said, in how many notes, how crowded the paragraph is, and
whether ages and words for a sex are those of the patient.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..text.shape import BLANK_LINE
from .persons import Persons

#: Words, figures and signs.
_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
#: Notes, letters or words of this number on either side.
_NEAR, _BEFORE, _REACH = 4, 25, 250
#: What stands in place of the statement itself among its neighbours.
_SELF: Final = "<>"
_FIGURE: Final = "0"

Key = tuple[str, str]


class Statement(NamedTuple):
    """A mention as it is weighed: its note (place in order of date), span, sentence, kind and concept; whether it is
    stated of the patient as so; how many cues decided it."""

    note: int
    start: int
    end: int
    sentence: tuple[int, int]
    kind: str
    concept: str
    stated: bool
    cues: int


@dataclass(slots=True)
class Signs:
    """What holds of a statement: ``words`` of its own, and ``around`` those of its sentence, by name; ``figures``
    by name and value; and the groups in which it is weighed again beside others: its paragraph, its sentence, and all
    that say the same."""

    words: list[str]
    around: list[str]
    figures: dict[str, float]
    groups: tuple[tuple[int, int], tuple[int, int], Key]


@dataclass(slots=True)
class _Page:
    """A note in tokens. ``around`` and ``sayings`` keep what sentences are for the statements in them; ``concepts``
    those that are stated in a sentence or paragraph, by kind, and those that are told not to be so."""

    text: str
    tokens: list[str]
    starts: list[int]
    paragraphs: list[int]
    around: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    sayings: dict[tuple[int, int], str] = field(default_factory=dict)
    concepts: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))

    def between(self, start: int, end: int, first: int | None = None, last: int | None = None) -> list[str]:
        """The tokens that begin there; only so many ``first`` or ``last`` ones."""
        low, high = bisect_left(self.starts, start), bisect_left(self.starts, end)
        if first is not None:
            high = min(high, low + first)
        return self.tokens[low if last is None else max(low, high - last) : high]

    def saying(self, sentence: tuple[int, int]) -> str:
        """The tokens of a sentence as one text, by which the same is known when it is said again."""
        known = self.sayings.get(sentence)
        if known is None:
            known = self.sayings[sentence] = " ".join(self.between(*sentence))
        return known

    def paragraph(self, at: int) -> tuple[int, int]:
        """The span of the paragraph around a place."""
        number = bisect_left(self.paragraphs, at + 1)
        low = self.paragraphs[number - 1] if number else 0
        return low, self.paragraphs[number] if number < len(self.paragraphs) else len(self.text)


def _page(text: str) -> _Page:
    found = [(match.start(), match.group()) for match in _TOKEN.finditer(text)]
    words = [_FIGURE if word[0].isdigit() else word.lower() for _, word in found]
    return _Page(text, words, [start for start, _ in found], [match.end() for match in BLANK_LINE.finditer(text)])


class Record:
    """All statements of a patient's notes, and what they have in common."""

    def __init__(self, notes: Sequence[tuple[str, int]], statements: Sequence[Statement]) -> None:
        """``notes``: text and year (0 if it has no date) of each, in order; ``statements`` in any order."""
        self._texts = [text for text, _ in notes]
        self._years = [year for _, year in notes]
        self._pages: dict[int, _Page] = {}
        self._persons: Persons | None = None
        self._notes_of: dict[Key, set[int]] = defaultdict(set)
        self._said_of: dict[Key, set[str]] = defaultdict(set)
        self._denied: Counter[Key] = Counter()
        for one in statements:
            page = self._page(one.note)
            paragraph = page.paragraph(one.start)[0]
            page.concepts[f"sentence {one.kind}", one.sentence[0]].add(one.concept)
            page.concepts[f"paragraph {one.kind}", paragraph].add(one.concept)
            if not one.stated:
                page.concepts["not so", paragraph].add(one.concept)
            key = one.kind, one.concept
            if one.stated:
                self._notes_of[key].add(one.note)
                self._said_of[key].add(page.saying(one.sentence))
            else:
                self._denied[key] += 1

    def _page(self, note: int) -> _Page:
        page = self._pages.get(note)
        if page is None:
            page = self._pages[note] = _page(self._texts[note])
        return page

    def signs(self, one: Statement) -> Signs:
        """The signs of one of its statements."""
        page = self._page(one.note)
        paragraph = page.paragraph(one.start)
        if self._persons is None:
            self._persons = Persons(zip(self._texts, self._years, strict=True))
        figures = self._figures(one, page, paragraph)
        figures |= self._persons.signs(one.note, page.text, one.start, one.sentence, paragraph)
        groups = ((one.note, paragraph[0]), (one.note, one.sentence[0]), (one.kind, one.concept))
        return Signs(list(_of_mention(one, page)), _around(one.sentence, page), figures, groups)

    def _figures(self, one: Statement, page: _Page, paragraph: tuple[int, int]) -> dict[str, float]:
        key = one.kind, one.concept
        notes, said = len(self._notes_of[key]), len(self._said_of[key])
        start, end = one.sentence
        found = page.concepts
        return {
            "kin in sentence": min(8, len(found[f"sentence {one.kind}", start])) / 4,
            "kin in paragraph": min(12, len(found[f"paragraph {one.kind}", paragraph[0]])) / 6,
            "not so in paragraph": min(8, len(found["not so", paragraph[0]])) / 4,
            "notes": min(6, notes) / 3,
            "share of notes": 2 * notes / len(self._texts),
            "sayings": min(6, said) / 3,
            "one note": 2.0 * (notes <= 1),
            "one saying": 2.0 * (said <= 1),
            "denied": min(4, self._denied[key]) / 2,
            "place": one.start / len(page.text),
            "sentence": min(400, end - start) / 200,
            "paragraph": min(2000, paragraph[1] - paragraph[0]) / 1000,
            "cues": float(min(6, one.cues)),
        }


def _around(sentence: tuple[int, int], page: _Page) -> list[str]:
    """The words of a sentence, the pairs of them, and the words before it: for all statements in it the same list."""
    known = page.around.get(sentence)
    if known is None:
        start, end = sentence
        words = page.between(start, end)
        known = [f"in {word}" for word in dict.fromkeys(words)]
        known += [f"pair {first} {second}" for first, second in dict.fromkeys(itertools.pairwise(words))]
        before = page.between(max(0, start - _REACH), start, last=_BEFORE)
        known += [f"before {word}" for word in dict.fromkeys(before)]
        page.around[sentence] = known
    return known


def _of_mention(one: Statement, page: _Page) -> Iterator[str]:
    """The words of the statement and its neighbours, its kind and concept."""
    left = page.between(one.sentence[0], one.start, last=_NEAR)
    right = page.between(one.end, one.sentence[1], first=_NEAR)
    yield f"kind {one.kind}"
    yield f"concept {one.concept}"
    for word in dict.fromkeys(page.between(one.start, one.end)):
        yield f"is {word}"
    for word in dict.fromkeys(left):
        yield f"left {word}"
    for word in dict.fromkeys(right):
        yield f"right {word}"
    yield f"pair {left[-1] if left else ''} {_SELF}"
    yield f"pair {_SELF} {right[0] if right else ''}"


def named_figures(figures: Mapping[str, float], kind: str) -> Iterable[tuple[str, float]]:
    """The figures by the names under which they have weights: each for all kinds, and for its kind."""
    for name, value in figures.items():
        if value:
            yield f"figure {name}", value
            yield f"figure {name} of {kind}", value
