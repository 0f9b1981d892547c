"""The database instance that answers free SQL: in memory, with one generation attached read-only, all else shut off."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import duckdb
import pyarrow as pa

from ..errors import SqlError
from ..sql_files import statements
from .allowed import checked, rules

_BATCH: Final = 10_000
#: Settings of the instance, before and after the generation is attached. Once locked, none can be changed.
_OPENING: Final[Mapping[str, str]] = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_CLOSING: Final = (
    "SET enable_progress_bar = false",
    # No patient's data goes to a disk for want of memory.
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_OWN_WORDS: Final = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
#: What DuckDB raises, among other things, over blocks that do not fit their checksums.
_OF_THE_FILE: Final = ("Error", "IOException", "FatalException", "InternalException", "SerializationException")
_OUT_OF_MEMORY: Final = ("OutOfMemoryException", "MemoryError", "ArrowMemoryError")


class Spent(SqlError):
    """The same, after which the instance is better not used again: memory ran out, or rows were left unread."""


class Unreadable(Spent):
    """The same: it may be the file that cannot be read, rather than the statement that is wrong."""


@dataclass(frozen=True)
class Request:
    """One statement, and what its answer may be: rows kept (None: all), rows and bytes above which it is refused."""

    statement: str
    parameters: Any
    limit: int | None
    most_rows: int
    most_bytes: int


def opened(database: str | os.PathLike[str], memory: str) -> duckdb.DuckDBPyConnection:
    """An instance over a generation's database file; duckdb.Error when the file is gone."""
    connection = duckdb.connect(":memory:", config={**_OPENING, "memory_limit": memory})
    try:
        # ATTACH takes no parameter; the path is ours, not a statement's.
        path = str(database).replace("'", "''")
        connection.execute(f"ATTACH '{path}' AS kb (READ_ONLY)")
        for name, select in statements("free_sql/views").items():
            connection.execute(f"CREATE VIEW {name} AS {select}")
        for setting in _CLOSING:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def answer(connection: duckdb.DuckDBPyConnection, request: Request, send: Callable[[pa.RecordBatch], None]) -> None:
    """Give the rows to ``send`` batch by batch, at least one (it may be empty). SqlError for whatever goes wrong."""
    cursor = connection.cursor()
    try:
        allowed = checked(cursor, request.statement)
        relation = cursor.sql(allowed, params=request.parameters)
        _stream(relation, request, send)
    except (duckdb.Error, RuntimeError, MemoryError, pa.ArrowException, OSError, ValueError) as error:
        name = type(error).__name__
        kind = Spent if name in _OUT_OF_MEMORY else Unreadable if name in _OF_THE_FILE else SqlError
        raise kind(message(error)) from None
    finally:
        cursor.close()


def _stream(relation: duckdb.DuckDBPyRelation, request: Request, send: Callable[[pa.RecordBatch], None]) -> None:
    reader = relation.limit(request.most_rows + 1 if request.limit is None else request.limit).to_arrow_reader(_BATCH)
    rows = size = 0
    send(pa.RecordBatch.from_pylist([], schema=reader.schema))
    for batch in reader:
        rows += batch.num_rows
        size += batch.nbytes
        if rows > request.most_rows or size > request.most_bytes:
            raise Spent(
                f"the answer has more than {request.most_rows:,} rows, or more than "
                f"{request.most_bytes / (1 << 30):g} GiB. Hint: aggregate, select fewer columns, or give a limit"
            )
        send(batch)


def message(error: Exception) -> str:
    """The database's own words where they can only quote the statement, otherwise ours: they could quote a note."""
    if "expression depth" in str(error):
        return _failure("RecursionError")
    if isinstance(error, _OWN_WORDS):
        lines = [line.rstrip() for line in str(error).split("\n")]
        lines[0] = re.sub(r"^[A-Z]\w+ Error: ", "", lines[0])
        return "\n".join(line for line in lines if line)
    return _failure(type(error).__name__)


def _failure(name: str) -> str:
    said, hint = rules()["failures"].get(name, ("the statement failed while it ran", "simplify it part by part"))
    return f"{said}. Hint: {hint}"
