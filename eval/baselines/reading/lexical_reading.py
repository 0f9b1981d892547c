"""Yes or no by looking words up: an honest reader without any model, which stands in for one where there is none."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

WORDS: Final[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "offline_reader.toml").read_text(encoding="utf-8")
)
#: The share of the question's words that passages must mention for a yes: on development records the best of 0.4 to 1.
THRESHOLD: Final = 0.6

_STOP_WORDS: Final = frozenset(WORDS["stop_words"].split())
_ENDINGS: Final[tuple[str, ...]] = tuple(sorted(WORDS["endings"], key=len, reverse=True))
_SHORTEST_STEM: Final = 4
#: How much longer than its stem a word of a passage may be and still be the same word.
_LONGEST_ENDING: Final = max(map(len, _ENDINGS))
_WORD: Final = re.compile(r"[^\W_]+")
_BREAKS: Final = ("\n", ". ", "? ", "! ")
_LONGEST_QUOTE: Final = 400
_MOST_QUOTES: Final = 3


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    """One of the phrases, as whole words."""
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile("|".join(rf"\b{re.escape(one)}\b" if one.isalpha() or " " in one else re.escape(one)
                               for one in longest_first))  # fmt: skip


_NEGATION: Final = _any_of(WORDS["negations"])
_END_OF_NEGATION: Final = _any_of(WORDS["ends_of_negation"])


@dataclass(frozen=True, slots=True)
class Found:
    """What was read: yes or no, the share of words found, and quotes with the number of their passage (from 1)."""

    eligible: bool
    share: float
    quotes: tuple[tuple[int, str], ...] = ()


@functools.lru_cache(maxsize=4_096)
def content_stems(question: str) -> tuple[str, ...]:
    """The stems of the words that say what is looked for, each once, in their order."""
    words = (word for word in _WORD.findall(_lower(question)) if word not in _STOP_WORDS)
    return tuple(dict.fromkeys(_stem(word) for word in words))


def read(question: str, passages: Sequence[tuple[int, str]], threshold: float = THRESHOLD) -> Found:
    """Whether ``passages`` (number and text) mention ``threshold`` of the words of ``question``, none of them negated.

    Every sentence that is first to mention a word supports it. Order, dates and sense are not understood.
    """
    stems = content_stems(question)
    if not stems:
        return Found(False, 0.0)
    missing = dict.fromkeys(stems)
    support: dict[tuple[int, int, int], int] = {}
    texts: Mapping[int, str] = dict(passages)
    for number, text in texts.items():
        if not missing:
            break
        lower = _lower(text)
        for stem in tuple(missing):
            span = _sentence_with(stem, lower)
            if span is not None:
                del missing[stem]
                place = (number, *span)
                support[place] = support.get(place, 0) + 1
    share = 1 - len(missing) / len(stems)
    if share < threshold or not support:
        return Found(False, share)
    best = sorted(support, key=lambda place: (-support[place], place))[:_MOST_QUOTES]
    return Found(True, share, tuple((number, texts[number][begin:end]) for number, begin, end in sorted(best)))


def _sentence_with(stem: str, lower: str) -> tuple[int, int] | None:
    """The sentence that says the word first without negating it; cut around the word where it is long."""
    long = stem.isalpha() and len(stem) >= _SHORTEST_STEM
    plural = "s" if stem.isalpha() else ""
    at = lower.find(stem)
    while at >= 0:
        end = at + len(stem)
        after = end
        while after < len(lower) and lower[after].isalnum():
            after += 1
        begins = at == 0 or not lower[at - 1].isalnum()
        if begins and (after - end <= _LONGEST_ENDING if long else lower[end:after] in ("", plural)):
            begin, close = _sentence(lower, at, after)
            if not _negated(lower[begin:at]):
                return _cut(lower, begin, close, at, after)
        at = lower.find(stem, end)
    return None


def _sentence(lower: str, at: int, after: int) -> tuple[int, int]:
    begin = 0
    close = len(lower)
    for sign in _BREAKS:
        before = lower.rfind(sign, begin, at)
        if before >= 0:
            begin = before + len(sign)
        behind = lower.find(sign, after, close)
        if behind >= 0:
            close = behind if sign == "\n" else behind + 1
    while begin < at and lower[begin].isspace():
        begin += 1
    while close > after and lower[close - 1].isspace():
        close -= 1
    return begin, close


def _negated(before: str) -> bool:
    ends = 0
    for match in _END_OF_NEGATION.finditer(before):
        ends = match.end()
    return _NEGATION.search(before, ends) is not None


def _cut(lower: str, begin: int, close: int, at: int, after: int) -> tuple[int, int]:
    """At most so many characters, and whole words, around the word."""
    if close - begin > _LONGEST_QUOTE:
        begin = max(begin, at - _LONGEST_QUOTE // 2)
        close = max(after, min(close, begin + _LONGEST_QUOTE))
        while begin < at and lower[begin - 1].isalnum():
            begin += 1
        while close > after and close < len(lower) and lower[close].isalnum():
            close -= 1
    return begin, close


@functools.lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and word.isalpha():
            return word[: -len(ending)]
    return word


def _lower(text: str) -> str:
    """Lower case, letter for letter: places in it are places in ``text``."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
