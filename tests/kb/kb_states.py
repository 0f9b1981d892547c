"""The state of a knowledge base on disk: what its tables and index hold, as digests, and how far a write has come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from cohortium.kb.storage.layout import DATABASE, INDEX, Layout

#: How far a write has come, the furthest first: what is then on disk, below the folder of the knowledge base.
STAGES = (
    ("publishing: the new folder", "building/????????????????/*"),
    ("building the index", f"building/{INDEX}/*"),
    ("writing tables", f"building/{DATABASE}"),
    ("reading notes", "unfinished/*.batch"),
    ("taking in sources", "unfinished"),
    ("beginning", "building"),
)
_COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"
)


def state_of(kb: Path) -> dict[str, Any]:
    """The generation, a digest of each table's rows in their stored order, of each file of the index, and the notes."""
    layout = Layout(kb)
    folder = layout.generation(layout.require_current())
    with duckdb.connect(str(folder / DATABASE), read_only=True) as database:
        names = [row[0] for row in database.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        tables = {name: _digest(repr(row).encode() for row in _rows(database, name)) for name in names}
        tables["columns of all"] = _digest(repr(row).encode() for row in database.execute(_COLUMNS).fetchall())
        notes = database.execute("SELECT note_id, status FROM note ORDER BY ALL").fetchall()
    files = sorted(path for path in (folder / INDEX).rglob("*") if path.is_file())
    return {
        "generation": folder.name,
        "tables": tables,
        "content": {name: digest for name, digest in tables.items() if name != "manifest"},
        "index": {str(path.relative_to(folder)): _digest([path.read_bytes()]) for path in files},
        "notes": notes,
    }


def _rows(database: duckdb.DuckDBPyConnection, table: str) -> Iterator[tuple[Any, ...]]:
    cursor = database.execute(f"SELECT * FROM {table}")
    while rows := cursor.fetchmany(10_000):
        yield from rows


def _digest(parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def lost_and_doubled(wanted: dict[str, Any], found: dict[str, Any]) -> tuple[int, int]:
    """Versions of notes that are wanted and not there, and those that are there once more than wanted."""
    here = [tuple(note) for note in found["notes"]]
    return len({tuple(note) for note in wanted["notes"]}.difference(here)), len(here) - len(set(here))


def pointers_of(kb: Path) -> tuple[str, ...]:
    """What the pointers name, and which generations there are: what a write changes last."""
    layout = Layout(kb)
    return (str(layout.current()), str(layout.previous()), json.dumps(layout.generations()))


def stage_of(kb: Path, before: tuple[str, ...]) -> str:
    """How far a write that began at the pointers ``before`` has come."""
    current, previous, generations = pointers_of(kb)
    if current != before[0]:
        return "clearing up" if (kb / "building").exists() or (kb / "unfinished").exists() else "done"
    if previous != before[1]:
        return "publishing: between the pointers"
    if set(json.loads(generations)).difference(json.loads(before[2])):
        return "publishing: named, not current"
    return next((stage for stage, pattern in STAGES if any(kb.glob(pattern))), "before the lock")
