"""Courses of treatment (``courses.toml``): whether one without a recorded end goes on, by the words that tell of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .model import Event, Value, World

#: The attribute that tells where a course stands.
STATUS: Final = "status"

_DATA: Final[Mapping[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[
    "goes_on"
]
_WORLDS: Final[Mapping[str, World]] = {
    "certain": World.CERTAIN,
    "possible": World.POSSIBLE,
    "over": World.NONE,
}
_OF_WORD: Final[Mapping[str, World]] = {word: _WORLDS[world] for world, words in _DATA.items() for word in words}


def told_by(word: Value) -> World:
    """The highest world in which a course of this status, or of this reason in its context, goes on after its day."""
    return _OF_WORD.get(str(word).casefold().replace("_", " "), World.BELIEVED)


def may_go_on(event: Event) -> World:
    """The highest world in which a course without a recorded end goes on after its own day; a reason makes it no
    likelier.

    >>> may_go_on(Event("P", "medication", "osimertinib", attributes={"status": "ongoing"})).name
    'CERTAIN'
    >>> may_go_on(Event("P", "medication", "osimertinib", attributes={"status": "completed"})).name
    'NONE'
    """
    reason = told_by(event.context.reason)
    return min(told_by(event.attributes.get(STATUS, "")), World.CERTAIN if reason is World.BELIEVED else reason)
