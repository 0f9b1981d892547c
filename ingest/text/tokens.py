"""The words of a text, folded (case, spelling, plural) so that variants of one word compare equal."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from ...kb.ontology.words import american, without_plural

#: A word with its possessive ending: "Hodgkin's" is the word Hodgkin. The group makes a split keep the words.
_WORD = re.compile(r"([^\W_]+(?:['’]s(?![^\W_]))?)")
#: The same in a text of ASCII alone, as most are: letters are told quicker by a list than by what Unicode says of them.
_ASCII_WORD = re.compile(r"([A-Za-z0-9]+(?:'s(?![A-Za-z0-9]))?)")
_POSSESSIVE = re.compile(r"['’]s$")
#: So many different words are remembered with what is known of them; then all are forgotten, and learnt again.
MOST_REMEMBERED: Final = 100_000
#: Nothing longer is a word of the language, and it comes again too seldom to be worth the memory (characters).
_LONGEST_REMEMBERED: Final = 64

Known = TypeVar("Known")


class Remembered(dict[str, Known], Generic[Known]):
    """What a function says of a word, asked for once; bounded. A dictionary, since no call is as quick as its look-up.

    >>> lengths = Remembered(len)
    >>> lengths["tumor"], list(lengths)
    (5, ['tumor'])
    """

    def __init__(
        self, tell: Callable[[str], Known], most: int = MOST_REMEMBERED, longest: int = _LONGEST_REMEMBERED
    ) -> None:
        """``most``: so many are remembered, of at most ``longest`` characters."""
        super().__init__()
        self._tell = tell
        self._most = most
        self._longest = longest

    def __missing__(self, word: str) -> Known:
        known = self._tell(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = known
        return known


def _folded(word: str) -> str:
    return without_plural(american(_POSSESSIVE.sub("", word.lower())))


_FOLDED: Final = Remembered(_folded)


def fold(word: str) -> str:
    """The key under which a single word is compared; not itself a word.

    >>> fold("Tumours") == fold("tumor"), fold("metastases") == fold("metastasis"), fold("Ewing's") == fold("Ewing")
    (True, True, True)
    """
    return _FOLDED[word]


class Words(NamedTuple):
    """The words of a text in order, as columns: as written, where each begins and ends, and folded."""

    written: list[str]
    starts: list[int]
    ends: list[int]
    norms: list[str]


def words_of(text: str) -> Words:
    """All words of ``text`` in order; punctuation and underscores separate words and are none."""
    written, starts, ends = parted(text)
    return Words(written, starts, ends, list(map(_FOLDED.__getitem__, written)))


def parted(text: str) -> tuple[list[str], list[int], list[int]]:
    """The words of ``text`` as they are written, and where each begins and ends."""
    # This runs over every word of every note: each step is one call for all of them.
    parts = (_ASCII_WORD if text.isascii() else _WORD).split(text)
    bounds = list(itertools.accumulate(map(len, parts)))
    return parts[1::2], bounds[:-1:2], bounds[1::2]
