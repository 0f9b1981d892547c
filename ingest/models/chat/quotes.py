"""Where the words that a model quotes stand in a text; what does not stand there is no quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

#: No name of a drug or finding is longer, and a model that quotes a page has found nothing.
MOST_CHARACTERS: Final = 200
_EDGES: Final = " \t\r\n.,;:'\"`*()[]{}"
#: Signs that people, editors and models write for one another.
_SAME: Final = {"'": "['’‘`]", '"': '["“”]', "-": "[-‐‑–—]"}


def places_of(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Each stretch of ``text`` that says ``quote`` as whole words, from left to right, in any case of letters.

    Blanks and line ends are alike, and so are the forms of quotation marks and hyphens; signs around the quote are not
    part of it. Nothing for an empty quote or one of more than ``MOST_CHARACTERS``.
    """
    # A bracket that the quote itself opens belongs to it.
    plain = " ".join(quote.split()).strip(" .,;:'\"`*")
    if plain.count("(") != plain.count(")") or (plain[:1], plain[-1:]) == ("(", ")"):
        plain = plain.strip(_EDGES)
    if not any(map(str.isalnum, plain)) or len(plain) > MOST_CHARACTERS:
        return
    for found in _pattern(plain).finditer(text):
        yield found.span()


@lru_cache(maxsize=512)
def _pattern(plain: str) -> re.Pattern[str]:
    words = (r"".join(_SAME.get(sign, re.escape(sign)) for sign in word) for word in plain.split(" "))
    body = r"\s+".join(words)
    return re.compile(rf"(?<!\w){body}(?!\w)" if _wordy(plain) else body, re.IGNORECASE)


def _wordy(plain: str) -> bool:
    """Whether it begins and ends with a letter or digit: then it is not looked for within other words."""
    return plain[0].isalnum() and plain[-1].isalnum()
