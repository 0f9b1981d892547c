"""Messages for wrong questions: typical ones from ``mistakes.toml``, all others from what the grammar expected."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lark.exceptions import UnexpectedInput, UnexpectedToken

from ..syntax import grammar

_OTHER: Final = "*"
_LONGEST_NAME: Final = 500
_MOST_EXPECTED: Final = 5


@dataclass(frozen=True, slots=True)
class Mistake:
    """A typical wrong question: where it stops the parser is known from its examples."""

    message: str
    hint: str
    examples: tuple[str, ...]
    #: Any word at that place is this mistake.
    whatever: bool = False
    #: The grammar reads the examples as one long name; an unknown name that matches this is that mistake.
    in_name: str = ""


@functools.cache
def mistakes() -> tuple[Mistake, ...]:
    """The table of mistakes, in the order of the file."""
    return tuple(
        Mistake(
            entry["message"],
            entry["hint"],
            tuple(entry["examples"]),
            entry.get("whatever", False),
            entry.get("in_name", ""),
        )
        for entry in _data()["mistake"]
    )


def message_for(error: UnexpectedInput) -> tuple[str, str]:
    """Message and hint for a syntax error: of the mistake that stops at the same place, else what was expected."""
    places = _places()
    kind = _kind(error)
    for key in ((_state(error), kind), (_state(error), _OTHER)):
        if key in places:
            return places[key].message, places[key].hint
    return _unexpected(error, kind), _wanted(error)


def hint_for_name(text: str) -> str:
    """The hint of the mistake that made ``text`` look like one name; empty if it looks like none."""
    for mistake in mistakes():
        if mistake.in_name and re.search(mistake.in_name, text[:_LONGEST_NAME], re.IGNORECASE):
            return f"{mistake.message}: {mistake.hint}"
    return ""


@functools.cache
def _places() -> Mapping[tuple[Any, str], Mistake]:
    """(parser state, kind of token) -> the mistake whose example stops there; the first in the file wins."""
    found: dict[tuple[Any, str], Mistake] = {}
    for mistake in mistakes():
        for example in mistake.examples:
            try:
                grammar().parse(example, start="start")
            except UnexpectedInput as error:
                found.setdefault((_state(error), _kind(error)), mistake)
                if mistake.whatever:
                    found.setdefault((_state(error), _OTHER), mistake)
    return found


def _state(error: UnexpectedInput) -> Any:
    return getattr(error.state, "position", error.state)


def _kind(error: UnexpectedInput) -> str:
    if not isinstance(error, UnexpectedToken):
        return _OTHER
    return "WORD" if error.token.type == "NAME_START" else error.token.type


def _unexpected(error: UnexpectedInput, kind: str) -> str:
    if kind == "$END":
        return "the query ends too early"
    if isinstance(error, UnexpectedToken):
        return f"'{str(error.token)[:40]}' is not expected here"
    return "this character is not expected here: put a name with unusual characters in quotes"


def _wanted(error: UnexpectedInput) -> str:
    words = _data()["expected"]
    accepted = getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
    known = list(dict.fromkeys(words[name] for name in words if name in accepted))
    if not 0 < len(known) <= _MOST_EXPECTED:
        return ""
    return f"expected is {known[0] if len(known) == 1 else ', '.join(known[:-1]) + ' or ' + known[-1]}"


@functools.cache
def _data() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text(encoding="utf-8"))
