"""The tasks of CORAL extraction: what is asked for, how an answer names it, and where the annotations hold it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from ....ingest.coral_schema.questions import UNKNOWN, Field, Question, Questions, Rules, questions_file, questions_of
from ....ingest.coral_schema.types import Schema, schema

#: How a value is found among annotations (``tasks.toml`` tells what each means).
WAYS: Final = frozenset({"linked", "stated", "confirmed", "potential", "attribute", "nothing"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Value(Field):
    """A further field of a finding, and how annotations tell it (``tasks.toml``)."""

    how: str
    relations: frozenset[str] = frozenset()
    via: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    not_types: frozenset[str] = frozenset()
    attribute: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = UNKNOWN

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise ValueError(f"field {self.name}: {self.how!r} is none of {', '.join(sorted(WAYS))}")
        if (self.how == "attribute") != bool(self.attribute):
            raise ValueError(f"field {self.name}: an attribute is named where the value comes from one, and only there")

    @property
    def scored(self) -> bool:
        """Whether the annotations can tell it at all."""
        return self.how != "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Question):
    """A question, and where the annotations hold what it asks for."""

    values: tuple[Value, ...]
    shown: str
    types: frozenset[str]
    without: Mapping[str, frozenset[str]]
    having: Mapping[str, frozenset[str]]
    any_of: Mapping[str, frozenset[str]]

    @property
    def relations(self) -> Mapping[str, Value]:
        """The scored pairs: their name in reports (``RadiologyTest Datetime``), and the second of the two."""
        return {f"{self.shown} {value.name}": value for value in self.values if value.scored}


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


def tasks_of(asked: Questions, table: Mapping[str, Any], known: Schema, sha256: str = "") -> Tasks:
    """The tasks that questions and a parsed ``tasks.toml`` tell; ValueError for a name that the schema does not have,
    or that the questions have not."""
    ids = [row["id"] for row in table["task"]]
    if ids != list(asked.by_id):
        raise ValueError(f"tasks and questions differ: {', '.join(sorted({*ids} ^ asked.by_id.keys())) or 'order'}")
    tasks = [_task(asked.by_id[row["id"]], row, table["without"], known) for row in table["task"]]
    return Tasks({task.id: task for task in tasks}, asked.rules, sha256)


@lru_cache(maxsize=1)
def shipped() -> Tasks:
    """The tasks of ``tasks.toml`` and the questions of ``questions.toml``."""
    import hashlib

    asked, data = questions_file(), resources.files(__package__).joinpath("tasks.toml").read_bytes()
    questions, table = (tomllib.loads(one.decode("utf-8")) for one in (asked, data))
    return tasks_of(questions_of(questions), table, schema(), hashlib.sha256(asked + data).hexdigest())


def _task(asked: Question, row: Mapping[str, Any], without: Mapping[str, Iterable[str]], known: Schema) -> Task:
    left_out = {**without, **row.get("without", {})}
    columns = {one.name: getattr(asked, one.name) for one in fields(Question) if one.name != "values"}
    if [one.name for one in asked.values] != [one["name"] for one in row["value"]]:
        raise ValueError(f"{asked.id}: other fields than the question has")
    return Task(
        **columns,
        values=tuple(_value(one, columns, known) for one, columns in zip(asked.values, row["value"], strict=True)),
        shown=row["shown"],
        types=_types(row["types"], known),
        without=_attributes(left_out, known),
        having=_attributes(row.get("with", {}), known),
        any_of=_attributes(row.get("any_of", {}), known),
    )


def _value(asked: Field, row: Mapping[str, Any], known: Schema) -> Value:
    attribute, words = row.get("attribute", ""), row.get("words", {})
    if attribute:
        _attributes({attribute: words}, known)
    return Value(
        name=asked.name,
        means=asked.means,
        one_of=asked.one_of,
        how=row["how"],
        relations=_relations(row.get("relations", ()), known),
        via=_relations(row.get("via", ()), known),
        types=_types(row.get("types", ()), known),
        not_types=_types(row.get("not_types", ()), known),
        attribute=attribute,
        words=words,
        otherwise=row.get("otherwise", UNKNOWN),
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
