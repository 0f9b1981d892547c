"""All sources as one stream: each file by the reader of its family, each record as a note or a quarantine row."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ...kb.errors import UsageError
from ...kb.storage.rows import QuarantinedRecord
from . import beside, fhir, folders, jsonl, omop, tables
from .files import SourceFile, find_files
from .mapping import FIELDS, ColumnMap
from .note_dates import ORDERS, NoteDates
from .records import Incoming, RawRecord, read_records
from .told import Told

#: So many names of fields are remembered of a file of JSON lines; whoever has more has none in common.
_MOST_NAMES: Final = 1_000


class Family(NamedTuple):
    """How one kind of file is checked before the run and read during it, and under which names its fields stand."""

    check: Callable[[SourceFile, ColumnMap], None]
    read: Callable[[SourceFile, Told], Iterator[RawRecord]]
    columns: Callable[[ColumnMap], ColumnMap] = lambda columns: columns


READERS: Final[Mapping[str, Family]] = {
    "jsonl": Family(jsonl.check, lambda file, told: jsonl.read(file)),
    "fhir": Family(fhir.check, fhir.read),
    "fhir_export": Family(fhir.check, fhir.read_lines),
    "csv": Family(tables.check, lambda file, told: tables.read(file)),
    "parquet": Family(tables.check, lambda file, told: tables.read(file)),
    "duckdb": Family(tables.check, lambda file, told: tables.read(file)),
    "omop": Family(omop.check, lambda file, told: omop.read(file)),
    "omop_persons": Family(omop.check, lambda file, told: omop.read_persons(file)),
    "text": Family(folders.check, lambda file, told: folders.read(file), folders.columns_for),
}
#: Families whose records are rows or lines of columns, of which some may be of no use.
_OF_COLUMNS: Final = frozenset({"jsonl", "csv", "parquet", "duckdb", "omop"})


class Sources:
    """Sources that have been found and whose columns are there; iterate for their records, in a fixed order.

    ``told``: what of them is not used; ``dates``: how their dates of two numbers are read, and how many there are. Both
    are complete when the iteration is over.
    """

    def __init__(
        self,
        sources: Iterable[str | os.PathLike[str]],
        mapping: Mapping[str, str] | None = None,
        dates: str = ORDERS[0],
    ) -> None:
        """UsageError for a missing source, one of unknown kind, an order of ``dates`` that is none, and a map that does
        not fit; nothing is written yet."""
        self.columns = ColumnMap(mapping)
        self.told = Told()
        self.dates = NoteDates(dates)
        self.files: list[tuple[SourceFile, str]] = []
        found = find_files(sources, self.told)
        for file in found:
            if beside.lies_beside_notes(file, self.columns):
                self.told.pass_over(file.label, "beside_notes")
                continue
            kind = _recognised(file)
            READERS[kind].check(file, self.columns)
            self.files.append((file, kind))
        if not self.files:
            raise UsageError(
                f"no notes in {found[0].label}: it looks like a log, a manifest or a readme. Hint: name it"
            )
        if hint := beside.hint_of_patient_folder([file for file, _ in self.files], self.columns):
            self.told.hints.append(hint)

    @property
    def size(self) -> int:
        """The bytes of all files, as they lie on disk."""
        return sum(file.path.stat().st_size for file, _ in self.files)

    def __iter__(self) -> Iterator[Incoming | QuarantinedRecord]:
        for reading, (file, kind) in enumerate(self.files):
            records, names = READERS[kind].read(file, self.told), dict[str, None]()
            if kind in _OF_COLUMNS:
                records = _watched(records, names)
            yield from read_records(records, READERS[kind].columns(self.columns), self.dates, reading)
            used = {self.columns.column(name) for name in FIELDS} | (omop.used_columns() if kind == "omop" else set())
            unused = [name for name in names if name not in used and not (kind == "omop" and name.lower() in used)]
            self.told.leave_columns(file.label, unused, names, self.columns)


def _watched(records: Iterator[RawRecord], names: dict[str, None]) -> Iterator[RawRecord]:
    """The records as they come; the names of their fields are added to ``names``."""
    for record in records:
        if not record.fields.keys() <= names.keys():
            new = (name for name in record.fields if name not in names)
            names |= dict.fromkeys(itertools.islice(new, max(_MOST_NAMES - len(names), 0)))
        yield record


def _recognised(file: SourceFile) -> str:
    """The family by what stands in the file, where its name leaves two open."""
    if file.family == "jsonl" and fhir.is_export(file):
        return "fhir_export"
    if file.family in ("csv", "parquet", "duckdb") and omop.is_note_table(tables.header(file)):
        return "omop"
    if file.family in ("csv", "parquet") and omop.is_person_table(tables.header(file)):
        return "omop_persons"
    return file.family
