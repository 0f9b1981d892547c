"""The budget of reading: what one note, and one patient, may take before they go to quarantine.

Characters, mentions and notes are counted, so that the same notes meet the same fate on every machine. Processor time
is the last resort, for what no count foresees: no ordinary note comes near it.

The time is that of the processor, not of the clock on the wall: a busy machine puts no note aside. Where the process
has a timer (the first thread of a process, not on Windows) it stops whatever runs in Python, a pattern that is being
matched too; elsewhere the loops of reading ask for the time (``kb.deadline``), and there it is the clock's.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from ...kb.arguments import expect
from ...kb.deadline import within
from ...kb.errors import DeadlineExceeded, UsageError

#: So many notes are joined in the time that one may take to read.
_NOTES_A_TURN: Final = 1_000
#: No bound is greater: the system's timer counts to no more.
_GREATEST: Final = 2**31 - 1
#: A timer that is early, since other threads of the process ran too, is set again for no less (seconds).
_LEAST_LEFT: Final = 0.01


class OverBudget(Exception):
    """A note, or a patient, that takes too much; ``code`` is its reason (``ingest/readers/reasons.toml``)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _TimeOver(BaseException):
    """Raised by the timer, wherever the work is: no handler of ordinary errors takes it for one."""


@dataclass(frozen=True, slots=True)
class NoteBudget:
    """What reading may take. ``characters``, ``mentions`` and ``seconds`` of processor time are those of one note,
    ``notes`` those of one patient, whose notes are joined in ``seconds`` for each 1,000 begun; 0 is no bound.

    UsageError for a number below 0, or one that no timer counts to.
    """

    characters: int = 1_000_000
    mentions: int = 50_000
    notes: int = 100_000
    seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) <= _GREATEST:
                raise UsageError(f"{getattr(self, name)!r} is no number of {name}. Hint: 0 is without bound")

    def admit(self, text: str) -> None:
        """OverBudget for a note that is too long to be read."""
        if self.characters and len(text) > self.characters:
            raise OverBudget("note_too_long")

    def accept(self, read: Any) -> None:
        """OverBudget for a note in which too much was found."""
        if self.mentions and len(getattr(read, "mentions", ())) > self.mentions:
            raise OverBudget("note_too_dense")

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """The time of one note; OverBudget when it is over."""
        return _stopped_after(self.seconds, "note_out_of_time")

    def joining(self, notes: int) -> contextlib.AbstractContextManager[None]:
        """The time of joining so many notes of one patient; OverBudget when it is over."""
        return _stopped_after(self.seconds * math.ceil(max(1, notes) / _NOTES_A_TURN), "patient_out_of_time")


#: What is given unless a run is told otherwise.
USUAL: Final = NoteBudget()


def budget_of(seconds: float | None = None, characters: int | None = None, notes: int | None = None) -> NoteBudget:
    """The usual budget, with those of these numbers that are told; UsageError for one that is none."""
    told: dict[str, Any] = {"seconds": seconds, "characters": characters, "notes": notes}
    for name, number in told.items():
        expect(name, number, (int, float, type(None)), "a number; 0 is without bound")
    return NoteBudget(**{name: number for name, number in told.items() if number is not None})


@contextlib.contextmanager
def one_note(budget: NoteBudget, text: str) -> Iterator[None]:
    """A text that is read on its own, under the budget of a note: UsageError for one that is too long,
    DeadlineExceeded when the time is over."""
    try:
        budget.admit(text)
        with budget.reading():
            yield
    except OverBudget as error:
        if error.code == "note_too_long":
            raise UsageError(
                f"the text has {len(text):,} characters, and one note may have {budget.characters:,}. Hint: divide it,"
                " or allow more (--note-characters N; 0: any)"
            ) from error
        raise DeadlineExceeded(
            f"the text was not read within {budget.seconds:g} seconds, and no part of it is told. Hint: divide it, or"
            " allow more (--note-seconds S; 0: any)"
        ) from error


@contextlib.contextmanager
def _stopped_after(seconds: float, code: str) -> Iterator[None]:
    if not seconds:
        yield
        return
    try:
        with _timer(seconds) if _has_timer() else within(seconds):
            yield
    except (_TimeOver, DeadlineExceeded) as error:
        # What was being worked out is dropped; what readers keep between notes is put there when it is whole.
        raise OverBudget(code) from error


def _has_timer() -> bool:
    """Whether this thread can set the timer of the process, and nobody else has."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGVTALRM) in (signal.SIG_DFL, signal.SIG_IGN)
    )


@contextlib.contextmanager
def _timer(seconds: float) -> Iterator[None]:
    begun = time.thread_time()

    def over(_number: int, _frame: FrameType | None) -> None:
        # The timer counts what all threads of the process take, the budget this one alone.
        left = seconds - (time.thread_time() - begun)
        if left <= _LEAST_LEFT:
            raise _TimeOver
        signal.setitimer(signal.ITIMER_VIRTUAL, left)

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        # It may yet fire, here too.
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        finally:
            signal.signal(signal.SIGVTALRM, before)
