"""Numbers and dates of a query against those of the question: what the question does not say, no query may hold."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_WORDS: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "faithful.toml").read_text(encoding="utf-8"))
#: Word (lower case) -> the numbers that it may say.
_NUMBERS_OF_WORD: Final[dict[str, frozenset[str]]] = {
    word: frozenset(
        number for table in ("words", "months") for number, stated in _WORDS[table].items() if word in stated
    )
    for table in ("words", "months")
    for stated in _WORDS[table].values()
    for word in stated
}
_NUMBER_OF_ROMAN: Final[dict[str, str]] = {roman: number for number, roman in _WORDS["romans"].items()}
_NOTHING: Final = frozenset(_WORDS["nothing"]["words"])

#: A number that stands by itself: not part of a name (HER2, L858R, CDK4/6, 5-FU).
_ALONE: Final = re.compile(r"(?<![^\s(\[,;:<>=≤≥~–])(\d+(?:[.,]\d+)*)(?=%|\+?(?:[\s)\],;:?!–]|\.(?!\d)|\.?$))")
_DATE: Final = re.compile(r"(?<![\w.-])\d{4}-\d{1,2}(?:-\d{1,2})?(?![\w-])")
_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ROMAN_STAGE: Final = re.compile(r"\b(iv|i{1,3})[a-d]?\d?\b", re.IGNORECASE)
_ORDINAL: Final = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)


def invented(query: str, question: str) -> tuple[str, ...]:
    """The numbers and dates that stand by themselves in ``query`` and that the question does not say in any way."""
    stated = _stated(question)
    return tuple(dict.fromkeys(shown for shown, number in _standing(query) if number not in stated))


def dropped(query: str, question: str, unread: tuple[str, ...]) -> tuple[str, ...]:
    """The numbers that stand by themselves in the question, and neither in ``query`` nor in a phrase of ``unread``."""
    kept = _stated(" ".join((query, *unread)))
    return tuple(dict.fromkeys(shown for shown, number in _standing(question) if number not in kept))


def carries_nothing(phrase: str) -> bool:
    """Whether no word of ``phrase`` carries anything: *patients who have*."""
    return all(word in _NOTHING for word in phrase.lower().strip(".,;:!?").split())


def _standing(text: str) -> Iterator[tuple[str, str]]:
    """Each number that stands by itself, as written and in its plain form; a date gives each of its parts."""
    for match in _DATE.finditer(text):
        yield from ((match.group(), _plain(part)) for part in match.group().split("-"))
    for match in _ORDINAL.finditer(text):
        yield match.group(), _plain(match.group(1))
    for match in _ALONE.finditer(_DATE.sub(" ", text)):
        yield match.group(1), _plain(match.group(1))


def _stated(text: str) -> frozenset[str]:
    """Every number that ``text`` could be said to hold: digits anywhere, number words, months, Roman stages."""
    found = {_plain(digits) for digits in _DIGITS.findall(text)}
    found |= {_plain(part) for digits in _DIGITS.findall(text) for part in re.split("[.,]", digits)}
    found |= {_NUMBER_OF_ROMAN[roman.lower()] for roman in _ROMAN_STAGE.findall(text)}
    for word in _LETTERS.findall(text.lower()):
        for part in {word, *word.split("-")}:
            found |= _NUMBERS_OF_WORD.get(part, frozenset())
    return frozenset(found)


def _plain(number: str) -> str:
    """``01`` is ``1``, ``1,000`` is ``1000``, ``0.50`` is ``0.5``."""
    whole, _, part = number.replace(",", "").partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")
