"""The readers of batches: this process, or several others; results come back in the order of the batches."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final

from ...kb.errors import CohortiumError
from ...kb.rare_collections import COLLECTIONS
from .batches import BatchResult, PatientNotes, Reader, Reading, batch_key, read_batch
from .spool import Spool

#: Batches that wait for each worker: enough that none idles, few enough that their notes fit in memory.
_AHEAD: Final = 4

Batch = Sequence[PatientNotes]


class WorkerLost(CohortiumError):
    """A process that read notes was killed (exit 1). What was finished is kept."""


def read_all(
    reading: Reading, batches: Iterable[Batch], spool: Spool, workers: int, *, much: bool = False
) -> Iterator[tuple[Batch, BatchResult, bool]]:
    """Each batch with what it became, and whether an earlier run had already read it.

    ``much``: there will be batches for every worker, and they make ready before the first is known: while the sources
    are read, which this process does alone.
    """
    if workers == 1:
        yield from _read_here(reading, batches, spool)
    else:
        yield from _read_elsewhere(reading, batches, spool, workers, much)


def _read_here(reading: Reading, batches: Iterable[Batch], spool: Spool) -> Iterator[tuple[Batch, BatchResult, bool]]:
    reader: Reader | None = None
    for batch in batches:
        key = batch_key(reading, batch)
        result = spool.get(key)
        resumed = result is not None
        if result is None:
            reader = reader or reading.make()
            result = read_batch(reader, batch, reading.budget)
            spool.put(key, result)
        yield batch, result, resumed


def _read_elsewhere(
    reading: Reading, batches: Iterable[Batch], spool: Spool, workers: int, much: bool
) -> Iterator[tuple[Batch, BatchResult, bool]]:
    waiting: collections.deque[tuple[str, Batch, concurrent.futures.Future[None] | None]] = collections.deque()
    with _loss_reported(), contextlib.ExitStack() as resources:
        pool = concurrent.futures.ProcessPoolExecutor(
            workers,
            # Not fork: DuckDB's threads would not live on in the child.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(reading, str(spool.folder.parent)),
        )
        resources.callback(pool.shutdown, wait=True, cancel_futures=True)
        if much:
            # Each begins a process. What fails here fails again with the first batch, and is told then.
            for _ in range(workers):
                pool.submit(_make_ready)
        for batch in batches:
            key = batch_key(reading, batch)
            waiting.append((key, batch, None if spool.holds(key) else pool.submit(_work, key, batch)))
            if len(waiting) > workers * _AHEAD:
                yield _finished(pool, spool, *waiting.popleft())
        while waiting:
            yield _finished(pool, spool, *waiting.popleft())


@contextlib.contextmanager
def _loss_reported() -> Iterator[None]:
    """A worker's death is met wherever the pool is next asked: when a result is awaited, or when more work is given."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerLost(
            "a process that read notes was killed, perhaps for want of memory. Hint: run the same command again; it "
            "goes on where it was. Fewer --workers need less memory"
        ) from error


def _finished(
    pool: concurrent.futures.ProcessPoolExecutor,
    spool: Spool,
    key: str,
    batch: Batch,
    future: concurrent.futures.Future[None] | None,
) -> tuple[Batch, BatchResult, bool]:
    resumed = future is None
    if future is not None:
        future.result()
    result = spool.get(key)
    if result is None:
        # The file of an earlier run was not whole.
        resumed = False
        pool.submit(_work, key, batch).result()
        result = spool.get(key)
    if result is None:
        raise WorkerLost("a finished batch cannot be read back. Hint: is the disk full? Run the same command again")
    return batch, result, resumed


# --- in a worker -----------------------------------------------------------------------------------------------------

_reading: Reading | None = None
_reader: Reader | None = None
_spool: Spool | None = None


def _start_worker(reading: Reading, kb_path: str) -> None:
    global _reading, _spool
    # Ctrl-C reaches every process of the terminal; the first process alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    atexit.register(_leave)
    gc.set_threshold(*COLLECTIONS)
    _reading, _spool = reading, Spool(Path(kb_path))


def _leave() -> None:
    """End at once: to take the ontology apart, object by object, takes a third of a second and serves nobody."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _made_reader() -> Reader:
    global _reader
    if _reading is None:
        raise RuntimeError("the worker was not started")
    if _reader is None:
        # Once a process, and here: an error of the initializer would only be told as a broken pool.
        _reader = _reading.make()
    return _reader


def _make_ready() -> None:
    _made_reader()


def _work(key: str, batch: Batch) -> None:
    if _spool is None or _reading is None:
        raise RuntimeError("the worker was not started")
    _spool.put(key, read_batch(_made_reader(), batch, _reading.budget))
