"""Habits of writing (``habits.toml``): what people bring from SQL, from forms and from speech, told for what it is.

They are looked at only when a query is refused: no query that can be read is touched by them.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from ..errors import QueryError
from .not_held import topics

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

#: Only so much text around the place of an error is looked at.
_AROUND: Final = 300
_LONGEST_WORDS: Final = 60
_QUOTED: Final = re.compile(r"'([^']{1,60})")
_MOST_REPORTED: Final = 5


@dataclass(frozen=True, slots=True)
class Habit:
    """One habit: the words that show it, and what to say; ``valid`` are the queries that the hint says to write."""

    pattern: re.Pattern[str]
    message: str
    hint: str
    examples: tuple[str, ...]
    valid: tuple[str, ...] = ()


@functools.cache
def habits() -> tuple[Habit, ...]:
    """The table of habits, in the order of the file: the first that is found is told."""
    data = tomllib.loads((Path(__file__).parent / "habits.toml").read_text(encoding="utf-8"))
    return tuple(
        Habit(
            re.compile(entry["pattern"], re.IGNORECASE),
            entry["message"],
            entry["hint"],
            tuple(entry["examples"]),
            tuple(entry.get("valid", ())),
        )
        for entry in data["habit"]
    )


def advised(read: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """``read``, whose errors name the habit that they come from, where one is known."""

    @functools.wraps(read)
    def with_advice(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return read(*arguments, **named)
        except QueryError as error:
            errors = [_reported(one) for one in error.errors[:_MOST_REPORTED]]
            raise QueryError.of_several(errors) from None

    return with_advice


def _reported(error: QueryError) -> QueryError:
    """The error as the habit tells it, at the words that show it; as it is where no habit is found at its place."""
    if not error.text or error.settled:
        return error
    start, end = _place(error)
    first = max(0, start - _AROUND)
    around = error.text[first : end + _AROUND]
    for topic in topics():
        for match in topic.pattern.finditer(around):
            # All of a refused name is the topic: "white" is one, and "white matter" is none.
            if first + match.start() <= start and end <= first + match.end():
                message, hint = (part.replace("{words}", match["words"]) for part in (topic.message, topic.hint))
                return QueryError(message, text=error.text, offset=first + match.start(), hint=hint)
    for habit in habits():
        for match in habit.pattern.finditer(around):
            words = match.group().strip()
            begin = first + match.start() + len(match.group()) - len(match.group().lstrip())
            if begin > end or first + match.end() < start:
                continue
            short = words if len(words) <= _LONGEST_WORDS else f"{words[: _LONGEST_WORDS - 1]}…"
            message, hint = (part.replace("{words}", short) for part in (habit.message, habit.hint))
            return QueryError(message, text=error.text, offset=begin, hint=hint)
    return error


def _place(error: QueryError) -> tuple[int, int]:
    """The characters that the error is about: those of the name that it quotes, else the place alone."""
    if error.offset is None:
        return 0, min(len(error.text), _AROUND)
    for name in _QUOTED.findall(error.message):
        name = name.rstrip("…")
        at = error.text.find(name, error.offset, error.offset + len(name) + 1)
        if at >= 0:
            return error.offset, at + len(name)
    return error.offset, error.offset
