"""Confidence intervals by the bootstrap: patients are drawn again with replacement, the same way for the same seed.

The patients are what is drawn, not the pairs: the answers of one patient hang together. Source: B. Efron, Annals of
Statistics 7 (1979), percentile interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from .metrics import Measure
from .scoring import Counts, value, values

RESAMPLES: Final = 1000
LEVEL: Final = 0.95

Mean = Literal["macro", "micro"]


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


def resampled(table: NDArray[np.int64], *, seed: int = 0, resamples: int = RESAMPLES) -> NDArray[np.int64]:
    """Counts of each query in each draw of patients: from ``[patient, query, 4]`` to ``[draw, query, 4]``.

    The same seed and number of patients draw the same patients, whatever the counts: two systems are then paired, draw
    by draw. No patients, no draws.
    """
    number, queries, _ = table.shape
    if not number:
        return np.zeros((0, queries, 4), dtype=np.int64)
    drawn = np.random.default_rng(seed).integers(0, number, size=(resamples, number))
    weights = np.zeros((resamples, number))
    np.add.at(weights, (np.arange(resamples)[:, None], drawn), 1)
    # In floating point, which is exact for such counts and many times as fast.
    sums = weights @ table.reshape(number, queries * 4).astype(np.float64)
    return np.asarray(np.rint(sums), dtype=np.int64).reshape(resamples, queries, 4)


def averages(measure: Measure, table: NDArray[np.int64], mean: Mean) -> NDArray[np.float64]:
    """The macro or micro mean over the queries of ``[..., query, 4]``, for each draw; NaN where it is undefined."""
    if mean == "micro":
        return values(measure, table.sum(axis=-2))
    taken = values(measure, table)
    defined = ~np.isnan(taken)
    number = defined.sum(axis=-1)
    total = np.where(defined, taken, 0.0).sum(axis=-1)
    return np.divide(total, number, out=np.full(np.shape(number), np.nan), where=number > 0)


def between(drawn: NDArray[np.float64], level: float = LEVEL) -> tuple[float, float] | None:
    """The percentile interval of what each draw gave (differences, too); draws without a value are left out."""
    return _between([float(one) for one in drawn[~np.isnan(drawn)]], level)


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
