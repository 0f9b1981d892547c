"""Computes the measures of ``eval.metrics``: of one query, of many by their mean (macro) or their sum (micro)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from .metrics import F1, HALLUCINATION_RATIO, KAPPA, PRECISION, RECALL, Measure


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


def value(measure: Measure, counts: Counts) -> float | None:
    """The measure of one query (or of summed counts); None where it is undefined. KeyError for one taken of many."""
    return _RULES[measure](counts)


def _share(part: int, whole: int, counts: Counts) -> float | None:
    """A missing answer is counted, never dropped: 0 when only one of gold and answer is empty, undefined when both."""
    if counts.wanted == 0 and counts.found == 0:
        return None
    return part / whole if whole else 0.0


def _hallucination_ratio(counts: Counts) -> float | None:
    return counts.fp / counts.wanted if counts.wanted else None


def _kappa(counts: Counts) -> float | None:
    total = counts.tp + counts.fp + counts.fn + counts.tn
    # Chance times total squared, so that a table that chance alone explains is told apart without rounding.
    chance = counts.found * counts.wanted + (counts.fn + counts.tn) * (counts.fp + counts.tn)
    if total == 0 or chance == total * total:
        return None
    return ((counts.tp + counts.tn) * total - chance) / (total * total - chance)


_RULES: Final[Mapping[Measure, Callable[[Counts], float | None]]] = {
    PRECISION: lambda counts: _share(counts.tp, counts.found, counts),
    RECALL: lambda counts: _share(counts.tp, counts.wanted, counts),
    F1: lambda counts: _share(2 * counts.tp, counts.wanted + counts.found, counts),
    HALLUCINATION_RATIO: _hallucination_ratio,
    KAPPA: _kappa,
}


# --- many queries ---------------------------------------------------------------------------------------------------


def micro(measure: Measure, queries: Iterable[Counts]) -> float | None:
    """The measure of the summed counts: each pair of patient and query weighs the same."""
    return value(measure, total(queries))


def macro(measure: Measure, queries: Iterable[Counts]) -> float | None:
    """The mean over the queries of which the measure is defined: each query weighs the same. None if there is none."""
    values = [one for one in (value(measure, counts) for counts in queries) if one is not None]
    return sum(values) / len(values) if values else None


def total(queries: Iterable[Counts]) -> Counts:
    """The summed counts."""
    return sum(queries, Counts())


def zero_result_false_positives(queries: Iterable[Counts]) -> int:
    """False positives of the queries that nobody matches."""
    return sum(counts.fp for counts in queries if counts.wanted == 0)


def coverage(asked: int, abstained: int) -> float | None:
    """Share of the asked queries that were answered; None when none was asked."""
    return (asked - abstained) / asked if asked else None
