"""Quality over some of the questions and patients: by size of the gold cohort, by complexity, by documents a patient.

Source: the Automatic Cohort Retrieval paper: table 1 and appendix B (size), figure 3 (a: complexity, b: size, c:
documents). Intervals are bootstrapped over patients; the questions and their classes stay as they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..measures.bootstrap import RESAMPLES, Mean, averages, between, resampled
from ..measures.classes import COMPLEXITIES, SIZES, SizeBounds
from ..measures.metrics import PER_QUERY, Measure
from ..measures.scoring import Counts, macro, micro, spread, total, value
from .grades import Grades

#: The mean that the paper reports of each size; of queries that nobody matches it reports the false positive rate.
MEANS: Final[Mapping[str, Mean]] = {"broad": "macro", "narrow": "macro", "sparse": "micro", "zero": "macro"}
GROUPS: Final = ("bottom third", "middle third", "top third")


@dataclass(frozen=True, slots=True)
class Averaged:
    """One measure over a stratum: both means, the spread, of how many questions it is defined, and the interval of the
    mean that the paper reports (``mean``). None where undefined."""

    mean: Mean
    macro: float | None
    micro: float | None
    spread: float | None
    defined: int
    ci: tuple[float, float] | None

    @property
    def value(self) -> float | None:
        """By the mean that the paper reports."""
        return self.macro if self.mean == "macro" else self.micro

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "value": self.value,
            "spread": self.spread,
            "ci": None if self.ci is None else list(self.ci),
            "macro": self.macro,
            "micro": self.micro,
            "defined": self.defined,
        }


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality over some questions and patients: each of ``PER_QUERY`` by its name, and the summed counts."""

    questions: tuple[str, ...]
    patients: int
    mean: Mean
    measures: Mapping[str, Averaged]
    counts: Counts

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "questions": len(self.questions),
            "ids": list(self.questions),
            "patients": self.patients,
            "mean": self.mean,
            **{name: one.as_dict() for name, one in self.measures.items()},
            **asdict(self.counts),
        }


@dataclass(frozen=True)
class Table:
    """Counts ``[patient, question, 4]`` of a system with their resampled sums; ``ids`` of the questions."""

    counts: NDArray[np.int64]
    ids: tuple[str, ...]
    draws: NDArray[np.int64] = field(repr=False)

    @classmethod
    def drawn_from(
        cls, counts: NDArray[np.int64], ids: Sequence[str], *, seed: int = 0, resamples: int = RESAMPLES
    ) -> Table:
        """The table with draws of its patients: the same for each table of as many patients."""
        return cls(counts, tuple(ids), resampled(counts, seed=seed, resamples=resamples))

    def quality(self, chosen: Sequence[int], mean: Mean) -> Quality:
        """Over the questions at the ``chosen`` places. Without any, every measure is undefined."""
        summed = [Counts(*map(int, one)) for one in self.counts[:, list(chosen)].sum(axis=0)]
        measures = {
            one.name: Averaged(
                mean,
                macro(one, summed),
                micro(one, summed),
                spread(one, summed),
                sum(value(one, counts) is not None for counts in summed),
                between(self.drawn(one, chosen, mean)),
            )
            for one in PER_QUERY
        }
        return Quality(tuple(self.ids[one] for one in chosen), len(self.counts), mean, measures, total(summed))

    def drawn(self, measure: Measure, chosen: Sequence[int], mean: Mean) -> NDArray[np.float64]:
        """The mean of the measure in each draw of patients; NaN where it is undefined."""
        return averages(measure, self.draws[:, list(chosen)], mean)


def places_by_size(grades: Grades, bounds: SizeBounds) -> dict[str, list[int]]:
    """The places of the questions of each size of the gold cohort; a question has the size that all patients give it,
    whichever of them are looked at."""
    return {
        size: [place for place, one in enumerate(grades.questions) if bounds.size(one.counts.wanted) == size]
        for size in SIZES
    }


def places_by_complexity(grades: Grades) -> dict[str, list[int]]:
    """The places of the questions of each clinical complexity."""
    return {
        name: [place for place, one in enumerate(grades.questions) if one.complexity == name] for name in COMPLEXITIES
    }


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """Patients with ``low`` to ``high`` documents (``high`` excluded; None: no bound)."""

    name: str
    low: int
    high: int | None
    patients: tuple[str, ...]


def document_groups(patients: Sequence[str], documents: Mapping[str, int]) -> tuple[DocumentGroup, ...]:
    """The patients in three groups by their number of documents (section 4.2.3), fewest first.

    Patients with equal numbers stay together: each bound is the number that comes nearest to a third, so the groups are
    equal but for ties, and one can be empty. A patient of whom no document is told of has 0.
    """
    held = [documents.get(one, 0) for one in patients]
    numbers = sorted(held)

    def bound(thirds: int) -> int:
        return min(numbers, key=lambda one: abs(3 * bisect_left(numbers, one) - thirds * len(numbers)), default=0)

    first, second = bound(1), bound(2)
    edges = ((0, first), (first, second), (second, None))
    return tuple(
        DocumentGroup(
            name,
            low,
            high,
            tuple(
                one
                for one, number in zip(patients, held, strict=True)
                if low <= number and (high is None or number < high)
            ),
        )
        for name, (low, high) in zip(GROUPS, edges, strict=True)
    )
