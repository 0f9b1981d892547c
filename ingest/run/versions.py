"""The versions of notes: which patients have notes that are not held yet, and all versions of their notes."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import duckdb
import pyarrow as pa

from ...kb.model import Note
from ...kb.sql_files import script
from ...kb.storage.quiet_database import quiet_database
from ...kb.storage.reader import KnowledgeBase
from ...kb.storage.rows import RETRACTED, QuarantinedRecord
from ..readers.records import KEPT_OF_RAW, Incoming
from .batches import PatientNotes, Version

_BATCH_ROWS: Final = 2_000
#: Rows are handed to the database when their texts weigh so much (characters).
_BATCH_WEIGHT: Final = 8_000_000
_FETCHED_ROWS: Final = 200
_NUMBERED_ROWS: Final = 100_000
_MEMORY: Final = "1GB"
#: The status of a record that voids its note.
_RETRACTION: Final = "retraction"
_TEXT: Final = pa.string()
_SCHEMA: Final = pa.schema(
    [
        ("patient_id", _TEXT),
        ("position", pa.int64()),
        ("note_id", _TEXT),
        ("doc_id", _TEXT),
        ("date", pa.date32()),
        ("type", _TEXT),
        ("title", _TEXT),
        ("text", _TEXT),
        ("source", _TEXT),
        ("place", _TEXT),
        ("status", _TEXT),
        ("unnamed", pa.bool_()),
        ("reading", pa.int64()),
        ("written_patient", _TEXT),
        ("written_document", _TEXT),
        ("patient_space", _TEXT),
        ("doc_space", _TEXT),
    ]
)


def _statements() -> Mapping[str, str]:
    """The statements of ``versions.sql`` by their ``-- name:`` line."""
    text = (Path(__file__).parent / "versions.sql").read_text(encoding="utf-8")
    parts = text.split("-- name: ")[1:]
    return {part.split("\n", 1)[0].strip(): part.split("\n", 1)[1] for part in parts}


class VersionStore:
    """The notes of a run in a database of its own, which moves to disk what is too much for memory.

    A context manager. ``folder`` is a private folder of the run, for what is moved.
    """

    def __init__(self, folder: Path, previous: KnowledgeBase | None) -> None:
        self._spilled = folder / "notes"
        self._previous = previous
        self._position = 0
        self._sql = _statements()

    def __enter__(self) -> Self:
        self._remove_spilled()
        self._database = quiet_database()
        self._database.execute("SET temp_directory = $1", [str(self._spilled)])
        self._database.execute("SET memory_limit = $1", [_MEMORY])
        if self._previous is None:
            self._database.execute("ATTACH ':memory:' AS before")
            self._database.execute("USE before")
            self._database.execute(script("storage/schema"))
            self._database.execute("USE memory")
        else:
            self._database.execute("ATTACH $1 AS before (READ_ONLY)", [str(self._previous.database)])
        self._database.execute(self._sql["create_version"])
        self._database.execute(self._sql["create_held"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._database.close()
        self._remove_spilled()

    def _remove_spilled(self) -> None:
        # A killed run leaves it, and it holds notes.
        shutil.rmtree(self._spilled, ignore_errors=True)

    def add(self, arrivals: Iterable[Incoming]) -> None:
        """Take in the notes of this run, in the order in which they came."""
        arriving = iter(arrivals)
        while batch := list(_weighed(itertools.islice(arriving, _BATCH_ROWS))):
            rows = []
            for incoming in batch:
                note, written = incoming.note, incoming.written
                self._position += 1
                rows.append(
                    (note.patient_id, self._position, "" if incoming.retraction else note.note_id, note.doc_id,
                     note.date, note.type, note.title, note.text, incoming.source, incoming.place,
                     _RETRACTION if incoming.retraction else None, incoming.unnamed, incoming.reading,
                     written.patient, written.document, written.patient_space, written.doc_space)
                )  # fmt: skip
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
            self._run("add_incoming", pa.Table.from_arrays(arrays, schema=_SCHEMA))
        self._number_repeats()

    def _number_repeats(self) -> None:
        """Documents without an id of which a file has several equal ones: the second becomes ``…#2``, and so on."""
        numbered: list[tuple[str, str, int, str, str]] = []
        for position, number in self._run("repeats").fetchall():
            row = self._database.execute(self._sql["at"], [position]).fetchall()[0]
            first = Note(*row)
            for place in range(2, number + 1):
                note = replace(first, doc_id=f"{first.doc_id}#{place}")
                numbered.append((first.patient_id, first.doc_id, place, note.doc_id, note.note_id))
            if len(numbered) > _NUMBERED_ROWS:
                self._run("number_repeats", _repeats(numbered))
                numbered.clear()
        if numbered:
            self._run("number_repeats", _repeats(numbered))

    def ids(self) -> dict[str, Any]:
        """What is to be told of the ids of this run: see ``IngestReport``; empty where all are as they are written."""
        names = ("unnamed", "blanks", "where", "patients", "documents")
        found = dict(zip(names, self._run("ids").fetchall()[0], strict=True))
        return {name: value for name, value in found.items() if value}

    def of_several_servers(self) -> list[str]:
        """The patients of this run whose ids are of several servers, or systems of identifiers, sorted."""
        return [row[0] for row in self._run("of_several_servers").fetchall()]

    def affected(self, everyone: bool = False) -> list[str]:
        """The patients to read, sorted: those with a record that is not held, or all that are known."""
        return [row[0] for row in self._run("everyone" if everyone else "affected").fetchall()]

    def unchanged(self, affected: Sequence[str]) -> int:
        """How many records of this run belong to none of these patients: all of them are held as they are."""
        return int(self._run("unchanged", _patients(affected)).fetchall()[0][0])

    def crowded(self, patients: Sequence[str], most: int) -> frozenset[str]:
        """Those of the patients who have more than ``most`` versions of notes, with those held before."""
        self._database.register("arriving", _patients(patients))
        return frozenset(row[0] for row in self._database.execute(self._sql["crowded"], {"most": most}).fetchall())

    def records(self, patients: Sequence[str], why: str) -> Iterator[QuarantinedRecord]:
        """The records of this run of these patients, as quarantine rows with this reason."""
        cursor = self._database.cursor()
        cursor.register("arriving", _patients(patients))
        cursor.execute(self._sql["records"])
        for source, place, patient_id, doc_id, text in _fetched(cursor):
            yield QuarantinedRecord(source, place, why, patient_id, doc_id, text[:KEPT_OF_RAW])

    def volume(self, patients: Sequence[str]) -> int:
        """How many records of this run belong to these patients."""
        return int(self._run("volume", _patients(patients)).fetchall()[0][0])

    def histories(self, patients: Sequence[str]) -> Iterator[PatientNotes]:
        """All versions of all notes of these patients, a patient at a time, sorted by patient."""
        self._run("add_earlier", _patients(patients))
        # A cursor of its own: a result that is read bit by bit blocks its connection.
        cursor = self._database.cursor()
        cursor.register("arriving", _patients(patients))
        cursor.execute(self._sql["notes"])
        names = [column[0] for column in cursor.description or ()]
        rows = (dict(zip(names, row, strict=True)) for row in _fetched(cursor))
        for patient_id, own in itertools.groupby(rows, key=lambda row: str(row["patient_id"])):
            yield PatientNotes(patient_id, tuple(map(_version, own)))

    def _run(self, name: str, arriving: pa.Table | None = None) -> duckdb.DuckDBPyConnection:
        if arriving is not None:
            self._database.register("arriving", arriving)
        return self._database.execute(self._sql[name])


def _weighed(arrivals: Iterator[Incoming]) -> Iterator[Incoming]:
    weight = 0
    for incoming in arrivals:
        yield incoming
        weight += len(incoming.note.text)
        if weight > _BATCH_WEIGHT:
            return


def _fetched(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(_FETCHED_ROWS):
        yield from rows


def _repeats(rows: Sequence[tuple[str, str, int, str, str]]) -> pa.Table:
    names = ("patient_id", "doc_id", "number", "numbered_doc_id", "numbered_note_id")
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def _patients(patient_ids: Sequence[str]) -> pa.Table:
    return pa.table({"patient_id": pa.array(patient_ids, _TEXT)})


def _version(row: Mapping[str, Any]) -> Version:
    note = Note(row["patient_id"], row["doc_id"], row["text"], row["date"], row["type"], row["title"])
    return Version(
        note,
        row["source"] and (row["source"], row["place"]),
        row["superseded_by"] or "",
        retraction=row["status"] == _RETRACTION,
        retracted=row["status"] == RETRACTED,
    )
