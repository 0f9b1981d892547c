"""The tasks of CORAL extraction: what is asked for, how an answer names it, and where the annotations hold it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from ...ingest.coral.schema import Schema, schema

#: What stands where nothing is told.
UNKNOWN: Final = "unknown"

#: How a value is found among annotations (``tasks.toml`` tells what each means).
WAYS: Final = frozenset({"linked", "stated", "confirmed", "potential", "attribute", "nothing"})


@dataclass(frozen=True, slots=True)
class Value:
    """A further field of a finding, and how annotations tell it (``tasks.toml``)."""

    name: str
    how: str
    means: str
    relations: frozenset[str] = frozenset()
    via: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    not_types: frozenset[str] = frozenset()
    attribute: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = UNKNOWN
    one_of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise ValueError(f"field {self.name}: {self.how!r} is none of {', '.join(sorted(WAYS))}")
        if (self.how == "attribute") != bool(self.attribute):
            raise ValueError(f"field {self.name}: an attribute is named where the value comes from one, and only there")

    @property
    def scored(self) -> bool:
        """Whether the annotations can tell it at all."""
        return self.how != "nothing"


@dataclass(frozen=True, slots=True)
class Task:
    """One question about a stretch of a note, and the form of its answer."""

    id: str
    form: str
    field: str
    shown: str
    types: frozenset[str]
    values: tuple[Value, ...]
    ask: str
    examples: tuple[str, ...]
    without: Mapping[str, frozenset[str]]
    having: Mapping[str, frozenset[str]]
    any_of: Mapping[str, frozenset[str]]
    but: tuple[str, ...] = ()
    first: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields in the order of the answer's format."""
        return (self.field, *(value.name for value in self.values))

    @property
    def relations(self) -> Mapping[str, Value]:
        """The scored pairs: their name in reports (``RadiologyTest Datetime``), and the second of the two."""
        return {f"{self.shown} {value.name}": value for value in self.values if value.scored}

    def question(self, rules: Rules) -> str:
        """The question in full, behind which nothing else is said."""
        form = ", ".join(
            [f"{self.field}='…'", *(f"{one.name}={_shape(one)}" for one in self.values)],
        )
        meanings = [f"{one.name}: {one.means}{_choice(one)}." for one in self.values]
        lines = [self.ask, *self.but, rules.format]
        lines += [f"{self.first}(Datetime={{'…'}})"] if self.first else []
        lines += [f"{self.form}({form})", *meanings, "For example:", *self.examples, *rules.every]
        return "\n".join(lines)


def _shape(value: Value) -> str:
    return "'…'" if value.one_of else "{'…'}"


def _choice(value: Value) -> str:
    return f" (one of: {', '.join(value.one_of)})" if value.one_of else ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What every question says, and how an answer says that there is nothing."""

    system: str
    format: str
    every: tuple[str, ...]
    nothing: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Tasks:
    """The shipped tasks by id, in the order of the paper, and the rules of all."""

    by_id: Mapping[str, Task]
    rules: Rules
    sha256: str

    def __iter__(self) -> Iterator[Task]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)


def tasks_of(table: Mapping[str, Any], known: Schema, sha256: str = "") -> Tasks:
    """The tasks that a parsed ``tasks.toml`` tells; ValueError for a name that the schema does not have."""
    rules = table["rules"]
    tasks = [_task(row, table["without"], known) for row in table["task"]]
    return Tasks(
        {task.id: task for task in tasks},
        Rules(
            rules["system"],
            rules["format"],
            tuple(rules["every"]),
            re.compile(table["answer"]["nothing"], re.IGNORECASE),
        ),
        sha256,
    )


@lru_cache(maxsize=1)
def shipped() -> Tasks:
    """The tasks of ``tasks.toml``."""
    import hashlib

    data = resources.files(__package__).joinpath("tasks.toml").read_bytes()
    return tasks_of(tomllib.loads(data.decode("utf-8")), schema(), hashlib.sha256(data).hexdigest())


def _task(row: Mapping[str, Any], without: Mapping[str, Iterable[str]], known: Schema) -> Task:
    left_out = {**without, **row.get("without", {})}
    return Task(
        id=row["id"],
        form=row["form"],
        field=row["field"],
        shown=row["shown"],
        types=_types(row["types"], known),
        values=tuple(_value(one, known) for one in row["value"]),
        ask=row["ask"],
        examples=tuple(row["examples"]),
        without=_attributes(left_out, known),
        having=_attributes(row.get("with", {}), known),
        any_of=_attributes(row.get("any_of", {}), known),
        but=tuple(row.get("but", ())),
        first=row.get("first", ""),
    )


def _value(row: Mapping[str, Any], known: Schema) -> Value:
    attribute, words = row.get("attribute", ""), row.get("words", {})
    if attribute:
        _attributes({attribute: words}, known)
    return Value(
        name=row["name"],
        how=row["how"],
        means=row["means"],
        relations=_relations(row.get("relations", ()), known),
        via=_relations(row.get("via", ()), known),
        types=_types(row.get("types", ()), known),
        not_types=_types(row.get("not_types", ()), known),
        attribute=attribute,
        words=words,
        otherwise=row.get("otherwise", UNKNOWN),
        one_of=tuple(row.get("one_of", ())),
    )


def _types(names: Iterable[str], known: Schema) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        found |= known.groups[name[1:]] if name.startswith("@") else {name}
    if wrong := found - known.entities.keys():
        raise ValueError(f"{', '.join(sorted(wrong))}: no entity type of the schema")
    return frozenset(found)


def _relations(names: Iterable[str], known: Schema) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        bucket = {one.name for one in known.relations.values() if f"@{one.bucket.lower()}" == name}
        found |= bucket or {name}
    if wrong := found - known.relations.keys():
        raise ValueError(f"{', '.join(sorted(wrong))}: no relation of the schema")
    return frozenset(found)


def _attributes(table: Mapping[str, Iterable[str]], known: Schema) -> Mapping[str, frozenset[str]]:
    for name, values in table.items():
        if name not in known.attributes or not set(values) <= set(known.attributes[name].values):
            raise ValueError(f"{name}: no attribute of the schema, or not with these values")
    return {name: frozenset(values) for name, values in table.items()}
