"""Entities of documents against gold ones, exactly: the counts of each document, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..measures.bootstrap import interval
from ..measures.metrics import F1, PRECISION, RECALL
from ..measures.scoring import Counts, value

Entity = tuple[int, int, str]


def counts_of(gold: Iterable[Entity], found: Iterable[Entity]) -> Counts:
    """Hits, false alarms and misses of one document: borders and type must be equal."""
    wanted, told = set(gold), set(found)
    return Counts(len(wanted & told), len(told - wanted), len(wanted - told))


def scores_of(
    gold: Sequence[Sequence[Entity]], found: Sequence[Sequence[Entity]], types: Iterable[str], seed: int = 0
) -> dict[str, Any]:
    """Exact precision, recall and F1 over documents, micro and by type, micro with its interval (documents drawn).

    A measure is None where it is undefined. ValueError when the numbers of documents differ.
    """
    told = {"micro": _measures([counts_of(*pair) for pair in zip(gold, found, strict=True)], seed)}
    by_type = {
        kind: _measures(
            [counts_of(_of(kind, one), _of(kind, other)) for one, other in zip(gold, found, strict=True)], seed
        )
        for kind in types
    }
    return {**told, "by_type": by_type}


def _of(kind: str, entities: Iterable[Entity]) -> list[Entity]:
    return [one for one in entities if one[2] == kind]


def _measures(documents: Sequence[Counts], seed: int) -> dict[str, Any]:
    total = summed(documents)
    return {
        "precision": value(PRECISION, total),
        "recall": value(RECALL, total),
        "f1": value(F1, total),
        "ci": interval(F1, documents, seed=seed),
        "tp": total.tp,
        "fp": total.fp,
        "fn": total.fn,
    }


def summed(documents: Iterable[Counts]) -> Counts:
    """The counts of all documents together."""
    return sum(documents, Counts())
