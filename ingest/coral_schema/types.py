"""The CORAL schema as models that check themselves: entity types, attributes, relations (``schema.toml``).

The paper counts 59 entity types, 23 attributes and 26 relations and refers to its Table S1. These rows make the counts:

- **59 entity types**: the 56 rows of Table S1 without SectionSkip, which marks what is *not* annotated, are 55; the
  four buckets that the guidelines annotate as types of their own (PatientCharacteristics, TumorTest, TestResult,
  TumorCharacteristics) make 59.
- **23 attributes**: the 24 rows without SectionSkipType, which goes with SectionSkip.
- **26 relations**: the 25 rows and the generic Temporal, which the guidelines list beside the six temporal ones.

Labels are spelled as in Table S1, a refined type by its own name (``SDoH: Alcohol`` is ``Alcohol``). Where the table
and the guidelines differ is listed in the data (``[[difference]]``). Nothing heavy is imported.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of span. ``of``: the type that it refines; ``row``: a row of Table S1; ``not_yet``: why none reads it."""

    name: str
    bucket: str
    of: str = ""
    counted: bool = True
    row: bool = True
    not_yet: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"entity type {self.name!r}: a name is one word of letters")


@dataclass(frozen=True, slots=True)
class Attribute:
    """What an entity of certain types may carry. ``default``: assumed where nothing is said; empty: nothing is."""

    name: str
    values: tuple[str, ...]
    entities: frozenset[str]
    default: str = ""
    counted: bool = True
    not_yet: str = ""

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) != len(self.values):
            raise ValueError(f"attribute {self.name}: its values are given once each, and there is one at least")
        if self.default and self.default not in self.values:
            raise ValueError(f"attribute {self.name}: the default {self.default!r} is none of {', '.join(self.values)}")


@dataclass(frozen=True, slots=True)
class RelationType:
    """A directed edge between entities of certain types, from ``heads`` to ``tails``."""

    name: str
    bucket: str
    heads: frozenset[str]
    tails: frozenset[str]
    counted: bool = True
    row: bool = True
    not_yet: str = ""

    def __post_init__(self) -> None:
        if not self.heads or not self.tails:
            raise ValueError(f"relation {self.name}: both arguments need a type")

    def joins(self, head: str, tail: str) -> bool:
        """Whether it may lead from an entity of the type ``head`` to one of the type ``tail``."""
        return head in self.heads and tail in self.tails


@dataclass(frozen=True, slots=True)
class Schema:
    """Entity types, attributes and relations by name, in the order of Table S1."""

    entities: Mapping[str, EntityType]
    attributes: Mapping[str, Attribute]
    relations: Mapping[str, RelationType]
    groups: Mapping[str, frozenset[str]]
    differences: Mapping[str, str]

    def __post_init__(self) -> None:
        for entity in self.entities.values():
            if entity.of and entity.of not in self.entities:
                raise ValueError(f"{entity.name} refines {entity.of!r}, which is no entity type")
        named = {
            *((f"attribute {one.name}", name) for one in self.attributes.values() for name in one.entities),
            *((f"relation {one.name}", name) for one in self.relations.values() for name in one.heads | one.tails),
        }
        for where, name in sorted(named):
            if name not in self.entities:
                raise ValueError(f"{where}: {name!r} is no entity type")

    def attributes_of(self, entity: str) -> tuple[Attribute, ...]:
        """The attributes that an entity of this type may carry."""
        return tuple(one for one in self.attributes.values() if entity in one.entities)

    def check(self, entity: str, attributes: Mapping[str, str]) -> None:
        """ValueError unless ``entity`` is a type and may carry each of ``attributes`` with its value."""
        if entity not in self.entities:
            raise ValueError(f"{entity!r} is no entity type of the schema")
        for name, value in attributes.items():
            attribute = self.attributes.get(name)
            if attribute is None or entity not in attribute.entities:
                known = ", ".join(one.name for one in self.attributes_of(entity)) or "none"
                raise ValueError(f"{entity} has no attribute {name!r}; it has {known}")
            if value not in attribute.values:
                raise ValueError(f"{name} is {value!r}; it is one of {', '.join(attribute.values)}")


def _spelled_out(names: Iterable[str], groups: Mapping[str, Iterable[str]], every: Iterable[str]) -> frozenset[str]:
    """``names`` with groups (``@name``) and ``*`` replaced by what they stand for."""
    found: set[str] = set()
    for name in names:
        if name == "*":
            found.update(every)
        elif name.startswith("@"):
            if name[1:] not in groups:
                raise ValueError(f"{name!r} names no group")
            found |= _spelled_out(groups[name[1:]], groups, every)
        else:
            found.add(name)
    return frozenset(found)


def schema_of(table: Mapping[str, Any]) -> Schema:
    """The schema that a parsed ``schema.toml`` tells; ValueError where it contradicts itself."""
    entities = {entry["name"]: EntityType(**entry) for entry in table["entity"]}
    if len(entities) != len(table["entity"]):
        raise ValueError("an entity type is told twice")
    groups = {name: _spelled_out(names, table["groups"], entities) for name, names in table["groups"].items()}
    attributes = {
        entry["name"]: Attribute(
            entry["name"],
            tuple(entry["values"]),
            _spelled_out(entry["entities"], groups, entities),
            entry.get("default", ""),
            entry.get("counted", True),
            entry.get("not_yet", ""),
        )
        for entry in table["attribute"]
    }
    relations = {
        entry["name"]: RelationType(
            entry["name"],
            entry["bucket"],
            _spelled_out(entry["from"], groups, entities),
            _spelled_out(entry["to"], groups, entities),
            entry.get("counted", True),
            entry.get("row", True),
            entry.get("not_yet", ""),
        )
        for entry in table["relation"]
    }
    differences = {entry["name"]: entry["holds"] for entry in table["difference"]}
    return Schema(entities, attributes, relations, groups, differences)


@lru_cache(maxsize=1)
def schema() -> Schema:
    """The shipped schema."""
    return schema_of(tomllib.loads(resources.files(__package__).joinpath("schema.toml").read_text("utf-8")))
