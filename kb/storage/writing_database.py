"""The database in which a writer works: it keeps to the writer's memory, and spills beside what is built."""

from __future__ import annotations

from pathlib import Path

import duckdb

from .quiet_database import quiet_database
from .writer_memory import writer_memory


def writing_database(building: Path, name: str) -> duckdb.DuckDBPyConnection:
    """A connection to the new database ``name`` in the folder ``building`` of a writer. UsageError where the setting of
    the writer's memory is none."""
    memory = writer_memory()
    database = quiet_database(building / f"{name}.duckdb")
    try:
        database.execute("SET temp_directory = $1", [str(building / "spill")])
        database.execute("SET memory_limit = $1", [f"{memory}B"])
    except BaseException:
        database.close()
        raise
    return database
