"""Measures as values: what each number means, apart from who computes it (``scoring``).

A measure is taken of each query first and averaged after. Its counts are of patients: found and wanted (tp), found and
not wanted (fp), wanted and not found (fn), neither (tn). A pair on which experts may differ is in none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that can be taken of an answer: its name in reports, what it means, and where it is from."""

    name: str
    definition: str
    source: str = ""


PRECISION: Final = Measure(
    "precision",
    "tp / (tp + fp). An empty answer where something was wanted has 0; undefined when nothing was wanted or found.",
)
RECALL: Final = Measure(
    "recall",
    "tp / (tp + fn). An answer where nothing was wanted has 0; undefined when nothing was wanted or found.",
)
F1: Final = Measure(
    "f1",
    "2 tp / (2 tp + fp + fn), the harmonic mean of precision and recall; undefined when nothing was wanted or found.",
)
HALLUCINATION_RATIO: Final = Measure(
    "hallucination_ratio",
    "fp / (tp + fn): patients named without ground for each patient wanted; a ratio, not a share, so it can pass 1. "
    "Undefined when nothing was wanted: there the false positives themselves are counted.",
    "Automatic Cohort Retrieval paper, section 4.3.1",
)
FALSE_POSITIVE_RATE: Final = Measure(
    "false_positive_rate",
    "fp / (fp + tn): the share of the patients that were not wanted who were found. Undefined when all were wanted.",
    "Automatic Cohort Retrieval paper, appendix B, table 6 (FPR)",
)
ZERO_RESULT_FALSE_POSITIVES: Final = Measure(
    "zero_result_false_positives",
    "fp summed over the queries that no labelled patient matches.",
    "Automatic Cohort Retrieval paper, section 4.3.2",
)
KAPPA: Final = Measure(
    "kappa",
    "Cohen's kappa, (agreement - chance) / (1 - chance), of one 2 x 2 table over all pairs of labelled patient and "
    "query; undefined when chance alone agrees on every pair.",
    "J. Cohen, Educational and Psychological Measurement 20 (1960)",
)
SPREAD: Final = Measure(
    "spread",
    "The sample standard deviation (divisor n - 1) of a measure over the queries of which it is defined; undefined "
    "under two such queries. Beside a micro mean too it is that of the values of the single queries.",
    "Automatic Cohort Retrieval paper, appendix B, table 6 (what stands after ±)",
)
COVERAGE: Final = Measure(
    "coverage",
    "Queries that were answered, as a share of those asked. An abstention is scored as an empty answer and listed.",
)

#: What is taken of each query and averaged.
PER_QUERY: Final = (PRECISION, RECALL, F1, FALSE_POSITIVE_RATE, HALLUCINATION_RATIO)
#: Everything that a report can hold.
MEASURES: Final = (*PER_QUERY, ZERO_RESULT_FALSE_POSITIVES, KAPPA, SPREAD, COVERAGE)
