"""Standard output and standard error as commands have them: every line that is printed passes the visible escapes.

One write is one line: a line end inside it is data and shown as ``\\n``. Whoever prints several lines prints each.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from ..errors import UsageError
from .escape import escaped


class SureStream:
    """Standard output whose failing is an error of ours: a full disk is told in a line. Else it is the stream below."""

    def __init__(self, below: TextIO) -> None:
        self._below = below

    def write(self, text: str) -> int:
        """Write it; UsageError when it cannot be written, BrokenPipeError when its reader has gone."""
        with self._told():
            return self._below.write(text)

    def writelines(self, lines: Any) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what is buffered, with the errors of :meth:`write`."""
        with self._told():
            self._below.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._below, name)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            # What is still buffered must go somewhere, or the interpreter complains when it closes standard output.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._below.fileno())
            raise UsageError(
                f"standard output cannot be written ({error.strerror or type(error).__name__}). "
                "Hint: is there space left where it goes?"
            ) from error


class VisibleStream:
    """A text stream whose writes are escaped; everything else is that of the stream below.

    ``rich_proxied_file`` is that stream, under the name by which rich asks for it: rich writes colours, and what it is
    given was escaped before.
    """

    def __init__(self, below: TextIO) -> None:
        self.rich_proxied_file = below
        self.as_is = False

    def write(self, text: str) -> int:
        """Write a line, or the end of one."""
        below = self.rich_proxied_file
        if self.as_is or not text.strip("\n"):
            return below.write(text)
        line = text.removesuffix("\n")
        return below.write(escaped(line) + text[len(line) :])

    def writelines(self, lines: Any) -> None:
        """Write each of these lines."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextlib.contextmanager
def visible_output() -> Iterator[None]:
    """Within the block all that is printed is escaped, unless :func:`print_as_is` was called."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (VisibleStream(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def print_as_is() -> None:
    """From here on print characters as they are (``--raw``)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, VisibleStream):
            stream.as_is = True


def prints_as_is() -> bool:
    """Whether characters are printed as they are."""
    return bool(getattr(sys.stdout, "as_is", False))


def data_output() -> TextIO:
    """Standard output for data of a format that has escapes of its own, or that is written to be read by a program."""
    below: TextIO = getattr(sys.stdout, "rich_proxied_file", sys.stdout)
    return below
