"""Word tokens of a text, folded (case, spelling, plural) so that variants of one word compare equal."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ..kb.words import american, without_plural

#: A word with its possessive ending: "Hodgkin's" is the word Hodgkin.
_WORD = re.compile(r"[^\W_]+(?:['’]s(?![^\W_]))?")
_POSSESSIVE = re.compile(r"['’]s$")


class Token(NamedTuple):
    """One word: character span and folded form."""

    start: int
    end: int
    norm: str


@lru_cache(maxsize=200_000)
def fold(word: str) -> str:
    """The key under which a single word is compared; not itself a word.

    >>> fold("Tumours") == fold("tumor"), fold("metastases") == fold("metastasis"), fold("Ewing's") == fold("Ewing")
    (True, True, True)
    """
    return without_plural(american(_POSSESSIVE.sub("", word.lower())))


def tokenize(text: str) -> list[Token]:
    """All words of ``text`` in order; punctuation and underscores separate words and are not tokens."""
    # The bare constructor: this runs for every word of every note, and checks nothing that could be wrong.
    make = tuple.__new__
    return [make(Token, (match.start(), match.end(), fold(match.group()))) for match in _WORD.finditer(text)]
