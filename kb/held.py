"""Event rows in memory: those of a kind, or of an attribute name, are read once and then filtered without the database.

A query over a small generation would spend most of its time on asking the database. Text is held as dictionary codes,
about 80 bytes an event; generations with more events than :data:`MOST_EVENTS` are not held at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

#: Above this, the rows of a common kind would weigh hundreds of megabytes, and asking the database costs little beside
#: what is then done with the answer.
MOST_EVENTS: Final = 4_000_000

Array = np.ndarray[Any, np.dtype[Any]]
#: Reads all rows of one kind, or of one attribute name, ordered by event number.
Reader = Callable[[str], pa.Table]


class HeldRows:
    """Rows of one generation by a key (kind, attribute name), each read when first asked for. Safe across threads."""

    def __init__(self, read: Reader) -> None:
        """``read`` gives all rows of a key, ordered by the column ``event``."""
        self._read = read
        self._loading = threading.Lock()
        self._tables: dict[str, pa.Table] = {}

    def of(self, key: str) -> pa.Table:
        """All rows of the key, in one chunk, text as dictionary codes."""
        found = self._tables.get(key)
        if found is None:
            with self._loading:
                found = self._tables.get(key)
                if found is None:
                    found = self._tables[key] = _encoded(self._read(key))
        return found

    def joined(self, keys: Iterable[str], masks: Callable[[pa.Table], Iterable[Array]]) -> pa.Table:
        """The rows of the keys that all ``masks`` of their table admit, ordered by event."""
        parts = []
        for key in sorted(set(keys)):
            table = self.of(key)
            kept: Array | None = None
            for mask in masks(table):
                kept = mask if kept is None else kept & mask
            parts.append(table if kept is None or kept.all() else table.take(pa.array(np.flatnonzero(kept))))
        filled = [part for part in parts if len(part)] or parts[:1]
        if len(filled) == 1:
            return filled[0]
        table = pa.concat_tables(filled).unify_dictionaries().combine_chunks()
        # Stable: attributes of one event stay in the order of their names.
        return table.take(pa.array(np.argsort(table["event"].to_numpy(), kind="stable")))


def word_mask(column: pa.ChunkedArray, words: Iterable[str]) -> Array:
    """For each row of an encoded column of a held table, whether its word is one of ``words``."""
    import pyarrow.compute as pc

    chunk = column.chunk(0)
    wanted = pc.is_in(chunk.dictionary, value_set=pa.array(list(words), pa.string()))
    found: Array = wanted.to_numpy(zero_copy_only=False)[chunk.indices.to_numpy(zero_copy_only=False)]
    return found


def number_mask(column: pa.ChunkedArray, numbers: Array, size: int) -> Array:
    """For each row, whether its number, which is below ``size``, is one of ``numbers``."""
    wanted = np.zeros(size, dtype=bool)
    wanted[numbers[(numbers >= 0) & (numbers < size)]] = True
    found: Array = wanted[column.to_numpy()]
    return found


def _encoded(table: pa.Table) -> pa.Table:
    # Imported when needed: it takes long to load, and opening a knowledge base imports this module.
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.dictionary_encode(column.cast(pa.string()))
        whole = (
            column.unify_dictionaries().combine_chunks()
            if pa.types.is_dictionary(column.type)
            else (column.combine_chunks())
        )
        columns.append(whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks))
    return pa.Table.from_arrays(columns, names=table.column_names)
