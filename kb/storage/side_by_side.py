"""Tables that are written at once: each lot of them by a connection, a transaction and a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from typing import Final

import duckdb

#: Seconds between two attempts to interrupt a statement.
_PATIENCE: Final = 0.05

#: Executes a statement with these values.
Run = Callable[[str, Sequence[int]], None]


class _Stopped(Exception):
    """Another lot failed: this one does not go on."""


def side_by_side(database: duckdb.DuckDBPyConnection, lots: Sequence[Callable[[Run], None]]) -> None:
    """Call each with what executes its statements, all at the same time. They see no temporary table, and no two may
    write the same table.

    When one fails, or the keyboard interrupts, the others are stopped, and that error is raised.
    """
    stopped = threading.Event()

    def write(connection: duckdb.DuckDBPyConnection, lot: Callable[[Run], None]) -> None:
        def run(statement: str, values: Sequence[int] = ()) -> None:
            if stopped.is_set():
                raise _Stopped
            connection.execute(statement, list(values))

        # In one transaction: the rest of a row group that each statement leaves would be written again by the next.
        run("BEGIN")
        lot(run)
        run("COMMIT")

    with contextlib.ExitStack() as open_connections:
        connections = [open_connections.enter_context(database.cursor()) for _ in lots]
        with ThreadPoolExecutor(len(lots), thread_name_prefix="cohortium-write") as threads:
            writing = [threads.submit(write, *one) for one in zip(connections, lots, strict=True)]
            try:
                for done in as_completed(writing):
                    done.result()
            except BaseException:
                stopped.set()
                # Again and again: what comes just before a statement begins does not reach it.
                while wait(writing, _PATIENCE).not_done:
                    for connection in connections:
                        connection.interrupt()
                raise
