"""Free SQL: read-only DuckDB statements over documented views of one generation, with everything else shut off.

Three walls stand behind each other. The statement is parsed by DuckDB itself, and its tree may name only the views and
allowed functions (``allowed.py``). It runs in a database instance of its own, in memory, that has the generation
attached read-only, and in which files, network, extensions and settings are shut off for good (``instance.py``). That
instance lives in a process of its own (``worker.py``) without environment, files or connections, whose memory is
limited by the system, and which is killed when the time of a statement is over.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import DeadlineExceeded, MissingKb, SqlError

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_STATEMENT: Final = 100_000
#: Above this, an answer is refused unless a limit was given: it would have to fit into memory at once.
MOST_ROWS: Final = 5_000_000
MOST_BYTES: Final = 1 << 30
#: Bytes that a statement may take.
MEMORY: Final = 4 << 30
SECONDS: Final = 60.0
#: Statements that run at the same time; others wait for one to end. Their processes stay, for the next ones.
AT_ONCE: Final = 4

_START_SECONDS: Final = 120.0
#: What a process needs to load its libraries and to know the time zone. It is given nothing else of the environment.
_ENVIRONMENT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
_BOOT: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "import importlib; importlib.import_module(sys.argv[1]).main()"
)
_GONE: Final = "This state of the knowledge base is gone. Hint: open the knowledge base again."
_FAILED: Final = (
    "the statement needs more memory than it is given, or made the database fail. "
    "Hint: select fewer columns or rows, or aggregate in steps"
)

#: The signal of a process that has used up its processor time (0 where there is none).
_PROCESSOR_TIME: Final = int(getattr(signal, "SIGXCPU", 0))

Parameters = Sequence[object] | Mapping[str, object]


class UnreadableFile(SqlError):
    """A statement failed, and it may be that the file cannot be read."""


class FreeSql:
    """Answers statements over one generation's database file. Safe across threads: each statement has its process."""

    def __init__(self, database: str | os.PathLike[str]) -> None:
        """MissingKb when the file is gone."""
        self._database = Path(database).absolute()
        if not self._database.is_file():
            raise MissingKb(_GONE)
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._closed = False
        self._owner = os.getpid()
        #: All processes that live, and those of them that do nothing.
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._finalizer = weakref.finalize(self, _stop_all, self._workers)
        # It starts while this process loads what it needs itself.
        self._idle.append(self._started())

    def close(self) -> None:
        """End the processes; a statement that still runs fails."""
        with self._lock:
            self._closed = True
            self._idle.clear()
            _stop_all(self._workers)

    def answer(
        self,
        statement: str,
        parameters: Parameters | None = None,
        *,
        limit: int | None = None,
        seconds: float = SECONDS,
    ) -> pa.Table:
        """The rows of one SELECT, EXPLAIN, DESCRIBE or SUMMARIZE as an Arrow table.

        ``parameters`` fill ``?`` and ``$1`` (a sequence) or ``$name`` (a mapping). ``limit`` keeps the first rows;
        without it, an answer of more than MOST_ROWS rows is an error. DeadlineExceeded after ``seconds``, SqlError for
        whatever else goes wrong.
        """
        _check(statement, limit, seconds)
        from . import frames

        values = parameters if parameters is not None else ()
        if isinstance(values, str | bytes) or not isinstance(values, Mapping | Sequence):
            raise SqlError("parameters are a list of values, or values by name")
        given = frames.parameters_to_arrow(values)
        header = {
            "statement": statement,
            "named": isinstance(values, Mapping),
            "limit": limit,
            "most_rows": MOST_ROWS,
            "most_bytes": MOST_BYTES,
            "seconds": seconds,
        }
        with self._worker(seconds) as worker:
            return worker.answer(json.dumps(header).encode(), given, seconds)

    @contextlib.contextmanager
    def _worker(self, seconds: float) -> Iterator[_Worker]:
        """A process for one statement; DeadlineExceeded if none was free for so long."""
        if not self._slots.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            raise DeadlineExceeded(_too_late(seconds))
        try:
            worker = self._taken()
            try:
                worker.wait_until_ready()
                yield worker
            except BaseException as error:
                if not isinstance(error, SqlError):
                    worker.stop()
                raise
            finally:
                self._give_back(worker)
        finally:
            self._slots.release()

    def _taken(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise SqlError("the knowledge base is closed. Hint: open it again")
            if self._owner != os.getpid():
                # A fork: these processes are its parent's.
                self._idle.clear()
                self._workers.clear()
                self._owner = os.getpid()
            while self._idle:
                worker = self._idle.pop()
                if worker.usable:
                    return worker
                self._workers.remove(worker)
            return self._started()

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            if worker.usable and not self._closed:
                self._idle.append(worker)
                return
            worker.stop()
            if worker in self._workers:
                self._workers.remove(worker)

    def _started(self) -> _Worker:
        worker = _Worker(self._database)
        self._workers.append(worker)
        return worker


class _Worker:
    """One process that answers one statement at a time."""

    def __init__(self, database: Path) -> None:
        self._owner = os.getpid()
        self._ready = False
        self._usable = True
        self._late = False
        paths = [str(Path(path).absolute()) for path in sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, f"{__package__}.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self._told = self._process.stdin, self._process.stdout
        settings = {"database": str(database), "memory": MEMORY}
        with contextlib.suppress(OSError):
            self._asked.write(json.dumps(paths).encode() + b"\n")
            self._asked.flush()
            from . import frames

            frames.write(self._asked, frames.ASKED, json.dumps(settings).encode())

    @property
    def usable(self) -> bool:
        """Whether another statement can be asked."""
        return self._usable and self._process.poll() is None

    def stop(self) -> None:
        """Kill the process, if it still runs, and wait for its end."""
        self._usable = False
        if self._owner != os.getpid():
            return
        self._process.kill()
        self._process.wait()

    def wait_until_ready(self) -> None:
        """MissingKb if the database is gone, SqlError if the process does not start."""
        if self._ready:
            return
        from . import frames

        with self._killed_after(_START_SECONDS):
            try:
                kind, _ = frames.read(self._told)
            except EOFError:
                raise SqlError("the process that answers SQL did not start. Hint: try again") from None
        if kind != frames.READY:
            self._usable = False
            raise MissingKb(_GONE)
        self._ready = True

    def answer(self, header: bytes, parameters: Any, seconds: float) -> pa.Table:
        """The rows; SqlError or DeadlineExceeded."""
        import pyarrow as pa

        from . import frames

        batches: list[pa.RecordBatch] = []
        with self._killed_after(seconds):
            try:
                frames.write(self._asked, frames.ASKED, header)
                frames.write(self._asked, frames.PARAMETERS, parameters)
                while True:
                    kind, content = frames.read(self._told)
                    if kind != frames.BATCH:
                        break
                    batches.append(frames.from_arrow(content))
            except (EOFError, OSError):
                self._usable = False
                if self._late or self._process.wait() == -_PROCESSOR_TIME != 0:
                    raise DeadlineExceeded(_too_late(seconds)) from None
                raise SqlError(_FAILED) from None
        said = json.loads(content)
        self._usable = self._usable and not said["last"]
        if kind == frames.FAILED:
            raise (UnreadableFile if said.get("file") else SqlError)(said["message"])
        return pa.Table.from_batches(batches)

    @contextlib.contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        """After that time the process is killed, and with it ends what is read from it."""
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._kill_late)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _kill_late(self) -> None:
        self._late = True
        self._usable = False
        self._process.kill()


def _stop_all(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.stop()
    workers.clear()


def _check(statement: str, limit: int | None, seconds: float) -> None:
    if not isinstance(statement, str):
        raise SqlError("a statement is a text")
    if limit is not None and limit < 0:
        raise SqlError("a limit is a number from 0 up")
    if math.isnan(seconds) or seconds <= 0:
        raise SqlError("the seconds of a statement are a number above 0")
    try:
        statement.encode("utf-8")
    except UnicodeEncodeError:
        raise SqlError("the statement is no valid Unicode: it holds a lone surrogate") from None
    if len(statement) > LONGEST_STATEMENT:
        raise SqlError(f"the statement has {len(statement):,} characters; at most {LONGEST_STATEMENT:,} are read")


def _too_late(seconds: float) -> str:
    return f"the statement was stopped after {seconds:g} seconds. Hint: narrow it, or allow more time"
