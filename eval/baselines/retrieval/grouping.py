"""The way from chunks to patients: where the search is cut, the order of patients, what is quoted of each."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....kb.errors import UsageError
from .nearest import PLACES, Hits

#: 1,000 of 472,861 chunks: Automatic Cohort Retrieval paper, section 4.1.2.
PAPER_SHARE: Final = 1000 / 472_861


@dataclass(frozen=True, slots=True)
class Cut:
    """Which chunks count as retrieved: the first so many (``chunks``), the first ``share`` of all in the index (rounded
    up), those of at least ``threshold``, or what several of these leave. Their patients are the cohort.

    ``best_of`` is how many chunks of a patient are summed for their place in the ranking: 1 is the best chunk alone.
    With more, the chunks that were cut still say how many patients are retrieved, and the sums which.
    """

    chunks: int | None = None
    share: float | None = None
    threshold: float | None = None
    best_of: int = 1

    def __post_init__(self) -> None:
        if self.chunks is None and self.share is None and self.threshold is None:
            raise UsageError("a cut names a number of chunks, a share of the index or a threshold")
        if self.chunks is not None and self.chunks < 0:
            raise UsageError(f"no {self.chunks} chunks can be retrieved")
        if self.share is not None and not 0 <= self.share <= 1:
            raise UsageError("a share of the index lies between 0 and 1")
        if self.best_of < 1:
            raise UsageError("a patient is ranked by at least one chunk")

    def kept(self, hits: Hits, size: int) -> int:
        """How many of the hits it leaves, of an index of ``size`` chunks."""
        kept = len(hits.chunks)
        if self.chunks is not None:
            kept = min(kept, self.chunks)
        if self.share is not None:
            kept = min(kept, math.ceil(round(self.share * size, 9)))
        if self.threshold is not None:
            least = float(np.float32(round(self.threshold, PLACES)))
            kept = min(kept, bisect.bisect_right(hits.scores, -least, key=lambda score: -float(score)))
        return kept

    def signature(self) -> Mapping[str, Any]:
        """What was said of it."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Grouped:
    """Patients (by number) whom a search touched, best first, ties by number; the first ``size`` are retrieved.

    ``chunks[i]`` are the chunks of the i-th patient, best first, and ``chunk_scores[i]`` their scores.
    """

    patients: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]
    size: int
    chunks: tuple[npt.NDArray[np.int64], ...]
    chunk_scores: tuple[npt.NDArray[np.float32], ...]


def group(hits: Hits, patient_numbers: npt.NDArray[np.int32], cut: Cut) -> Grouped:
    """The patients of the hits; ``patient_numbers`` says for each chunk of the index whose it is."""
    whose = patient_numbers[hits.chunks]
    by_patient = np.argsort(whose, kind="stable")  # Within a patient the hits stay best first.
    numbers, first, held = np.unique(whose[by_patient], return_index=True, return_counts=True)
    place = np.arange(len(whose)) - np.repeat(first, held)
    counted = np.where(place < cut.best_of, hits.scores[by_patient].astype(np.float64), 0.0)
    scores = np.add.reduceat(counted, first) if len(first) else np.zeros(0)
    scores = np.round(scores, PLACES)
    size = len(np.unique(whose[: cut.kept(hits, len(patient_numbers))]))
    order = np.lexsort((numbers, -scores))
    slices = [by_patient[first[one] : first[one] + held[one]] for one in order]
    return Grouped(
        numbers[order],
        scores[order],
        size,
        tuple(hits.chunks[one] for one in slices),
        tuple(hits.scores[one] for one in slices),
    )
