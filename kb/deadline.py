"""The deadline of an answer: how long it may be worked on, and who may call it off.

``with within(60):`` bounds what runs inside, in this thread; the loops of asking, explaining, searching and proving
call :func:`check`, which raises once the time is over. Of two that are nested the earlier end holds. Another thread
calls the work off by the event that was given: ``within(60, cancel=event)``, ``event.set()``. What runs in the database
is :func:`interruptible`: a watching thread stops its statement.

A deadline belongs to the context (``contextvars``) in which it was set: a new thread begins without one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from .arguments import expect
from .errors import DeadlineExceeded, UsageError

if TYPE_CHECKING:
    import duckdb

#: What an answer may take unless it is told otherwise: far longer than any query of the bank, not longer than a person
#: waits before they ask what is wrong.
SECONDS: Final = 60.0
#: The same of work that goes through the patients of a cohort one by one, and reads their notes anew.
SECONDS_OF_MANY: Final = 600.0
#: How often a watching thread looks whether the work was called off.
_BETWEEN_LOOKS: Final = 0.1
#: An interrupt is lost on a connection that does nothing at that moment: it is repeated until the statement has ended.
_BETWEEN_INTERRUPTS: Final = 0.02
_HINT: Final = (
    "Hint: allow more time (--seconds N; 0: without end; in Python seconds=N), or ask for less: fewer alternatives, "
    "a shorter chain of definitions, one patient"
)


class _Limit:
    """One deadline with those around it: its end, on the monotonic clock, and what calls it off."""

    __slots__ = ("_watch", "cancels", "end", "seconds")

    def __init__(self, seconds: float | None, cancel: threading.Event | None, outer: _Limit | None) -> None:
        self.seconds = seconds or math.inf
        self.end = monotonic() + self.seconds
        self.cancels: tuple[threading.Event, ...] = () if cancel is None else (cancel,)
        self._watch: _Watch | None = None
        if outer is not None:
            self.cancels += outer.cancels
            if outer.end < self.end:
                self.end, self.seconds = outer.end, outer.seconds

    def error(self) -> DeadlineExceeded | None:
        """What is raised now; None while there is time."""
        if monotonic() >= self.end:
            return DeadlineExceeded(f"no answer within {self.seconds:g} seconds, and no part of one is given. {_HINT}")
        if self.cancels and any(cancel.is_set() for cancel in self.cancels):
            return DeadlineExceeded("the answer was called off, and no part of it is given")
        return None

    def watch(self) -> _Watch:
        """The thread that stops statements of the database, begun when it is first needed."""
        if self._watch is None:
            self._watch = _Watch(self)
        return self._watch

    def finish(self) -> None:
        """Nothing is watched any more."""
        if self._watch is not None:
            self._watch.finish()


_CURRENT: ContextVar[_Limit | None] = ContextVar("cohortium_deadline", default=None)


@contextmanager
def within(seconds: float | None = None, cancel: threading.Event | None = None) -> Iterator[None]:
    """What runs inside has so many seconds (None or 0: no end of its own), and ends when ``cancel`` is set.

    The clock begins here. Of nested ones the earliest end holds. UsageError for what is no number of seconds, or below
    0, and for what is no event.
    """
    _expect(seconds, cancel)
    outer = _CURRENT.get()
    limit = _Limit(seconds, cancel, outer)
    token = _CURRENT.set(limit)
    try:
        check()
        yield
    finally:
        _CURRENT.reset(token)
        limit.finish()


def _expect(seconds: object, cancel: object) -> None:
    """UsageError unless these are a number of seconds or None, and an event or None."""
    if seconds is not None:
        what = "a number of seconds; 0 or None is without end"
        # True is a number to Python, and no length of time.
        expect("seconds", seconds, type(None) if isinstance(seconds, bool) else (int, float), what)
        if not seconds >= 0 or (isinstance(seconds, int) and not seconds <= threading.TIMEOUT_MAX):  # type: ignore[operator]
            raise UsageError(f"{str(seconds)[:20]} is no number of seconds. Hint: 0 or None is without end")
    if cancel is not None and (isinstance(cancel, type) or not callable(getattr(cancel, "is_set", None))):
        expect("cancel", cancel, threading.Event, "an event of threading, whose set() calls the answer off")


def check() -> None:
    """DeadlineExceeded when the time is over or the work was called off. Cheap: made for the inside of loops."""
    limit = _CURRENT.get()
    if limit is not None and (limit.cancels or monotonic() >= limit.end) and (error := limit.error()) is not None:
        raise error


def remaining() -> float:
    """The seconds that are left: 0 when there are none, infinite when there is no deadline."""
    limit = _CURRENT.get()
    return math.inf if limit is None else max(0.0, limit.end - monotonic())


def too_much(what: str) -> DeadlineExceeded:
    """The error for what would take more memory than an answer may: ``what`` says of which part, and what to do."""
    return DeadlineExceeded(f"the answer would take more memory than an answer may, and no part of it is given: {what}")


@dataclass(frozen=True, slots=True)
class Allowance:
    """What each evaluation of something that is evaluated later may take, and the event that calls it off."""

    seconds: float | None = SECONDS
    cancel: threading.Event | None = None

    def __post_init__(self) -> None:
        _expect(self.seconds, self.cancel)

    def running(self) -> AbstractContextManager[None]:
        """The clock of one evaluation."""
        return within(self.seconds, self.cancel)


# --- the database -----------------------------------------------------------------------------------------------------


@contextmanager
def interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """What ``connection`` runs inside is stopped when the time is over: DeadlineExceeded; KeyboardInterrupt by Ctrl-C.

    Without a deadline this costs next to nothing.
    """
    limit = _CURRENT.get()
    watch = None if limit is None or (limit.end == math.inf and not limit.cancels) else limit.watch()
    try:
        if watch is None:
            yield
        else:
            check()
            with watch.over(connection):
                yield
    except Exception as error:
        # A statement that is stopped ends as one of several errors, by where it stood.
        if "interrupt" in str(error).lower() or type(error).__name__ == "InterruptException":
            check()
            raise KeyboardInterrupt from error
        raise


class _Watch:
    """The thread that waits for the end of one deadline and then interrupts what the database runs under it."""

    def __init__(self, limit: _Limit) -> None:
        self._limit = limit
        self._guarding = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._finished = threading.Event()
        threading.Thread(target=self._run, name="cohortium-deadline", daemon=True).start()

    @contextmanager
    def over(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Watch what the connection runs inside."""
        with self._guarding:
            self._connection = connection
        try:
            yield
        finally:
            # Under the lock: no interrupt may reach the statement after this one.
            with self._guarding:
                self._connection = None

    def finish(self) -> None:
        """The work has ended."""
        self._finished.set()

    def _run(self) -> None:
        while self._limit.error() is None:
            left = self._limit.end - monotonic()
            pause = min(left, _BETWEEN_LOOKS) if self._limit.cancels else min(left, threading.TIMEOUT_MAX)
            if self._finished.wait(max(0.0, pause)):
                return
        while not self._finished.wait(_BETWEEN_INTERRUPTS):
            with self._guarding:
                if self._connection is not None:
                    self._connection.interrupt()
