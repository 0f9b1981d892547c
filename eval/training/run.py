"""A whole training: base, adaptation, training, scores, the model directory with its card."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch

from ...ingest.models.optional import versions
from ...ingest.models.tagging.features import Featurizer
from ...ingest.models.tagging.labels import LabelSet
from ...ingest.models.tagging.model_card import Material, ModelCard, as_json
from ...ingest.models.tagging.model_directory import CARD, ModelDirectory
from ...kb.errors import UsageError
from ...kb.version import __version__
from ..extraction.corpora.licences import licence_of
from .adapt import AdaptationSettings, adapt, texts_in
from .bases import UNTOLD, Base, base_of, network_of
from .calibration import calibrate
from .examples import examples_of
from .export.onnx_file import check_room, write_model
from .loop import Epoch, Trained, Training
from .recipe import Recipe
from .settings import TrainingSettings
from .span_scores import scores_of

ADAPTED: Final = "adapted"
WORK: Final = ".training"
_LIBRARIES: Final = ("torch", "transformers", "tokenizers", "numpy")


@dataclass(frozen=True, slots=True)
class Heard:
    """Who is told how it goes: a step's name, an epoch, the share of an epoch that is done."""

    step: Callable[[str], None] = lambda _: None
    epoch: Callable[[Epoch], None] = lambda _: None
    advanced: Callable[[float], None] = lambda _: None


def refuse_model(out: Path) -> None:
    """UsageError where a model stands, since weeks of work must not be written over by a slip; or anything else, which
    is to be told before the hours of a training, and not behind them."""
    if (out / CARD).exists():
        raise UsageError(f"there is a model in '{out}'. Hint: another --out, or remove it")
    check_room(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f"{out.name}{WORK}-"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write beside '{out}': {error.strerror}. Hint: another --out") from error


def train(
    recipe: Recipe,
    settings: TrainingSettings,
    out: Path,
    *,
    base: Path | None = None,
    adapt_to: Path | None = None,
    adaptation: AdaptationSettings | None = None,
    heard: Heard = Heard(),
    command: str = "",
) -> ModelDirectory:
    """Train a recogniser and write its directory to ``out``; a run that was stopped goes on where it was.

    UsageError for a base or corpora that cannot be read or do not fit. What is half done lies beside ``out``, in a
    folder of its name with ``.training`` behind it, which the finished run removes.
    """
    refuse_model(out)
    began = time.monotonic()
    out = out.resolve()  # "." has no name that the folder beside it could be called by.
    work = out.with_name(out.name + WORK)
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to '{work}': {error.strerror}. Hint: another --out") from error
    labels = LabelSet(recipe.types)
    torch.manual_seed(settings.seed)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    heard.step("reading the base")
    begun = base_of(base, labels, settings)
    adapted = None
    if adapt_to is not None:
        if begun.encoder is None or begun.tokenizer is None:
            raise UsageError("only an encoder can be adapted. Hint: --base DIR of a Hugging Face encoder")
        heard.step("adapting the encoder")
        adapted = adapt(
            begun.encoder,
            begun.tokenizer,
            texts_in(adapt_to),
            adaptation or AdaptationSettings(device=settings.device, precision=settings.precision, seed=settings.seed),
            work / ADAPTED,
            told=lambda step, of, _: heard.advanced(step / of),
        )
        torch.manual_seed(settings.seed)
    network = network_of(begun)
    featurizer = Featurizer(network.settings.inputs, begun.tokenizer, settings.window)
    heard.step("training")
    examples = examples_of(recipe.train, labels, featurizer, settings.balance)
    training = Training(settings, network, labels, featurizer, work, heard.epoch, heard.advanced)
    trained = training.run(examples, recipe.development)
    heard.step("scoring")
    scores = _scores(training, recipe)
    signature = {
        "cohortium": __version__,
        "command": command,
        "base": begun.name,
        "settings": settings.as_dict(),
        **({"adaptation": asdict(adapted)} if adapted else {}),
        "corpora": recipe.told,
        "epochs": [asdict(one) for one in trained.epochs],
        "best_epoch": trained.best.number if trained.best else 0,
        "seconds": round(time.monotonic() - began, 1),
        "libraries": versions(*_LIBRARIES),
    }
    heard.step("writing the model")
    card = _card(out, recipe, labels, trained, featurizer, scores, signature, _materials(recipe, begun))
    write_model(out, trained.network, card, begun.tokenizer)
    heard.step("calibrating")
    made = calibrate(out, recipe.development)
    shutil.rmtree(work, ignore_errors=True)
    return made


def _scores(training: Training, recipe: Recipe) -> dict[str, Any]:
    """Exact entity scores on each development corpus, of the types that it annotates."""
    told: dict[str, Any] = {}
    for part in recipe.development:
        found = [part.annotated(some) for some in training.entities(part.corpus.documents)]
        told[part.corpus.name] = scores_of(part.gold(), found, sorted(part.types))
    return told


def _card(
    out: Path,
    recipe: Recipe,
    labels: LabelSet,
    trained: Trained,
    featurizer: Featurizer,
    scores: dict[str, Any],
    signature: dict[str, Any],
    materials: Sequence[Material],
) -> ModelCard:
    decoder = trained.decoder(labels)
    settings = trained.network.settings
    return ModelCard.model_validate(
        {
            "name": recipe.name or out.name,
            "description": recipe.description,
            "types": labels.types,
            "inputs": settings.inputs,
            "network": settings.as_dict(),
            "window": featurizer.size,
            "margin": featurizer.margin,
            "transitions": as_json(decoder.transitions),
            "start": as_json(decoder.start),
            "end": as_json(decoder.end),
            "scores": {"exact": scores},
            "signature": signature,
            "materials": [one.model_dump() for one in materials],
            "limits": recipe.limits,
        }
    )


def _materials(recipe: Recipe, begun: Base) -> list[Material]:
    """What the model was made from, each with its terms; those of a corpus that nobody told stay open."""
    found = list(begun.materials)
    for part in recipe.train:
        terms = licence_of(part.corpus)
        told = Material(
            name=terms.name if terms else part.corpus.name,
            licence=terms.licence if terms else UNTOLD,
            source=terms.source if terms else "",
            use="training",
        )
        if told not in found:
            found.append(told)
    return found
