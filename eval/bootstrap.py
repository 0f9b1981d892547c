"""Confidence intervals by the bootstrap: patients are drawn again with replacement, the same way for the same seed.

The patients are what is drawn, not the pairs: the answers of one patient hang together. Source: B. Efron, Annals of
Statistics 7 (1979), percentile interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from .metrics import Measure
from .scoring import Counts, value

RESAMPLES: Final = 1000
LEVEL: Final = 0.95


def interval(
    measure: Measure,
    patients: Sequence[Counts],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[float, float] | None:
    """The interval of the measure of the summed counts, given the counts of each patient over all queries.

    Draws in which the measure is undefined are left out; None when there are no patients, or it is undefined in all.
    """
    if not patients:
        return None
    return _between([one for (one,) in _drawn(measure, [patients], seed, resamples) if one is not None], level)


def paired_interval(
    measure: Measure,
    first: Sequence[Counts],
    second: Sequence[Counts],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[float, float] | None:
    """The interval of the difference, first less second, of two runs over the same patients in the same order.

    Each draw takes the same patients of both; otherwise as :func:`interval`. ValueError if their numbers differ.
    """
    if len(first) != len(second):
        raise ValueError(f"two runs are paired over the same patients, not {len(first)} and {len(second)}")
    if not first:
        return None
    drawn = _drawn(measure, [first, second], seed, resamples)
    return _between([one - other for one, other in drawn if one is not None and other is not None], level)


def _drawn(
    measure: Measure, runs: Sequence[Sequence[Counts]], seed: int, resamples: int
) -> Iterator[tuple[float | None, ...]]:
    """The measure of each run, draw by draw."""
    tables = [np.array([(one.tp, one.fp, one.fn, one.tn) for one in run], dtype=np.int64) for run in runs]
    number = len(runs[0])
    for draw in np.random.default_rng(seed).integers(0, number, size=(resamples, number)):
        sums = ([int(one) for one in table[draw].sum(axis=0)] for table in tables)
        yield tuple(value(measure, Counts(*one)) for one in sums)


def _between(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """What all but the edges of the values lie between; None without values."""
    if not values:
        return None
    edge = (1 - level) / 2
    low, high = np.quantile(values, [edge, 1 - edge])
    return float(low), float(high)
