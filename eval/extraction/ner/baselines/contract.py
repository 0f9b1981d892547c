"""The contract of a baseline: it answers abstracts one by one, in the authors' formats, and says what it rests on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from .....kb.errors import UsageError
from .....kb.files.whole_files import open_privately
from .....kb.skin.terminal import write_csv
from ..documents import IDS, Document

#: What a cell of names says where there are none.
NONE = "none"


class Baseline(Protocol):
    """Answers abstracts. ``columns``: those of a table of predictions, as :mod:`..documents` reads them."""

    @property
    def columns(self) -> Sequence[str]: ...

    def cells(self, document: Document) -> Mapping[str, str]:
        """A cell for each column; a column that is left out has found nothing."""
        ...

    def description(self) -> Mapping[str, Any]:
        """What it rests on, and what became of what it was given: for the report and its signature."""
        ...


def cell_of(names: Iterable[str]) -> str:
    """A cell of names: in small letters, each once, between bars; ``none`` where there are none."""
    cleaned = (" ".join(name.replace("|", " ").split()).lower() for name in names)
    return "|".join(dict.fromkeys(name for name in cleaned if name)) or NONE


def write_predictions(path: Path, baseline: Baseline, documents: Iterable[Document]) -> None:
    """A table of a baseline's answers: ``nct_id``, ``text``, and its columns. UsageError when it cannot be written.

    Each row is written when it is there; the table stands in its place when it is whole.
    """
    part = path.with_name(path.name + ".part")
    try:
        with open_privately(part) as file:
            # As they are: places in the text are counted when the table is read again.
            write_csv(file, (IDS[0], "text", *baseline.columns), _rows(baseline, documents), as_is=True)
        os.replace(part, path)  # noqa: PTH105 (Path.replace would do the same)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from error


def _rows(baseline: Baseline, documents: Iterable[Document]) -> Iterator[list[str]]:
    for one in documents:
        cells = baseline.cells(one)
        yield [one.id, one.text, *(cells.get(column, NONE) for column in baseline.columns)]
