"""Statements about statements (``cues/statements.toml``): a report retracted, misfiled, denied as a whole."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .cue_files import cue_file
from .tokens import fold


@lru_cache(maxsize=1)
def _entries() -> dict[str, Any]:
    return cue_file("statements")


@lru_cache(maxsize=1)
def _table() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(
            entry["pattern"] if "pattern" in entry else r"\b(?:" + "|".join(entry["words"]) + r")\b", re.IGNORECASE
        )
        for name, entry in _entries().items()
    }


@lru_cache(maxsize=64)
def needs(name: str) -> frozenset[str]:
    """Folded words: a note without any of them holds no such statement."""
    return frozenset(map(fold, _entries()[name]["needs"]))


def statement(name: str) -> re.Pattern[str]:
    """The pattern of one kind of statement; KeyError if the file has none of that name."""
    return _table()[name]


@lru_cache(maxsize=64)
def said_in(name: str, text: str, start: int, end: int) -> re.Match[str] | None:
    """Where the stretch says such a thing: sought once, for all the mentions of a sentence that ask for it in turn."""
    return _table()[name].search(text, start, end)
