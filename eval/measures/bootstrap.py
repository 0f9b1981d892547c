"""Confidence intervals by the bootstrap: patients are drawn again with replacement, the same way for the same seed.

The patients are what is drawn, not the pairs: the answers of one patient hang together. Source: B. Efron, Annals of
Statistics 7 (1979), percentile interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from .metrics import Measure
from .scoring import Counts, values

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
    return between(_drawn(measure, patients, seed, resamples), level)


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
    drawn = (_drawn(measure, one, seed, resamples) for one in (first, second))
    return between(np.subtract(*drawn), level)


def described(seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """What intervals over patients depend on, for a signature."""
    return {"level": LEVEL, "resamples": resamples, "seed": seed, "over": "patients"}


def resampled(table: NDArray[np.int64], *, seed: int = 0, resamples: int = RESAMPLES) -> NDArray[np.int64]:
    """Counts of each query in each draw of patients: from ``[patient, query, 4]`` to ``[draw, query, 4]``.

    The same seed and number of patients draw the same patients, whatever the counts: two systems are then paired, draw
    by draw. No patients, no draws.
    """
    number, queries, _ = table.shape
    if not number:
        return np.zeros((0, queries, 4), dtype=np.int64)
    # In floating point, which is exact for such counts and many times as fast.
    sums = times_drawn(number, seed, resamples) @ table.reshape(number, queries * 4).astype(np.float64)
    return np.asarray(np.rint(sums), dtype=np.int64).reshape(resamples, queries, 4)


def times_drawn(number: int, seed: int = 0, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """How often each of so many patients (or documents) is drawn, ``[draw, number]``; the same for the same seed."""
    drawn = np.random.default_rng(seed).integers(0, number, size=(resamples, number))
    return np.array([np.bincount(draw, minlength=number) for draw in drawn], dtype=np.float64)


def averages(measure: Measure, table: NDArray[np.int64], mean: Mean) -> NDArray[np.float64]:
    """The macro or micro mean over the queries of ``[..., query, 4]``, for each draw; NaN where it is undefined."""
    if mean == "micro":
        return values(measure, table.sum(axis=-2))
    return mean_of_defined(values(measure, table))


def mean_of_defined(taken: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the last axis of all that is no NaN; NaN where nothing is."""
    number = (~np.isnan(taken)).sum(axis=-1)
    total = np.nan_to_num(taken).sum(axis=-1)
    return np.divide(total, number, out=np.full(np.shape(number), np.nan), where=number > 0)


def between(drawn: NDArray[np.float64], level: float = LEVEL) -> tuple[float, float] | None:
    """The percentile interval of what each draw gave (differences, too); draws without a value are left out, and
    without any there is none."""
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return None
    edge = (1 - level) / 2
    low, high = np.quantile(defined, [edge, 1 - edge])
    return float(low), float(high)


def _drawn(measure: Measure, patients: Sequence[Counts], seed: int, resamples: int) -> NDArray[np.float64]:
    """The measure of the summed counts, draw by draw; NaN where it is undefined."""
    table = np.array([(one.tp, one.fp, one.fn, one.tn) for one in patients], dtype=np.int64).reshape(-1, 1, 4)
    return values(measure, resampled(table, seed=seed, resamples=resamples)[:, 0])
