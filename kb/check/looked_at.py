"""One generation as its check reads it: the tables alone, a range of patients at a time, in bounded memory."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa

from ..skin.progress import Bar
from ..sql_files import statements
from ..storage.digests import Digests
from ..storage.layout import DATABASE, Layout
from ..storage.quiet_database import quiet_database

_MEMORY: Final = "1GB"
_BATCH: Final = 1_000_000
#: A range of patients ends with so many events, where a note weighs as much as some events.
_PART: Final = 400_000
_NOTE: Final = 20


class LookedAt:
    """A generation under a check; a context manager. duckdb.Error where its database cannot be read."""

    def __init__(self, layout: Layout, generation: str, bar: Bar | None = None, folder: Path | None = None) -> None:
        """``folder``: where the tables lie that are to become the generation; else they lie where it has them."""
        self.layout = layout
        self.generation = generation
        self.folder = folder or layout.generation(generation)
        self.bar = bar or Bar()
        #: What a rule could not look at, told beside what it found: ids that were not derived but made up.
        self.doing = ""
        self.unchecked: dict[str, int] = {}

    @functools.cached_property
    def digests(self) -> Digests:
        """What was written into the files."""
        return self.layout.digests(self.generation, self.layout.manifest_file(self.generation))

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as resources:
            # What is moved to disk may be text of notes: a folder of the owner alone, gone afterwards.
            spill = resources.enter_context(tempfile.TemporaryDirectory(prefix="cohortium-check-"))
            self.database = quiet_database()
            resources.callback(self.database.close)
            self.database.execute("SET temp_directory = $1", [spill])
            self.database.execute("SET memory_limit = $1", [_MEMORY])
            self.database.execute("ATTACH $1 AS built (READ_ONLY)", [str(self.folder / DATABASE)])
            # The readers of the ontology's tables name them alone.
            self.database.execute("SET search_path = 'memory.main,built.main'")
            self._set_range(0, -1, 0, -1)
            for statement in statements("check/parts").values():
                self.database.execute(statement)
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._resources.close()

    def rows(self, statement: str, parameters: Mapping[str, object] | Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement of ours."""
        found: list[tuple[Any, ...]] = self.database.execute(statement, parameters).fetchall()
        return found

    def dicts(self, statement: str) -> list[dict[str, Any]]:
        """All rows of a statement of ours, each by the names of its columns."""
        cursor = self.database.execute(statement)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def arrow(self, statement: str, parameters: Sequence[object] = ()) -> pa.Table:
        """All rows of a statement of ours, as an Arrow table."""
        return self.database.sql(statement, params=list(parameters)).to_arrow_table()

    def stored(self, table: str, columns: str) -> Iterator[pa.RecordBatch]:
        """Columns of a table in the order in which the rows are stored: a large scan in one piece comes in no order."""
        for first in range(0, self.number(table), _BATCH):
            rows = f"SELECT {columns} FROM built.{table} WHERE rowid BETWEEN {first} AND {first + _BATCH - 1}"
            yield from self.database.sql(f"{rows} ORDER BY rowid").to_arrow_reader(_BATCH)

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        """The rows of a statement of ours, in batches and in any order; another may be asked between two of them."""
        cursor = self.database.cursor()
        try:
            yield from cursor.sql(statement).to_arrow_reader(_BATCH)
        finally:
            cursor.close()

    def leave(self, rule: str, number: int) -> None:
        """So many rows cannot be looked at by a rule."""
        if number:
            self.unchecked[rule] = self.unchecked.get(rule, 0) + number

    def number(self, table: str) -> int:
        """The rows of a table."""
        return int(self.rows(f"SELECT count(*) FROM built.{table}")[0][0])

    def parts(self, size: int = _PART) -> Iterator[tuple[int, int]]:
        """Ranges of dense patient numbers, first and last, that hold about ``size`` events and notes; while one is
        given, the views of ``parts.sql`` show its rows."""
        self.bar.step(self.doing, self.patients)
        for low, high in self._ranges(size):
            (first, last), *_ = self.rows(
                "SELECT min(first_event), max(first_event + events) - 1 FROM built.patient"
                " WHERE patient BETWEEN $1 AND $2",
                [low, high],
            )
            self._set_range(low, high, first or 0, -1 if last is None else last)
            yield low, high
            self.bar.advance(high - low + 1)

    def _set_range(self, low: int, high: int, first_event: int, last_event: int) -> None:
        names = {"low": low, "high": high, "first_event": first_event, "last_event": last_event}
        for name, value in names.items():
            self.database.execute(f"SET VARIABLE {name} = {int(value)}")

    @property
    def patients(self) -> int:
        """How many patients there are."""
        return len(self._weights())

    def _weights(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        if self._kept_weights is None:
            size = self.number("patient")
            weights = np.ones(size, np.int64)
            for statement in (
                "SELECT patient, CAST(events AS BIGINT) AS weight FROM built.patient",
                f"SELECT patient, {_NOTE} * count(*) AS weight FROM built.note GROUP BY patient",
            ):
                for batch in self.batches(statement):
                    numbers = batch.column(0).to_numpy()
                    # Numbers that no patient has are found by a rule of their own.
                    known = (numbers >= 0) & (numbers < size)
                    np.add.at(weights, numbers[known], batch.column(1).to_numpy()[known])
            self._kept_weights = weights
        return self._kept_weights

    _kept_weights: np.ndarray[Any, np.dtype[np.int64]] | None = None

    def _ranges(self, size: int) -> Iterator[tuple[int, int]]:
        weights = self._weights()
        ends = np.cumsum(weights)
        low = 0
        while low < len(weights):
            before = int(ends[low - 1]) if low else 0
            # At least one patient, however much is known of one.
            high = max(low, int(np.searchsorted(ends, before + size, side="right")) - 1)
            yield low, min(high, len(weights) - 1)
            low = high + 1
