"""The networks of the tagger in torch: words to emissions, one score a tag.

Two kinds. ``encoder``: a transformer over word pieces; a word is its first piece, its letters and its shape.
``convolution``: made from nothing; a word is its letters, its shape and its hashed form. Over the words of both lies a
stack of convolutions whose padding is kept at zero, so that an answer never depends on what else is in the batch.
Imported where torch is at hand alone: by training, export, and the runtime that computes with torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from .features import CHARACTER_IDS, HASHES, SHAPE_IDS

ENCODER = "encoder"
CONVOLUTION = "convolution"


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """What a network is made of. Widths count numbers a word; ``layers`` and ``dilations`` are of the convolutions.

    ``encoder``: the settings of the transformer (``config.json`` of its folder); empty without one.
    """

    kind: str
    tags: int
    characters: int = 24
    filters: int = 32
    shapes: int = 12
    hashed: int = 0
    width: int = 256
    dilations: tuple[int, ...] = (1,)
    dropout: float = 0.2
    encoder: Mapping[str, Any] | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The arrays that the network reads, in the order of its arguments."""
        pieces = ("pieces", "piece_mask", "first_piece") if self.kind == ENCODER else ()
        return (*pieces, "word_mask", "shapes", "chars", *(("hashes",) if self.hashed else ()))

    def as_dict(self) -> dict[str, Any]:
        """The settings as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> NetworkSettings:
        """The settings out of JSON."""
        return cls(**{**data, "dilations": tuple(data.get("dilations", (1,)))})


class Letters(nn.Module):
    """The letters of a word as one vector: the strongest answers of filters three letters wide (and five)."""

    def __init__(self, characters: int, filters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(CHARACTER_IDS, characters, padding_idx=0)
        self.narrow = nn.Conv1d(characters, filters, 3, padding=1)
        self.wide = nn.Conv1d(characters, filters, 5, padding=2)
        self.width = 2 * filters

    def forward(self, chars: Tensor) -> Tensor:
        """[B, W, C] to [B, W, width]."""
        batch, words, letters = chars.shape
        flat = self.embedding(chars.reshape(batch * words, letters)).transpose(1, 2)
        found = torch.cat([self.narrow(flat).amax(2), self.wide(flat).amax(2)], 1)
        return torch.relu(found).reshape(batch, words, self.width)


class Neighbours(nn.Module):
    """One convolution over the words beside each word, added to what there is."""

    def __init__(self, width: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.convolution = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """[B, W, width] to the same."""
        seen = (self.norm(words) * mask).transpose(1, 2)
        return words + self.dropout(nn.functional.gelu(self.convolution(seen).transpose(1, 2)))


class Network(nn.Module):
    """Words to emissions [B, W, tags]; arguments in the order of ``settings.inputs``."""

    def __init__(self, settings: NetworkSettings, encoder: nn.Module | None = None) -> None:
        """``encoder``: a transformer with weights; else one is made of ``settings.encoder``, to be filled."""
        super().__init__()
        self.settings = settings
        self.letters = Letters(settings.characters, settings.filters)
        self.shapes = nn.Embedding(SHAPE_IDS, settings.shapes, padding_idx=0)
        wide = self.letters.width + settings.shapes
        self.encoder: nn.Module | None = None
        if settings.kind == ENCODER:
            self.encoder = encoder if encoder is not None else empty_encoder(settings.encoder or {})
            wide += int((settings.encoder or {})["hidden_size"])
        self.hashed = nn.Embedding(HASHES, settings.hashed, padding_idx=0) if settings.hashed else None
        wide += settings.hashed
        self.dropout = nn.Dropout(settings.dropout)
        self.joined = nn.Linear(wide, settings.width)
        self.neighbours = nn.ModuleList(
            Neighbours(settings.width, dilation, settings.dropout) for dilation in settings.dilations
        )
        self.norm = nn.LayerNorm(settings.width)
        self.emissions = nn.Linear(settings.width, settings.tags)

    def forward(self, *arrays: Tensor) -> Tensor:
        """The emissions, float, [B, W, tags]; those of padding mean nothing."""
        given = dict(zip(self.settings.inputs, arrays, strict=True))
        mask = given["word_mask"].unsqueeze(2).float()
        parts = [self.letters(given["chars"]), self.shapes(given["shapes"])]
        if self.encoder is not None:
            hidden = self.encoder(input_ids=given["pieces"], attention_mask=given["piece_mask"])[0]
            place = given["first_piece"].unsqueeze(2).expand(-1, -1, hidden.shape[2])
            parts.append(torch.gather(hidden, 1, place))
        if self.hashed is not None:
            parts.append(self.hashed(given["hashes"]))
        words = self.joined(self.dropout(torch.cat([part.to(parts[0].dtype) for part in parts], 2)))
        words = nn.functional.gelu(words)
        for neighbours in self.neighbours:
            words = neighbours(words, mask)
        return cast(Tensor, self.emissions(self.dropout(self.norm(words))))


def empty_encoder(config: Mapping[str, Any]) -> nn.Module:
    """A transformer of these settings, its weights yet to be read. No network is asked, no code of a folder runs."""
    from transformers import AutoConfig, AutoModel

    settings = AutoConfig.for_model(**dict(config))
    return cast(nn.Module, AutoModel.from_config(settings, attn_implementation="eager"))


def encoder_of(folder: Path) -> tuple[nn.Module, dict[str, Any]]:
    """A transformer from a local Hugging Face folder, and its settings. OSError or ValueError when it is none."""
    from transformers import AutoModel

    encoder = AutoModel.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False, attn_implementation="eager", dtype=torch.float32
    )
    return encoder, dict(
        encoder.config.to_diff_dict(), model_type=encoder.config.model_type, hidden_size=encoder.config.hidden_size
    )
