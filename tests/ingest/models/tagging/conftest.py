"""Small models for the tests of learned recognition: one by rule, and a tiny network of torch with random weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from cohortium.ingest.models.tagging.features import Arrays, Featurizer
from cohortium.ingest.models.tagging.labels import LabelSet
from cohortium.ingest.models.tagging.model_card import ModelCard, as_json
from cohortium.ingest.models.tagging.model_directory import ModelDirectory, write_card
from cohortium.ingest.models.tagging.tagger import Tagger

LABELS = LabelSet(("DISEASE", "DRUG"))
CAPITAL_FIRST, DIGITS = 2, 6


def card(**changes: Any) -> ModelCard:
    """The card of a model that finds diseases and drugs by the shapes of words."""
    zeros = numpy.zeros((5, 5))
    told: dict[str, Any] = {
        "name": "capitals",
        "types": LABELS.types,
        "inputs": ("word_mask", "shapes"),
        "network": {},
        "window": 32,
        "margin": 6,
        "transitions": as_json(zeros),
        "start": as_json(zeros[0]),
        "end": as_json(zeros[0]),
    }
    return ModelCard.model_validate({**told, **changes})


class Shapes:
    """A network by rule: words with a capital first are a disease, together; a drug where a number stands behind."""

    def __init__(self, batch: int = 0, threads: int = 1, worth: float = 1.0) -> None:
        self.batch, self.threads, self.worth = batch, threads, worth
        self.asked: list[tuple[int, ...]] = []

    def __call__(self, arrays: Arrays) -> numpy.ndarray:
        shapes = arrays["shapes"]
        self.asked.append(shapes.shape)
        capital = shapes == CAPITAL_FIRST
        numbered = numpy.zeros_like(capital)
        numbered[:, :-1] = shapes[:, 1:] == DIGITS
        found = numpy.zeros((*shapes.shape, 5), dtype=numpy.float32)
        found[:, :, 0] = 8
        found[capital] = self.worth * numpy.array([0, 4, 5, 0, 0], dtype=numpy.float32)
        found[capital & numbered] = self.worth * numpy.array([0, 1, 1, 6, 4], dtype=numpy.float32)
        return found

    def describe(self) -> dict[str, Any]:
        return {"runtime": "rule"}


@pytest.fixture
def by_shapes() -> Callable[..., Tagger]:
    """Makes a tagger that reads shapes by rule; keywords are of the card, ``emissions`` is what computes."""

    def make(emissions: Shapes | None = None, **changes: Any) -> Tagger:
        said = card(**changes)
        return Tagger(said, Featurizer(said.inputs, None, said.window, said.margin), emissions or Shapes(), {})

    return make


@pytest.fixture
def tiny(tmp_path: Path) -> ModelDirectory:
    """A directory with a random network of letters and shapes, its weights for torch."""
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    from cohortium.ingest.models.tagging.network import CONVOLUTION, Network, NetworkSettings

    torch.manual_seed(1)
    settings = NetworkSettings(CONVOLUTION, len(LABELS), 4, 6, 4, hashed=0, width=8, dilations=(1, 2))
    folder = tmp_path / "model"
    folder.mkdir()
    safetensors.save_file(Network(settings).eval().state_dict(), str(folder / "weights.safetensors"))
    return write_card(folder, card(name="tiny", inputs=settings.inputs, network=settings.as_dict()))
