"""Where the bytes of a knowledge base are: by table, by index file, and by event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....kb.storage.layout import DATABASE, INDEX, Layout
from ....kb.storage.quiet_database import quiet_database


def sizes(path: Path) -> dict[str, Any]:
    """Bytes of the database and of each of its tables, of the index and of each of its files; rows by table."""
    layout = Layout(path)
    folder = layout.generation(layout.require_current())
    with quiet_database(folder / DATABASE, read_only=True) as database:
        names = [name for (name,) in database.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        block = database.execute("SELECT block_size FROM pragma_database_size()").fetchall()[0][0]
        tables, rows = {}, {}
        for name in names:
            # A block that two columns share is counted once, with the first of them.
            count = database.execute(
                "SELECT count(DISTINCT block_id) FROM pragma_storage_info($1) WHERE block_id >= 0", [name]
            ).fetchall()[0][0]
            tables[name] = count * block
            rows[name] = database.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0]
    index = {
        str(file.relative_to(folder / INDEX)): file.stat().st_size
        for file in sorted((folder / INDEX).rglob("*"))
        if file.is_file()
    }
    total = (folder / DATABASE).stat().st_size
    events = max(1, rows["event"])
    return {
        "rows": rows,
        "bytes": {
            "database": total,
            "tables": tables,
            "index": sum(index.values()),
            "index_files": index,
        },
        "bytes_an_event": {
            "database": round(total / events, 2),
            "index": round(sum(index.values()) / events, 2),
        },
    }
