"""The trained classifier of context: weights by hashed signs, and calibrated probabilities of each part of a context.

Multinomial logistic regression: signs are hashed into buckets, the rows of their buckets summed, divided by a
temperature and normalised. It needs numpy alone; its file is an ``.npz`` of tens of kilobytes.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from ....kb.errors import UsageError
from ....kb.model import Experiencer, Polarity, Temporality

#: The form of the file; another one is refused.
FORM: Final = 1
#: The parts of a context that are read, with the values of each (planned is a status of treatments, *other* counts as
#: family: too few of either are marked anywhere).
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "polarity": (str(Polarity.PRESENT), str(Polarity.ABSENT), str(Polarity.UNCERTAIN)),
    "temporality": (str(Temporality.CURRENT), str(Temporality.HISTORICAL), str(Temporality.HYPOTHETICAL)),
    "experiencer": (str(Experiencer.PATIENT), str(Experiencer.FAMILY)),
}


def buckets_of(signs: Iterable[str], buckets: int) -> list[int]:
    """The buckets of some signs, each once, in order; the same on every machine."""
    return sorted({zlib.crc32(sign.encode("utf-8")) % buckets for sign in signs})


def softmax(scores: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """Probabilities over the last axis."""
    raised: NDArray[numpy.float64] = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class ContextModel:
    """Weights of each part of a context: (buckets + 1, values), the last row for what holds of all.

    ``temperature`` divides the scores of a part; ``knows_rules``: the rules' own reading is among its signs; ``recipe``
    says what it was trained on and how.
    """

    weights: Mapping[str, NDArray[numpy.float32]]
    temperature: Mapping[str, float]
    knows_rules: bool
    recipe: Mapping[str, Any]

    @property
    def buckets(self) -> int:
        """How many buckets the signs are hashed into."""
        return len(self.weights["polarity"]) - 1

    def probabilities(self, signs: Iterable[str]) -> dict[str, dict[str, float]]:
        """The probability of each value of each part (they sum to 1 in a part), given the signs of a mention."""
        rows = [*buckets_of(signs, self.buckets), self.buckets]
        told = {}
        for part, values in PARTS.items():
            scores = self.weights[part][rows].sum(axis=0, dtype=numpy.float64) / self.temperature[part]
            told[part] = dict(zip(values, softmax(scores).tolist(), strict=True))
        return told

    def save(self, path: Path) -> None:
        """Writes the model; weights in half precision."""
        card = {
            "form": FORM,
            "knows_rules": self.knows_rules,
            "temperature": dict(self.temperature),
            "recipe": dict(self.recipe),
        }
        arrays: dict[str, Any] = {part: table.astype(numpy.float16) for part, table in self.weights.items()}
        with path.open("wb") as file:
            numpy.savez_compressed(file, card=numpy.array(json.dumps(card, sort_keys=True)), **arrays)

    @classmethod
    def load(cls, path: Path) -> ContextModel:
        """The model of a file. UsageError if it is missing, no such file, or its tables do not fit each other."""
        try:
            with numpy.load(path, allow_pickle=False) as held:
                card = json.loads(str(held["card"]))
                weights = {part: held[part].astype(numpy.float32) for part in PARTS}
            form, temperature = card["form"], {part: float(card["temperature"][part]) for part in PARTS}
            model = cls(weights, temperature, bool(card["knows_rules"]), card["recipe"])
        except OSError as error:
            raise UsageError(f"the context model cannot be read from '{path}': {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise UsageError(
                f"'{path}' is no context model. Hint: one is made by benchmarks/context_model.py --save"
            ) from error
        if form != FORM:
            raise UsageError(f"the context model '{path}' is of form {form}, not {FORM}. Hint: train it anew")
        fits = all(table.shape == (model.buckets + 1, len(PARTS[part])) for part, table in weights.items())
        sound = all(bool(numpy.isfinite(table).all()) for table in weights.values()) and min(temperature.values()) > 0
        if not fits or not sound or model.buckets < 1:
            raise UsageError(f"the tables of the context model '{path}' do not fit its parts. Hint: train it anew")
        return model
