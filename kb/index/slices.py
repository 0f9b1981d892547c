"""The order of rows: by kind, then by concept. The events of one kind and concept are a slice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from ..kinds import KINDS
from ..ontology.concepts import ConceptTable
from .arrays import ArrayWriter
from .concept_order import ranks
from .word_arrays import packed

#: A kind and a concept of which there are events.
Slice = tuple[str, str]


def in_order(slices: Iterable[Slice], concepts: ConceptTable) -> list[Slice]:
    """The slices, each once, in the order of rows."""
    found = set(slices)
    rank = ranks(concepts, {concept for _, concept in found})
    kinds = {kind for kind, _ in found}
    named = [*(kind for kind in KINDS if kind in kinds), *sorted(kinds.difference(KINDS))]
    position = {kind: at for at, kind in enumerate(named)}
    return sorted(found, key=lambda one: (position[one[0]], rank[one[1]]))


class WrittenSlices:
    """The slices of an index and where each begins, as they were written."""

    def __init__(
        self, writer: ArrayWriter, slices: Sequence[Slice], rows: Sequence[int], concepts: ConceptTable
    ) -> None:
        """``slices`` come in their order, with the number of rows of each."""
        self._writer = writer
        self._rank = ranks(concepts, {concept for _, concept in slices})
        #: The kinds in the order of rows.
        self.kinds = list(dict.fromkeys(kind for kind, _ in slices))
        #: Where each slice begins, and where the last one ends.
        self.starts = np.cumsum([0, *rows], dtype=np.int64)
        position = {kind: at for at, kind in enumerate(self.kinds)}
        first = np.searchsorted([position[kind] for kind, _ in slices], np.arange(len(self.kinds) + 1))
        #: Of each kind: its first row, and the one after its last.
        self.rows_of = dict(zip(self.kinds, pairwise(self.starts[first].tolist()), strict=True))
        writer.add("slice_starts", self.starts, "<i8")
        writer.add("slice_concepts", np.array([self._rank[concept] for _, concept in slices], dtype=np.int64))
        writer.add("kind_slices", first, "<i8")

    def add_names(self) -> None:
        """Write the names of the concepts, which stand behind all columns."""
        self._writer.add("concepts", packed(sorted(self._rank, key=self._rank.__getitem__)))
