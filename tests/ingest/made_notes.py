"""Notes made for tests of the run, and the tables of the knowledge base that a run leaves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from cohortium.kb.storage.layout import DATABASE, Layout

Line = Mapping[str, object] | str | bytes


def note(patient_id: str = "P1", doc_id: str = "a", text: str = "ECOG 1.", **more: object) -> dict[str, object]:
    """A note as a line of JSON has it."""
    return {"patient_id": patient_id, "doc_id": doc_id, "date": "2020-01-02", "text": text, **more}


def as_bytes(lines: Sequence[Line]) -> bytes:
    """Lines of a JSONL file; ``str`` and ``bytes`` go in as they are."""
    texts = [json.dumps(line) if isinstance(line, Mapping) else line for line in lines]
    return b"".join((text.encode() if isinstance(text, str) else text) + b"\n" for text in texts)


def tables(kb: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables of the current generation, in the order in which they are stored."""
    layout = Layout(kb)
    path = layout.generation(layout.require_current()) / DATABASE
    with duckdb.connect(str(path), read_only=True) as database:
        names = [row[0] for row in database.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        return {name: database.table(name).fetchall() for name in names}
