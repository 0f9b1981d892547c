"""The NOTE table of OMOP: recognised by its columns in every form, read without a map."""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb
import pytest

from cohortium.ingest.readers.records import Incoming
from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import UsageError
from cohortium.kb.storage.rows import QuarantinedRecord

COLUMNS = (
    "note_id person_id note_date note_datetime note_type_concept_id note_class_concept_id note_title note_text "
    "encoding_concept_id language_concept_id provider_id visit_occurrence_id visit_detail_id note_source_value"
).split()
TYPES = {
    "note_id": "BIGINT",
    "person_id": "BIGINT",
    "note_date": "DATE",
    "note_datetime": "TIMESTAMP",
    "note_type_concept_id": "INT",
    "note_class_concept_id": "INT",
}
ROWS = [
    "11 7 2020-01-02 2020-01-02T08:30:00 32817 44814642 Biopsy ECOG_1. 32678 4180186 0 0 0 Pathology".split(),
    "12 7 - 2020-01-03T08:30:00 44814637 0 - ECOG_2. 32678 4180186 0 0 0 4711".split(),
    "13 8 2020-01-04 - 32817 0 - - 32678 4180186 0 0 0 -".split(),
]
CELLS = [["" if cell == "-" else cell for cell in row] for row in ROWS]


def table(folder: Path, name: str) -> Path:
    """The three rows in a form that its name tells."""
    path = folder / name
    if name.endswith((".parquet", ".duckdb")):
        columns = ", ".join(f"nullif(c{at}, '') AS {column}" for at, column in enumerate(COLUMNS))
        names = ", ".join(f"c{at}" for at in range(len(COLUMNS)))
        rows = f"SELECT {columns} FROM (VALUES {', '.join(map(str, map(tuple, CELLS)))}) AS t({names})"
        typed = (
            f"SELECT * REPLACE ({', '.join(f'{name}::{kind} AS {name}' for name, kind in TYPES.items())}) FROM ({rows})"
        )
        with duckdb.connect(str(path) if name.endswith(".duckdb") else ":memory:") as database:
            if name.endswith(".duckdb"):
                database.execute("CREATE SCHEMA cdm")
                database.execute(f"CREATE TABLE cdm.NOTE AS {typed}")
            else:
                database.sql(typed).write_parquet(str(path))
        return path
    delimiter = "\t" if "tab" in name else ","
    header = [column.upper() for column in COLUMNS] if "upper" in name else COLUMNS
    path.write_text("\n".join(delimiter.join(row) for row in [header, *CELLS]) + "\n")
    return path


@pytest.mark.parametrize("name", ["n.csv", "upper.csv", "tab.csv", "upper_tab.tsv", "n.parquet", "n.duckdb"])
def test_a_note_table_is_read_without_a_map(tmp_path: Path, name: str) -> None:
    """Words of the source name the kind of note, else the concepts do; a moment dates what has no day."""
    found = list(Sources([table(tmp_path, name)]))
    notes = [one.note for one in found if isinstance(one, Incoming)]
    assert [(one.patient_id, one.doc_id, one.date, one.type, one.title, one.text) for one in notes] == [
        ("7", "11", datetime.date(2020, 1, 2), "Pathology", "Biopsy", "ECOG_1."),
        ("7", "12", datetime.date(2020, 1, 3), "discharge summary", "", "ECOG_2."),
    ]
    (bad,) = (one for one in found if isinstance(one, QuarantinedRecord))
    assert (bad.reason.partition(":")[0], bad.patient_id, bad.doc_id) == ("empty_text", "8", "13")


def test_a_map_names_other_columns_and_leaves_the_rest(tmp_path: Path) -> None:
    """It is checked like that of any table."""
    path = table(tmp_path, "n.csv")
    (first, *_) = Sources([path], {"title": "note_source_value"})
    assert isinstance(first, Incoming)
    assert (first.note.patient_id, first.note.title) == ("7", "Pathology")
    with pytest.raises(UsageError, match=r"no column 'note_source'.*did you mean 'note_source_value'"):
        Sources([path], {"title": "note_source"})


def test_a_database_without_notes_is_told(tmp_path: Path) -> None:
    """What is no DuckDB file, too."""
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute("CREATE TABLE person (person_id INT)")
    with pytest.raises(UsageError, match=r"x\.duckdb: no table called NOTE"):
        Sources([tmp_path / "x.duckdb"])
    (tmp_path / "y.duckdb").write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"y\.duckdb: cannot be read as DuckDB"):
        Sources([tmp_path / "y.duckdb"])
