"""A whole training: base, adaptation, training, scores, the model directory with its card."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping
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
from .adapt import AdaptationSettings, Adapted, adapt, texts_in
from .bases import UNTOLD, Base, base_of, network_of
from .calibration import calibrate
from .examples import examples_of
from .export.onnx_file import check_room, write_model
from .loop import SILENT, Progress, Trained, Training
from .recipe import Recipe
from .settings import TrainingSettings
from .span_scores import scores_of

ADAPTED: Final = "adapted"
WORK: Final = ".training"
_LIBRARIES: Final = ("torch", "transformers", "tokenizers", "numpy")


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a training begins from: an encoder or a model (else a new network), and texts to adapt the encoder to."""

    base: Path | None = None
    adapt_to: Path | None = None
    adaptation: AdaptationSettings | None = None


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
    beginning: Beginning = Beginning(),
    progress: Progress = SILENT,
    command: str = "",
) -> ModelDirectory:
    """Train a recogniser and write its directory to ``out``; a run that was stopped goes on where it was.

    UsageError for a base or corpora that cannot be read or do not fit. What is half done lies beside ``out``, in a
    folder of its name with ``.training`` behind it, which the finished run removes.
    """
    refuse_model(out)
    began = time.monotonic()
    out = out.resolve()  # "." has no name that the folder beside it could be called by.
    work = _workplace(out)
    labels = LabelSet(recipe.types)
    torch.manual_seed(settings.seed)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    progress.step("reading the base")
    base = base_of(beginning.base, labels, settings)
    adapted = _adapted(base, beginning, settings, work, progress)
    network = network_of(base)
    featurizer = Featurizer(network.settings.inputs, base.tokenizer, settings.window)
    progress.step("training")
    examples = examples_of(recipe.train, labels, featurizer, settings.balance)
    training = Training(settings, network, labels, featurizer, work, progress)
    trained = training.run(examples, recipe.development)
    progress.step("scoring")
    card: dict[str, Any] = {"name": recipe.name or out.name, "scores": {"exact": _scores(training, recipe)}}
    card["signature"] = {
        "cohortium": __version__,
        "command": command,
        "base": base.name,
        "settings": settings.as_dict(),
        **({"adaptation": asdict(adapted)} if adapted else {}),
        "corpora": recipe.corpora,
        "epochs": [asdict(one) for one in trained.epochs],
        "best_epoch": trained.best.number if trained.best else 0,
        "seconds": round(time.monotonic() - began, 1),
        "libraries": versions(*_LIBRARIES),
    }
    card["materials"] = [one.model_dump() for one in _materials(recipe, base)]
    progress.step("writing the model")
    write_model(out, trained.network, _card(card, recipe, trained, labels, featurizer), base.tokenizer)
    progress.step("calibrating")
    made = calibrate(out, recipe.development)
    shutil.rmtree(work, ignore_errors=True)
    return made


def _workplace(out: Path) -> Path:
    """The folder beside ``out`` for what is half done."""
    work = out.with_name(out.name + WORK)
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to '{work}': {error.strerror}. Hint: another --out") from error
    return work


def _adapted(
    base: Base, beginning: Beginning, settings: TrainingSettings, work: Path, progress: Progress
) -> Adapted | None:
    """What came of adapting the encoder, where that is asked for; the seed is as if nothing had been."""
    if beginning.adapt_to is None:
        return None
    if base.encoder is None or base.tokenizer is None:
        raise UsageError("only an encoder can be adapted. Hint: --base DIR of a Hugging Face encoder")
    progress.step("adapting the encoder")
    like_training = AdaptationSettings(device=settings.device, precision=settings.precision, seed=settings.seed)
    adapted = adapt(
        base.encoder,
        base.tokenizer,
        texts_in(beginning.adapt_to),
        beginning.adaptation or like_training,
        work / ADAPTED,
        lambda step, steps, _: progress.advance(step / steps),
    )
    torch.manual_seed(settings.seed)
    return adapted


def _scores(training: Training, recipe: Recipe) -> dict[str, Any]:
    """Exact entity scores on each development corpus, of the types that it annotates."""
    scores: dict[str, Any] = {}
    for part in recipe.development:
        found = [part.annotated(some) for some in training.entities(part.corpus.documents)]
        scores[part.corpus.name] = scores_of(part.gold(), found, sorted(part.types))
    return scores


def _card(
    made: Mapping[str, Any], recipe: Recipe, trained: Trained, labels: LabelSet, featurizer: Featurizer
) -> ModelCard:
    """The card: name, scores, signature and materials as they were ``made``, with what the recogniser needs to run."""
    decoder = trained.decoder(labels)
    settings = trained.network.settings
    return ModelCard.model_validate(
        {
            **made,
            "description": recipe.description,
            "types": labels.types,
            "inputs": settings.inputs,
            "network": settings.as_dict(),
            "window": featurizer.size,
            "margin": featurizer.margin,
            "transitions": as_json(decoder.transitions),
            "start": as_json(decoder.start),
            "end": as_json(decoder.end),
            "limits": recipe.limits,
        }
    )


def _materials(recipe: Recipe, base: Base) -> list[Material]:
    """What the model was made from, each with its terms; those of a corpus that nobody named stay open."""
    found = list(base.materials)
    for part in recipe.train:
        terms = licence_of(part.corpus)
        material = Material(
            name=terms.name if terms else part.corpus.name,
            licence=terms.licence if terms else UNTOLD,
            source=terms.source if terms else "",
            use="training",
        )
        if material not in found:
            found.append(material)
    return found
