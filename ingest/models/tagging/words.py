"""Words of a text as the tagger sees them: runs of letters, runs of digits, and each other sign for itself."""

from __future__ import annotations

import re
from typing import Final

#: Letters with their marks; digits; any other sign that is no blank.
_WORD: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")


def word_spans(text: str) -> list[tuple[int, int]]:
    """The words of ``text`` as (start, end) in characters, in order, none of them empty."""
    return [match.span() for match in _WORD.finditer(text)]


def word_range(words: list[tuple[int, int]] | tuple[tuple[int, int], ...], start: int, end: int) -> tuple[int, int]:
    """The words that a stretch of characters touches, as (first, behind last); an empty range where it touches none."""
    import bisect

    first = bisect.bisect_right(words, start, key=lambda span: span[1])
    return first, max(first, bisect.bisect_left(words, end, key=lambda span: span[0]))
