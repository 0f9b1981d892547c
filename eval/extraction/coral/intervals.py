"""Intervals of means by the bootstrap over documents: sections of one document are drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...measures.bootstrap import LEVEL, RESAMPLES, between, mean_of_defined, times_drawn

Interval = tuple[float, float] | None


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def mean_intervals(
    tables: Mapping[str, Mapping[str, Sequence[float]]],
    documents: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[dict[str, Interval], Interval]:
    """The interval of each table's mean, and that of the mean of these means.

    ``tables``: name to document to its values (of the sections); ``documents``: all that are drawn from. Draws in which
    a table has no value are left out of its interval; None where that is so in all.
    """
    if not documents or not tables:
        return dict.fromkeys(tables), None
    sums = np.array([[float(sum(table.get(one, ()))) for table in tables.values()] for one in documents])
    numbers = np.array([[len(table.get(one, ())) for table in tables.values()] for one in documents])
    weights = times_drawn(len(documents), seed, resamples)
    totals, counts = weights @ sums, weights @ numbers
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    each = {name: between(column, level) for name, column in zip(tables, means.T, strict=True)}
    return each, between(mean_of_defined(means), level)
