"""Exporting: every table of one generation to a Parquet file of its own, a few rows at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import MissingKb
from ..files.whole_files import refuse_inside_kb
from ..files.whole_folders import whole_folder
from ..skin.progress import Bar, bar
from ..storage.quiet_database import quiet_database
from ..storage.reader import KnowledgeBase
from .card import TEXT_COLUMNS, Card, TableFile, file_name, write_card

#: A row group of a Parquet file has so many rows; of tables with long texts, fewer.
_GROUP_ROWS: Final = 100_000
_GROUP_ROWS_OF_TEXT: Final = 5_000
_MEMORY: Final = "1GB"
_TABLES: Final = "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"


def export_tables(
    kb: KnowledgeBase, folder: str | os.PathLike[str], *, without_text: bool = False, progress: bool | None = None
) -> Card:
    """Write every table of an open generation to a Parquet file in a new ``folder``, with a card of them all.

    The folder and its files are their owner's alone; they appear when all is written, or not at all. Equal
    generations give equal files. ``without_text`` leaves out the columns that hold words of notes (see
    :data:`.card.TEXT_COLUMNS`). NotWritable if the folder is there already or cannot be written; DamagedKb where the
    tables are not as they were written: damage goes into no export.
    """
    refuse_inside_kb(Path(folder))
    kb.prove_tables()
    with whole_folder(Path(folder)) as part, _opened(kb, part / "spill") as database, bar(progress) as shown:
        names = [name for (name,) in database.execute(_TABLES).fetchall()]
        files = {name: _write(database, name, part / file_name(name), without_text, shown) for name in names}
        card = Card(kb.generation, files, without_text)
        write_card(part, card)
    return card


def _opened(kb: KnowledgeBase, spill: Path) -> duckdb.DuckDBPyConnection:
    try:
        database = quiet_database(kb.database, read_only=True)
    except duckdb.IOException as error:
        raise MissingKb(
            f"The generation {kb.generation} of {kb.path} is gone: it was replaced twice since it was opened. "
            "Hint: export again"
        ) from error
    database.execute("SET memory_limit = $1", [_MEMORY])
    # Not beside the tables, where a killed export would leave it: what moves to disk is text of notes.
    database.execute("SET temp_directory = $1", [str(spill)])
    return database


def _write(database: duckdb.DuckDBPyConnection, name: str, path: Path, without_text: bool, shown: Bar) -> TableFile:
    left_out = TEXT_COLUMNS.get(name, ()) if without_text else ()
    table = database.table(name)
    columns = [column for column in table.columns if column not in left_out]
    total = int(database.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0])
    shown.step(f"writing {name}", total)
    groups = _groups(table, columns, total, _GROUP_ROWS_OF_TEXT if name in TEXT_COLUMNS else _GROUP_ROWS)
    with pq.ParquetWriter(path, table.select(*columns).limit(0).to_arrow_table().schema, compression="zstd") as writer:
        for group in groups:
            writer.write_table(group, row_group_size=group.num_rows)
            shown.advance(group.num_rows)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return TableFile(total, path.stat().st_size, digest)


def _groups(table: duckdb.DuckDBPyRelation, columns: Sequence[str], total: int, size: int) -> Iterator[pa.Table]:
    """The rows in their stored order, so many at a time: a large scan in one piece would come in no order."""
    wanted = table.select(*(duckdb.ColumnExpression(column) for column in columns), duckdb.ColumnExpression("rowid"))
    for first in range(0, total, size):
        rows = wanted.filter(f"rowid BETWEEN {first} AND {first + size - 1}").order("rowid").to_arrow_table()
        if rows.num_rows != min(size, total - first):
            raise ValueError(f"rows of {table.alias} are not numbered one after another")
        yield rows.drop(["rowid"])
