"""Faults in the data of the ontology, a sentence each; what is so on purpose stands in ``lint.toml``."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import networkx as nx

from .concepts import ConceptRow, ConceptTable
from .graph import is_a_graph
from .normal_forms import ONTOLOGY_FOLDER, normal_form
from .regimens import read_components
from .rows import CONCEPT_KINDS
from .scope import judged_exact, widening_names

_ID: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_CODE: Final = re.compile(r"[A-Za-z0-9\-]+:\S+")


@functools.cache
def _known() -> Mapping[str, Any]:
    return tomllib.loads((ONTOLOGY_FOLDER / "lint.toml").read_text(encoding="utf-8"))


def lint(concepts: ConceptTable) -> list[str]:
    """What is wrong with the data, one sentence a problem, sorted; empty when nothing is."""
    problems = list(concepts.problems)
    checks = (_check_rows, _check_cycles, _check_names, _check_short_forms, _check_codes, _check_value_sets)
    for check in checks:
        problems.extend(check(concepts))
    return sorted(set(problems))


def lint_shipped(extra: Path | None = None) -> list[str]:
    """:func:`lint` of the shipped ontology, with what belongs to it: roots, regimens, names that widen; and the
    rows of a folder."""
    concepts = ConceptTable.from_files(extra=extra)
    # Added terminologies are taken at their word.
    scopes = _check_scopes(concepts) if extra is None else ()
    return sorted({*lint(concepts), *_check_roots(concepts), *_check_regimens(concepts), *scopes})


def _check_rows(concepts: ConceptTable) -> Iterator[str]:
    for row in concepts.rows():
        if not _ID.fullmatch(row.id):
            yield f"concept {row.id!r}: an id is lower case letters and digits joined by single underscores"
        if row.kind not in CONCEPT_KINDS:
            yield f"concept {row.id!r} has the kind {row.kind!r}; it is one of {', '.join(CONCEPT_KINDS)}"
        if not normal_form(row.name):
            yield f"concept {row.id!r} has an empty name"
        if row.id in row.parents:
            yield f"concept {row.id!r} is its own parent"
        if len(set(row.parents)) < len(row.parents):
            yield f"concept {row.id!r} names a parent twice"
        if row.site and (row.site not in concepts or concepts.kind(row.site) != "site"):
            yield f"concept {row.id!r} has the site {row.site!r}, which is no concept of kind site"
        for code in row.codes:
            if not _CODE.fullmatch(code):
                yield f"concept {row.id!r} has the code {code!r}; write SYSTEM:CODE"


def _check_cycles(concepts: ConceptTable) -> Iterator[str]:
    for component in nx.strongly_connected_components(is_a_graph(concepts)):
        if len(component) > 1:
            yield f"concepts are below each other: {', '.join(sorted(component))}"


def _check_names(concepts: ConceptTable) -> Iterator[str]:
    known: dict[tuple[str, str], ConceptRow] = {}
    for row in concepts.rows():
        for name in (row.name, *row.synonyms):
            first = known.setdefault((row.kind, normal_form(name)), row)
            if first.id != row.id:
                yield f"{row.kind} {name!r} names both {first.id!r} and {row.id!r}"


def _check_short_forms(concepts: ConceptTable) -> Iterator[str]:
    """Of the readings of a short form one may go without cue: it is what the others are told from."""
    plain: dict[str, list[ConceptRow]] = {}
    for row in concepts.rows():
        for short in row.abbreviations:
            if not short.cues:
                plain.setdefault(short.text, []).append(row)
    at_once = {frozenset(entry["kinds"]) for entry in _known()["said_at_once"]}
    for text, rows in plain.items():
        for one, other in itertools.combinations(rows, 2):
            if one.id != other.id and frozenset((one.kind, other.kind)) not in at_once:
                yield f"short form {text!r} names both {one.id!r} and {other.id!r} without a cue"


def _check_codes(concepts: ConceptTable) -> Iterator[str]:
    systems = {entry["system"] for entry in _known()["shared_system"]}
    shared = {code for entry in _known()["shared_code"] for code in entry["codes"]}
    first: dict[str, str] = {}
    for row in concepts.rows():
        for code in dict.fromkeys(row.codes):
            known = first.setdefault(code.upper(), row.id)
            if known != row.id and code not in shared and code.partition(":")[0] not in systems:
                yield f"code {code!r} stands at both {known!r} and {row.id!r}"


def _check_value_sets(concepts: ConceptTable) -> Iterator[str]:
    for value_set in concepts.value_sets():
        if not value_set.members:
            yield f"value set {value_set.name!r} is empty"
        for member in value_set.members:
            if member not in concepts:
                yield f"value set {value_set.name!r} has the member {member!r}, which no file defines"


def _check_roots(concepts: ConceptTable) -> Iterator[str]:
    """A concept that hangs on nothing is on no way from a class to what belongs to it: an island of its own."""
    for row in concepts.rows():
        if not row.parents and row.id not in _known()["roots"]:
            size = len(concepts.below(row.id))
            below = f", nor what lies below it ({size - 1})" if size > 1 else ""
            yield f"concept {row.id!r} has no parent and is no root{below}"


def _check_scopes(concepts: ConceptTable) -> Iterator[str]:
    """A query for a name that says more than its concept finds too many people."""
    judged = {(concept, name) for concept, names in judged_exact().items() for name in names}
    found = {(one.row.id, normal_form(one.name)): one for one in widening_names(concepts)}
    for key in found.keys() - judged:
        row, name, more = found[key]
        told = ", ".join(map(concepts.name, more))
        yield f"synonym {name!r} of {row.id!r} says more ({told}): make it narrower, or judge it exact"
    for concept, name in judged - found.keys():
        yield f"{name!r} of {concept!r} needs no judgement: it is no synonym there, or its words say no more"


def _check_regimens(concepts: ConceptTable) -> Iterator[str]:
    for regimen, parts in read_components().items():
        for concept, kinds in ((regimen, ("regimen",)), *((part.drug, ("drug", "regimen")) for part in parts)):
            if concept not in concepts or concepts.kind(concept) not in kinds:
                yield f"regimen {regimen!r}: {concept!r} is no {' or '.join(kinds)} of the ontology"
