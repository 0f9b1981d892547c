"""Attribute columns of the event index: for each kind and attribute name, a value code for each row that has one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb
import numpy as np
import pyarrow as pa

from .ahead import ahead
from .arrays import Array, ArrayWriter, narrowest
from .word_arrays import packed

_PAIR: Final = np.dtype([("row", "<i8"), ("value", "<i4")])
#: So many pairs are in memory at a time.
_BLOCK: Final = 1 << 20


class AttributeColumns:
    """Writes them. Rows come in the order of the database and are first sorted out by kind and name, on the disk."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        statements: Mapping[str, str],
        writer: ArrayWriter,
        scratch: Path,
        kinds: dict[str, tuple[int, int]],
    ) -> None:
        """``statements``: those of ``event_index.sql``; ``kinds``: the first row of each kind and the one after its
        last, in the order of rows."""
        self._database = database
        self._writer = writer
        self._scratch = scratch
        self._kinds = kinds
        self._statements = statements

    def write(self, row_of_event: Array, batch: int) -> list[list[str]]:
        """All columns; the (kind, name) of each, by number: the arrays of the n-th begin with ``attribute_n_``."""
        self._database.execute(self._statements["make_values"])
        names = [name for (name,) in self._database.execute(self._statements["names"]).fetchall()]
        table = pa.table({"name": pa.array(names, pa.string()), "position": pa.array(range(len(names)), pa.int32())})
        self._database.register("index_name", table)
        sorted_out = self._sort_out(row_of_event, len(names), batch)
        self._database.unregister("index_name")
        found: list[list[str]] = []
        for position, name in enumerate(names):
            values = self._database.sql(self._statements["values"], params=[name]).to_arrow_table()
            # Texts first, as the statement orders them.
            texts: list[str] = values["text"].drop_null().to_pylist()
            numbers: Array = values["number"].slice(len(texts)).to_numpy()
            for kind, rows in self._kinds.items():
                path = sorted_out.get((kind, position))
                if path is not None:
                    self._column(len(found), rows, path, texts, numbers)
                    path.unlink()
                    found.append([kind, name])
        return found

    def _sort_out(self, row_of_event: Array, names: int, batch: int) -> dict[tuple[str, int], Path]:
        """Files of (row, value) pairs by kind and name."""
        kinds = list(self._kinds)
        starts = np.array([start for start, _ in self._kinds.values()], dtype=np.int64)
        files: dict[int, BinaryIO] = {}
        try:
            with ahead(self._batches(row_of_event, starts, names, batch)) as batches:
                for keys, pairs in batches:
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

    def _column(self, number: int, rows: tuple[int, int], path: Path, texts: list[str], numbers: Array) -> None:
        """One code a row of the kind (the last one: no value), or row numbers and codes, whichever is smaller."""
        counts = np.zeros(len(texts) + len(numbers), dtype=np.int64)
        for pairs in _blocks(path):
            counts += np.bincount(pairs["value"], minlength=len(counts))
        used, held, length = np.flatnonzero(counts), int(counts.sum()), rows[1] - rows[0]
        dense, code_type, row_type = column_form(length, held, len(used))
        code = np.zeros(len(counts), dtype=code_type)
        code[used] = np.arange(len(used))
        prefix = f"attribute_{number}_"
        if dense:
            column = self._writer.create(f"{prefix}codes", code_type, length)
            column[:] = len(used)
            for pairs in _blocks(path):
                column[pairs["row"] - rows[0]] = code[pairs["value"]]
        else:
            pairs = np.fromfile(path, _PAIR)
            pairs = pairs[np.argsort(pairs["row"])]
            self._writer.add(f"{prefix}rows", pairs["row"] - rows[0], row_type)
            self._writer.add(f"{prefix}codes", code[pairs["value"]], code_type)
        texts_used = np.searchsorted(used, len(texts))
        self._writer.add(f"{prefix}texts", packed([texts[at] for at in used[:texts_used].tolist()]))
        self._writer.add(f"{prefix}numbers", numbers[used[texts_used:] - len(texts)], "<f8")


def column_form(rows: int, held: int, values: int) -> tuple[bool, np.dtype[Any], np.dtype[Any]]:
    """Whether a column has a code for every row of its kind, being smaller so than rows with codes would be; the types
    of codes and of rows."""
    code, row = narrowest(0, values), narrowest(0, rows)
    return rows * code.itemsize <= held * (code.itemsize + row.itemsize), code, row


def _blocks(path: Path) -> Iterator[Array]:
    """The pairs of a file, some at a time."""
    with path.open("rb") as file:
        while len(pairs := np.fromfile(file, _PAIR, _BLOCK)):
            yield pairs


def _parts(keys: Array, pairs: Array) -> tuple[list[int], list[Any]]:
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    return distinct.tolist(), np.split(pairs[order], first[1:]) if len(distinct) else []
