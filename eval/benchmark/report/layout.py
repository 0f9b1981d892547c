"""A table as a value, and two of the ways in which it is shown: HTML and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Final

__all__ = ["OURS", "PAPER", "SECTION", "Column", "Row", "Table", "as_html", "as_markdown"]

#: What a row tells: a figure of this run, one that the paper publishes, or the heading of the rows below it.
OURS: Final = "ours"
PAPER: Final = "paper"
SECTION: Final = "section"

#: Letters of a heading of a row that is still a name, which is not broken into lines.
_NAME: Final = 40

#: For :func:`cohortium.eval.report.html.document`: rows of the paper are set off, also without colour.
STYLE: Final = """
tr.paper td, tr.paper th { background: var(--band); font-style: italic; white-space: nowrap; }
tr.section th { padding-top: .9rem; border-bottom: 2px solid var(--line); font-weight: 600; }
tbody th { font-weight: 500; } th.name { white-space: nowrap; }
th.group { text-align: center; border-left: 1px solid var(--line); }
.wide { overflow-x: auto; } @media (min-width: 60rem) { .wide { overflow-x: visible; } }
"""


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


def as_html(table: Table) -> str:
    """The table, all its text escaped; the first cell of a row is its heading."""
    head = _head(table.columns)
    body = "".join(_row(row, table.columns) for row in table.rows)
    note = f"<caption>{escape(table.note)}</caption>" if table.note else ""
    inner = f"{note}<thead>{head}</thead><tbody>{body}</tbody>"
    return f'<div class="wide"><table id="{escape(table.id)}">{inner}</table></div>'


def _head(columns: Sequence[Column]) -> str:
    names = "".join(f'<th scope="col"{_class(one)}>{escape(one.name)}</th>' for one in columns)
    if not any(one.group for one in columns):
        return f"<tr>{names}</tr>"
    groups = ""
    for group, members in groupby(columns, key=lambda one: one.group):
        width = len(list(members))
        name = f'<th class="group" scope="colgroup" colspan="{width}">{escape(group)}</th>'
        groups += name if group else f'<td colspan="{width}"></td>'
    return f"<tr>{groups}</tr><tr>{names}</tr>"


def _row(row: Row, columns: Sequence[Column]) -> str:
    if row.kind == SECTION:
        return f'<tr class="section"><th scope="rowgroup" colspan="{len(columns)}">{escape(row.cells[0])}</th></tr>'
    first, *rest = row.cells
    cells = f'<th scope="row" class="{"name" if len(first) <= _NAME else "text"}">{escape(first)}</th>'
    cells += "".join(f"<td{_class(column)}>{escape(cell)}</td>" for column, cell in zip(columns[1:], rest, strict=True))
    return f'<tr class="{escape(row.kind)}">{cells}</tr>'


def _class(column: Column) -> str:
    return "" if column.words else ' class="number"'


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
