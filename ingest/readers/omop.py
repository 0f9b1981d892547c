"""The NOTE table of OMOP, as CSV, Parquet or in a DuckDB file: recognised by its columns, read without a map."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from . import tables
from .files import SourceFile
from .mapping import FIELDS, ColumnMap
from .records import RawRecord

#: Cells that stand for nothing in exports of databases.
_NOTHING: Final = frozenset({"", "null", "\\n"})


@functools.cache
def _plan() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "omop.toml").read_text(encoding="utf-8"))


def is_note_table(columns: Collection[str]) -> bool:
    """Whether a table of these columns is OMOP's NOTE."""
    return {name.lower() for name in columns}.issuperset(_plan()["recognised"]["columns"])


def used_columns() -> set[str]:
    """The columns, in small letters, from which a field of a note may be read."""
    plan = _plan()
    return {column for columns in plan["fields"].values() for column in columns} | set(plan["recognised"]["columns"])


def check(file: SourceFile, columns: ColumnMap) -> None:
    """UsageError when the map names a column that is not there; the fields that it leaves out have their places."""
    columns.check({*tables.header(file), *FIELDS}, file.label)


def read(file: SourceFile) -> Iterator[RawRecord]:
    """The rows of the table, with our fields beside its columns."""
    for record in tables.read(file):
        if record.fault:
            yield record
            continue
        cells = {name.lower(): cell for name, cell in record.fields.items()}
        ours = {field: _first(field, cells) for field in FIELDS}
        yield replace(record, fields={**ours, **record.fields})


def _first(field: str, cells: Mapping[str, object]) -> object:
    """What the first column of a field that holds something holds; None when none does."""
    for column in _plan()["fields"][field]:
        cell = cells.get(column)
        if cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in _NOTHING):
            continue
        if column.endswith("_concept_id"):
            cell = _plan()["type"].get(str(cell).strip())
            if cell is None:
                continue
        elif field == "type" and str(cell).strip().isdigit():
            continue  # A code of the source, no words.
        return cell
    return None
