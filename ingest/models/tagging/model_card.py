"""The card of a trained tagger: what it finds, what its network reads, how its answers are decoded, how sure they are.

Everything but weights and word pieces is in it, so that two cards can be compared by eye.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from .decode import Decoder
from .features import INPUTS
from .labels import LabelSet

#: Raised when a card of before can no longer be read as it was meant.
SCHEMA_VERSION: Final = 1
_SMALLEST_WINDOW: Final = 32
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class ModelFile(_Part):
    """A file of the directory: its checksum (SHA-256, hexadecimal) and its size in bytes."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class Material(_Part):
    """Something that a model was made from: a corpus or a base model, where it comes from, and its terms."""

    name: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    source: str = ""
    use: str = ""


class ModelCard(_Part):
    """What ``card.json`` holds.

    ``types``: in the order of their tags (see ``LabelSet``). ``inputs``: the arrays that the network reads, in the
    order of its arguments (see ``features``). ``network``: the settings of the network. ``window``, ``margin``: pieces
    (words, where there are none) of a window, and words read beside those kept. ``transitions`` [T, T], ``start`` [T],
    ``end`` [T]: natural logarithms, None for what is forbidden. ``calibration``: knots (probability, confidence), both
    rising; none where probabilities stand as they are. ``scores``: as the training measured them. ``signature``: all
    that repeats the training. ``materials``: with their licences. ``files``: the others in the directory.
    """

    schema_version: int = SCHEMA_VERSION
    name: str = Field(min_length=1)
    description: str = ""
    types: tuple[str, ...]
    inputs: tuple[str, ...]
    network: dict[str, Any]
    window: int = Field(ge=_SMALLEST_WINDOW)
    margin: int = Field(default=24, ge=0)
    transitions: tuple[tuple[float | None, ...], ...]
    start: tuple[float | None, ...]
    end: tuple[float | None, ...]
    calibration: tuple[tuple[float, float], ...] = ()
    scores: dict[str, Any] = Field(default_factory=dict)
    signature: dict[str, Any] = Field(default_factory=dict)
    materials: tuple[Material, ...] = ()
    limits: tuple[str, ...] = ()
    files: dict[str, ModelFile] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_together(self) -> ModelCard:
        tags = len(LabelSet(self.types))
        shape = {len(self.transitions), len(self.start), len(self.end), *map(len, self.transitions)}
        if shape != {tags}:
            raise ValueError(f"transitions, start and end are not of the {tags} tags of its {len(self.types)} types")
        if self.network.get("tags", tags) != tags:
            raise ValueError(f"its network gives {self.network['tags']} tags, its {len(self.types)} types have {tags}")
        if not isinstance(self.network.get("encoder") or {}, dict):
            raise ValueError("the encoder of its network is no object of settings")
        if unknown := sorted(set(self.inputs) - set(INPUTS)):
            raise ValueError(f"unknown input '{unknown[0]}' (known: {', '.join(INPUTS)})")
        if len(set(self.inputs)) != len(self.inputs) or "word_mask" not in self.inputs:
            raise ValueError("its inputs lack word_mask, or name one twice")
        knots = numpy.array(self.calibration).reshape(-1, 2)
        if not ((knots >= 0) & (knots <= 1)).all() or (numpy.diff(knots, axis=0) < 0).any():
            raise ValueError("the knots of its calibration do not rise within nought and one")
        if wrong := [name for name in self.files if not _PLAIN_NAME.fullmatch(name)]:
            raise ValueError(f"'{wrong[0]}' is no plain name of a file of the directory")
        self.decoder()  # What cannot be decoded with is told when the card is read.
        return self

    @property
    def labels(self) -> LabelSet:
        """The tags of its types."""
        return LabelSet(self.types)

    def decoder(self) -> Decoder:
        """Decoding with its transitions."""
        return Decoder(self.labels, *map(from_json, (self.transitions, self.start, self.end)))

    def confidence(self, probability: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        """Probabilities as confidence: on straight lines between the knots, level beyond them; any shape."""
        return applied(self.calibration, probability)


def applied(knots: Sequence[tuple[float, float]], raw: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """Probabilities as confidence by the knots of a card: on straight lines between them, level beyond; any shape."""
    if not knots:
        return raw
    x, y = zip(*knots, strict=True)
    return numpy.interp(raw, x, y)


def as_json(scores: NDArray[numpy.floating], lowest: float = -1e3) -> list[Any]:
    """Scores for a card: any shape; what is ``lowest`` or less, as minus infinity is, becomes None."""
    if scores.ndim > 1:
        return [as_json(row, lowest) for row in scores]
    return [None if score <= lowest else round(float(score), 6) for score in scores]


def from_json(scores: Sequence[Any]) -> NDArray[numpy.float64]:
    """Scores out of a card: None becomes minus infinity."""
    rows = [from_json(one) if isinstance(one, (list, tuple)) else -math.inf if one is None else one for one in scores]
    return numpy.array(rows, dtype=numpy.float64)
