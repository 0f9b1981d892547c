"""Model directory of a trained network: weights for torch, int8 for onnxruntime, word pieces, card; and a check.

The check reads texts with both networks: how far their scores are apart, and on which entities they agree.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy
from pydantic import ValidationError

from ....ingest.models.optional import library
from ....ingest.models.tagging.features import Featurizer
from ....ingest.models.tagging.model_card import ModelCard
from ....ingest.models.tagging.model_directory import CARD, ONNX, README, TOKENIZER, WEIGHTS, ModelDirectory, write_card
from ....ingest.models.tagging.runtime import torch_network
from ....ingest.models.tagging.tagger import Tagger, Words
from ....kb.errors import BadModel, UsageError
from .fewer_pieces import without_unused_pieces
from .model_readme import readme_of
from .quantise import write_int8, write_onnx

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ....ingest.models.tagging.network import Network

#: Two windows of unlike length: what a network is written down on.
_SAMPLE = (["Larkadol", "20", "mg", "for", "restless", "legs", "."], ["Gout", "(", "HER2-negative", ")"])


@dataclass(frozen=True, slots=True)
class Agreement:
    """The int8 network against the one of torch, on some texts.

    ``largest``, ``mean``: difference of their scores; ``tags``: share of words with the same tag on their own;
    ``both``, ``torch_only``, ``onnx_only``: entities (same borders, same type).
    """

    words: int
    largest: float
    mean: float
    tags: float
    both: int
    torch_only: int
    onnx_only: int

    @property
    def f1(self) -> float | None:
        """Of the entities of one against those of the other; None where neither found one."""
        below = 2 * self.both + self.torch_only + self.onnx_only
        return 2 * self.both / below if below else None

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON."""
        return {**asdict(self), "f1": self.f1}


@dataclass(frozen=True, slots=True)
class Parts:
    """What of a network is written. ``weights``: torch's; ``int8``: onnxruntime's; ``keep``: names of products that
    stay float32; ``pieces_of``: texts, of whose word pieces alone (and of all of one letter) the vectors stay.

    UsageError where nothing would be.
    """

    weights: bool = True
    int8: bool = True
    keep: Sequence[str] = ()
    pieces_of: Iterable[str] | None = None

    def __post_init__(self) -> None:
        if not self.weights and not self.int8:
            raise UsageError("a model needs weights for torch or for onnxruntime. Hint: leave one of the two on")


#: Everything, as it was trained.
ALL: Final = Parts()


def write_model(
    folder: Path, network: Network, card: ModelCard, tokenizer: Tokenizer | None = None, parts: Parts = ALL
) -> ModelDirectory:
    """Write a trained network as a model directory, and open it.

    The inputs, settings and files of ``card`` are filled in. A folder that holds a model is written over, file by file,
    each one whole before it takes its place; one that holds something else is refused (UsageError).
    """
    _make_room(folder)
    if parts.pieces_of is not None and tokenizer is not None:
        network, tokenizer = without_unused_pieces(network, tokenizer, parts.pieces_of)
    filled = card.model_copy(update={"inputs": network.settings.inputs, "network": network.settings.as_dict()})
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as name:
        part = Path(name)
        if tokenizer is not None:
            tokenizer.no_padding()
            tokenizer.no_truncation()
            tokenizer.save(str(part / TOKENIZER))
        if parts.weights:
            tensors = {key: value.detach().cpu().contiguous() for key, value in network.state_dict().items()}
            library("safetensors.torch", "models").save_file(tensors, str(part / WEIGHTS[0]))
        if parts.int8:
            arrays = Featurizer(filled.inputs, tokenizer, filled.window, filled.margin).batch(_SAMPLE)
            write_onnx(network, arrays, part / "float32.onnx")
            write_int8(part / "float32.onnx", part / ONNX, parts.keep)
            (part / "float32.onnx").unlink()
        made = sorted(one.name for one in part.iterdir())
        for one in made:
            (part / one).replace(folder / one)
    for one in {ONNX, *WEIGHTS, TOKENIZER} - set(made):
        (folder / one).unlink(missing_ok=True)
    return _with_readme(folder, filled)


def rewrite_card(folder: Path, **changes: Any) -> ModelDirectory:
    """Change fields of a model's card (scores, calibration …) and its README with them.

    Without changes the README is written anew. BadModel for a file that is not the one that the card names, and for
    fields that do not hold together.
    """
    model = ModelDirectory.open(folder)
    for name in model.card.files:
        if name != README and model.has(name):
            model.file(name)  # Or the new card would vouch for a file that was cut short.
    try:
        card = ModelCard.model_validate({**model.card.model_dump(), **changes})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        reason = f"{place + ': ' if place else ''}{str(first['msg']).removeprefix('Value error, ')}"
        raise BadModel(
            f"the card of '{folder}' cannot be changed so: {reason}. Hint: its fields: docs/reference/tagger.md"
        ) from error
    return _with_readme(folder, card)


def remake(model: ModelDirectory, folder: Path, parts: Parts = ALL) -> ModelDirectory:
    """Another directory of the same model, made anew from its weights for torch."""
    tokenizer = None
    if model.has(TOKENIZER):
        tokenizer = library("tokenizers", "models").Tokenizer.from_file(str(model.file(TOKENIZER)))
    return write_model(folder, torch_network(model), model.card, tokenizer, parts)


def slim_copy(model: ModelDirectory, folder: Path) -> ModelDirectory:
    """A copy of a model without the weights that only torch needs: what is handed on."""
    _make_room(folder)
    for name in (ONNX, TOKENIZER):
        if model.has(name):
            shutil.copyfile(model.file(name), folder / name)
    return _with_readme(folder, model.card)


def agreement(folder: Path, texts: Sequence[Words]) -> Agreement:
    """Read texts with both networks of a directory. BadModel where it lacks one of them."""
    exact, small = (Tagger.load(folder, runtime=one) for one in ("torch", "onnx"))
    pairs = list(zip(exact.emissions(texts), small.emissions(texts), strict=True))
    decoder = exact.card.decoder()
    both = torch_only = onnx_only = 0
    for one, other in zip(*(decoder.best(list(side)) for side in zip(*pairs, strict=True)), strict=True):
        mine, theirs = set(decoder.labels.decode(one)), set(decoder.labels.decode(other))
        both += len(mine & theirs)
        torch_only += len(mine - theirs)
        onnx_only += len(theirs - mine)
    first, second = (numpy.concatenate(side) for side in zip(*pairs, strict=True))
    apart = numpy.abs(first - second)
    same = first.argmax(axis=1) == second.argmax(axis=1)
    largest, mean, alike = (apart.max(), apart.mean(), same.mean()) if len(apart) else (0.0, 0.0, 1.0)
    return Agreement(
        words=len(first),
        largest=round(float(largest), 6),
        mean=round(float(mean), 6),
        tags=round(float(alike), 6),
        both=both,
        torch_only=torch_only,
        onnx_only=onnx_only,
    )


def _with_readme(folder: Path, card: ModelCard) -> ModelDirectory:
    """Write card and README; the README names the files, the card has the checksum of the README."""
    known = write_card(folder, card).card
    (folder / README).write_text(readme_of(known), encoding="utf-8")
    return write_card(folder, known)


def _make_room(folder: Path) -> None:
    """The folder, which is new, empty, or holds a model already; UsageError for any other."""
    check_room(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write a model to '{folder}': {error.strerror}") from error


def check_room(folder: Path) -> None:
    """UsageError where something stands that is neither a model nor an empty folder. Nothing is made."""
    try:
        strange = [one.name for one in folder.iterdir() if not one.name.startswith(".")] if folder.exists() else []
    except OSError as error:
        raise UsageError(f"cannot write a model to '{folder}': {error.strerror}. Hint: another folder") from error
    if strange and CARD not in strange:
        raise UsageError(f"'{folder}' holds something that is no model. Hint: a new or empty folder")
