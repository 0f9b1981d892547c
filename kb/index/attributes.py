"""Attribute columns of the event index: for each kind and attribute name, a value code for each row that has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb
import numpy as np
import pyarrow as pa

from ..statements import statements
from .arrays import Array, ArrayWriter, narrowest
from .words import packed

_PAIR: Final = np.dtype([("row", "<i8"), ("value", "<i4")])


class AttributeColumns:
    """Writes them. Rows come in the order of the database and are first sorted out by kind and name, on the disk."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        writer: ArrayWriter,
        scratch: Path,
        kinds: dict[str, tuple[int, int]],
    ) -> None:
        """``kinds``: the first row of each kind and the one after its last, in the order of rows."""
        self._database = database
        self._writer = writer
        self._scratch = scratch
        self._kinds = kinds
        self._statements = statements("event_index")

    def write(self, row_of_event: Array, batch: int) -> list[list[str]]:
        """All columns; the (kind, name) of each, by number: the arrays of the n-th begin with ``attribute_n_``."""
        self._database.execute(self._statements["make_values"])
        values: dict[str, list[str | float]] = {}
        for name, text, number in self._database.execute(self._statements["values"]).fetchall():
            values.setdefault(name, []).append(number if text is None else text)
        names = list(values)
        table = pa.table({"name": pa.array(names, pa.string()), "position": pa.array(range(len(names)), pa.int32())})
        self._database.register("index_name", table)
        sorted_out = self._sort_out(row_of_event, len(names), batch)
        self._database.unregister("index_name")
        found: list[list[str]] = []
        for (kind, name), path in sorted_out.items():
            pairs = np.fromfile(path, _PAIR)
            path.unlink()
            self._column(len(found), self._kinds[kind], pairs, values[names[name]])
            found.append([kind, names[name]])
        return found

    def _sort_out(self, row_of_event: Array, names: int, batch: int) -> dict[tuple[str, int], Path]:
        """Files of (row, value) pairs by kind and name."""
        kinds = list(self._kinds)
        starts = np.array([start for start, _ in self._kinds.values()], dtype=np.int64)
        files: dict[int, BinaryIO] = {}
        try:
            for keys, pairs in self._batches(row_of_event, starts, names, batch):
                for key, part in zip(*_parts(keys, pairs), strict=True):
                    if key not in files:
                        files[key] = (self._scratch / f"attribute_{key}").open("wb")
                    files[key].write(part.tobytes())
        finally:
            for file in files.values():
                file.close()
        return {(kinds[key // names], key % names): self._scratch / f"attribute_{key}" for key in sorted(files)}

    def _batches(self, row_of_event: Array, starts: Array, names: int, batch: int) -> Iterator[tuple[Array, Array]]:
        for columns in self._database.sql(self._statements["attributes"]).to_arrow_reader(batch):
            event, name, value = (column.to_numpy(zero_copy_only=False) for column in columns.columns)
            pairs = np.empty(len(event), _PAIR)
            pairs["row"], pairs["value"] = row_of_event[event], value
            kind = np.searchsorted(starts, pairs["row"], side="right") - 1
            yield kind * names + name, pairs

    def _column(self, number: int, rows: tuple[int, int], pairs: Array, values: list[str | float]) -> None:
        """One code a row of the kind (the last one: no value), or row numbers and codes, whichever is smaller."""
        used, codes = np.unique(pairs["value"], return_inverse=True)
        own = [values[value] for value in used.tolist()]
        texts = [value for value in own if isinstance(value, str)]
        numbers = [value for value in own if not isinstance(value, str)]
        at = pairs["row"] - rows[0]
        length = rows[1] - rows[0]
        code_type, row_type = narrowest(0, len(own)), narrowest(0, length)
        prefix = f"attribute_{number}_"
        if length * code_type.itemsize <= len(at) * (code_type.itemsize + row_type.itemsize):
            column = self._writer.create(f"{prefix}codes", code_type, length)
            column[:] = len(own)
            column[at] = codes
        else:
            order = np.argsort(at)
            self._writer.add(f"{prefix}rows", at[order], row_type)
            self._writer.add(f"{prefix}codes", codes[order], code_type)
        # Numbers follow the texts, as the database ordered them.
        self._writer.add(f"{prefix}texts", packed(texts))
        self._writer.add(f"{prefix}numbers", np.array(numbers, dtype=np.float64), "<f8")


def _parts(keys: Array, pairs: Array) -> tuple[list[int], list[Any]]:
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    return distinct.tolist(), np.split(pairs[order], first[1:]) if len(distinct) else []
