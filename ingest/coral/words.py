"""The words of the annotation layer (``words/*.toml``), compiled: what a row reads, and what must stand around it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from ..coral_schema.types import schema
from ..text.frame import Frame
from ..text.shape import without_blanks
from ..text.words import PhraseTrie, fold

#: The files of rows, in the order in which they are read; between equally long spans the earlier row wins.
FILES: Final = ("temporal", "social", "patient", "examinations", "tumors", "treatments")
#: A blank of a pattern: what may stand between two words.
_BLANK = r"(?:[^\S\r\n]{1,3}|[^\S\r\n]{0,2}\r?\n[^\S\r\n]{0,8})"
_SURROUNDINGS = 40


@dataclass(frozen=True, slots=True)
class Found:
    """A span that a row read; ``value``: which named alternative of its pattern it was."""

    start: int
    end: int
    row: Row
    value: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One ``[[read]]`` table.

    ``beside``: only in a sentence that holds one of these types, ``near`` characters away at most; ``kind``: as which
    kind of event its context is read; ``before`` and ``behind``: what may not stand directly there; ``never``: what
    the span may not be; ``link``: all that may stand between that annotation and the span behind it.
    """

    label: str
    order: int
    kind: str
    beside: frozenset[str]
    near: int
    pattern: re.Pattern[str] | None
    phrases: PhraseTrie[str] | None
    spelled: frozenset[str]
    triggers: frozenset[str]
    before: re.Pattern[str] | None
    behind: re.Pattern[str] | None
    never: re.Pattern[str] | None
    link: re.Pattern[str] | None

    def reaches(self, text: str, start: int, end: int, found: Found) -> bool:
        """Whether the annotation from ``start`` to ``end`` is one that the span counts beside."""
        if self.link:
            return 0 <= found.start - end <= self.near and bool(self.link.fullmatch(text, end, found.start))
        return found.start - end <= self.near and start - found.end <= self.near

    def find(self, frame: Frame, start: int, end: int) -> Iterator[Found]:
        """What it reads between two places of a text."""
        if self.triggers and self.triggers.isdisjoint(frame.vocabulary):
            return
        for found in self._candidates(frame, start, end):
            if self._stands(frame.text, found):
                yield found

    def _candidates(self, frame: Frame, start: int, end: int) -> Iterator[Found]:
        text = frame.text
        if self.phrases is not None:
            first, last = frame.token_range(start, end)
            for phrase in frame.phrases(self.phrases, first, last):
                surface = text[phrase.start : phrase.end]
                # A name in capitals is no word of the language: "Color" the laboratory, "POD" a progression.
                if any(name in self.spelled for name in phrase.payloads) and surface not in phrase.payloads:
                    continue
                yield Found(phrase.start, phrase.end, self)
        if self.pattern is None:
            return
        for match in self.pattern.finditer(text, start, end):
            named = {name: piece for name, piece in match.groupdict().items() if piece}
            place = next((name for name in named if name.startswith("span")), "")
            low, high = match.span(place) if place else match.span()
            low, high = without_blanks(text, low, high)
            if low < high:
                yield Found(low, high, self, next((name for name in named if not name.startswith("span")), ""))

    def _stands(self, text: str, found: Found) -> bool:
        if self.before and self.before.search(text, max(0, found.start - _SURROUNDINGS), found.start):
            return False
        if self.behind and self.behind.match(text, found.end):
            return False
        return not (self.never and self.never.fullmatch(text, found.start, found.end))


def expanded(pattern: str) -> str:
    """``pattern`` with its named pieces put in and its blanks made wide."""
    macros = _macros()
    for _ in range(4):
        pattern = re.sub(r"\{([a-z_]+)\}", lambda piece: macros[piece[1]], pattern)
    # Not inside a set of characters, where a blank is itself.
    return "".join(
        piece if piece.startswith("[") else piece.replace(" ", _BLANK)
        for piece in re.split(r"((?<!\\)\[(?:\\.|[^\]\\])*\])", pattern)
    )


@lru_cache(maxsize=1)
def _macros() -> dict[str, str]:
    return {name: str(text) for name, text in table("macros").items()}


@lru_cache(maxsize=16)
def table(name: str) -> dict[str, Any]:
    """One file of words."""
    return tomllib.loads(resources.files(__package__).joinpath(f"words/{name}.toml").read_text("utf-8"))


def compiled(pattern: str, bare: bool = False) -> re.Pattern[str]:
    """A pattern of words, whole ones unless ``bare``."""
    whole = f"(?:{pattern})" if bare else rf"(?<![^\W_])(?:{pattern})(?![^\W_])"
    return re.compile(expanded(whole), re.IGNORECASE)


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """All rows of all files. ValueError when one names a type that the schema has not."""
    found: list[Row] = []
    for name in FILES:
        found.extend(_row(entry, len(found) + at) for at, entry in enumerate(table(name)["read"]))
    return tuple(found)


def types_named(names: list[str]) -> frozenset[str]:
    """Entity types, with the groups of the schema (``@name``) spelled out."""
    found: set[str] = set()
    for name in names:
        found |= schema().groups[name[1:]] if name.startswith("@") else {name}
    unknown = found - schema().entities.keys()
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))}: no entity type of the schema")
    return frozenset(found)


def _row(entry: dict[str, Any], order: int) -> Row:
    types_named([entry["label"]])
    words = entry.get("words")
    return Row(
        entry["label"],
        order,
        entry.get("kind", "symptom"),
        types_named(entry.get("beside", [])),
        entry.get("near", 80),
        compiled(entry["pattern"], entry.get("bare", False)) if "pattern" in entry else None,
        PhraseTrie((word, word) for word in words) if words else None,
        frozenset(entry.get("spelled", ())),
        frozenset(fold(word) for word in entry.get("triggers", ())),
        _around(entry.get("unless_before"), r"(?<![^\W_])(?:{})[\s\-]{{0,3}}$"),
        _around(entry.get("unless_behind"), r"[\s\-]{{0,3}}(?:{})(?![^\W_])"),
        _around(entry.get("unless_span"), "{}"),
        _around(entry.get("link"), "{}"),
    )


def _around(words: str | None, frame: str) -> re.Pattern[str] | None:
    return re.compile(frame.format(expanded(words)), re.IGNORECASE) if words else None
