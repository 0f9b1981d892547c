"""The ontology as rows of a knowledge base, and back: a query is answered under the ontology that read the notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from .concepts import Abbreviation, ConceptRow, ConceptTable, ValueSet
from .model import content_id

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


def concepts_from(read: Callable[[str], pa.Table]) -> ConceptTable:
    """The concept table from a knowledge base; ``read`` gives a whole table of it by name."""
    parents: dict[str, list[tuple[int, str]]] = {}
    edges = read("concept_edge")
    for child, position, parent in _rows(edges, "child", "position", "parent"):
        parents.setdefault(child, []).append((position, parent))
    names: dict[tuple[str, str], list[tuple[int, str, tuple[str, ...]]]] = {}
    for concept, role, position, name, cues in _rows(
        read("concept_name"), "concept", "role", "position", "name", "cues"
    ):
        names.setdefault((concept, role), []).append((position, name, tuple(cues)))
    table = read("concept").sort_by("position")
    rows = []
    for concept, kind, name, site, source in _rows(table, "concept", "kind", "name", "site", "source"):
        rows.append(
            ConceptRow(
                id=concept,
                kind=kind,
                name=name,
                parents=tuple(parent for _, parent in sorted(parents.get(concept, ()))),
                synonyms=tuple(text for _, text, _ in sorted(names.get((concept, "synonym"), ()))),
                abbreviations=tuple(
                    Abbreviation(text, cues) for _, text, cues in sorted(names.get((concept, "abbreviation"), ()))
                ),
                codes=tuple(text for _, text, _ in sorted(names.get((concept, "code"), ()))),
                site=site,
                source=source,
            )
        )
    value_sets = [
        ValueSet(name, tuple(members), tuple(aliases))
        for name, members, aliases in _rows(read("value_set").sort_by("position"), "name", "members", "aliases")
    ]
    return ConceptTable(rows, value_sets)


def _rows(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
