"""The ontology as a networkx graph: the ways between two concepts, which explain why one is another.

Nothing on the query path imports this module: it serves the people who write the data, and ``explain``. What is wrong
with the data is told by :mod:`.lint`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import networkx as nx

from .concepts import ConceptTable

#: Of many ways between two concepts, so many are told.
MOST_WAYS: Final = 12


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


@dataclass(frozen=True, slots=True)
class Way:
    """A way between two concepts: up from the first to where they meet, and up from the second, the meeting in both.

    Where one is the other, the chain of the ancestor is itself alone.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def meeting(self) -> str:
        """The ancestor of both, or one of them."""
        return self.first[-1]

    @property
    def edges(self) -> int:
        """How many is-a steps it has."""
        return len(self.first) + len(self.second) - 2


def ways(concepts: ConceptTable, first: str, second: str) -> tuple[Way, ...]:
    """The shortest ways between two concepts: along is-a if one is the other, else through what is nearest above both.

    Sorted, at most :data:`MOST_WAYS`; empty if nothing is above both. KeyError if an id is unknown.
    """
    graph = is_a_graph(concepts)
    lengths = [nx.single_source_shortest_path_length(graph, concepts.get(one).id) for one in (first, second)]
    if second in lengths[0] or first in lengths[1]:
        meetings = [second if second in lengths[0] else first]
    else:
        common = {one: lengths[0][one] + lengths[1][one] for one in lengths[0].keys() & lengths[1].keys()}
        # The nearest in steps, and of these none that is above another: a parent says less than its child.
        nearest = {one for one, length in common.items() if length == min(common.values())}
        meetings = sorted(
            one for one in nearest if not any(other != one and concepts.is_a(other, one) for other in nearest)
        )
    found = [
        Way(tuple(up), tuple(down))
        for meeting in meetings
        for up, down in itertools.islice(
            itertools.product(
                nx.all_shortest_paths(graph, first, meeting), nx.all_shortest_paths(graph, second, meeting)
            ),
            MOST_WAYS,
        )
    ]
    return tuple(sorted(found, key=lambda way: (way.first, way.second))[:MOST_WAYS])
