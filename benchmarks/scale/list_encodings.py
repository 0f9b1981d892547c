"""Closed posting lists written out, united when they are asked for, or a mix; in a mapped file, or in a table.

    python -m benchmarks.scale.list_encodings KB [--broad made_up_class] [--single made_up_code]

Builds the lists of a knowledge base again for several limits of how many bitmaps an entry may be united from: 0 writes
every closed list out, a very high one none (each is united from the lists of the concepts below, as ranges over exact
lists in order of the hierarchy would be). Prints, for each, bytes, seconds of processor time, and microseconds to read
a broad class, a single code and a list on average; then this average from a DuckDB table with a bitmap in each row.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyroaring import BitMap

from cohortium.kb.index.lists.building import build_lists
from cohortium.kb.index.lists.index_rows import IndexRows
from cohortium.kb.index.lists.list_file import LISTS
from cohortium.kb.index.lists.listed import Listed
from cohortium.kb.model import World
from cohortium.kb.storage.reader import KnowledgeBase

LIMITS = (0, 4, 8, 16, 64, 10**9)
_SAMPLE = 2_000


def microseconds(read: Callable[[], object], times: int = 30) -> float:
    """The median of some readings."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        read()
        taken.append(time.perf_counter() - started)
    return float(np.median(taken)) * 1e6


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("--broad", default="made_up_class")
    parser.add_argument("--single", default="made_up_code")
    asked = parser.parse_args()
    with KnowledgeBase.open(asked.kb) as kb, tempfile.TemporaryDirectory() as folder:
        posting = kb._rows("SELECT kind, concept FROM posting WHERE world = 0 ORDER BY kind, concept")
        keys = [posting[at] for at in np.random.default_rng(1).permutation(len(posting))[:_SAMPLE]]
        (kind,) = {kind for kind, concept in posting if concept == asked.broad}
        print(f"{len(kb.patients)} patients, {sum(kb.holdings.events.values())} events, {len(posting)} lists")
        print("     limit        bytes    of values   cpu s  broad µs single µs   any µs")
        for limit in LIMITS:
            place = Path(folder) / str(limit)
            place.mkdir()
            started = time.process_time()
            build_lists(_WithoutValues(kb), place, kb.concepts, limit)
            seconds = time.process_time() - started
            alone = (place / LISTS).stat().st_size
            lists = Listed.of_folder(place)
            broad, single = (
                microseconds(lambda one=one, lists=lists: lists.patients(kind, one, World.BELIEVED))
                for one in (asked.broad, asked.single)
            )
            started = time.perf_counter()
            for key in keys:
                lists.patients(*key, World.BELIEVED)
            mean = (time.perf_counter() - started) / len(keys) * 1e6
            build_lists(IndexRows(kb.event_index), place, kb.concepts, limit)
            with_values = (place / LISTS).stat().st_size - alone
            sizes = f"{limit:>10} {alone:>12} {with_values:>12}"
            print(f"{sizes} {seconds:>7.2f} {broad:>9.1f} {single:>9.1f} {mean:>8.1f}")
        _table(kb, keys, Path(folder) / "table.duckdb")


class _WithoutValues(IndexRows):
    def __init__(self, kb: KnowledgeBase) -> None:
        super().__init__(kb.event_index)

    def attributes(self, kind: str) -> tuple[()]:
        """None, so that lists by concept alone are measured."""
        return ()


def _table(kb: KnowledgeBase, keys: list[tuple[str, str]], path: Path) -> None:
    """A row with a bitmap for each list and world, as one statement reads it."""
    every = kb._rows("SELECT kind, concept, world FROM posting ORDER BY kind, concept, world")
    cells = [kb.lists.patients(kind, concept, World(world)).serialize() for kind, concept, world in every]
    kinds, concepts, worlds = zip(*every, strict=True)
    table = pa.table({"kind": kinds, "concept": concepts, "world": worlds, "patients": pa.array(cells, pa.binary())})
    with duckdb.connect(str(path)) as database:
        database.register("incoming", table)
        database.execute("CREATE TABLE posting AS SELECT * FROM incoming")
    with duckdb.connect(str(path), read_only=True) as database:
        started = time.perf_counter()
        for kind, concept in keys[:200]:
            (row,) = database.execute(
                "SELECT patients FROM posting WHERE kind = $1 AND concept = $2 AND world = 2", [kind, concept]
            ).fetchall() or [(BitMap().serialize(),)]
            BitMap.deserialize(row[0])
        mean = (time.perf_counter() - started) / 200 * 1e6
    print(f"{'table':>10} {path.stat().st_size:>12} {'':>12} {'':>7} {'':>9} {'':>9} {mean:>8.1f}")


if __name__ == "__main__":
    main()
