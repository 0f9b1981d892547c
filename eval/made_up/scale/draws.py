"""Draws from distributions for many groups at once, with no loop over what is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator

#: What is drawn for a group that has nothing.
NOTHING: Final = -1


class Choice:
    """For each group a distribution over numbers; one is drawn for each of an array of groups."""

    def __init__(self, groups: Sequence[Sequence[tuple[int, float]]]) -> None:
        """``groups``: the numbers and weights of each; a group with none gives :data:`NOTHING`."""
        values: list[int] = []
        edges: list[float] = []
        for group, entries in enumerate(groups):
            kept = [(value, weight) for value, weight in entries if weight > 0] or [(NOTHING, 1.0)]
            shares = np.cumsum([weight for _, weight in kept])
            values += [value for value, _ in kept]
            edges += (group + shares / shares[-1]).tolist()
            edges[-1] = group + 1.0
        self._values = np.array(values, dtype=np.int64)
        self._edges = np.array(edges)

    def draw(self, random: Random, groups: Array) -> Array:
        """A number for each group."""
        found: Array = self._values[
            np.searchsorted(self._edges, np.asarray(groups) + random.random(len(groups)), side="right")
        ]
        return found


def zipf(ranked: Iterable[int], steepness: float) -> list[tuple[int, float]]:
    """Numbers with weights that fall with their rank."""
    return [(value, 1.0 / rank**steepness) for rank, value in enumerate(ranked, start=1)]


def weighted(shares: Mapping[int, float], of_all: int = 0) -> list[tuple[int, float]]:
    """Shares of one, and ``of_all`` with what is left of it."""
    return [(of_all, 1.0 - sum(shares.values())), *shares.items()]


class Ragged:
    """For each group a list of numbers, in one array."""

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        """``groups`` may be empty lists."""
        self._values = np.array([value for group in groups for value in group], dtype=np.int64)
        self.counts = np.array([len(group) for group in groups], dtype=np.int64)
        self._starts = np.cumsum(self.counts) - self.counts

    def spread(self, groups: Array) -> tuple[Array, Array, Array]:
        """All numbers of each group, one behind the other: the place in ``groups``, the position, the number."""
        counts = self.counts[groups]
        at = np.repeat(np.arange(len(groups)), counts)
        position = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        return at, position, self._values[self._starts[groups][at] + position]


def places(counts: Array) -> tuple[Array, Array]:
    """For counts of each owner: the owner of each of all things counted, and its position with the owner."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
