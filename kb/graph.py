"""The ontology as a networkx graph: lint, and the path that explains why one concept is another.

Nothing on the query path imports this module: it serves the people who write the data, and ``explain``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import networkx as nx

from .concepts import CONCEPT_KINDS, ConceptRow, ConceptTable
from .words import normal_form

_ID = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_CODE = re.compile(r"[A-Za-z0-9\-]+:\S+")


def is_a_graph(concepts: ConceptTable) -> nx.DiGraph[str]:
    """The is-a edges, from child to parent; parents that no file defines are left out."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for row in concepts.rows():
        graph.add_node(row.id, kind=row.kind, name=row.name)
    for row in concepts.rows():
        graph.add_edges_from((row.id, parent) for parent in row.parents if parent in concepts)
    return graph


def path(concepts: ConceptTable, descendant: str, ancestor: str) -> tuple[str, ...] | None:
    """A shortest chain of ids from ``descendant`` up to ``ancestor``, both included; None if there is no such chain.

    KeyError if an id is unknown. Of several shortest chains, the first by the order of the parents.
    """
    for concept in (descendant, ancestor):
        concepts.get(concept)
    try:
        return tuple(nx.shortest_path(is_a_graph(concepts), descendant, ancestor))
    except nx.NetworkXNoPath:
        return None


def lint(concepts: ConceptTable) -> list[str]:
    """What is wrong with the data, one sentence a problem, sorted; empty when nothing is."""
    problems = list(concepts.problems)
    for check in (_check_rows, _check_cycles, _check_names, _check_value_sets):
        problems.extend(check(concepts))
    return sorted(set(problems))


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


def _check_value_sets(concepts: ConceptTable) -> Iterator[str]:
    for value_set in concepts.value_sets():
        if not value_set.members:
            yield f"value set {value_set.name!r} is empty"
        for member in value_set.members:
            if member not in concepts:
                yield f"value set {value_set.name!r} has the member {member!r}, which no file defines"
