"""An update: the rows of a few patients who were read again, among those of all others, copied inside the database.

The others' rows never leave the database: their patients and events get new numbers, chunk by chunk. Where a chunk has
no patient who was read again, its rows are copied in their order; elsewhere the two are sorted together. Two lots of
tables are written at the same time. Only the numbers of patients are held for all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import numpy as np

from ..files.kept_file import KeptFile
from ..index.arrays import Array
from ..index.splice import CHANGED, Update
from ..skin.progress import Bar
from ..sql_files import statements
from .side_by_side import Run, side_by_side

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
#: What is written at the same time: mentions are nearly half of it all.
_LOTS: Final = (("mention",), ("note", "relation", "decision", "event", *_OF_EVENTS))


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

    def __init__(self, database: duckdb.DuckDBPyConnection, previous: Path, index: Callable[[str], KeptFile]) -> None:
        """``database`` is the writer's, with its staging tables; ``index`` gives the files of the index of the
        previous one."""
        self._database = database
        self._sql = statements("storage/merge")
        self._index = index
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
        self._database.execute(self._sql["patient"])
        chunks = list(_joined(Chunk(*row) for row in self._all("chunks", [_CHUNK])))
        bar.step("copying patients", chunks[-1].high + 1 if chunks else 0)
        written = _Slowest(bar, len(_LOTS))

        def copying(number: int, tables: Sequence[str]) -> Callable[[Run], None]:
            def copy(run: Run) -> None:
                for chunk in chunks:
                    for table in tables:
                        run(*self._copied(table, chunk))
                    written.advance(number, chunk.high - chunk.low + 1)

            return copy

        side_by_side(self._database, [copying(number, tables) for number, tables in enumerate(_LOTS)])
        self._database.execute("RESET threads")
        self._gone, self._come = self._numbers("gone"), self._numbers("come")
        self._database.execute("DROP TABLE staging.placed")
        self._database.execute("DETACH before")

    def update(self) -> Update:
        """What :meth:`write` changed, with the tables that it asks for."""
        self._database.execute(f"CREATE SCHEMA {CHANGED}")
        for table in ("patient", "event", "event_attribute"):
            self._database.execute(self._sql[f"changed_{table}"])
        return Update(self._index, self._gone, self._come)

    def _copied(self, table: str, chunk: Chunk) -> tuple[str, tuple[int, ...]]:
        """The statement that writes the rows of a chunk, and its values."""
        shift = chunk.low - chunk.old_low
        old, new = (chunk.old_low, chunk.old_high), (chunk.low, chunk.high)
        events = (chunk.event_low, chunk.event_high)
        form = "plain" if chunk.plain else "mixed"
        if table in _OF_PATIENTS:
            statement = self._sql[f"{form}_rows"].format(table=table, order=_OF_PATIENTS[table])
            return statement, (*old, shift) if chunk.plain else (*old, *new)
        if table in _OF_EVENTS:
            statement = self._sql[f"{form}_of_events"].format(table=table)
            return statement, (*events, chunk.event_shift) if chunk.plain else (*events, *new)
        return self._sql[f"{form}_event"], (*old, shift, chunk.event_shift) if chunk.plain else (*old, *new)

    def _numbers(self, name: str) -> Array:
        found = self._database.execute(self._sql[name]).fetchnumpy()["patient"]
        return np.asarray(found, dtype=np.int64)

    def _all(self, name: str, values: list[int] | None = None) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._database.execute(self._sql[name], values or []).fetchall()
        return found


class _Slowest:
    """Shows how many patients are done in every lot."""

    def __init__(self, bar: Bar, lots: int) -> None:
        self._bar = bar
        self._done = [0] * lots
        self._lock = threading.Lock()

    def advance(self, lot: int, patients: int) -> None:
        """So many more are done in this lot."""
        with self._lock:
            before = min(self._done)
            self._done[lot] += patients
            self._bar.advance(min(self._done) - before)
