"""The writing of all files of a generation that answer without event rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb

from ...ontology.concepts import ConceptTable
from ...ontology.kept_concepts import CONCEPTS, write_concepts
from ..columns import EventIndex
from ..holdings import HOLDINGS, write_holdings
from ..postings import posting_table
from .building import build_lists
from .index_rows import IndexRows
from .list_file import LISTS
from .patient_ids import PATIENTS, write_patient_ids
from .values import VALUES

_IDS: Final = "SELECT patient_id FROM built.patient ORDER BY patient"
_ROWS_AT_A_TIME: Final = 50_000


def write_lists(
    database: duckdb.DuckDBPyConnection, folder: Path, concepts: ConceptTable, events: EventIndex
) -> dict[str, Any]:
    """Write them into ``folder``, where the event columns are already; tells their bytes and the seconds it took.

    ``database`` reads the finished tables under the schema name ``built``; its table ``posting`` is filled if it is
    empty.
    """
    started = time.perf_counter()
    write_concepts(folder / CONCEPTS, concepts)
    write_patient_ids(folder / PATIENTS, _patient_ids(database))
    write_holdings(database, folder / HOLDINGS)
    sizes = build_lists(IndexRows(events), folder, concepts)
    if sizes and database.execute("SELECT count(*) FROM built.posting").fetchall() == [(0,)]:
        database.register("incoming", posting_table(sizes))
        database.execute("INSERT INTO built.posting BY NAME SELECT * FROM incoming")
        database.unregister("incoming")
    names = (CONCEPTS, PATIENTS, HOLDINGS, LISTS, VALUES)
    return {
        "bytes": {name: (folder / name).stat().st_size for name in names},
        "seconds": round(time.perf_counter() - started, 3),
    }


def _patient_ids(database: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for batch in database.sql(_IDS).to_arrow_reader(_ROWS_AT_A_TIME):
        yield from batch.column(0).to_pylist()
