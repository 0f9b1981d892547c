"""Gates: where in a note a pattern may begin, told by its words, so that no pattern is tried anywhere else.

What a word opens is asked once for each different word and remembered; a note then costs one look-up a word, whatever
the number of patterns. A pattern behind its gate finds what ``finditer`` finds, and nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Final, NamedTuple

from .words import Remembered, Words

#: How words open each gate (see :class:`Gate`), with the number of the gate.
_NUMBERS: Final[dict[tuple[str, str], int]] = {}
_PATTERNS: Final[list[Gated]] = []


class Gate:
    """Words that look a certain way, and where in the word they do."""

    __slots__ = ("begins", "number", "within")

    def __init__(self, begins: str = "", within: str = "") -> None:
        """``begins``: a pattern of how such a word, as it is written, begins; ``within``: one of what stands anywhere
        in it. Empty: no word does."""
        self.begins = begins
        self.within = within
        # Gates that open alike are one.
        self.number = _NUMBERS.setdefault((begins, within), len(_NUMBERS))
        _forget()

    def stands_in(self, places: Places, start: int, end: int) -> bool:
        """Whether a word between ``start`` and ``end`` opens it."""
        here = places[self.number]
        if not here:
            return False
        low = bisect_left(here, start)
        return low < len(here) and here[low] < end


class Gated(Gate):
    """A pattern that can begin only where a word opens its gate, or shortly before.

    ``before``: at most so many characters before that place may a match begin, with one of the characters of ``lead``
    (empty: any).
    """

    __slots__ = ("before", "lead", "pattern")

    def __init__(
        self, pattern: re.Pattern[str], begins: str = "", within: str = "", before: int = 0, lead: str = ""
    ) -> None:
        super().__init__(begins, within)
        self.pattern = pattern
        self.before = before
        self.lead = lead
        _PATTERNS.append(self)

    def find(self, places: Places, text: str) -> Sequence[re.Match[str]]:
        """The matches of the pattern in ``text``, in order and without overlap. ``places``: of the words of it."""
        here = places[self.number]
        if not here:
            return ()
        match, end = self.pattern.match, 0
        found = []
        for place in self._ahead(here, text) if self.before else here:
            if place >= end:
                one = match(text, place)
                if one is not None:
                    found.append(one)
                    end = one.end()
        return found

    def find_in(self, places: Places, text: str, start: int, end: int) -> Sequence[re.Match[str]]:
        """As ``finditer(text, start, end)``."""
        here = places[self.number]
        low = bisect_left(here, start) if here else 0
        if low == len(here) or here[low] >= end + self.before:
            return ()
        match, at = self.pattern.match, start
        found = []
        within = here[low : bisect_left(here, end + self.before, low)]
        for place in self._ahead(within, text) if self.before else within:
            if at <= place < end:
                one = match(text, place, end)
                if one is not None:
                    found.append(one)
                    at = one.end()
        return found

    def _ahead(self, here: Sequence[int], text: str) -> list[int]:
        """The places with those before them at which the pattern may begin, in order."""
        lead = self.lead
        places: set[int] = set(here)
        for place in here:
            for at in range(max(0, place - self.before), place):
                if not lead or text[at] in lead:
                    places.add(at)
        return sorted(places)


def any_gate(*gates: Gate) -> Gate:
    """The gate of the words that open any of these."""
    begins = "|".join(f"(?:{gate.begins})" for gate in gates if gate.begins)
    within = "|".join(f"(?:{gate.within})" for gate in gates if gate.within)
    return Gate(begins, within)


def number_of_gates() -> int:
    """How many gates there are by now: what a word opens is known anew when there are more."""
    return len(_NUMBERS)


def gated_patterns() -> tuple[Gated, ...]:
    """All patterns that stand behind a gate."""
    return tuple(_PATTERNS)


#: By the number of each gate, where in a text words open it, in order.
Places = Sequence[Sequence[int]]


class Marks(NamedTuple):
    """The numbers of the gates that a word opens where it begins, and of those within it with the place in it."""

    begun: tuple[int, ...]
    within: tuple[tuple[int, int], ...]


#: Those of a word that opens every gate at each of its letters.
_EVERYWHERE: Final = Marks((), ())


def places_of(words: Words, known: Iterable[Marks | None] | None = None) -> Places:
    """Where the words of a text open each gate. ``known``: what each of them opens, where that is at hand."""
    places: list[list[int]] = [[] for _ in _NUMBERS]
    every = list(map(_MARKS.__getitem__, words.written) if known is None else known)
    for start, end, marks in compress(zip(words.starts, words.ends, every, strict=True), every):
        if marks is _EVERYWHERE:
            # However long the word (a line of a script without blanks is one), its places are made once for all gates.
            there = list(range(start, end))
            for column in places:
                column += there
        elif marks:
            begun, within = marks
            for number in begun:
                places[number].append(start)
            for number, offset in within:
                places[number].append(start + offset)
    return places


def marks_of(word: str) -> Marks | None:
    """What the word opens; None if it opens nothing."""
    if not word.isascii():
        # Patterns tell letters from signs in ways of their own there: all are tried at every place of such a word.
        return _EVERYWHERE
    openings = _openings()
    # All that a word may begin with is tried in one call.
    opened = openings.begins.match(word)
    begun = opened.groups() if opened else ()
    marks = {(number, 0) for number, text in zip(openings.numbers, begun, strict=True) if text is not None}
    if openings.anywhere.search(word):
        marks.update((number, one.start()) for number, within in openings.within for one in within.finditer(word))
    if not marks:
        return None
    return _shared(
        Marks(
            tuple(sorted(number for number, offset in marks if not offset)),
            tuple(sorted((number, offset) for number, offset in marks if offset)),
        )
    )


@lru_cache(maxsize=4096)
def _shared(marks: Marks) -> Marks:
    """The same marks, kept once: words open gates in few ways, and what is small stays near the processor."""
    return marks


@dataclass(frozen=True, slots=True)
class _Openings:
    """The openings of all gates: how words begin, with a group and a number for each; what stands anywhere in them."""

    begins: re.Pattern[str]
    numbers: tuple[int, ...]
    anywhere: re.Pattern[str]
    within: tuple[tuple[int, re.Pattern[str]], ...]


@lru_cache(maxsize=1)
def _openings() -> _Openings:
    beginnings = [(number, begins) for (begins, _), number in _NUMBERS.items() if begins]
    within = [(number, within) for (_, within), number in _NUMBERS.items() if within]
    return _Openings(
        re.compile("".join(f"(?=({begins})|)" for _, begins in beginnings)),
        tuple(number for number, _ in beginnings),
        re.compile("|".join(f"(?:{pattern})" for _, pattern in within)),
        tuple((number, re.compile(pattern)) for number, pattern in within),
    )


_MARKS: Final = Remembered(marks_of)


def _forget() -> None:
    _openings.cache_clear()
    _MARKS.clear()
