"""From features to a probability: two logistic models in a file of numbers, a calibration, a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....kb.errors import UsageError
from ....kb.files.text_files import json_of
from ....kb.kinds import DRUGS
from .features import FEATURES

SHIPPED: Final = Path(__file__).parent / "linker.json"
#: What the second model sees of the best concept: its score, its lead over the next, the kind, and its features.
SECOND: Final = ("score", "lead", "lead_capped", "little_lead", "medication", "no_kind", *FEATURES)


#: Kinds of spans that are named, not described.
_NAMES: Final = DRUGS | {"gene", "biomarker"}


def group_of(kind: str) -> str:
    """Drugs, genes and markers are names; all else is phrases. Each group has weights of its own."""
    return "names" if kind in _NAMES else "phrases"


@dataclass(frozen=True)
class Logistic:
    """Weights (one a feature) and a constant."""

    weights: npt.NDArray[np.float64]
    constant: float

    def scores(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Log odds, shape (rows,)."""
        return np.asarray(rows @ self.weights + self.constant, dtype=np.float64)


@dataclass(frozen=True)
class Scorer:
    """Trained numbers of the linker for one encoder.

    ``first``: of each group, over pairs of mention and name; ``second``: over the best concept of a mention;
    ``steps``: the calibration, points (log odds, probability) with straight lines between; ``threshold``: the
    probability below which a mention stays unlinked; ``recipe``: how they were made and what was measured.
    """

    first: Mapping[str, Logistic]
    second: Logistic
    steps: tuple[tuple[float, float], ...]
    threshold: float
    recipe: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path = SHIPPED, encoder: str = "grams") -> Scorer:
        """The numbers for the encoder of this name (``none``: no encoder). UsageError when there are none."""
        try:
            data = json_of(path)
            if data["features"] != list(FEATURES) or data["second"] != list(SECOND):
                raise UsageError(f"'{path.name}' was trained on other features: train the linker again")
            held = data["encoders"][encoder]
            return cls(
                {group: _logistic(held["first"][group], len(FEATURES)) for group in ("names", "phrases")},
                _logistic(held["second"], len(SECOND)),
                tuple((float(score), float(probability)) for score, probability in held["steps"]),
                float(held["threshold"]),
                held["recipe"],
            )
        except (OSError, KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise UsageError(f"'{path.name}' holds no numbers of a linker for the encoder {encoder!r}") from error

    def as_data(self) -> dict[str, Any]:
        """What :meth:`load` reads of one encoder."""
        return {
            "first": {group: _as_data(one) for group, one in sorted(self.first.items())},
            "second": _as_data(self.second),
            "steps": [[round(score, 4), round(probability, 4)] for score, probability in self.steps],
            "threshold": round(self.threshold, 4),
            "recipe": dict(self.recipe),
        }

    def probability(self, score: float) -> float:
        """The calibrated probability of log odds."""
        if not self.steps:
            return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
        found = np.interp(score, [one[0] for one in self.steps], [one[1] for one in self.steps])
        return float(found)


def _logistic(data: Mapping[str, Any], features: int) -> Logistic:
    weights = np.array(data["weights"], dtype=np.float64)
    if weights.shape != (features,):
        raise ValueError("a weight for each feature")
    return Logistic(weights, float(data["constant"]))


def _as_data(one: Logistic) -> dict[str, Any]:
    return {"weights": [round(float(weight), 5) for weight in one.weights], "constant": round(one.constant, 5)}


def second_row(scores: Sequence[float], kind: str, first: Sequence[float]) -> list[float]:
    """The row of the second model. ``scores``: of the concepts, best first; ``first``: the features of the best."""
    lead = scores[0] - scores[1] if len(scores) > 1 else 10.0
    return [
        scores[0],
        min(lead, 10.0),
        min(lead, 2.0),
        float(lead < 0.3),
        float(kind == "medication"),
        float(not kind),
        *first,
    ]
