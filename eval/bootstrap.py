"""Confidence intervals by the bootstrap: patients are drawn again with replacement, the same way for the same seed.

The patients are what is drawn, not the pairs: the answers of one patient hang together. Source: B. Efron, Annals of
Statistics 7 (1979), percentile interval.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    table = np.array([(one.tp, one.fp, one.fn, one.tn) for one in patients], dtype=np.int64)
    draws = np.random.default_rng(seed).integers(0, len(patients), size=(resamples, len(patients)))
    values = []
    for draw in draws:
        tp, fp, fn, tn = (int(one) for one in table[draw].sum(axis=0))
        taken = value(measure, Counts(tp, fp, fn, tn))
        if taken is not None:
            values.append(taken)
    if not values:
        return None
    edge = (1 - level) / 2
    low, high = np.quantile(values, [edge, 1 - edge])
    return float(low), float(high)
