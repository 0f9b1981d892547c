"""All sources as one stream: each file by the reader of its family, each record as a note or a quarantine row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ...kb.rows import QuarantinedRecord
from . import folders, jsonl, tables
from .files import SourceFile, find_files
from .mapping import ColumnMap
from .records import Incoming, RawRecord, read_records


class Family(NamedTuple):
    """How one kind of file is checked before the run and read during it."""

    check: Callable[[SourceFile, ColumnMap], None]
    read: Callable[[SourceFile], Iterator[RawRecord]]


READERS: Final[Mapping[str, Family]] = {
    "jsonl": Family(jsonl.check, jsonl.read),
    "csv": Family(tables.check, tables.read),
    "parquet": Family(tables.check, tables.read),
    "text": Family(folders.check, folders.read),
}


class Sources:
    """Sources that have been found and whose columns are there; iterate for their records, in a fixed order."""

    def __init__(self, sources: Iterable[str | os.PathLike[str]], mapping: Mapping[str, str] | None = None) -> None:
        """UsageError for a missing source, one of unknown kind, and a map that does not fit; nothing is written yet."""
        self.columns = ColumnMap(mapping)
        self.files = find_files(sources)
        for file in self.files:
            READERS[file.family].check(file, self.columns)

    def __iter__(self) -> Iterator[Incoming | QuarantinedRecord]:
        for file in self.files:
            columns = folders.columns_for(self.columns) if file.family == "text" else self.columns
            yield from read_records(READERS[file.family].read(file), columns)
