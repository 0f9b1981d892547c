"""The virtual tables: one for each kind of event, one for all kinds, one of patients; and their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..vocabulary import ATTRIBUTES, KIND_WORDS

#: Stands behind a column whose value is meant exactly, without what lies below it.
EXACTLY: Final = "_exactly"


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is about (``role``: its name, or ``patient``, ``concept``, ``attribute``); ``name`` is the
    attribute's, ``exact`` that of a column that ends in ``_exactly``."""

    role: str
    name: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class VirtualTable:
    """A table of events of one kind (None: of every kind), or of patients."""

    name: str
    kind: str | None
    columns: Mapping[str, Column]
    events: bool = True


_SHARED: Final = {
    "patient_id": Column("patient"),
    **{name: Column(name) for name in (
        "day", "age", "context", "pick", "source", "sources", "undisputed", "known", "tumor", "event",
    )},
}  # fmt: skip
_CONCEPT: Final = {"concept": Column("concept"), f"concept{EXACTLY}": Column("concept", exact=True)}


def _attribute_columns(names: tuple[str, ...]) -> dict[str, Column]:
    return {f"{name}{ending}": Column("attribute", name, bool(ending)) for name in names for ending in ("", EXACTLY)}


def _tables() -> dict[str, VirtualTable]:
    found = {}
    for kind, words in KIND_WORDS.items():
        # A stage or a death has no concept of its own; asked for one, resolution tells so.
        columns = {**_SHARED, **_CONCEPT, **_attribute_columns(tuple(words.attributes))}
        table = VirtualTable(kind, kind, columns)
        for spelling in (kind, *words.spellings):
            found[spelling.replace(" ", "_")] = table
    found["event"] = VirtualTable("event", None, {**_SHARED, **_CONCEPT, **_attribute_columns(ATTRIBUTES)})
    found["patient"] = VirtualTable("patient", None, {"patient_id": _SHARED["patient_id"]}, events=False)
    return found


#: Every spelling of a table -> the table.
TABLES: Final[Mapping[str, VirtualTable]] = _tables()
#: A table that stands for the patients of a SELECT: a WITH name, a subquery in FROM.
COHORT: Final = VirtualTable("", None, {"patient_id": _SHARED["patient_id"]}, events=False)
