"""The ontology as rows of a knowledge base, and back: a query is answered under the ontology that read the notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from ..model import content_id
from .concepts import ConceptRow, ConceptTable, ValueSet
from .rows import Abbreviation

_TEXT: Final = pa.string()
_NUMBER: Final = pa.int32()
_SCHEMAS: Final = {
    "concept": pa.schema(
        [
            ("position", _NUMBER),
            ("concept", _TEXT),
            ("kind", _TEXT),
            ("name", _TEXT),
            ("site", _TEXT),
            ("source", _TEXT),
        ]
    ),
    "concept_edge": pa.schema([("edge_id", _TEXT), ("child", _TEXT), ("position", _NUMBER), ("parent", _TEXT)]),
    "concept_name": pa.schema(
        [("concept", _TEXT), ("role", _TEXT), ("position", _NUMBER), ("name", _TEXT), ("cues", pa.list_(_TEXT))]
    ),
    "value_set": pa.schema(
        [("position", _NUMBER), ("name", _TEXT), ("members", pa.list_(_TEXT)), ("aliases", pa.list_(_TEXT))]
    ),
}


def edge_id(child: str, parent: str) -> str:
    """The content id of an is-a edge, by which a proof names it."""
    return content_id("edge", child, parent)


def ontology_tables(concepts: ConceptTable) -> dict[str, pa.Table]:
    """The rows of the ontology's tables in ``schema.sql``."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _SCHEMAS}
    for position, row in enumerate(concepts.rows()):
        rows["concept"].append(
            {
                "position": position,
                "concept": row.id,
                "kind": row.kind,
                "name": row.name,
                "site": row.site,
                "source": row.source,
            }
        )
        rows["concept_edge"].extend(
            {"edge_id": edge_id(row.id, parent), "child": row.id, "position": at, "parent": parent}
            for at, parent in enumerate(row.parents)
        )
        named: list[tuple[str, str, tuple[str, ...]]] = [("synonym", name, ()) for name in row.synonyms]
        named += [("abbreviation", short.text, short.cues) for short in row.abbreviations]
        named += [("code", code, ()) for code in row.codes]
        rows["concept_name"].extend(
            {"concept": row.id, "role": role, "position": at, "name": name, "cues": list(cues)}
            for at, (role, name, cues) in enumerate(named)
        )
    for position, value_set in enumerate(concepts.value_sets()):
        rows["value_set"].append(
            {
                "position": position,
                "name": value_set.name,
                "members": list(value_set.members),
                "aliases": list(value_set.aliases),
            }
        )
    return {name: pa.Table.from_pylist(found, schema=_SCHEMAS[name]) for name, found in rows.items()}


def concepts_from(read: Callable[[str], list[tuple[Any, ...]]]) -> ConceptTable:
    """The concept table from a knowledge base; ``read`` runs a query of ours there."""
    parents: dict[str, list[str]] = {}
    for child, parent in read("SELECT child, parent FROM concept_edge ORDER BY child, position"):
        parents.setdefault(child, []).append(parent)
    names: dict[tuple[str, str], list[Any]] = {}
    for concept, role, name in read(
        "SELECT concept, role, name FROM concept_name WHERE role <> 'abbreviation' ORDER BY concept, position"
    ):
        names.setdefault((concept, role), []).append(name)
    # Apart, for only abbreviations have cues, and lists are dear to read.
    for concept, name, cues in read(
        "SELECT concept, name, cues FROM concept_name WHERE role = 'abbreviation' ORDER BY concept, position"
    ):
        names.setdefault((concept, "abbreviation"), []).append(Abbreviation(name, tuple(cues)))
    rows = [
        ConceptRow(
            id=concept,
            kind=kind,
            name=name,
            parents=tuple(parents.get(concept, ())),
            synonyms=tuple(names.get((concept, "synonym"), ())),
            abbreviations=tuple(names.get((concept, "abbreviation"), ())),
            codes=tuple(names.get((concept, "code"), ())),
            site=site,
            source=source,
        )
        for concept, kind, name, site, source in read(
            "SELECT concept, kind, name, site, source FROM concept ORDER BY position"
        )
    ]
    value_sets = [
        ValueSet(name, tuple(members), tuple(aliases))
        for name, members, aliases in read("SELECT name, members, aliases FROM value_set ORDER BY position")
    ]
    return ConceptTable(rows, value_sets)
