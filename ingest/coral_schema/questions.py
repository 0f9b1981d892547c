"""The questions that are asked of a note under the CORAL schema, and the form in which an answer states a finding."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Final

#: What stands where nothing is told.
UNKNOWN: Final = "unknown"
_FILE: Final = "questions.toml"


@dataclass(frozen=True, slots=True)
class Field:
    """A further field of a finding: its name, what it asks for, and the only values that it may have (if such)."""

    name: str
    means: str
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a stretch of a note, and the form of its answer."""

    id: str
    form: str
    field: str
    values: tuple[Field, ...]
    ask: str
    examples: tuple[str, ...]
    but: tuple[str, ...] = ()
    first: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields in the order of the answer's format."""
        return (self.field, *(value.name for value in self.values))

    def written(self, rules: Rules) -> str:
        """The question in full, behind which nothing else is said."""
        form = ", ".join(
            [f"{self.field}='…'", *(f"{one.name}={_shape(one)}" for one in self.values)],
        )
        meanings = [f"{one.name}: {one.means}{_choice(one)}." for one in self.values]
        lines = [self.ask, *self.but, rules.format]
        lines += [f"{self.first}(Datetime={{'…'}})"] if self.first else []
        lines += [f"{self.form}({form})", *meanings, "For example:", *self.examples, *rules.every]
        return "\n".join(lines)

    def messages(self, text: str, rules: Rules) -> tuple[Mapping[str, str], ...]:
        """What is sent to a chat model: the role, then the stretch of the note with the question behind it."""
        return (
            {"role": "system", "content": rules.system},
            {"role": "user", "content": f"{text}\n\n{self.written(rules)}"},
        )


def _shape(value: Field) -> str:
    return "'…'" if value.one_of else "{'…'}"


def _choice(value: Field) -> str:
    return f" (one of: {', '.join(value.one_of)})" if value.one_of else ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What every question says, and how an answer says that there is nothing."""

    system: str
    format: str
    every: tuple[str, ...]
    nothing: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions by id, in the order of the paper, and the rules of all."""

    by_id: Mapping[str, Question] = field(repr=False)
    rules: Rules = field(repr=False)


def questions_of(table: Mapping[str, Any]) -> Questions:
    """The questions that a parsed ``questions.toml`` tells."""
    rules = table["rules"]
    known = [
        Question(
            id=row["id"],
            form=row["form"],
            field=row["field"],
            values=tuple(Field(one["name"], one["means"], tuple(one.get("one_of", ()))) for one in row["value"]),
            ask=row["ask"],
            examples=tuple(row["examples"]),
            but=tuple(row.get("but", ())),
            first=row.get("first", ""),
        )
        for row in table["task"]
    ]
    nothing = re.compile(table["answer"]["nothing"], re.IGNORECASE)
    return Questions(
        {one.id: one for one in known}, Rules(rules["system"], rules["format"], tuple(rules["every"]), nothing)
    )


def questions_file() -> bytes:
    """The shipped ``questions.toml``."""
    return resources.files(__package__).joinpath(_FILE).read_bytes()


@lru_cache(maxsize=1)
def shipped_questions() -> Questions:
    """The questions of ``questions.toml``."""
    return questions_of(tomllib.loads(questions_file().decode("utf-8")))
