"""Restoring: the knowledge base that an export was made of, equal in every row, from its Parquet files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ..arguments import expect_path
from ..check.tables import faults_of_tables
from ..errors import UsageError
from ..files.untrusted import open_regular, shape_expected, whole_number
from ..index.build import build_index
from ..ontology.stored_ontology import concepts_from
from ..skin.progress import Bar, bar
from ..sql_files import script
from ..storage.full_disk import full_disk_reported
from ..storage.layout import DATABASE, INDEX, SCHEMA_VERSION, Layout, generation_id
from ..storage.writer import content_digest
from ..storage.writing_database import writing_database
from .card import Card, TableFile, damaged, file_name, read_card

_BATCH_ROWS: Final = 50_000
#: So many kinds of damage are told.
_SHOWN: Final = 3
_TABLES: Final = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'built' ORDER BY table_name"


def restore_tables(
    folder: str | os.PathLike[str], kb_path: str | os.PathLike[str], *, progress: bool | None = None
) -> Card:
    """Make the knowledge base at ``kb_path`` of the export in ``folder``: the same tables, the same generation id.

    Nothing is written unless every file is as its card says, the tables are those of the generation that it names, and
    their rows hold together by the rules of :mod:`cohortium.kb.check`.
    UsageError for what is no export, one without text, or a place that holds a knowledge base; DamagedExport (where,
    and what is wrong), SchemaVersionError, NotWritable, LockedError.
    """
    expect_path("folder", folder, "the folder of an export")
    expect_path("kb_path", kb_path, "the folder of the knowledge base to make")
    place, layout = Path(folder), Layout(kb_path)
    card = read_card(place)
    if card.without_text:
        raise UsageError(
            f"'{place}' is an export without text, of which no knowledge base can be made: proofs and corrections rest "
            "on the notes. Hint: export again, with their text"
        )
    with bar(progress) as shown:
        _refuse_another(layout)
        # Before a folder is made for what may be none.
        shown.step("checking files", len(card.tables))
        for name, file in card.tables.items():
            _check_file(place, name, file)
            shown.advance()
        with full_disk_reported(layout.path), layout.writing():
            _refuse_another(layout)
            with writing_database(layout.building, "restoring") as database:
                database.execute("ATTACH $1 AS built", [str(layout.building / DATABASE)])
                database.execute("USE built")
                database.execute(script("storage/schema"))
                _fill(database, place, card, shown)
                manifest = _manifest(database, place, card)
                database.execute("CHECKPOINT built")
                database.execute("USE restoring")
                database.execute("DETACH built")
                # A card, and the digests in it, can be written anew for other rows: what the rows say of each other
                # cannot so easily. The index is built of nothing that does not hold together.
                _refuse_inconsistent(layout, place, card, shown)
                database.execute("ATTACH $1 AS built", [str(layout.building / DATABASE)])
                database.execute("USE built")
                shown.step("building the index")
                index = layout.building / INDEX
                index.mkdir(mode=0o700)
                build_index(database, index, concepts_from(lambda query: database.execute(query).fetchall()))
                database.execute("CHECKPOINT built")
                database.execute("USE restoring")
                database.execute("DETACH built")
            layout.publish(card.generation, manifest)
    return card


def _refuse_inconsistent(layout: Layout, folder: Path, card: Card, shown: Bar) -> None:
    faults = faults_of_tables(layout, card.generation, layout.building, shown)
    found = [f"{number} {rule.finds}" for rule, number in faults]
    if found:
        more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise damaged(folder, f"its tables do not hold together: {'; '.join(found[:_SHOWN])}{more}")


def _refuse_another(layout: Layout) -> None:
    if layout.current() is not None:
        raise UsageError(f"'{layout.path}' holds a knowledge base already. Hint: name a new place")


def _check_file(folder: Path, name: str, file: TableFile) -> None:
    path = folder / file_name(name)
    try:
        with open_regular(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size != file.size:
                raise damaged(folder, f"{path.name} has {size} bytes, not {file.size}")
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                raise damaged(folder, f"{path.name} has another checksum than when it was written")
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or type(error).__name__
        raise damaged(folder, f"{path.name} cannot be read ({what})") from error


def _fill(database: duckdb.DuckDBPyConnection, folder: Path, card: Card, shown: Bar) -> None:
    names = [name for (name,) in database.execute(_TABLES).fetchall()]
    if set(names) != set(card.tables):
        wrong = sorted(set(names) ^ set(card.tables))
        raise damaged(folder, f"its tables are not those of a knowledge base ({', '.join(wrong)[:200]})")
    for name in names:
        file = card.tables[name]
        shown.step(f"reading {name}", file.rows)
        rows = 0
        columns = dict(zip(database.table(name).columns, map(str, database.table(name).types), strict=True))
        try:
            for batch in _batches(folder / file_name(name)):
                rows += batch.num_rows
                _insert(database, name, pa.Table.from_batches([batch]), columns)
                shown.advance(batch.num_rows)
        except (pa.ArrowException, duckdb.ConstraintException, duckdb.ConversionException, ValueError) as error:
            # The error's own words may show a value of a row.
            raise damaged(folder, f"{file_name(name)} does not hold the table ({type(error).__name__})") from error
        if rows != file.rows:
            raise damaged(folder, f"{file_name(name)} has {rows} rows, not {file.rows}")


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file; ValueError where it cannot be read, for which pyarrow has many errors."""
    try:
        with pq.ParquetFile(path) as parquet:
            yield from parquet.iter_batches(_BATCH_ROWS)
    except (OSError, MemoryError, RecursionError) as error:
        raise ValueError(f"not readable ({type(error).__name__})") from error


def _insert(database: duckdb.DuckDBPyConnection, name: str, table: pa.Table, columns: Mapping[str, str]) -> None:
    database.register("incoming", table)
    try:
        incoming = database.table("incoming")
        if dict(zip(incoming.columns, map(str, incoming.types), strict=True)) != columns:
            raise ValueError("other columns, or of other types")
        database.execute(f"INSERT INTO {name} SELECT * FROM incoming")
    finally:
        database.unregister("incoming")


def _manifest(database: duckdb.DuckDBPyConnection, folder: Path, card: Card) -> dict[str, Any]:
    """The manifest of the tables, once it is shown that they are those of the generation that the card names."""
    with shape_expected(lambda what: damaged(folder, f"{file_name('manifest')} is no manifest ({what})")):
        rows = database.execute("SELECT name, value FROM manifest").fetchall()
        manifest = {name: json.loads(value) for name, value in rows}
        if generation_id(manifest) != card.generation:
            raise damaged(folder, f"its manifest is not that of generation {card.generation}")
        if (version := manifest["schema_version"]) != SCHEMA_VERSION or type(version) is not int:
            raise damaged(
                folder, f"its manifest is of another schema version than {SCHEMA_VERSION}, which the card tells"
            )
        if content_digest(database) != manifest["content"]:
            raise damaged(folder, "its patients, notes or quarantine are not those of its manifest")
        for name, number in manifest["rows"].items():
            if (found := card.tables[name].rows) != whole_number(number):
                raise damaged(folder, f"{file_name(name)} has {found} rows, and the manifest tells {number}")
        return manifest
