"""Files beside the tables: the manifest that names the generation, and files that nobody else may read."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..sql_files import script
from ..storage.layout import Layout, generation_id
from ..storage.writer import content_digest
from .looked_at import LookedAt
from .rules import Faults, Rule

_ADVICE = "close it to others: 'chmod -R go= KB'"


def file_rules() -> tuple[Rule, ...]:
    """The rules about files and the manifest."""
    return (
        Rule("every cell", "files", "tables that cannot be read to their end", _readable, slow=True),
        Rule("manifest and its id", "manifest", "entries that do not fit the generation's id or each other", _manifest),
        Rule("rows of the manifest", "manifest", "tables whose number of rows the manifest does not tell", _rows),
        Rule("content of the manifest", "manifest", "digests of the content that differ", _content, slow=True),
        Rule("private files", "files", "files or folders that others than the owner may read", _private, _ADVICE),
    )


def _readable(looked_at: LookedAt) -> Iterator[Faults]:
    # Every block has a checksum, which is looked at when the block is read: so all are read. What does not fit raises.
    for (table,) in looked_at.rows("SELECT table_name FROM duckdb_tables() WHERE database_name = 'built' ORDER BY 1"):
        if table not in script("storage/schema"):
            yield Faults(1, "a table of another maker")
            continue
        looked_at.rows(f"SELECT bit_xor(hash(cells)) FROM built.{table} AS cells")


def _entries(looked_at: LookedAt) -> dict[str, Any]:
    return {name: json.loads(value) for name, value in looked_at.rows("SELECT name, value FROM built.manifest")}


def _manifest(looked_at: LookedAt) -> Iterator[Faults]:
    inside = _entries(looked_at)
    written = looked_at.layout.manifest_file(looked_at.generation)
    differing = [name for name, value in inside.items() if written.get(name) != value]
    if differing:
        yield Faults(len(differing), f"{min(differing)} of manifest.json")
    if generation_id(inside) != looked_at.generation:
        yield Faults(1, f"generation {looked_at.generation}")


def _rows(looked_at: LookedAt) -> Iterator[Faults]:
    for table, number in sorted(_entries(looked_at).get("rows", {}).items()):
        if looked_at.number(table) != number:
            yield Faults(1, table)


def _content(looked_at: LookedAt) -> Iterator[Faults]:
    if content_digest(looked_at.database) != _entries(looked_at).get("content"):
        yield Faults(1, f"generation {looked_at.generation}")


def _private(looked_at: LookedAt) -> Iterator[Faults]:
    path = looked_at.layout.path
    for entry in (path, *sorted(_entries_of(path))):
        # A writer at work removes what it has used up.
        with contextlib.suppress(FileNotFoundError):
            if stat.S_IMODE(entry.lstat().st_mode) & 0o077:
                yield Faults(1, str(entry.relative_to(path)))


def _entries_of(path: Path) -> Iterator[Path]:
    """All below a knowledge base but what a writer has not closed to others yet; nobody reaches that, whose folder is
    closed."""
    building = Layout(path).building
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if Path(folder, name) != building]
        yield from (Path(folder, name) for name in (*folders, *files))
