"""Equivalence of two queries: by their trees, else by the patients that either would tell from the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ....engine.reference.meaning import matches
from ....kb.model import Journey, World
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales
from ....query_lang.canonical import same_question
from ....query_lang.nodes import Query
from .grown_records import records

#: Records that are grown from each of the two queries.
EACH: Final = 300
_WORLDS: Final = (World.BELIEVED, World.CERTAIN, World.POSSIBLE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two queries are equivalent, how that was found (tree or records), and a record that tells them apart."""

    same: bool
    how: str
    witness: Journey | None = None
    world: World | None = None


def same_meaning(
    one: Query, other: Query, concepts: ConceptTable, scales: Scales, *, each: int = EACH, seed: int = 1
) -> Verdict:
    """Equal trees mean the same; else both are asked of records grown from both, in the three worlds.

    The reference engine answers. Two queries that differ in meaning differ on such records with high probability: the
    records of each satisfy it or just fail to.
    """
    if same_question(one, other, concepts):
        return Verdict(True, "tree")
    for journey in records((one, other), concepts, scales, each=each, seed=seed):
        for world in _WORLDS:
            if matches(one, journey, concepts, scales, world) != matches(other, journey, concepts, scales, world):
                return Verdict(False, "records", journey, world)
    return Verdict(True, "records")
