"""Classes of queries: by the size of their gold cohort (broad, narrow, sparse, zero) and by clinical complexity.

Source: the Automatic Cohort Retrieval paper, section 3.2.2; its bounds (50 and 10 patients) hold for 1,436 patients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SIZES: Final = ("broad", "narrow", "sparse", "zero")
COMPLEXITIES: Final = ("base", "low", "medium", "hard")

_PAPER_PATIENTS: Final = 1436
_PAPER_ALPHA: Final = 50
_PAPER_BETA: Final = 10


@dataclass(frozen=True, slots=True)
class SizeBounds:
    """The smallest gold cohort of a broad (``alpha``) and of a narrow query (``beta``), in patients."""

    alpha: int
    beta: int

    def __post_init__(self) -> None:
        if not 1 <= self.beta <= self.alpha:
            raise ValueError(
                f"the bounds are alpha {self.alpha} and beta {self.beta}. Hint: alpha is at least beta, beta at least 1"
            )

    @classmethod
    def scaled(cls, patients: int, alpha: int | None = None, beta: int | None = None) -> SizeBounds:
        """The paper's bounds scaled to so many patients, unless they are given. ValueError if they contradict."""
        if alpha is None:
            alpha = max(2, round(_PAPER_ALPHA * patients / _PAPER_PATIENTS))
        if beta is None:
            beta = max(1, round(_PAPER_BETA * patients / _PAPER_PATIENTS))
        return cls(alpha, beta)

    def size(self, wanted: int) -> str:
        """The class of a query that so many patients match."""
        if wanted >= self.alpha:
            return "broad"
        if wanted >= self.beta:
            return "narrow"
        return "sparse" if wanted else "zero"
