"""The label set of a tagger: types in an order, their tags B-, I- and O, and which tag may follow which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy
from numpy.typing import NDArray

OUTSIDE = "O"


@dataclass(frozen=True)
class LabelSet:
    """Types in a fixed order. Tag 0 is ``O``; type ``i`` has the tags ``2i+1`` (``B-``) and ``2i+2`` (``I-``).

    ValueError for no types, a type twice, or an empty name.
    """

    types: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.types or len(set(self.types)) != len(self.types) or not all(self.types):
            raise ValueError("a label set needs types, each named and named once")

    @classmethod
    def for_types(cls, types: Iterable[str]) -> LabelSet:
        """The label set of some types, in the order of the alphabet."""
        return cls(tuple(sorted(set(types))))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """All tags in the order of their numbers."""
        return (OUTSIDE, *(prefix + name for name in self.types for prefix in ("B-", "I-")))

    def __len__(self) -> int:
        return 2 * len(self.types) + 1

    @cached_property
    def allowed(self) -> NDArray[numpy.bool_]:
        """``allowed[i, j]``: tag ``j`` may follow tag ``i``. ``I-X`` follows ``B-X`` and ``I-X`` alone."""
        matrix = numpy.ones((len(self), len(self)), dtype=bool)
        for inside in range(2, len(self), 2):
            matrix[:, inside] = False
            matrix[inside - 1, inside] = matrix[inside, inside] = True
        return matrix

    @cached_property
    def may_begin(self) -> NDArray[numpy.bool_]:
        """Which tags the first word may have: all but ``I-``."""
        begins = numpy.ones(len(self), dtype=bool)
        begins[2::2] = False
        return begins

    def encode(self, entities: Iterable[tuple[int, int, str]], words: int) -> NDArray[numpy.int64]:
        """Tag numbers, shape (words,), of entities (first word, behind last word, type) that do not overlap.

        KeyError for a type that is not of the set.
        """
        number = {name: at for at, name in enumerate(self.types)}
        tags = numpy.zeros(words, dtype=numpy.int64)
        for first, last, name in entities:
            tags[first:last] = 2 * number[name] + 2
            tags[first] = 2 * number[name] + 1
        return tags

    def decode(self, tags: Sequence[int] | NDArray[numpy.int64]) -> list[tuple[int, int, str]]:
        """The entities of tag numbers, as (first word, behind last word, type); a stray ``I-`` begins an entity."""
        found: list[tuple[int, int, str]] = []
        begin, kind = 0, -1
        for at, tag in enumerate([*map(int, tags), 0]):
            inside = tag > 0 and tag % 2 == 0 and (tag - 1) // 2 == kind
            if inside:
                continue
            if kind >= 0:
                found.append((begin, at, self.types[kind]))
            begin, kind = at, (tag - 1) // 2 if tag else -1
        return found
