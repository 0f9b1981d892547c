"""OMOP vocabularies as Athena gives them: tab-separated and unquoted. Standard concepts alone are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import UsageError
from .terms import Term, Terms, branch, canonical, file_of, rows_of, tables, unique

_COLUMNS = (
    "concept_id",
    "concept_name",
    "domain_id",
    "vocabulary_id",
    "concept_class_id",
    "standard_concept",
    "concept_code",
    "invalid_reason",
)


def read(sources: Sequence[Path], below: str | None = None) -> Terms:
    """The standard, valid concepts of the domains that have a kind here; with ``below`` only those of one branch.

    ``below``: a concept id, or ``VOCABULARY:CODE``.
    """
    found = Terms()
    concepts = file_of(sources, "CONCEPT.csv")
    edges = list(_edges(sources))
    wanted = None if below is None else branch(_concept_id(concepts, below), edges)
    kinds = tables()["omop"]["kind"]
    held: dict[str, dict[str, str]] = {}
    codes: dict[str, str] = {}
    for row in rows_of(concepts, _COLUMNS) if concepts else ():
        number, kind = row["concept_id"], kinds.get(row["domain_id"])
        inside = wanted is None or number in wanted
        code = canonical(f"{row['vocabulary_id']}:{row['concept_code'].replace(' ', '_')}")
        if row["invalid_reason"].strip():
            codes[number] = code
            if inside:
                found.drop(code, row["concept_name"], "obsolete")
        elif inside and kind and row["standard_concept"].strip() == "S" and _is_substance(row):
            held[number], codes[number] = row, code
    parents: dict[str, list[str]] = {}
    for child, parent in edges:
        if child in held and parent in held:
            parents.setdefault(child, []).append(codes[parent])
    names, older = _synonyms(sources, held), _replaced(sources, held, codes)
    for number, row in held.items():
        found.add(
            Term(
                codes[number],
                row["concept_name"],
                unique(names.get(number, ())),
                unique(parents.get(number, ())),
                unique((f"OMOP:{number}", *older.get(number, ()))),
                kinds[row["domain_id"]] if row["domain_id"] not in tables()["omop"]["of_several_kinds"] else "",
                otherwise=kinds[row["domain_id"]],
            )
        )
    return found


def _is_substance(row: dict[str, str]) -> bool:
    return row["domain_id"] != "Drug" or row["concept_class_id"] in tables()["omop"]["drug_classes"]


def _concept_id(concepts: Path | None, below: str) -> str:
    if below.isdigit():
        return below
    for row in rows_of(concepts, _COLUMNS) if concepts else ():
        if canonical(f"{row['vocabulary_id']}:{row['concept_code']}") == canonical(below):
            return row["concept_id"]
    raise UsageError(f"--below: no concept of the source has the code '{below}'")


def _edges(sources: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """(child, parent): one level of ``CONCEPT_ANCESTOR``, which holds every concept above itself, and *Is a*."""
    ancestors = file_of(sources, "CONCEPT_ANCESTOR.csv", needed=False)
    columns = ("ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation")
    for row in rows_of(ancestors, columns) if ancestors else ():
        if row["min_levels_of_separation"] == "1" and row["ancestor_concept_id"] != row["descendant_concept_id"]:
            yield row["descendant_concept_id"], row["ancestor_concept_id"]
    for first, relation, second in _relations(sources):
        if relation == "Is a":
            yield first, second


def _relations(sources: Sequence[Path]) -> Iterator[tuple[str, str, str]]:
    path = file_of(sources, "CONCEPT_RELATIONSHIP.csv", needed=False)
    for row in rows_of(path, ("concept_id_1", "concept_id_2", "relationship_id")) if path else ():
        if not row.get("invalid_reason", "").strip():
            yield row["concept_id_1"], row["relationship_id"], row["concept_id_2"]


def _synonyms(sources: Sequence[Path], held: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    path = file_of(sources, "CONCEPT_SYNONYM.csv", needed=False)
    names: dict[str, list[str]] = {}
    for row in rows_of(path, ("concept_id", "concept_synonym_name")) if path else ():
        # 4180186 is English.
        if row["concept_id"] in held and row.get("language_concept_id", "4180186").strip() in ("4180186", "", "0"):
            names.setdefault(row["concept_id"], []).append(row["concept_synonym_name"])
    return names


def _replaced(sources: Sequence[Path], held: dict[str, dict[str, str]], codes: dict[str, str]) -> dict[str, list[str]]:
    """Concept id -> codes of the invalid concepts that it replaces."""
    older: dict[str, list[str]] = {}
    for first, relation, second in _relations(sources):
        if relation == "Concept replaced by" and second in held and first in codes and first not in held:
            older.setdefault(second, []).append(codes[first])
    return older
