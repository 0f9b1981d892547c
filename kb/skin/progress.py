"""A progress bar on a terminal; nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .escape import escaped

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


#: What the database says when Ctrl-C stops a statement.
_STOPPED: Final = "Query interrupted"


class Bar:
    """One bar that changes its name from step to step; silent without a terminal."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def step(self, name: str, total: int | None = None) -> None:
        """Begin a step of so many notes (None: not known)."""
        if self._progress is not None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(escaped(name), total=total)

    def advance(self, number: int = 1) -> None:
        """So many more notes are done."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, number)


@contextlib.contextmanager
def bar(wanted: bool | None) -> Iterator[Bar]:
    """A bar on standard error when it is a terminal and the bar is wanted (None: wanted).

    A statement of the database that Ctrl-C stops raises RuntimeError; behind a bar it is KeyboardInterrupt again.
    """
    try:
        if wanted is False or not sys.stderr.isatty():
            yield Bar()
        else:
            with _shown() as shown:
                yield shown
    except RuntimeError as error:
        if str(error) == _STOPPED:
            raise KeyboardInterrupt from error
        raise


@contextlib.contextmanager
def _shown() -> Iterator[Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)
