"""The data of the simulator, read once."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

_FOLDER = Path(__file__).parent
_One = TypeVar("_One")


@cache
def table(name: str) -> dict[str, Any]:
    """The table of that name in this folder."""
    with (_FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def chosen(rng: random.Random, options: Sequence[_One], weights: Sequence[float]) -> _One:
    """One of ``options``, by weight; ValueError where there is none of positive weight."""
    return rng.choices(options, weights)[0]


def drawn(rng: random.Random, options: Iterable[tuple[_One, float]], count: int) -> list[_One]:
    """``count`` different ones by weight, without putting back (each gets the key u^(1/w); the greatest keys win)."""
    keyed = [(rng.random() ** (1 / weight), place, one) for place, (one, weight) in enumerate(options) if weight > 0]
    return [one for _, _, one in sorted(keyed, key=lambda each: (-each[0], each[1]))[:count]]
