"""Trains the vectors of names: two names of one concept near, those of other concepts far (in-batch contrast)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....ingest.models.linking.encoders import GramEncoder, buckets_of
from ....ingest.models.optional import library
from .cases import misspelt


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """How the vectors are trained. ``slips``: the share of pairs of which one name is misspelt."""

    buckets: int = 24_576
    dimension: int = 64
    epochs: int = 8
    batch: int = 512
    rate: float = 0.01
    temperature: float = 0.06
    slips: float = 0.15
    seed: int = 7


def train_vectors(pairs: Sequence[tuple[str, str, str]], settings: VectorSettings | None = None) -> GramEncoder:
    """An encoder from (group, name, name); names of one group are never contrasted. Needs torch (the extra
    ``models``); equal pairs and settings give equal vectors on one machine."""
    settings = settings or VectorSettings()
    torch = library("torch", "models")
    torch.manual_seed(settings.seed)
    draw = random.Random(settings.seed)
    bag = torch.nn.EmbeddingBag(settings.buckets, settings.dimension, mode="sum")
    torch.nn.init.normal_(bag.weight, std=0.1)
    steps = settings.epochs * (len(pairs) // settings.batch + 1)
    optimizer = torch.optim.Adam(bag.parameters(), lr=settings.rate)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=settings.rate, total_steps=steps + 1)
    kept: dict[str, list[int]] = {}

    def placed(text: str) -> list[int]:
        found = kept.get(text)
        if found is None:
            found = kept[text] = buckets_of(text, settings.buckets) or [0]
        return found

    def rows(texts: Sequence[str]) -> Any:
        held = [placed(text) for text in texts]
        flat = torch.tensor([at for one in held for at in one], dtype=torch.int64)
        begins = torch.tensor(np.cumsum([0, *(len(one) for one in held[:-1])]), dtype=torch.int64)
        return torch.nn.functional.normalize(bag(flat, begins), dim=1)

    def varied(text: str) -> str:
        return misspelt(text) if draw.random() < settings.slips else text

    listed = list(pairs)
    for _ in range(settings.epochs):
        draw.shuffle(listed)
        for first in range(0, len(listed), settings.batch):
            batch = listed[first : first + settings.batch]
            left, right = rows([one[1] for one in batch]), rows([varied(one[2]) for one in batch])
            scores = left @ right.T / settings.temperature
            groups: dict[str, int] = {}
            numbers = torch.tensor([groups.setdefault(one[0], len(groups)) for one in batch])
            same = numbers[:, None] == numbers[None, :]
            same.fill_diagonal_(False)
            scores = scores.masked_fill(same, -1e4)
            target = torch.arange(len(batch))
            loss = torch.nn.functional.cross_entropy(scores, target) + torch.nn.functional.cross_entropy(
                scores.T, target
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            plan.step()
    table = bag.weight.detach().numpy()
    used = np.zeros(settings.buckets, dtype=bool)
    for places in kept.values():
        used[places] = True
    # What no pair touched holds noise alone.
    table = np.where(used[:, None], table, 0)
    scales = np.abs(table).max(axis=1) / 127
    whole = np.round(table / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return GramEncoder(whole, scales.astype(np.float16).astype(np.float32))
