"""The building of the index of a generation from its finished tables, in bounded memory."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa

from ..errors import DamagedIndex
from ..ontology.concepts import ConceptTable
from ..sql_files import statements
from .ahead import ahead
from .arrays import Array, ArrayFile, ArrayWriter, narrowest
from .attributes import AttributeColumns
from .columns import EVENTS, EventIndex
from .lists.writing import write_lists
from .moved import Unlike
from .slices import WrittenSlices, in_order
from .splice import CHANGED, Splicing, Update

#: Rows that are handed over by the database at a time.
_BATCH: Final = 500_000
#: Above this share of patients whose rows went or came, the index is made from the tables.
_MOST_CHANGED: Final = 0.2


def build_index(
    database: duckdb.DuckDBPyConnection, folder: Path, concepts: ConceptTable, update: Update | None = None
) -> dict[str, Any]:
    """Write the index into the empty ``folder`` and tell its bytes, rows and seconds, and whether it was spliced.

    ``database`` reads the finished tables under the schema name ``built``; its temporary tables that begin with
    ``index_`` are replaced. Events come in the order of their numbers, and each goes to the next free row of its kind
    and concept: the database sorts no more than the events of some patients at a time. With an ``update`` only those
    of its patients are read, and all others' rows are copied from the index before, where it can be used: the files are
    the same.
    """
    started = time.perf_counter()
    summary = None if update is None else _spliced(database, folder, concepts, update)
    spliced = summary is not None
    if summary is None:
        summary = build_columns(database, folder, concepts)
    lists = write_lists(database, folder, concepts, EventIndex(ArrayFile(folder, EVENTS)))
    summary["bytes"] |= lists["bytes"]
    seconds = {"seconds": round(time.perf_counter() - started, 3), "seconds_of_lists": lists["seconds"]}
    return {**summary, **seconds, "spliced": spliced}


def build_columns(
    database: duckdb.DuckDBPyConnection, folder: Path, concepts: ConceptTable, tables: str = "built"
) -> dict[str, Any]:
    """The event columns, made from the tables of a schema."""
    writer = ArrayWriter(folder, EVENTS)
    building = _Building(database, folder, concepts, writer, tables)
    try:
        return building.run()
    finally:
        writer.close()
        building.clean()


def _spliced(
    database: duckdb.DuckDBPyConnection, folder: Path, concepts: ConceptTable, update: Update
) -> dict[str, Any] | None:
    """The event columns, spliced; None where they are to be made from the tables."""
    ((events, patients),) = database.execute(
        "SELECT (SELECT count(*) FROM built.event), (SELECT count(*) FROM built.patient)"
    ).fetchall()
    if max(len(update.gone), len(update.come)) > _MOST_CHANGED * patients:
        return None
    changed = folder / CHANGED
    changed.mkdir(mode=0o700)
    writer = ArrayWriter(folder, EVENTS)
    try:
        build_columns(database, changed, concepts, CHANGED)
        fresh = EventIndex(ArrayFile(changed, EVENTS))
        splicing = Splicing(EventIndex(ArrayFile(update.before, EVENTS)), update.gone, fresh, update.come, concepts)
        if (splicing.events, splicing.patients) != (events, patients):
            return None
        size = writer.finish(splicing.write(writer))
        return {"bytes": {EVENTS: size}, "rows": {EVENTS: events}}
    except (DamagedIndex, Unlike, LookupError, ValueError):
        # What was is damaged, or written under another ontology: the tables are what counts.
        return None
    finally:
        writer.close()
        shutil.rmtree(changed)


class _Building:
    """One building of the event columns."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        folder: Path,
        concepts: ConceptTable,
        writer: ArrayWriter,
        tables: str,
    ) -> None:
        self._database = database
        self._folder = folder
        self._concepts = concepts
        self._writer = writer
        self._statements = {name: text.format(tables=tables) for name, text in statements("index/event_index").items()}
        self._scratch = folder / "scratch"

    def run(self) -> dict[str, Any]:
        """All arrays; what is told of them."""
        self._scratch.mkdir(mode=0o700)
        ((self._events, first_day, last_day, first_end, last_end),) = self._all("bounds")
        ((self._patients, most),) = self._all("patients")
        slices = self._slices()
        contexts = self._all("contexts")
        self._register("index_context", ("polarity", "temporality", "experiencer", "reason"), contexts, "context")
        spans = np.array([span for (span,) in self._all("spans")] or [0], dtype=np.int64)
        self._patient_rows()
        most_tumors = self._tumors()
        create = self._writer.create
        # Which events lie in each row, and which row each event has: of a patient's events, and the other way round.
        columns = {
            "patient": create("patient", "<u4", self._events),
            "ordinal": create("ordinal", narrowest(0, most), self._events),
            "low": create("low", narrowest(min(0, first_day), last_day), self._events),
            "span": create("span", narrowest(0, len(spans)), self._events),
            "world": create("world", "i1", self._events),
            "context": create("context", narrowest(0, len(contexts)), self._events),
            "tumor": create("tumor", narrowest(-3, most_tumors), self._events),
        }
        row_of_event = create("row_of_event", narrowest(0, self._events), self._events)
        self._writer.add("spans", spans, "<i8")
        ends = int(self._slice_ends.sum())
        end_day = narrowest(min(0, first_end), last_end)
        ending = {
            "end_row": create("end_row", narrowest(0, self._events), ends),
            "end_low": create("end_low", end_day, ends),
            "end_high": create("end_high", end_day, ends),
        }
        self._place(columns, row_of_event, spans, ending)
        attributes = AttributeColumns(self._database, self._statements, self._writer, self._scratch, slices.rows_of)
        summary = {
            "events": self._events,
            "patients": self._patients,
            "kinds": slices.kinds,
            "contexts": [list(context) for context in contexts],
            "attributes": attributes.write(row_of_event, _BATCH),
        }
        slices.add_names()
        size = self._writer.finish(summary)
        return {"bytes": {EVENTS: size}, "rows": {EVENTS: self._events}}

    def clean(self) -> None:
        """Remove what was only needed while building."""
        for path in self._scratch.glob("*"):
            path.unlink()
        if self._scratch.exists():
            self._scratch.rmdir()

    # --- the order of rows ------------------------------------------------------------------------------------------

    def _slices(self) -> WrittenSlices:
        """Number the kinds and concepts that there are, in the order of rows, and write where each begins."""
        held = {(kind, concept): (events, ends) for kind, concept, events, ends in self._all("concepts_of_kinds")}
        order = in_order(held, self._concepts)
        self._register("index_slice", ("kind", "concept"), order, "slice")
        self._slice_ends = np.array([held[one][1] for one in order], dtype=np.int64)
        slices = WrittenSlices(self._writer, order, [held[one][0] for one in order], self._concepts)
        self._slice_starts = slices.starts
        return slices

    def _patient_rows(self) -> None:
        """Where the events of each patient begin."""
        self._first_event = self._writer.create("first_event", narrowest(0, self._events), self._patients + 1)
        for patient, event in self._batches("first_events"):
            self._first_event[patient] = event
        self._first_event[self._patients] = self._events

    def _tumors(self) -> int:
        """Number the tumors of each patient, and write where each patient's begin and in which world each is."""
        self._database.execute(self._statements["make_tumors"])
        ((tumors, most),) = self._all("tumor_bounds")
        first = self._writer.create("first_tumor", narrowest(0, tumors), self._patients + 1)
        worlds = self._writer.create("tumor_world", "i1", tumors)
        counts = np.zeros(self._patients + 1, dtype=np.int64)
        at = 0
        for patient, world in self._batches("tumors"):
            worlds[at : at + len(world)] = world
            at += len(world)
            counts[1:] += np.bincount(patient, minlength=self._patients)
        first[:] = np.cumsum(counts)
        return int(most)

    def _place(self, columns: dict[str, Array], row_of_event: Array, spans: Array, ending: dict[str, Array]) -> None:
        rows_of, ends_of = _Places(self._slice_starts[:-1]), _Places(np.cumsum(self._slice_ends) - self._slice_ends)
        seen = 0
        with ahead(self._events_of_patients()) as batches:
            for batch in batches:
                event, patient, slice_, low, span, world, context, tumor, end_low, end_high = batch
                if not np.array_equal(event, np.arange(seen, seen + len(event))):
                    raise ValueError("the events of a generation must be numbered from 0 and come in that order")
                seen += len(event)
                # Sorting sixteen bits or fewer takes a pass for each byte.
                order = np.argsort(slice_.astype(narrowest(0, len(self._slice_ends))), kind="stable")
                slice_ = slice_[order]
                rows = rows_of.next(slice_)
                values = {
                    "patient": patient,
                    "ordinal": event - self._first_event[patient],
                    "low": low,
                    "span": np.searchsorted(spans, span),
                    "world": world,
                    "context": context,
                    "tumor": tumor,
                }
                for name, value in values.items():
                    columns[name][rows] = value[order]
                row_of_event[event[order]] = rows
                has_end = ~np.ma.getmaskarray(end_low)[order]
                there = ends_of.next(slice_[has_end])
                ending["end_row"][there] = rows[has_end]
                for name, value in (("end_low", end_low), ("end_high", end_high)):
                    ending[name][there] = np.ma.getdata(value)[order][has_end]
        if seen != self._events:
            raise ValueError(f"{self._events} events were counted and {seen} came")

    def _events_of_patients(self) -> Iterator[list[Array]]:
        """The events in the order of their numbers, those of some patients at a time: only these are sorted."""
        patient = 0
        while patient < self._patients:
            first = int(self._first_event[patient])
            until = int(np.searchsorted(self._first_event, first + _BATCH, side="right")) - 1
            until = min(max(until, patient + 1), self._patients)
            yield from self._batches("events", [patient, until - 1, first, int(self._first_event[until]) - 1])
            patient = until

    # --- the database -----------------------------------------------------------------------------------------------

    def _all(self, name: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._database.execute(self._statements[name]).fetchall()
        return found

    def _batches(self, name: str, parameters: Sequence[int] = ()) -> Iterator[list[Array]]:
        """The columns of a statement, a batch at a time; one with nulls is a masked array."""
        for batch in self._database.sql(self._statements[name], params=list(parameters)).to_arrow_reader(_BATCH):
            yield [_numbers(column) for column in batch.columns]

    def _register(self, name: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]], numbered: str) -> None:
        """A temporary table of these rows with their numbers."""
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        table = {column: pa.array(cell, pa.string()) for column, cell in zip(columns, cells, strict=True)}
        self._database.register("index_incoming", pa.table({**table, numbered: pa.array(range(len(rows)), pa.int32())}))
        self._database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM index_incoming")
        self._database.unregister("index_incoming")


class _Places:
    """Hands out, slice by slice, the next free places."""

    def __init__(self, starts: Array) -> None:
        self._free = starts.copy()

    def next(self, slices: Array) -> Array:
        """A place for each of these slice numbers, which are sorted."""
        counts = np.bincount(slices, minlength=len(self._free))
        before = np.cumsum(counts) - counts
        places = (self._free - before)[slices] + np.arange(len(slices))
        self._free += counts
        return np.asarray(places)


def _numbers(column: pa.Array) -> Array:
    if not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    mask = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    return np.ma.masked_array(column.fill_null(0).to_numpy(zero_copy_only=False), mask)
