"""Knowledge bases as programs of older schema versions wrote them, made of one that this program wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb

from cohortium.kb.storage.layout import DATABASE, INDEX, Layout, canonical_json, generation_id


def make_version_1(kb: Path) -> None:
    """Make the current generation one of schema version 1, which had no index beside its tables; others are removed."""
    layout = Layout(kb)
    current = layout.require_current()
    folder = layout.generation(current)
    shutil.rmtree(folder / INDEX)
    with duckdb.connect(str(folder / DATABASE)) as database:
        # Who is listed stood in a column; whatever it holds, the next version makes it anew.
        database.execute("ALTER TABLE posting ADD COLUMN patients BLOB")
        database.execute("UPDATE manifest SET value = '1' WHERE name = 'schema_version'")
        manifest = {
            name: json.loads(value) for name, value in database.execute("SELECT name, value FROM manifest").fetchall()
        }
    (folder / "manifest.json").write_text(canonical_json(manifest) + "\n", encoding="utf-8")
    for generation in layout.generations():
        if generation != current:
            shutil.rmtree(layout.generation(generation))
    (kb / "PREVIOUS").unlink(missing_ok=True)
    folder.rename(layout.generation(generation_id(manifest)))
    (kb / "CURRENT").write_text(generation_id(manifest) + "\n", encoding="ascii")
