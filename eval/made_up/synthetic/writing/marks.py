"""Marks in a text that is still being written: where a statement and the name in it begin and end.

The marks are signs that no note holds; whatever is done to the text (spelling, slips of the hand, wrapping) leaves them
in place, and ``taken_out`` turns them into offsets in the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

OPEN, THEN, CLOSE = "\x01", "\x02", "\x03"
_SIGNS: Final = re.compile("\x01(\\d+)\x02|(\x03)")


@dataclass(frozen=True, slots=True)
class Mark:
    """What is marked: a ``statement`` of facts (``about``: their places in the course), or the ``mention`` of one of
    them. ``kind``, ``concept`` and ``assertion`` are those of the fact; ``role`` is fact, copied or distractor."""

    what: str
    about: tuple[int, ...]
    kind: str = ""
    concept: str = ""
    assertion: str = ""
    role: str = "fact"


@dataclass(frozen=True, slots=True)
class Place:
    """A mark with the characters that it covers in the finished text."""

    mark: Mark
    start: int
    end: int


@dataclass(slots=True)
class Marks:
    """The marks of one note while it is written."""

    held: list[Mark] = field(default_factory=list)

    def around(self, text: str, mark: Mark) -> str:
        """``text`` with the mark around it."""
        self.held.append(mark)
        return f"{OPEN}{len(self.held) - 1}{THEN}{text}{CLOSE}"


def without_marks(text: str) -> str:
    """The text alone."""
    return _SIGNS.sub("", text)


def taken_out(text: str, held: Sequence[Mark]) -> tuple[str, list[Place]]:
    """The text without its marks, and where each was; a mark around nothing but blanks is left out."""
    pieces: list[str] = []
    length = done = 0
    opened: list[tuple[int, int]] = []
    found: list[tuple[int, int, int]] = []
    for sign in _SIGNS.finditer(text):
        piece = text[done : sign.start()]
        pieces.append(piece)
        length += len(piece)
        done = sign.end()
        if sign[2] is None:
            opened.append((int(sign[1]), length))
        else:
            number, start = opened.pop()
            found.append((number, start, length))
    pieces.append(text[done:])
    plain = "".join(pieces)
    places: list[Place] = []
    for number, start, end in sorted(found, key=lambda one: (one[1], -one[2], one[0])):
        inside = plain[start:end]
        start += len(inside) - len(inside.lstrip())
        end -= len(inside) - len(inside.rstrip())
        if start < end:
            places.append(Place(held[number], start, end))
    return plain, places
