"""Lots of tables that are written at once: all of them, or none and the error of the one that failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from cohortium.kb.storage.side_by_side import Run, side_by_side

#: So many statements a lot has that is to be stopped: far more than it gets to.
MANY = 1_000_000


@pytest.fixture
def database(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with two tables in a file beside it."""
    with duckdb.connect() as opened:
        opened.execute("ATTACH $1 AS built", [str(tmp_path / "built.duckdb")])
        for table in ("one", "other"):
            opened.execute(f"CREATE TABLE built.{table} (number BIGINT)")
        yield opened


def counting(table: str, until: int) -> Callable[[Run], None]:
    """A lot that writes numbers into a table, one by one."""

    def write(run: Run) -> None:
        for number in range(until):
            run(f"INSERT INTO built.{table} VALUES ($1)", [number])

    return write


def test_every_lot_is_written_in_its_order(database: duckdb.DuckDBPyConnection) -> None:
    """Each as if it were alone."""
    side_by_side(database, [counting("one", 200), counting("other", 300)])
    for table, until in (("one", 200), ("other", 300)):
        assert database.execute(f"SELECT number FROM built.{table}").fetchall() == [(at,) for at in range(until)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_one_that_fails_stops_the_others(database: duckdb.DuckDBPyConnection, error: type[BaseException]) -> None:
    """Its error is told, and nothing of the others stays."""
    began = threading.Event()

    def failing(run: Run) -> None:
        run("INSERT INTO built.other VALUES (1)", [])
        began.wait(60)
        raise error("no more")

    def going_on(run: Run) -> None:
        for number in range(MANY):
            run("INSERT INTO built.one VALUES ($1)", [number])
            began.set()
        raise AssertionError("it was not stopped")

    with pytest.raises(error, match="no more"):
        side_by_side(database, [failing, going_on])
    for table in ("one", "other"):
        assert database.execute(f"SELECT count(*) FROM built.{table}").fetchall() == [(0,)]


def test_a_long_statement_is_interrupted(database: duckdb.DuckDBPyConnection) -> None:
    """One that would take hours ends when another lot fails."""
    began = threading.Event()

    def failing(run: Run) -> None:
        began.wait(60)
        raise ValueError("no more")

    def long(run: Run) -> None:
        began.set()
        run(
            "INSERT INTO built.one SELECT sum(a.range * b.range) FROM range(10_000_000) AS a, range(10_000_000) AS b",
            [],
        )

    with pytest.raises(ValueError, match="no more"):
        side_by_side(database, [failing, long])
