"""The process in which statements of free SQL run, one after the other: it has limits of its own, and can be killed.

It has no environment, opens no file and no connection once it is ready, writes none, leaves no core file, and ends with
the process that started it. Where the platform has no such limits (Windows; of memory, macOS), the walls of the
database instance stand alone.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import importlib.util
import json
import math
import mmap
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb

from ..errors import SqlError
from . import frames
from .instance import Request, Spent, Unreadable, answer, opened

#: The module of limits, where the platform has them.
_RESOURCE: Final[Any] = importlib.import_module("resource") if importlib.util.find_spec("resource") else None
#: Of the address space, above the memory that the database counts itself.
_UNCOUNTED: Final = 1 << 30
#: A process that has grown beyond this is not used again.
_GROWN: Final = 1 << 30
_CPU_GRACE: Final = 5
_BETWEEN_LOOKS: Final = 1.0
#: What the process holds in memory, in pages, where the platform tells it.
_STATM: Final = Path("/proc/self/statm")


def main() -> None:
    """Answer what comes in on the standard input until that ends."""
    asked, told = _pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    settings = json.loads(frames.read(asked)[1])
    try:
        connection = opened(settings["database"], f"{settings['memory']}B")
    except duckdb.Error:
        frames.write(told, frames.FAILED, json.dumps({"message": "", "last": True}).encode())
        return
    _warm_up(connection)
    sizes = _sizes()
    _limit(settings["memory"])
    frames.write(told, frames.READY)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while _answered(connection, asked, told, settings["database"], sizes):
            pass
    # What the database still does is of no use to anybody.
    os._exit(0)


def _answered(
    connection: duckdb.DuckDBPyConnection, asked: BinaryIO, told: BinaryIO, database: str, sizes: BinaryIO | None
) -> bool:
    """Answer one statement; whether the process can be used again."""
    header = json.loads(frames.read(asked)[1])
    parameters = frames.parameters_from_arrow(frames.read(asked)[1], header.pop("named"))
    _limit_processor(header.pop("seconds"))
    try:
        answer(
            connection,
            Request(parameters=parameters, **header),
            lambda batch: frames.write(told, frames.BATCH, frames.to_arrow(batch)),
        )
    except SqlError as error:
        said = str(error)
        if database in said:
            said = "the statement cannot be read"
        last, of_file = isinstance(error, Spent) or _grown(sizes), isinstance(error, Unreadable)
        frames.write(told, frames.FAILED, json.dumps({"message": said, "last": last, "file": of_file}).encode())
        return not last
    last = _grown(sizes)
    frames.write(told, frames.DONE, json.dumps({"last": last}).encode())
    return not last


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The standard input and output, the second for frames alone: whoever prints, prints into nothing."""
    told = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)
    return sys.stdin.buffer, told


def _end_with(parent: int) -> None:
    # A pipe that ends tells it too, but not while a statement runs, nor if a fork of the parent holds it open.
    while os.getppid() == parent:
        time.sleep(_BETWEEN_LOOKS)
    os._exit(1)


def _warm_up(connection: duckdb.DuckDBPyConnection) -> None:
    """Load whatever is loaded late: afterwards no file can be opened."""
    values: list[Any] = [
        None, True, 1, 1.5, "a", b"a", decimal.Decimal("1.5"), datetime.date(2020, 1, 1), datetime.time(1),
        datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.timedelta(1),
        [1], {"a": 1},
    ]  # fmt: skip
    given = frames.parameters_from_arrow(bytearray(frames.parameters_to_arrow(values)), named=False)
    marks = ", ".join("?" * len(values))
    for statement in (
        f"SELECT {marks}",
        "SELECT count(*) FROM patients",
        "SELECT now(), TIMESTAMP '2020-01-01' AT TIME ZONE 'UTC', json('[]'), strptime('2020', '%Y')",
    ):
        with contextlib.suppress(SqlError):
            parameters = given if "?" in statement else []
            answer(connection, Request(statement, parameters, None, 10, 1 << 20), frames.to_arrow)


def _limit(memory: int) -> None:
    """Shut off for good what no statement needs."""
    if _RESOURCE is None:
        return
    # The lowest number that is free is the first that cannot be had any more.
    free = os.open(os.devnull, os.O_RDONLY)
    limits = {_RESOURCE.RLIMIT_NOFILE: free, _RESOURCE.RLIMIT_CORE: 0, _RESOURCE.RLIMIT_FSIZE: 0}
    with contextlib.suppress(OSError, ValueError):
        pages = int(_STATM.read_text(encoding="ascii").split()[0])
        limits[_RESOURCE.RLIMIT_AS] = pages * _RESOURCE.getpagesize() + memory + _UNCOUNTED
    os.close(free)
    for limit, value in limits.items():
        with contextlib.suppress(OSError, ValueError):
            _RESOURCE.setrlimit(limit, (value, value))


def _limit_processor(seconds: float) -> None:
    """As much processor time as all cores have in that time: the last to stop what nobody waits for any more."""
    if _RESOURCE is None:
        return
    used = _RESOURCE.getrusage(_RESOURCE.RUSAGE_SELF)
    most = used.ru_utime + used.ru_stime + seconds * (os.cpu_count() or 1) + _CPU_GRACE
    hard = _RESOURCE.getrlimit(_RESOURCE.RLIMIT_CPU)[1]
    if math.isfinite(most) and (hard == _RESOURCE.RLIM_INFINITY or most < hard):
        with contextlib.suppress(OSError, ValueError, OverflowError):
            _RESOURCE.setrlimit(_RESOURCE.RLIMIT_CPU, (math.ceil(most), hard))


def _grown(sizes: BinaryIO | None) -> bool:
    if sizes is not None:
        sizes.seek(0)
        return int(sizes.read().split()[1]) * mmap.PAGESIZE > _GROWN
    if _RESOURCE is None:
        return False
    # Elsewhere than on Linux, where it would count what the parent held when it started this process.
    unit = 1 if sys.platform == "darwin" else 1024
    return _RESOURCE.getrusage(_RESOURCE.RUSAGE_SELF).ru_maxrss * unit > _GROWN


def _sizes() -> BinaryIO | None:
    """The file that tells the size of this process, open, since none can be opened later."""
    try:
        return _STATM.open("rb", buffering=0)
    except OSError:
        return None
