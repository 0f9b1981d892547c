"""An update: the rows of a few patients who were read again, among those of all others, copied inside the database.

The others' rows never leave the database: their patients and events get new numbers, chunk by chunk. Where a chunk has
no patient who was read again, its rows are copied in their order; elsewhere the two are sorted together. Only the
numbers of patients are held for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import numpy as np

from .index.arrays import Array
from .index.splice import CHANGED, Update
from .layout import INDEX
from .progress import Bar
from .statements import statements

#: Patients of a chunk: a sort of so many patients' rows fits in little memory.
_CHUNK: Final = 1_000
#: So many patients are copied by one statement, where none of them was read again: some seconds' work.
_PLAIN: Final = 25_000
#: The tables that bear a patient's number, with the order of their rows; then those that bear an event's alone.
_OF_PATIENTS: Final[Mapping[str, str]] = {
    "note": "patient, status <> 'current', ordinal, note_id",
    "mention": "patient, ordinal",
    "relation": "patient, ordinal",
    "decision": "patient, ordinal",
}
_OF_EVENTS: Final = ("event_attribute", "evidence")


class Chunk(NamedTuple):
    """Patients with consecutive new numbers. ``plain``: all come from before; ``old_low`` to ``old_high`` and
    ``event_low`` to ``event_high`` are then their numbers and those of their events there, and nobody else's."""

    plain: bool
    low: int
    high: int
    old_low: int
    old_high: int
    event_low: int
    event_high: int
    event_shift: int


def _joined(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks in their order, plain neighbours as one."""
    last: Chunk | None = None
    for chunk in chunks:
        if last and last.plain and chunk.plain and chunk.high - last.low < _PLAIN:
            last = last._replace(high=chunk.high, old_high=chunk.old_high, event_high=chunk.event_high)
            continue
        if last:
            yield last
        last = chunk
    if last:
        yield last


class MergedRows:
    """Joins the generation in the file ``previous`` and the staging tables of a writer."""

    def __init__(self, database: duckdb.DuckDBPyConnection, previous: Path) -> None:
        """``database`` is the writer's, with its staging tables."""
        self._database = database
        self._sql = statements("merge")
        self._index = previous.parent / INDEX
        database.execute("ATTACH $1 AS before (READ_ONLY)", [str(previous)])

    @property
    def others(self) -> int:
        """How many patients are copied: those of whom nothing is in the staging tables."""
        return int(self._all("others")[0][0])

    def write(self, bar: Bar) -> None:
        """Fill the empty tables of the schema ``built``; ``bar`` shows how many patients are written."""
        self._database.execute(self._sql["placed"])
        # As where rows come sorted (:meth:`.load.GenerationWriter.add_sorted`): several threads write much twice.
        self._database.execute("SET threads = 1")
        # In one transaction: the rest of a row group that each statement leaves would be written again by the next.
        self._database.execute("BEGIN")
        self._database.execute(self._sql["patient"])
        chunks = list(_joined(Chunk(*row) for row in self._all("chunks", [_CHUNK])))
        bar.step("copying patients", chunks[-1].high + 1 if chunks else 0)
        for chunk in chunks:
            self._copy(chunk) if chunk.plain else self._sort(chunk)
            bar.advance(chunk.high - chunk.low + 1)
        self._database.execute("COMMIT")
        self._database.execute("RESET threads")
        self._gone, self._come = self._numbers("gone"), self._numbers("come")
        self._database.execute("DETACH before")

    def update(self) -> Update:
        """What :meth:`write` changed, with the tables that it asks for."""
        self._database.execute(f"CREATE SCHEMA {CHANGED}")
        for table in ("patient", "event", "event_attribute"):
            self._database.execute(self._sql[f"changed_{table}"])
        return Update(self._index, self._gone, self._come)

    def _copy(self, chunk: Chunk) -> None:
        shift = chunk.low - chunk.old_low
        for table in _OF_PATIENTS:
            self._run("plain_rows", chunk.old_low, chunk.old_high, shift, table=table)
        self._run("plain_event", chunk.old_low, chunk.old_high, shift, chunk.event_shift)
        for table in _OF_EVENTS:
            self._run("plain_of_events", chunk.event_low, chunk.event_high, chunk.event_shift, table=table)

    def _sort(self, chunk: Chunk) -> None:
        old, new = (chunk.old_low, chunk.old_high), (chunk.low, chunk.high)
        for table, order in _OF_PATIENTS.items():
            self._run("mixed_rows", *old, *new, table=table, order=order)
        self._run("mixed_event", *old, *new)
        for table in _OF_EVENTS:
            self._run("mixed_of_events", chunk.event_low, chunk.event_high, *new, table=table)

    def _run(self, name: str, *values: int, **names: str) -> None:
        self._database.execute(self._sql[name].format(**names), list(values))

    def _numbers(self, name: str) -> Array:
        found = self._database.execute(self._sql[name]).fetchnumpy()["patient"]
        return np.asarray(found, dtype=np.int64)

    def _all(self, name: str, values: list[int] | None = None) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._database.execute(self._sql[name], values or []).fetchall()
        return found
