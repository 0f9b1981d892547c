"""Answers of a command that come whole and in time, or not at all: what is printed is held back until all is there.

A command that is :func:`in_time` has the option ``--seconds``. When its time is over, or Ctrl-C stops it, nothing that
it would have printed appears; else all of it does, in its order.
"""

from __future__ import annotations

import functools
import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, TextIO

import typer

from ..deadline import SECONDS, check, within
from ..errors import DeadlineExceeded
from .streams import VisibleStream

SecondsOption = Annotated[
    float, typer.Option("--seconds", min=0, help="Give up after so many seconds, with exit 9; 0: never.")
]
#: A step that looks at no clock is stopped by a signal so many seconds after the end, and again as often.
_GRACE: Final = 0.5


class _Held:
    """A stream that keeps what is written; everything else is that of the stream it stands for."""

    def __init__(self, below: TextIO, kept: list[tuple[TextIO, str]]) -> None:
        self._below = below
        self._kept = kept

    def write(self, text: str) -> int:
        """Keep it."""
        self._kept.append((self._below, text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Keep each."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing is flushed before it is released."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._below, name)


@contextmanager
def whole_or_nothing(seconds: float | None) -> Iterator[None]:
    """What is printed inside appears at the end, in order; nothing of it after a deadline or an interrupt.

    DeadlineExceeded after so many seconds (None or 0: no end). Another error lets what was printed before it appear.
    """
    kept: list[tuple[TextIO, str]] = []
    try:
        with _held(kept), _alarm(seconds), within(seconds):
            yield
    except (DeadlineExceeded, KeyboardInterrupt):
        kept.clear()
        raise
    finally:
        for stream, text in kept:
            stream.write(text)


@contextmanager
def _held(kept: list[tuple[TextIO, str]]) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    # Below the escapes where there are some, so that what is kept is what is written in the end.
    below = [stream.rich_proxied_file if isinstance(stream, VisibleStream) else stream for stream in before]
    held: list[Any] = [_Held(stream, kept) for stream in below]
    for stream, one in zip(before, held, strict=True):
        if isinstance(stream, VisibleStream):
            stream.rich_proxied_file = one
    sys.stdout, sys.stderr = (
        stream if isinstance(stream, VisibleStream) else one for stream, one in zip(before, held, strict=True)
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream, one in zip(before, below, strict=True):
            if isinstance(stream, VisibleStream):
                stream.rich_proxied_file = one


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """A net under the checks: a signal that interrupts any Python code of the main thread, where there are signals."""
    if not seconds or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def over(*_: object) -> None:
        check()

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, min(seconds + _GRACE, threading.TIMEOUT_MAX), _GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_time(command: Callable[..., None], seconds: float = SECONDS) -> Callable[..., None]:
    """The command with the option ``--seconds`` (by default ``seconds``), whose answer comes whole or not at all."""

    @functools.wraps(command)
    def timed(**given: Any) -> None:
        with whole_or_nothing(given.pop("seconds")):
            command(**given)

    own = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("seconds", inspect.Parameter.KEYWORD_ONLY, default=seconds, annotation=SecondsOption)
    timed.__signature__ = own.replace(parameters=[*own.parameters.values(), option])  # type: ignore[attr-defined]
    timed.__annotations__ = {name: one.annotation for name, one in timed.__signature__.parameters.items()}  # type: ignore[attr-defined]
    return timed
