"""The terms on which answers are scored: what is broad and what narrow, and how intervals are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .bootstrap import RESAMPLES
from .classes import SizeBounds


@dataclass(frozen=True, slots=True)
class Terms:
    """The smallest gold cohort of a broad (``alpha``) and of a narrow query (``beta``; None: scaled to the patients),
    the seed of the draws behind an interval, and how many they are."""

    alpha: int | None = None
    beta: int | None = None
    seed: int = 0
    resamples: int = RESAMPLES

    def bounds(self, patients: int) -> SizeBounds:
        """The bounds over so many labelled patients. ValueError if they contradict."""
        return SizeBounds.scaled(patients, self.alpha, self.beta)


#: The bounds of the paper, scaled; the first seed.
DEFAULT: Final = Terms()
