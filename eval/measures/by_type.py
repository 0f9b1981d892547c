"""Scores of entities by type: counts of each document, and the figures with intervals that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .bootstrap import between, resampled
from .metrics import F1, PRECISION, RECALL
from .scoring import Counts, total, value, values


@dataclass(slots=True)
class Level:
    """The counts of one way of scoring, document by document, by type.

    ``decisions`` are right and wrong decisions with "none" as a class of its own; empty where a score has no such.
    """

    documents: list[Mapping[str, Counts]] = field(default_factory=list)
    decisions: list[Counts] = field(default_factory=list)

    def as_dict(self, types: Sequence[str], seed: int) -> dict[str, Any]:
        """The measures over all types and by type, each with the interval of its F1.

        Where there are decisions, ``micro`` is of them, as in the paper, and ``entities`` is the usual average, over
        entities alone; else the usual one is ``micro``.
        """
        pooled = [total(one[kind] for kind in types) for one in self.documents]
        columns = [self.decisions or pooled, pooled, *([one[kind] for one in self.documents] for kind in types)]
        micro, entities, *by_type = figures(columns, seed)
        found: dict[str, Any] = {"micro": micro}
        if self.decisions:
            found["entities"] = entities
        return {**found, "by_type": dict(zip(types, by_type, strict=True))}


def figures(columns: Sequence[Sequence[Counts]], seed: int) -> list[dict[str, Any]]:
    """Of each column of counts (one a document): precision, recall, F1 and its interval over the same draws, counts.

    A measure is None where it is undefined.
    """
    counts = [[(one.tp, one.fp, one.fn, one.tn) for one in column] for column in columns]
    table = np.array(counts, dtype=np.int64).reshape(len(columns), -1, 4)
    drawn = values(F1, resampled(table.swapaxes(0, 1), seed=seed))
    found = []
    for column, draws in zip(columns, drawn.T, strict=True):
        whole, bounds = total(column), between(draws)
        found.append(
            {
                **{measure.name: value(measure, whole) for measure in (PRECISION, RECALL, F1)},
                "ci": None if bounds is None else list(bounds),
                "tp": whole.tp,
                "fp": whole.fp,
                "fn": whole.fn,
            }
        )
    return found
