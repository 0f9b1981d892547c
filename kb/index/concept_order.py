"""The order of concepts in the index: a walk of the is-a graph that mostly keeps together what is below a concept."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ..ontology.concepts import ConceptTable


def ranks(concepts: ConceptTable, used: Iterable[str]) -> dict[str, int]:
    """A number for each of the ``used`` concepts: no concept (``""``) first, then depth first from the roots, each
    concept at its first visit (so that of several parents one has it in its own stretch), unknown ids last."""
    order = preorder(concepts)
    wanted = set(used)
    named = [concept for concept in order if concept in wanted]
    unknown = sorted(wanted.difference(named, ("",)))
    empty = [""] if "" in wanted else []
    return {concept: rank for rank, concept in enumerate([*empty, *named, *unknown])}


@functools.lru_cache(maxsize=2)
def preorder(concepts: ConceptTable) -> tuple[str, ...]:
    """Every concept, depth first: roots and children in the order of the files. An update asks for it twice."""
    found: dict[str, None] = {}
    everything = [row.id for row in concepts.rows()]
    roots = [concept for concept in everything if not concepts.parents(concept)]
    # What lies on a circle has no root above it.
    for root in [*roots, *everything]:
        waiting = [root]
        while waiting:
            concept = waiting.pop()
            if concept not in found:
                found[concept] = None
                waiting.extend(reversed(concepts.children(concept)))
    return tuple(found)
