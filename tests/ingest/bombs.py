"""Sources that are small on disk and large once read: one for each way in, made when they are asked for."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import duckdb

MILLION: Final = 1_000_000
HEADER: Final = b"patient_id,doc_id,date,text\n"


def packed(path: Path, pieces: Iterator[bytes]) -> Path:
    """A file packed with gzip, written piece by piece; the quick level, for the size on disk does not matter here."""
    with gzip.open(path, "wb", compresslevel=6) as file:
        for piece in pieces:
            file.write(piece)
    return path


def times(piece: bytes, megabytes: int, before: bytes = b"", behind: bytes = b"") -> Iterator[bytes]:
    """This piece as often as makes so many million bytes, between two others."""
    block = piece * (MILLION // len(piece))
    yield before
    for _ in range(megabytes):
        yield block
    yield behind


def plain(path: Path, pieces: Iterator[bytes]) -> Path:
    """A file as it is."""
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
    return path


def hollow(path: Path, megabytes: int) -> Path:
    """A file of NULs that takes no room on the disk."""
    with path.open("wb") as file:
        os.truncate(file.fileno(), megabytes * MILLION)
    return path


def table(path: Path, select: str, options: str = "") -> Path:
    """What a query gives, as Parquet, or as the table NOTE of a DuckDB file."""
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as database:
            database.execute(f"CREATE TABLE note AS {select}")
        return path
    with duckdb.connect() as database:
        database.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet{options})")
    return path


_ROWS = "SELECT 'P' || range AS patient_id, range AS note_id, range AS person_id"
Maker = Callable[[Path, int], Path]

#: Name → what makes it in a folder, about so many million bytes of it unpacked.
BOMBS: Final[Mapping[str, Maker]] = {
    "a field of CSV, packed": lambda folder, size: packed(
        folder / "b.csv.gz", times(b"a", size, HEADER + b'P,d,2020-01-02,"', b'"\n')
    ),
    "a field of short lines of CSV, packed": lambda folder, size: packed(
        folder / "b.csv.gz", times(b"a\n", size, HEADER + b'P,d,2020-01-02,"', b'"\n')
    ),
    "a line of CSV without an end, packed": lambda folder, size: packed(folder / "b.csv.gz", times(b"a", size, HEADER)),
    "a row of empty cells of CSV": lambda folder, size: plain(folder / "b.csv", times(b",", size, HEADER)),
    "a header of CSV": lambda folder, size: plain(folder / "b.csv", times(b"a,", size)),
    "blank lines of CSV, packed": lambda folder, size: packed(folder / "b.csv.gz", times(b"\n", size, HEADER)),
    "a line of JSON, packed": lambda folder, size: packed(folder / "b.jsonl.gz", times(b"a", size, b'{"text": "')),
    "a line of JSON": lambda folder, size: plain(folder / "b.jsonl", times(b"a", size, b'{"text": "')),
    "blank lines of JSON, packed": lambda folder, size: packed(folder / "b.jsonl.gz", times(b"\n", size)),
    "lines of one letter, packed": lambda folder, size: packed(folder / "b.jsonl.gz", times(b"x\n", size)),
    "a line of empty lists": lambda folder, size: plain(
        folder / "b.jsonl", times(b"[],", min(size, 60), b'{"a": [', b"0]}")
    ),
    "a line of empty objects": lambda folder, size: plain(
        folder / "b.jsonl", times(b'{"a":[]},', min(size, 60), b'{"a": [', b"0]}")
    ),
    "FHIR of empty objects": lambda folder, size: plain(
        folder / "b.json", times(b"{},", min(size, 60), b'{"resourceType": "Bundle", "entry": [', b"{}]}")
    ),
    "FHIR of one string, packed": lambda folder, size: packed(folder / "b.json.gz", times(b"a", size, b'["', b'"]')),
    "a text file": lambda folder, size: hollow(folder / "P" / "b.txt", size),
    "one long text in many rows of Parquet": lambda folder, size: table(
        folder / "b.parquet", f"{_ROWS}, repeat('a', 10_000_000) AS text FROM range({max(size // 10, 1)})"
    ),
    "long texts in one page of Parquet": lambda folder, size: table(
        folder / "b.parquet",
        f"{_ROWS}, repeat('a' || range, {size * 100_000}) AS text FROM range(5)",
        ", COMPRESSION zstd",
    ),
    "a list of Parquet": lambda folder, size: table(
        folder / "b.parquet", f"{_ROWS}, 'x' AS text, range({size * 50_000}) AS list FROM range(1)"
    ),
    "one long text in many rows of DuckDB": lambda folder, size: table(
        folder / "b.duckdb", f"{_ROWS}, repeat('a', 10_000_000) AS note_text FROM range({max(size // 10, 1)})"
    ),
}
