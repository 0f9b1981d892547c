"""A table as a value, and the same as Markdown; the template ``eval/report/parts.html`` has it as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

#: What a row tells: a figure of this run, one that the paper publishes, or the heading of the rows below it.
OURS: Final = "ours"
PAPER: Final = "paper"
SECTION: Final = "section"


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column; ``group`` is a heading that stands above several, ``words`` are set to the left."""

    name: str
    group: str = ""
    words: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Plain text, a cell for each column; a section has its heading alone."""

    cells: tuple[str, ...]
    kind: str = OURS


@dataclass(frozen=True, slots=True)
class Table:
    """A title, columns and rows, and what must be known to read them. ``id`` is what a link to it names.

    ValueError for a row that has not as many cells as there are columns.
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != (1 if row.kind == SECTION else len(self.columns)):
                raise ValueError(f"a row of {len(row.cells)} cells in the table '{self.id}': {row.cells}")

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The headings above the names of columns, each with how many it spans; none where no column has one."""
        named = any(one.group for one in self.columns)
        return (
            [(name, len([*columns])) for name, columns in groupby(self.columns, key=lambda one: one.group)]
            if named
            else []
        )


def as_markdown(table: Table) -> str:
    """A table of pipes: groups stand before the names of their columns, sections are bold, the paper's rows italic."""
    names = [f"{one.group}: {one.name}" if one.group else one.name for one in table.columns]
    lines = [
        _pipes(_plain(one) for one in names),
        _pipes("---" if one.words else "---:" for one in table.columns),
    ]
    for row in table.rows:
        if row.kind == SECTION:
            cells = [f"**{_plain(row.cells[0])}**", *[""] * (len(table.columns) - 1)]
        elif row.kind == PAPER:
            cells = [f"*{_plain(row.cells[0])}*", *(_plain(one) for one in row.cells[1:])]
        else:
            cells = [_plain(one) for one in row.cells]
        lines.append(_pipes(cells))
    if table.note:
        lines += ["", _plain(table.note)]
    return "\n".join(lines) + "\n"


def _pipes(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: no tag, no cell of its own, no emphasis."""
    for sign in ("\\", "|", "*", "_", "`", "[", "]"):
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())
