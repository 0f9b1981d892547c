"""The tables NOTE, PERSON and DEATH of OMOP, as CSV or Parquet: recognised by their columns, read without a map.

The table NOTE of a DuckDB file is read, too.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ...kb.kinds import WHOLE_LIFE
from . import tables
from .files import SourceFile
from .mapping import FIELDS, ColumnMap
from .records import RawRecord
from .registered import TYPE, name_of, text_of

#: Cells that stand for nothing in exports of databases.
_NOTHING: Final = frozenset({"", "null", "\\n"})


@functools.cache
def _plan() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "omop.toml").read_text(encoding="utf-8"))


def is_note_table(columns: Collection[str]) -> bool:
    """Whether a table of these columns is OMOP's NOTE."""
    return {name.lower() for name in columns}.issuperset(_plan()["recognised"]["columns"])


def is_person_table(columns: Collection[str]) -> bool:
    """Whether a table of these columns is OMOP's PERSON or DEATH."""
    named = {name.lower() for name in columns}
    return any(named.issuperset(_plan()[table]["columns"]) for table in ("person", "death"))


def read_persons(file: SourceFile) -> Iterator[RawRecord]:
    """The rows of PERSON or DEATH, each as a note of what it tells of who somebody is."""
    for record in tables.read(file):
        if record.fault:
            yield record
            continue
        cells = {name.lower(): _plain(cell) for name, cell in record.fields.items()}
        person, died = cells.get("person_id", ""), cells.get("death_date", "")[:10]
        told = {"death": died} if died else _of_person(cells)
        text = text_of(told)
        # A row that tells nothing of somebody is no empty note.
        if text:
            named = f"{'DEATH' if died else 'PERSON'}/{person}"
            yield replace(
                record,
                fields={"patient_id": person, "doc_id": named, "date": died, "type": TYPE, "title": "", "text": text},
            )


def _of_person(cells: Mapping[str, str]) -> dict[str, str]:
    def named(section: str, column: str) -> str:
        concept, source = cells.get(f"{column}_concept_id", ""), cells.get(f"{column}_source_value", "")
        return name_of(section, f"OMOP:{concept}", source)

    birth = cells.get("birth_datetime", "")[:10]
    day = [cells.get(f"{part}_of_birth", "") for part in ("year", "month", "day")]
    if not birth and day[0]:
        # Without a day the year is told alone: the words for a month are no date of birth here.
        birth = f"{day[0]}-{int(day[1]):02d}-{int(day[2]):02d}" if all(one.isdigit() for one in day) else day[0]
    return {"birth": birth, **{kind: named(kind, _plan()["person"][kind]) for kind in WHOLE_LIFE}}


def _plain(cell: object) -> str:
    """A cell as text; empty for what stands for nothing."""
    if cell is None or cell != cell:
        return ""
    text = str(cell).strip()
    return "" if text.lower() in _NOTHING else text


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
