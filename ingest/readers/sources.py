"""All sources as one stream: each file by the reader of its family, each record as a note or a quarantine row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ...kb.storage.rows import QuarantinedRecord
from . import fhir, folders, jsonl, omop, tables
from .files import SourceFile, find_files
from .mapping import ColumnMap
from .records import Incoming, RawRecord, read_records


class Family(NamedTuple):
    """How one kind of file is checked before the run and read during it, and under which names its fields stand."""

    check: Callable[[SourceFile, ColumnMap], None]
    read: Callable[[SourceFile], Iterator[RawRecord]]
    columns: Callable[[ColumnMap], ColumnMap] = lambda columns: columns


READERS: Final[Mapping[str, Family]] = {
    "jsonl": Family(jsonl.check, jsonl.read),
    "fhir": Family(fhir.check, fhir.read),
    "fhir_export": Family(fhir.check, fhir.read_lines),
    "csv": Family(tables.check, tables.read),
    "parquet": Family(tables.check, tables.read),
    "duckdb": Family(tables.check, tables.read),
    "omop": Family(omop.check, omop.read),
    "text": Family(folders.check, folders.read, folders.columns_for),
}


class Sources:
    """Sources that have been found and whose columns are there; iterate for their records, in a fixed order."""

    def __init__(self, sources: Iterable[str | os.PathLike[str]], mapping: Mapping[str, str] | None = None) -> None:
        """UsageError for a missing source, one of unknown kind, and a map that does not fit; nothing is written yet."""
        self.columns = ColumnMap(mapping)
        self.files = [(file, READERS[_recognised(file)]) for file in find_files(sources)]
        for file, family in self.files:
            family.check(file, self.columns)

    @property
    def size(self) -> int:
        """The bytes of all files, as they lie on disk."""
        return sum(file.path.stat().st_size for file, _ in self.files)

    def __iter__(self) -> Iterator[Incoming | QuarantinedRecord]:
        for file, family in self.files:
            yield from read_records(family.read(file), family.columns(self.columns))


def _recognised(file: SourceFile) -> str:
    """The family by what stands in the file, where its name leaves two open."""
    if file.family == "jsonl" and fhir.is_export(file):
        return "fhir_export"
    if file.family in ("csv", "parquet", "duckdb") and omop.is_note_table(tables.header(file)):
        return "omop"
    return file.family
