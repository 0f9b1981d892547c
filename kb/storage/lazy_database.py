"""The DuckDB file of one generation, opened for reading when it is first asked.

What posting lists answer never asks it, and to load its library alone takes longer than such an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .quiet_database import quiet_database

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from ..errors import DamagedKb

#: What stands at the 8th byte of every DuckDB file.
_MAGIC: Final = b"DUCK"
_MAGIC_AT: Final = 8


class LazyDatabase:
    """Reads the file, which stays where it is. Safe across threads: each has its own cursor."""

    def __init__(self, path: Path, damaged: Callable[[str], DamagedKb], check: Callable[[str | None], None]) -> None:
        """FileNotFoundError if there is none, what ``damaged`` makes of a reason if it is none of DuckDB's.

        ``check`` is given the version of its schema that the database itself tells (as JSON, None if it tells none)
        when it is first asked, and may refuse it.
        """
        self._path = path
        self._damaged = damaged
        self._check = check
        self._opening = threading.Lock()
        self._local = threading.local()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._closed = False
        with path.open("rb") as file:
            if file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] != _MAGIC:
                raise damaged(f"{path.name} cannot be read")

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
        found: list[tuple[Any, ...]] = self.cursor().execute(query, list(parameters)).fetchall()
        return found

    def dicts(self, query: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """The same, by the names of the columns."""
        cursor = self.cursor().execute(query, list(parameters))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def arrow(self, query: str, parameters: Sequence[object] = ()) -> pa.Table:
        """The same, as a table of Arrow."""
        return self.cursor().sql(query, params=list(parameters)).to_arrow_table()

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
                try:
                    connection = quiet_database(self._path, read_only=True)
                    self._check(_version(connection))
                except duckdb.Error as error:
                    raise self._damaged(f"{self._path.name} cannot be read") from error
                self._connection = connection
            return self._connection


def _version(connection: duckdb.DuckDBPyConnection) -> str | None:
    import duckdb

    try:
        rows = connection.execute("SELECT value FROM manifest WHERE name = 'schema_version'").fetchall()
    except duckdb.CatalogException:
        return None
    return rows[0][0] if rows else None
