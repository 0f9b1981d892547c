"""Tables: CSV; Parquet, and a table of a DuckDB file, through DuckDB; one note a row.

CSV is parsed here and not by DuckDB, whose reader reports rejected rows only after the last row (a row's number
leads people to it in the quarantine) and gives up a whole file for one quotation mark.
"""

from __future__ import annotations

import collections
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

import duckdb

from ...kb.errors import UsageError
from ...kb.files.foreign_names import name_for_libraries
from ...kb.files.limits import LimitReached, Limits, current_limits
from ...kb.storage.quiet_database import quiet_database
from .files import SourceFile, open_bytes
from .mapping import ColumnMap, is_surely_a_name
from .records import KEPT_OF_RAW, RawRecord, reason

_DELIMITERS: Final = (",", ";", "\t", "|")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
#: A longer first line (characters) is no header.
_LONGEST_HEADER: Final = 1_000_000
#: What the parser takes as a limit on every system.
_LARGEST_LIMIT: Final = 2**31 - 1
_NAMES: Final = "the first line tells the names of the columns"


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
    """The lines of a CSV file, with the beginning of the row that is being read; LimitReached when it is too long.

    The parser's own limit acts on a field that is already in memory, and on none of a row of empty ones.
    """

    def __init__(self, stream: TextIO, delimiter: str, limits: Limits) -> None:
        self._stream, self._delimiter, self._limits = stream, delimiter, limits
        # A character may take four bytes.
        self._longest = limits.line // 2
        self._few = min(limits.values, self._longest)
        self._blank = 0
        self.begin_row()

    def begin_row(self) -> None:
        """Forget the row before."""
        self.row: list[str] = []
        self._length = self._cells = 0

    @property
    def raw(self) -> str:
        """The row as it stands in the file, as far as it is kept."""
        return "".join(self.row)[:KEPT_OF_RAW]

    def __iter__(self) -> Iterator[str]:
        readline, most, delimiter = self._stream.readline, self._longest + 1, self._delimiter
        while line := readline(most):
            before = self._length
            self._length = length = before + len(line)
            if before <= KEPT_OF_RAW:
                self.row.append(line[:KEPT_OF_RAW])
            if length > self._few:
                # Only a row of more characters can have too many cells.
                self._cells += line.count(delimiter)
                if self._cells > self._limits.values:
                    raise LimitReached("too_many_cells")
                if length > self._longest:
                    raise LimitReached("row_too_long")
            if not before and line.isspace():
                self._blank += 1
                if self._blank > self._limits.blank_lines:
                    raise LimitReached("blank_lines")
            elif not before:
                self._blank = 0
            yield line


def _csv_text(file: SourceFile, limits: Limits) -> TextIO:
    # Bytes that are no UTF-8 survive as lone surrogates, so that their row alone goes to quarantine.
    return io.TextIOWrapper(open_bytes(file, limits), encoding="utf-8-sig", errors="surrogateescape", newline="")


def _delimiter(line: str, label: str) -> str:
    if label.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return max(_DELIMITERS, key=line.count)


def _csv_header(file: SourceFile) -> tuple[list[str], str]:
    """The column names, and the delimiter that splits them."""
    limits = current_limits()
    try:
        with open_bytes(file, limits) as stream:
            if stream.read(2) in _UTF16:
                raise UsageError(f"{file.label}: is UTF-16. Hint: convert it with iconv -f utf-16 -t utf-8")
        with _csv_text(file, limits) as text:
            line = text.readline(_LONGEST_HEADER)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(
            f"{file.label}: is no whole gzip file. Hint: pack it again, or name it .csv if it is not packed"
        ) from error
    except LimitReached as reached:
        raise UsageError(f"{file.label}: {reason(reached.code)}") from reached
    except OSError as error:
        raise UsageError(f"{file.label}: cannot be read: {error.strerror or type(error).__name__}") from error
    delimiter = _delimiter(line, file.label)
    if len(line) == _LONGEST_HEADER or line.count(delimiter) >= limits.columns:
        raise UsageError(
            f"{file.label}: its first line is no header: longer than {_LONGEST_HEADER:,} characters or"
            f" {limits.columns:,} columns. Hint: give the table a line of column names"
        )
    try:
        header = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise UsageError(f"{file.label}: its first line cannot be read as CSV. Hint: {_NAMES}") from error
    twice = next((name for name, times in collections.Counter(header).items() if name and times > 1), None)
    if twice is not None:
        # A cell of a first row, where there is no header.
        shown = f"'{twice}'" if is_surely_a_name(twice) else "by one name"
        first, second = [place for place, name in enumerate(header, 1) if name == twice][:2]
        raise UsageError(f"{file.label}: two columns, {first} and {second}, are called {shown}. Hint: {_NAMES}")
    return header, delimiter


def _csv_rows(file: SourceFile) -> Iterator[RawRecord]:
    limits = current_limits()
    header, delimiter = _csv_header(file)
    csv.field_size_limit(min(limits.field, _LARGEST_LIMIT))
    number = 0
    with _csv_text(file, limits) as stream:
        stream.readline(_LONGEST_HEADER)
        lines = _Lines(stream, delimiter, limits)
        rows = csv.reader(iter(lines), delimiter=delimiter, strict=True)
        while True:
            lines.begin_row()
            try:
                row = next(rows)
            except StopIteration:
                return
            except (csv.Error, LimitReached) as error:
                # Where a quoted field does not end, no later line is known to begin a row: a line of a note that looks
                # like one would be stored for a patient who is none. The rest of the file is one record in quarantine.
                fault = error.code if isinstance(error, LimitReached) else _fault_of(error)
                yield RawRecord(file.label, f"row {number + 1}", number + 1, fault=fault, raw=lines.raw or "(not read)")
                return
            except (EOFError, zlib.error, OSError) as error:
                raw = type(error).__name__
                yield RawRecord(file.label, f"after row {number}", number + 1, fault="damaged_file", raw=raw)
                return
            if not row:
                continue
            number += 1
            if len(row) != len(header):
                yield RawRecord(file.label, f"row {number}", number, fault="wrong_number_of_fields", raw=lines.raw)
                continue
            yield RawRecord(file.label, f"row {number}", number, dict(zip(header, row, strict=True)))


def _fault_of(error: csv.Error) -> str:
    return "row_too_long" if "field limit" in str(error) else "broken_quoting"


# --- Parquet and DuckDB ----------------------------------------------------------------------------------------------

#: The table of a DuckDB file that holds notes, in any schema: OMOP's NOTE.
_NOTE_TABLES: Final = """
SELECT schema_name, table_name FROM duckdb_tables() WHERE lower(table_name) = 'note'
UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE lower(view_name) = 'note'
ORDER BY 1, 2
"""


#: What a value of these types takes is known; how much one of another type takes is not.
_SMALL: Final = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL DATE"
    " TIME TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS INTERVAL BOOLEAN UUID ENUM NULL".split()
)
_TEXTS: Final = frozenset({"VARCHAR", "BLOB", "JSON"})


def _relation(file: SourceFile) -> tuple[duckdb.DuckDBPyConnection, str]:
    """A database, and how the table of the file is called in it; duckdb.Error or OSError when there is none."""
    name_for_libraries(file.path)
    # Whoever made the file may have put a view there that reads other files.
    database = quiet_database(file.path, read_only=True) if file.family == "duckdb" else quiet_database()
    try:
        database.execute("SET threads = 1")
        database.execute(f"SET memory_limit = '{current_limits().table_memory}B'")
        if file.family == "duckdb":
            database.execute("SET enable_external_access = false")
            found = database.execute(_NOTE_TABLES).fetchall()
            if len(found) != 1:
                amount = "no table" if not found else f"{len(found)} tables"
                raise UsageError(f"{file.label}: {amount} called NOTE in it. Hint: write the notes to Parquet or CSV")
            return database, ".".join(_quoted(name) for name in found[0])
        path = file.path.resolve()
        if file.root is not None and path != file.path:
            raise OSError("a link stands where none stood")
        # DuckDB takes a path for a pattern; brackets around a pattern's letters make them letters again.
        pattern = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))
        # A folder called patient_id=X is no column: what it says would stand in the place of the file's own.
        escaped = pattern.replace("'", "''")
        return (
            database,
            f"read_parquet('{escaped}', hive_partitioning = false)",
        )
    except BaseException:
        database.close()
        raise


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns_of(database: duckdb.DuckDBPyConnection, table: str, label: str) -> list[tuple[str, str]]:
    """Name and type of each column. UsageError for too many."""
    found = [(str(row[0]), str(row[1])) for row in database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()]
    if len(found) > (most := current_limits().columns):
        raise UsageError(f"{label}: has {len(found):,} columns. Hint: keep those of the notes, {most:,} at most")
    return found


def _within_limits(columns: Sequence[tuple[str, str]]) -> str:
    """The columns in a SELECT, and behind them whether one of the row is too long: in its place stands nothing then.

    A list, a structure and the like is an empty list: no field of a note is one, and nobody knows how long it is.
    """
    shown, long = [], ["false"]
    for name, kind in columns:
        # DECIMAL(18,3), ENUM('a', 'b') and TIMESTAMP WITH TIME ZONE, but no INTEGER[].
        column, plain = _quoted(name), kind if kind.endswith("]") else re.split(r"[( ]", kind.upper(), maxsplit=1)[0]
        if plain in _TEXTS:
            too_long = f"octet_length({column}::BLOB)" if plain == "BLOB" else f"strlen({column})"
            too_long = f"coalesce({too_long} > {current_limits().line}, false)"
            long.append(too_long)
            column = f"CASE WHEN {too_long} THEN NULL ELSE {column} END"
        elif plain.strip('"') not in _SMALL:
            column = f"CASE WHEN {column} IS NULL THEN NULL ELSE []::VARCHAR[] END"
        shown.append(column)
    return ", ".join([*shown, " OR ".join(long)])


def _database_header(file: SourceFile) -> Sequence[str]:
    try:
        database, table = _relation(file)
        with database:
            return [name for name, _ in _columns_of(database, table, file.label)]
    except (duckdb.Error, OSError) as error:
        form = "DuckDB" if file.family == "duckdb" else "Parquet"
        raise UsageError(f"{file.label}: cannot be read as {form} ({type(error).__name__})") from error


def _database_rows(file: SourceFile) -> Iterator[RawRecord]:
    number = 0
    try:
        database, table = _relation(file)
        with database:
            columns = _columns_of(database, table, file.label)
            header = [name for name, _ in columns]
            database.execute(f"SELECT {_within_limits(columns)} FROM {table}")
            # One after the other: some hundred rows may hold one long text each.
            while (row := database.fetchone()) is not None:
                number += 1
                *cells, too_long = row
                fields = dict(zip(header, cells, strict=True))
                fault = "cell_too_long" if too_long else ""
                raw = "(too long to keep)" if too_long else ""
                yield RawRecord(file.label, f"row {number}", number, fields, fault=fault, raw=raw)
    except (duckdb.Error, OSError, ValueError, OverflowError, MemoryError) as error:
        # A number that Python has no day for comes as ValueError or OverflowError.
        fault = "table_too_large" if isinstance(error, duckdb.OutOfMemoryException | MemoryError) else "damaged_file"
        raw = type(error).__name__
        yield RawRecord(file.label, f"after row {number}", number + 1, fault=fault, raw=raw)
