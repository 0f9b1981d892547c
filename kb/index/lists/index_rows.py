"""The event columns of an index as rows to build lists from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...model import Value
from ..columns import EventIndex
from .closing import Array


class IndexRows:
    """What :class:`.building.EventRows` asks for, from the event index."""

    def __init__(self, index: EventIndex) -> None:
        self._index = index
        self.kinds = index.kinds
        #: The dense patient number of each row, and its world.
        self.patient, self.world = index.array("patient"), index.array("world")

    def slices(self, kind: str) -> tuple[Sequence[str], Array]:
        """The concepts of a kind, in the order of their rows, and where the rows of each begin; the last end too."""
        at = self.kinds.index(kind)
        first, last = self._index.array("kind_slices")[at : at + 2].tolist()
        owned = self._index.array("slice_concepts")[first:last].tolist()
        starts = np.asarray(self._index.array("slice_starts")[first : last + 1], dtype=np.int64)
        return [self._index.concepts[concept] for concept in owned], starts

    def attributes(self, kind: str) -> Iterator[tuple[str, Sequence[Value], Array, Array]]:
        """Each attribute of a kind: its name, its values, the rows that have one, in order, and which they have."""
        return self._index.attribute_columns(kind)
