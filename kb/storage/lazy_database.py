"""The DuckDB file of one generation, opened for reading when it is first asked.

What posting lists answer never asks it, and to load its library alone takes longer than such an answer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..deadline import interruptible
from ..files.kept_file import KeptFile
from .quiet_database import quiet_database

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


#: Bytes of the headers of a DuckDB file, which tell where everything lies.
_HEADERS: Final = 3 * 4096


class LazyDatabase:
    """Reads the file, which stays where it is. Safe across threads: each has its own cursor."""

    def __init__(self, file: KeptFile, check: Callable[[str | None], None]) -> None:
        """DamagedKb if there is none, or it does not begin as it was written.

        ``check`` is given the version of its schema that the database itself tells (as JSON, None if it tells none)
        when it is first asked, and may refuse it.
        """
        self._path = file.path
        self._damaged = file.damaged
        self._check = check
        self._opening = threading.Lock()
        self._local = threading.local()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._closed = False
        # The blocks of rows have checksums of their own, which are looked at when they are read.
        file.prove(0, min(_HEADERS, len(file.data)))

    def close(self) -> None:
        """Close the file; every later call fails."""
        with self._opening:
            self._closed = True
            if self._connection is not None:
                self._connection.close()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """This thread's own cursor: a connection must not be shared between threads."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            connection = self._connected()
            with self._opening:
                cursor = self._local.cursor = connection.cursor()
        return cursor

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement of ours."""
        cursor = self.cursor()
        with self._asking(cursor):
            found: list[tuple[Any, ...]] = cursor.execute(query, list(parameters)).fetchall()
        return found

    def dicts(self, query: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """The same, by the names of the columns."""
        cursor = self.cursor()
        with self._asking(cursor):
            cursor.execute(query, list(parameters))
            rows = cursor.fetchall()
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def arrow(self, query: str, parameters: Sequence[object] = ()) -> pa.Table:
        """The same, as a table of Arrow."""
        cursor = self.cursor()
        with self._asking(cursor):
            return cursor.sql(query, params=list(parameters)).to_arrow_table()

    def selected(self, select: str, clauses: Sequence[str], order: str, wanted: Mapping[str, pa.Table]) -> pa.Table:
        """A select of ours with clauses of ours; ``wanted`` are registered tables that the clauses name."""
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        return self.joined(f"{select}{where} ORDER BY {order}", (), wanted)

    def joined(self, query: str, parameters: Sequence[object], wanted: Mapping[str, pa.Table]) -> pa.Table:
        """The rows of a statement of ours that names the tables ``wanted``, which are registered for it."""
        cursor = self.cursor()
        for name, table in wanted.items():
            cursor.register(name, table)
        try:
            with self._asking(cursor):
                return cursor.sql(query, params=list(parameters)).to_arrow_table()
        finally:
            for name in wanted:
                cursor.unregister(name)

    def count(self, table: str) -> int:
        """How many rows a table of ours has."""
        number: int = self.rows(f"SELECT count(*) FROM {table}")[0][0]
        return number

    def _connected(self) -> duckdb.DuckDBPyConnection:
        with self._opening:
            if self._connection is None:
                import duckdb

                if self._closed:
                    raise duckdb.ConnectionException("the knowledge base is closed")
                if self._path.with_name(f"{self._path.name}.wal").exists():
                    # No writer of ours leaves one, and DuckDB would read from it.
                    raise self._damaged("has a file of changes beside it that nobody wrote")
                with self._telling():
                    connection = quiet_database(self._path, read_only=True)
                    self._check(_version(connection))
                self._connection = connection
            return self._connection

    @contextlib.contextmanager
    def _asking(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """A statement of the cursor, which a deadline stops, and whose errors are damage."""
        with self._telling(), interruptible(cursor):
            yield

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """What DuckDB raises over blocks that do not fit their checksums, and what is made of them, is damage."""
        import duckdb

        try:
            yield
        except (duckdb.InterruptException, duckdb.OutOfMemoryException, duckdb.ConnectionException):
            raise
        except (duckdb.Error, UnicodeDecodeError) as error:
            if os.strerror(errno.ENOSPC) in str(error):
                raise
            raise self._damaged(f"cannot be read ({type(error).__name__})") from error


def _version(connection: duckdb.DuckDBPyConnection) -> str | None:
    import duckdb

    try:
        rows = connection.execute("SELECT value FROM manifest WHERE name = 'schema_version'").fetchall()
    except duckdb.CatalogException:
        return None
    return rows[0][0] if rows else None
