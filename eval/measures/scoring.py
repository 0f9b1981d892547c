"""Computation of the measures of ``metrics``: of one query, of many by their mean (macro) or their sum (micro)."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .metrics import F1, FALSE_POSITIVE_RATE, HALLUCINATION_RATIO, KAPPA, PRECISION, RECALL, Measure


@dataclass(frozen=True, slots=True)
class Counts:
    """How many patients were found and wanted (tp), only found (fp), only wanted (fn), and neither (tn)."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    @property
    def wanted(self) -> int:
        """The size of the gold cohort."""
        return self.tp + self.fn

    @property
    def found(self) -> int:
        """The size of the answer."""
        return self.tp + self.fp

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)


def count(
    found: Collection[str], wanted: Collection[str], among: Iterable[str], open_to: Collection[str] = ()
) -> Counts:
    """The counts of one query over the patients ``among``; those it is ``open_to`` (ambiguous) count neither way."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for patient in among:
        if patient not in open_to:
            counts[patient in found, patient in wanted] += 1
    return Counts(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


# --- one query ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A measure that is a part of a whole: the weights of (tp, fp, fn, tn) in each.

    A whole of 0 leaves it undefined. But where ``answers`` are measured, a missing answer is counted, never dropped:
    then the ratio is 0 when only one of gold and answer is empty, and undefined when both are.
    """

    part: tuple[int, int, int, int]
    whole: tuple[int, int, int, int]
    answers: bool = False


_RATIOS: Final[Mapping[Measure, _Ratio]] = {
    PRECISION: _Ratio((1, 0, 0, 0), (1, 1, 0, 0), answers=True),
    RECALL: _Ratio((1, 0, 0, 0), (1, 0, 1, 0), answers=True),
    F1: _Ratio((2, 0, 0, 0), (2, 1, 1, 0), answers=True),
    FALSE_POSITIVE_RATE: _Ratio((0, 1, 0, 0), (0, 1, 0, 1)),
    HALLUCINATION_RATIO: _Ratio((0, 1, 0, 0), (1, 0, 1, 0)),
}


def value(measure: Measure, counts: Counts) -> float | None:
    """The measure of one query (or of summed counts); None where it is undefined. KeyError for one taken of many."""
    if measure == KAPPA:
        return _kappa(counts)
    ratio = _RATIOS[measure]
    numbers = (counts.tp, counts.fp, counts.fn, counts.tn)
    part, whole = _weighed(ratio.part, numbers), _weighed(ratio.whole, numbers)
    if whole:
        return part / whole
    return 0.0 if ratio.answers and counts.wanted + counts.found else None


def values(measure: Measure, table: NDArray[np.int64]) -> NDArray[np.float64]:
    """The measure of many counts at once, ``table[..., (tp, fp, fn, tn)]``; NaN where it is undefined.

    The shape is that of the table without its last axis. KeyError for a measure that is no ratio of counts.
    """
    ratio = _RATIOS[measure]
    part, whole = table @ np.array(ratio.part), table @ np.array(ratio.whole)
    taken = np.full(np.shape(whole), np.nan)
    if ratio.answers:
        taken[table[..., :3].any(axis=-1)] = 0.0
    np.divide(part, whole, out=taken, where=whole > 0)
    return taken


def _weighed(weights: Sequence[int], numbers: Sequence[int]) -> int:
    return sum(weight * number for weight, number in zip(weights, numbers, strict=True))


def _kappa(counts: Counts) -> float | None:
    total = counts.tp + counts.fp + counts.fn + counts.tn
    # Chance times total squared, so that a table that chance alone explains is told apart without rounding.
    chance = counts.found * counts.wanted + (counts.fn + counts.tn) * (counts.fp + counts.tn)
    if total == 0 or chance == total * total:
        return None
    return ((counts.tp + counts.tn) * total - chance) / (total * total - chance)


# --- many queries ---------------------------------------------------------------------------------------------------


def micro(measure: Measure, queries: Iterable[Counts]) -> float | None:
    """The measure of the summed counts: each pair of patient and query weighs the same."""
    return value(measure, total(queries))


def macro(measure: Measure, queries: Iterable[Counts]) -> float | None:
    """The mean over the queries of which the measure is defined: each query weighs the same. None if there is none."""
    defined = _defined(measure, queries)
    return sum(defined) / len(defined) if defined else None


def spread(measure: Measure, queries: Iterable[Counts]) -> float | None:
    """The sample standard deviation (divisor n - 1) over the queries of which the measure is defined.

    None under two of them. In the unit of the measure itself: 0.1 is 10 points of a percentage.
    """
    defined = _defined(measure, queries)
    return statistics.stdev(defined) if len(defined) > 1 else None


def _defined(measure: Measure, queries: Iterable[Counts]) -> list[float]:
    return [one for one in (value(measure, counts) for counts in queries) if one is not None]


def total(queries: Iterable[Counts]) -> Counts:
    """The summed counts."""
    return sum(queries, Counts())


def zero_result_false_positives(queries: Iterable[Counts]) -> int:
    """False positives of the queries that nobody matches."""
    return sum(counts.fp for counts in queries if counts.wanted == 0)


def coverage(asked: int, abstained: int) -> float | None:
    """Share of the asked queries that were answered; None when none was asked."""
    return (asked - abstained) / asked if asked else None
