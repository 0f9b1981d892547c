"""The last hand on a note: the hospital's spelling, capitals, slips of the typing hand, lines of a fixed width."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Mapping
from typing import Final

from .marks import CLOSE, OPEN, THEN, without_marks

_FIRST: Final = re.compile(f"(?:{OPEN}\\d+{THEN}|{CLOSE}|[\"'(])*([a-z])")
_WORD: Final = re.compile(r"(?<![\w-])[a-z]{5,}(?![\w-])")


def capitalized(text: str) -> str:
    """The text with a capital first, marks passed over; a text that begins with a sign or a number stays."""
    first = _FIRST.match(text)
    if first is None:
        return text
    place = first.end() - 1
    # Names such as "pT2" and "mTOR" keep their small letter.
    if text[place + 1 : place + 2].isupper() or text[place + 1 : place + 2] == ".":
        return text
    return text[:place] + text[place].upper() + text[place + 1 :]


def lowered_start(text: str) -> str:
    """The text with a small letter first, unless its first word is an abbreviation or a name with capitals."""
    plain = without_marks(text)
    if len(plain) > 1 and plain[0].isupper() and plain[1].islower() and plain.split(" ", 1)[0] in _OPENERS:
        place = text.index(plain[0])
        return text[:place] + plain[0].lower() + text[place + 1 :]
    return text


_OPENERS: Final = frozenset(
    "The This There She He Her His Patient No We In On At A An Has Had Is Was Remains Continues Known Prior".split()
)


@functools.lru_cache(maxsize=8)
def _speller(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")", re.IGNORECASE)


def in_british(text: str, british: Mapping[str, str]) -> str:
    """The text in the spelling of a British house."""

    def other(found: re.Match[str]) -> str:
        word = found[0]
        spelled = british[word.casefold()]
        if word.isupper():
            return spelled.upper()
        return spelled.capitalize() if word[0].isupper() else spelled

    return _speller(tuple(british)).sub(other, text)


def with_slips(text: str, rate: float, chance: random.Random) -> str:
    """The text with ``rate`` of its longer words mistyped: two letters swapped, one left out, one doubled."""
    if rate <= 0:
        return text
    words = list(_WORD.finditer(text))
    if not words:
        return text
    expected = rate * len(words)
    number = int(expected) + (chance.random() < expected - int(expected))
    for _ in range(number):
        found = words[int(chance.random() * len(words))]
        word = text[found.start() : found.end()]
        place = 1 + int(chance.random() * (len(word) - 2))
        sort = chance.random()
        if sort < 0.45:
            slipped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        elif sort < 0.8:
            slipped = word[:place] + word[place + 1 :]
        else:
            slipped = word[:place] + word[place] + word[place:]
        text = text[: found.start()] + slipped + text[found.end() :]
        words = list(_WORD.finditer(text))
    return text


def wrapped(text: str, width: int) -> str:
    """The text in lines of at most ``width`` signs (marks not counted), as an old system prints it; 0 leaves it."""
    if not width:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= width:
            lines.append(line)
            continue
        row: list[str] = []
        length = 0
        for word in line.split(" "):
            size = len(without_marks(word)) + 1
            if row and length + size > width:
                lines.append(" ".join(row))
                row, length = [], 0
            row.append(word)
            length += size
        lines.append(" ".join(row))
    return "\n".join(lines)
