"""Gates: where in a note a pattern may begin, told by its words, so that no pattern is tried anywhere else.

What a word opens is asked once for each different word and remembered; a note then costs one look-up a word, whatever
the number of patterns. A pattern behind its gate finds what ``finditer`` finds, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .tokens import Remembered, Words

#: All gates, in the order of their numbers.
_GATES: Final[list[Gate]] = []


class Gate:
    """Words that look a certain way: a pattern over one word, and where in the word it holds."""

    __slots__ = ("number", "opening")

    def __init__(self, opening: str) -> None:
        r"""``opening``: a pattern that is sought in each word as it is written; most begin with ``\A``."""
        self.opening = re.compile(opening)
        self.number = len(_GATES)
        _GATES.append(self)
        _forget()


class Gated(Gate):
    """A pattern that can begin only where its opening holds in a word, or shortly before.

    ``before``: at most so many characters before that place may a match begin, with one of the characters of ``lead``
    (empty: any).
    """

    __slots__ = ("before", "lead", "pattern")

    def __init__(self, pattern: re.Pattern[str], opening: str, before: int = 0, lead: str = "") -> None:
        super().__init__(opening)
        self.pattern = pattern
        self.before = before
        self.lead = lead

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

    def _ahead(self, here: Sequence[int], text: str) -> list[int]:
        """The places with those before them at which the pattern may begin, in order."""
        lead = self.lead
        places: set[int] = set(here)
        for place in here:
            for at in range(max(0, place - self.before), place):
                if not lead or text[at] in lead:
                    places.add(at)
        return sorted(places)


def gated_patterns() -> tuple[Gated, ...]:
    """All patterns that stand behind a gate."""
    return tuple(gate for gate in _GATES if isinstance(gate, Gated))


#: By the number of each gate, where in a text words open it, in order.
Places = Sequence[Sequence[int]]
#: The numbers of the gates that a word opens, each with the place in the word.
_Marks = tuple[tuple[int, int], ...]


#: Instead of a number: any gate.
_ALL: Final = -1


def places_of(words: Words) -> Places:
    """Where the words of a text open each gate."""
    places: list[list[int]] = [[] for _ in _GATES]
    for start, marks in zip(words.starts, map(_MARKS.__getitem__, words.written), strict=True):
        if marks:
            for number, offset in marks:
                if number >= 0:
                    places[number].append(start + offset)
                else:
                    for column in places:
                        column.append(start + offset)
    return places


def _marks(word: str) -> _Marks:
    if not word.isascii():
        # Patterns tell letters from signs in ways of their own there: all are tried at every place of such a word.
        return tuple((_ALL, offset) for offset in range(len(word)))
    if not _any_opening().search(word):
        return ()
    return tuple((gate.number, match.start()) for gate in _GATES for match in gate.opening.finditer(word))


_MARKS: Final = Remembered(_marks)
_any: list[re.Pattern[str]] = []


def _any_opening() -> re.Pattern[str]:
    """The openings of all gates as one pattern: most new words have none of them."""
    if not _any:
        _any.append(re.compile("|".join(f"(?:{gate.opening.pattern})" for gate in _GATES)))
    return _any[0]


def _forget() -> None:
    _any.clear()
    _MARKS.clear()
