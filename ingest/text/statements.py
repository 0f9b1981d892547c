"""Statements about statements (``cues/statements.toml``): a report retracted, misfiled, denied as a whole."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, Protocol

from .cue_files import cue_file
from .gates import Gate, Places
from .words import fold


class _Noted(Protocol):
    """A text of which is known where words open gates."""

    @property
    def text(self) -> str: ...

    @property
    def places(self) -> Places: ...


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


@lru_cache(maxsize=64)
def goes_on_with(name: str) -> frozenset[str]:
    """Folded words: right behind one of those that it needs stands one of these."""
    return frozenset(map(fold, _entries()[name]["then"]))


def statement(name: str) -> re.Pattern[str]:
    """The pattern of one kind of statement; KeyError if the file has none of that name."""
    return _table()[name]


def _holders() -> dict[str, Gate]:
    return {name: Gate(begins=f"(?i:{entry['holds']})") for name, entry in _entries().items() if "holds" in entry}


def unsayable(places: Places) -> frozenset[str]:
    """The statements with words that they must hold, of which none stands in a note with these places."""
    return frozenset(name for name, gate in _HOLDERS.items() if not places[gate.number])


def said_in(name: str, frame: _Noted, start: int, end: int) -> re.Match[str] | None:
    """Where the stretch of a note says such a thing; KeyError if no word is known that it must hold."""
    if not _HOLDERS[name].stands_in(frame.places, start, end):
        return None
    return _searched(name, frame.text, start, end)


@lru_cache(maxsize=64)
def _searched(name: str, text: str, start: int, end: int) -> re.Match[str] | None:
    # Sought once, for all the mentions of a sentence that ask for it in turn.
    return _table()[name].search(text, start, end)


_HOLDERS: Final = _holders()
