"""A DuckDB that prints nothing: by itself it draws a bar on the standard output under a long question."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def quiet_database(path: str | os.PathLike[str] = ":memory:", *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection, whose cursors are as quiet; errors as of ``duckdb.connect``."""
    # Opening a knowledge base needs no database.
    import duckdb

    connection = duckdb.connect(str(path), read_only=read_only)
    try:
        # Not of the configuration: it is a setting of each connection, and not of the database.
        connection.execute("SET enable_progress_bar = false")
    except BaseException:
        connection.close()
        raise
    return connection
