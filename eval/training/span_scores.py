"""Entities of documents against gold ones, exactly: the counts of each document, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..measures.by_type import Level
from ..measures.scoring import Counts

Entity = tuple[int, int, str]


def counts_of(gold: Iterable[Entity], found: Iterable[Entity]) -> Counts:
    """Hits, false alarms and misses of one document: borders and type must be equal."""
    wanted, named = set(gold), set(found)
    return Counts(len(wanted & named), len(named - wanted), len(wanted - named))


def scores_of(
    gold: Sequence[Sequence[Entity]], found: Sequence[Sequence[Entity]], types: Sequence[str], seed: int = 0
) -> dict[str, Any]:
    """Exact precision, recall and F1 over documents, micro and by type, each with its interval (documents drawn).

    A measure is None where it is undefined. ValueError when the numbers of documents differ.
    """
    level = Level()
    for wanted, named in zip(gold, found, strict=True):
        level.documents.append({kind: counts_of(_only(kind, wanted), _only(kind, named)) for kind in types})
    return level.as_dict(types, seed)


def _only(kind: str, entities: Iterable[Entity]) -> list[Entity]:
    return [one for one in entities if one[2] == kind]
