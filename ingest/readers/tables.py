"""Tables: CSV; Parquet, and a table of a DuckDB file, through DuckDB; one note a row.

CSV is parsed here and not by DuckDB, whose reader reports rejected rows only after the last row (a row's number is
part of a document's id where the table gives none) and gives up a whole file for one quotation mark.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

import duckdb

from ...kb.errors import UsageError
from ...kb.storage.quiet_database import quiet_database
from .files import SourceFile, open_bytes
from .mapping import ColumnMap
from .records import LONGEST_TEXT, RawRecord

_DELIMITERS: Final = (",", ";", "\t", "|")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_BATCH_ROWS: Final = 500


def check(file: SourceFile, columns: ColumnMap) -> None:
    """UsageError when the table lacks a column that the map names or that no note can do without."""
    columns.check(header(file), file.label)


def header(file: SourceFile) -> Sequence[str]:
    """The names of the columns; UsageError when the file cannot be read as the table that its name promises."""
    return _csv_header(file)[0] if file.family == "csv" else _database_header(file)


def read(file: SourceFile) -> Iterator[RawRecord]:
    """The rows of the table, counted from 1."""
    yield from _csv_rows(file) if file.family == "csv" else _database_rows(file)


# --- CSV -------------------------------------------------------------------------------------------------------------


class _Lines:
    """The lines of a CSV file, remembering those of the row that is being read."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.row: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.row.append(line)
            yield line


def _csv_text(file: SourceFile) -> TextIO:
    # Bytes that are no UTF-8 survive as lone surrogates, so that their row alone goes to quarantine.
    return io.TextIOWrapper(open_bytes(file.path), encoding="utf-8-sig", errors="surrogateescape", newline="")


def _delimiter(line: str, label: str) -> str:
    if label.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return max(_DELIMITERS, key=line.count)


def _csv_header(file: SourceFile) -> tuple[list[str], str]:
    """The column names, and the delimiter that splits them."""
    try:
        with open_bytes(file.path) as stream:
            if stream.read(2) in _UTF16:
                raise UsageError(f"{file.label}: is UTF-16. Hint: convert it with iconv -f utf-16 -t utf-8")
        with _csv_text(file) as text:
            line = text.readline(1_000_000)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(
            f"{file.label}: is no whole gzip file. Hint: pack it again, or name it .csv if it is not packed"
        ) from error
    except OSError as error:
        raise UsageError(f"{file.label}: cannot be read: {error.strerror or type(error).__name__}") from error
    delimiter = _delimiter(line, file.label)
    header = next(csv.reader([line], delimiter=delimiter), [])
    twice = [name for position, name in enumerate(header) if name in header[:position]]
    if twice and "".join(twice):
        raise UsageError(f"{file.label}: two columns are called '{next(filter(None, twice))[:40]}'")
    return header, delimiter


def _csv_rows(file: SourceFile) -> Iterator[RawRecord]:
    header, delimiter = _csv_header(file)
    csv.field_size_limit(2 * LONGEST_TEXT)
    number = 0
    with _csv_text(file) as stream:
        lines = _Lines(stream)
        stream.readline()
        rows = csv.reader(iter(lines), delimiter=delimiter, strict=True)
        while True:
            lines.row.clear()
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error:
                # Where a quoted field does not end, no later line is known to begin a row: a line of a note that looks
                # like one would be stored for a patient who is none. The rest of the file is one record in quarantine.
                raw = "".join(lines.row)
                yield RawRecord(file.label, f"row {number + 1}", number + 1, fault="broken_quoting", raw=raw)
                return
            except (EOFError, zlib.error, OSError) as error:
                raw = type(error).__name__
                yield RawRecord(file.label, f"after row {number}", number + 1, fault="damaged_file", raw=raw)
                return
            if not row:
                continue
            number += 1
            if len(row) != len(header):
                raw = "".join(lines.row)
                yield RawRecord(file.label, f"row {number}", number, fault="wrong_number_of_fields", raw=raw)
                continue
            yield RawRecord(file.label, f"row {number}", number, dict(zip(header, row, strict=True)))


# --- Parquet and DuckDB ----------------------------------------------------------------------------------------------

#: The table of a DuckDB file that holds notes, in any schema: OMOP's NOTE.
_NOTE_TABLES: Final = """
SELECT schema_name, table_name FROM duckdb_tables() WHERE lower(table_name) = 'note'
UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE lower(view_name) = 'note'
ORDER BY 1, 2
"""


def _opened(file: SourceFile) -> duckdb.DuckDBPyConnection:
    """A connection with the rows of the table waiting; duckdb.Error when there is none."""
    if file.family == "duckdb":
        database = quiet_database(file.path, read_only=True)
        found = database.execute(_NOTE_TABLES).fetchall()
        if len(found) != 1:
            database.close()
            amount = "no table" if not found else f"{len(found)} tables"
            raise UsageError(f"{file.label}: {amount} called NOTE in it. Hint: write the notes to Parquet or CSV")
        table = ".".join('"' + name.replace('"', '""') + '"' for name in found[0])
        database.execute("SET threads = 1")
        return database.execute(f"SELECT * FROM {table}")
    database = quiet_database()
    # DuckDB takes a path for a pattern; brackets around a pattern's letters make them letters again.
    path = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(file.path.resolve()))
    database.execute("SET threads = 1")
    return database.execute("SELECT * FROM read_parquet($1)", [path])


def _database_header(file: SourceFile) -> Sequence[str]:
    try:
        database = _opened(file)
    except duckdb.Error as error:
        form = "DuckDB" if file.family == "duckdb" else "Parquet"
        raise UsageError(f"{file.label}: cannot be read as {form} ({type(error).__name__})") from error
    with database:
        return [column[0] for column in database.description or ()]


def _database_rows(file: SourceFile) -> Iterator[RawRecord]:
    number = 0
    with _opened(file) as database:
        header = [column[0] for column in database.description or ()]
        while True:
            try:
                rows = database.fetchmany(_BATCH_ROWS)
            except duckdb.Error as error:
                raw = type(error).__name__
                yield RawRecord(file.label, f"after row {number}", number + 1, fault="damaged_file", raw=raw)
                return
            if not rows:
                return
            for row in rows:
                number += 1
                yield RawRecord(file.label, f"row {number}", number, dict(zip(header, row, strict=True)))
