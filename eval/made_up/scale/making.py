"""Makes a knowledge base of made-up patients: workers write chunks, the writer appends them in order."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import contextlib
import gc
import multiprocessing
import os
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ....kb.errors import CohortiumError, UsageError
from ....kb.ontology.concepts import ConceptTable
from ....kb.storage.layout import Layout
from ....kb.storage.writer import GenerationWriter
from .broad import BROAD_CODES, broad_ontology
from .chunks import CHUNK, ChunkMaker
from .plans import data

#: What the manifest says that the knowledge base was made of.
MADE_OF: Final = "made-up patients"
#: Chunks that are appended at a time: a few hundred thousand rows of each table.
_TOGETHER: Final = 8
#: Chunks that may wait on disk for the writer, beside those that are being made.
_AHEAD: Final = 2 * _TOGETHER
#: The file that tells workers to end at once, and how often they look for it (seconds).
_STOP: Final = "stop"
_LOOK: Final = 0.5


class WorkerLost(CohortiumError):
    """A process that made patients was killed (exit 1)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is made. ``events``: of a patient, on average; ``codes``: of the broad class."""

    patients: int
    events: float = 60.0
    seed: int = 0
    codes: int = BROAD_CODES


def make_kb(
    path: Path,
    settings: Settings,
    *,
    workers: int = 1,
    concepts: ConceptTable | None = None,
    advanced: Callable[[int], None] = lambda patients: None,
) -> dict[str, Any]:
    """Make the knowledge base; returns seconds of each step and the counts of its rows.

    ``concepts``: what :func:`.broad.broad_ontology` gave, if it is at hand; ``advanced`` is told how many more patients
    are in. The same settings give the same knowledge base, whatever the number of workers. UsageError if there is
    something at ``path`` but what a killed run left, LockedError while another process makes it.
    """
    if not Layout(path).is_free():
        raise UsageError(f"there is something at '{path}' already. Hint: name a folder that does not exist yet")
    was_there = path.exists()
    concepts = broad_ontology(settings.codes) if concepts is None else concepts
    begun = time.perf_counter()
    ours = False
    try:
        with GenerationWriter(path, concepts=concepts, versions=_versions(settings)) as writer:
            # Before the lock is held, what came there meanwhile may be another's.
            ours = not was_there
            notes = 0
            with contextlib.closing(_chunks(settings, concepts, workers, writer.scratch)) as chunks:
                for number, tables in chunks:
                    writer.add_sorted(tables)
                    notes += len(tables["note"])
                    advanced(number)
            made = time.perf_counter() - begun
            counts = {"notes_in": notes, "stored": notes, "unchanged": 0, "superseding": 0, "quarantined": 0}
            generation = writer.finish(counts)
            seconds = {"patients": made - writer.seconds["append"], **writer.seconds}
            worked = dict(writer.processor_seconds)
    except BaseException:
        if ours:
            # The writer leaves its lock; where there was nothing, nothing is left.
            shutil.rmtree(path, ignore_errors=True)
        raise
    seconds["all"] = time.perf_counter() - begun
    return {
        "generation": generation,
        "settings": asdict(settings),
        "workers": workers,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "processor_seconds": {
            **{name: round(value, 2) for name, value in worked.items()},
            "writer": round(time.process_time(), 2),
            "workers": round(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]), 2),
        },
        "memory_peak": _peaks(),
    }


def _versions(settings: Settings) -> dict[str, str]:
    share = data("records")["set"]
    return {
        "made_of": MADE_OF,
        "made_up": f"{settings.events:g} events, seed {settings.seed}, {settings.codes} codes in {share['broad']:g}",
    }


def _peaks() -> dict[str, int]:
    """Bytes that this process and the largest of its workers held at most."""
    return {
        "writer": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
    }


def _chunks(
    settings: Settings, concepts: ConceptTable, workers: int, folder: Path
) -> Generator[tuple[int, dict[str, pa.Table]], None, None]:
    """The staging tables of all patients, a few chunks at a time, with their number."""
    sizes = [min(CHUNK, settings.patients - first) for first in range(0, settings.patients, CHUNK)]
    waiting: list[dict[str, pa.Table]] = []
    number = 0
    made = _here(settings, concepts, sizes) if workers == 1 else _elsewhere(settings, sizes, workers, folder)
    with contextlib.closing(made):
        for size, tables in zip(sizes, made, strict=True):
            waiting.append(tables)
            number += size
            if len(waiting) == _TOGETHER:
                yield number, _joined(waiting)
                waiting, number = [], 0
    if waiting:
        yield number, _joined(waiting)


def _joined(chunks: list[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    return {name: pa.concat_tables([tables[name] for tables in chunks]) for name in chunks[0]}


def _here(settings: Settings, concepts: ConceptTable, sizes: list[int]) -> Generator[dict[str, pa.Table], None, None]:
    maker = ChunkMaker(concepts, settings.events, settings.seed, settings.codes)
    for chunk, size in enumerate(sizes):
        yield maker.tables(chunk, size)


def _elsewhere(
    settings: Settings, sizes: list[int], workers: int, folder: Path
) -> Generator[dict[str, pa.Table], None, None]:
    """By other processes, which write files that are gone when the next chunk is asked for after their last use."""
    waiting: collections.deque[concurrent.futures.Future[Path]] = collections.deque()
    folder.mkdir(mode=0o700)
    with contextlib.ExitStack() as resources:
        pool = concurrent.futures.ProcessPoolExecutor(
            workers,
            # Not fork: DuckDB's threads would not live on in the child.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(settings, str(folder)),
        )
        resources.callback(pool.shutdown, wait=True, cancel_futures=True)
        # Not when all went well: then they have nothing left to do.
        stopping = resources.enter_context(contextlib.ExitStack())
        stopping.callback((folder / _STOP).touch, mode=0o600)
        for chunk, size in enumerate(sizes):
            waiting.append(pool.submit(_work, chunk, size))
            if len(waiting) > workers + _AHEAD:
                yield _read(waiting.popleft())
        while waiting:
            yield _read(waiting.popleft())
        stopping.pop_all()


def _read(future: concurrent.futures.Future[Path]) -> dict[str, pa.Table]:
    try:
        folder = future.result()
    except BrokenProcessPool as error:
        raise WorkerLost(
            "a process that made patients was killed, perhaps for want of memory. Hint: --workers 1 needs less"
        ) from error
    tables = {}
    for file in sorted(folder.iterdir()):
        # The rows stay readable where they are mapped, until the tables are let go.
        with pa.memory_map(str(file)) as source:
            tables[file.stem] = pa.ipc.open_file(source).read_all()
    shutil.rmtree(folder)
    return tables


# --- in a worker -----------------------------------------------------------------------------------------------------

_maker: ChunkMaker | None = None
_settings: Settings | None = None
_folder: Path = Path()


def _start_worker(settings: Settings, folder: str) -> None:
    global _settings, _folder
    # Ctrl-C reaches every process of the terminal; the first process alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _settings, _folder = settings, Path(folder)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the parent has ended, or when it asks for that: a chunk takes too long to be waited for."""
    parent = multiprocessing.parent_process()
    while parent is not None:
        parent.join(_LOOK)
        if not parent.is_alive() or (_folder / _STOP).exists():
            os._exit(1)


def _work(chunk: int, patients: int) -> Path:
    global _maker
    if _settings is None:
        raise RuntimeError("the worker was not started")
    if _maker is None:
        _maker = ChunkMaker(broad_ontology(_settings.codes), _settings.events, _settings.seed, _settings.codes)
        gc.collect()
        gc.freeze()
        gc.disable()
        # What stays frozen to the end the database's module calls leaked, in many lines.
        atexit.register(gc.unfreeze)
    # Much is made and let go, in no circles: looking for those would take a tenth of the time.
    gc.collect()
    folder = _folder / f"chunk{chunk:06d}"
    folder.mkdir(mode=0o700, parents=True)
    for name, table in _maker.tables(chunk, patients).items():
        with pa.OSFile(str(folder / f"{name}.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return folder
