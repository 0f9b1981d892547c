"""A question's text in one form: signs as words, tokens with their places, and the key under which phrases meet."""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...kb.ontology.normal_forms import american, without_plural

_TOKEN: Final = re.compile(
    r"(?:t|del|inv)\(\s?[0-9xy]+[0-9;pqxy.\s]*\)"
    r"|\d{4}-\d{2}(?:-\d{2})?(?!\w)"
    r"|>=|<=|!=|::"
    r"|[A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff]+(?:[.'*][A-Za-z0-9_\u00c0-\u024f]+)*%?"
    r"|\S",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign of the question in its one form, with its place there."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @property
    def is_word(self) -> bool:
        """Whether it is no bare sign."""
        return self.text[0].isalnum()


@functools.cache
def _rewrites() -> tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]:
    """``rewrites.toml``: what is rewritten before anything is read, in this order, and what stands instead."""
    rows = tomllib.loads(Path(__file__).with_name("rewrites.toml").read_text(encoding="utf-8"))["rewrites"]
    return tuple(
        (re.compile(pattern, re.IGNORECASE), instead[0] if len(instead) == 1 else _within(*instead))
        for pattern, *instead in rows
    )


def _within(old: str, new: str) -> Callable[[re.Match[str]], str]:
    """What is found, with ``new`` in place of ``old``."""
    return lambda match: match.group().replace(old, new)


def one_form(text: str) -> str:
    """``text`` with one kind of dash, quote and comparison, and with signs against a word spelled out."""
    text = unicodedata.normalize("NFC", text)
    for pattern, instead in _rewrites():
        text = pattern.sub(instead, text)
    return text.strip()


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text that is in its one form."""
    return tuple(Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text))


def texts_of(text: str) -> list[str]:
    """The same tokens, as they are written alone."""
    return _TOKEN.findall(text)


@functools.lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """What a word shares with its plural, its capitals and its British spelling."""
    return without_plural(american(word.casefold().replace("'", "")))


def key_of(tokens: tuple[Token, ...]) -> str:
    """The key of a phrase: its words without hyphens and apostrophes."""
    return " ".join(word_key(token.text) for token in tokens if token.text not in ("-", "'", '"'))


@functools.lru_cache(maxsize=32_768)
def phrase_key(phrase: str) -> str:
    """:func:`key_of` a phrase of the data."""
    return key_of(tokens_of(one_form(phrase)))
