"""Tables of a report in a terminal: what is too wide is shown as several tables, one below the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ....kb.skin.streams import data_output
from ....kb.skin.terminal import console, shown
from .layout import PAPER, SECTION, Column, Row, Table

if TYPE_CHECKING:
    from rich.table import Table as Drawn

#: Blanks between two columns, and around all of them.
_GAP: Final = 3
_EDGE: Final = 2


def print_tables(tables: Iterable[Table]) -> None:
    """Print the tables on standard output, each as wide as the terminal at most where its cells allow."""
    target = console()
    for table in tables:
        with target.capture() as drawn:
            target.print(shown(table.title, "bold"))
            for places in _blocks(table, target.width):
                group = table.columns[places[-1]].group
                if group:
                    target.print(shown(group, "italic"))
                for part in _drawn(table, places):
                    target.print(part)
            if table.note:
                target.print(shown(table.note, "dim"), soft_wrap=not target.is_terminal)
            target.print()
        # A pipe or a file gets no blanks that only fill up a line.
        lines = drawn.get().split("\n")
        data_output().write("\n".join(lines if target.is_terminal else [line.rstrip() for line in lines]))


def _blocks(table: Table, width: int) -> Iterator[list[int]]:
    """Places of the columns that are shown together: those of one group, with those that say what a row is of."""
    keys = _keys(table.columns)
    widths = _widths(table)
    taken = _EDGE + sum(widths[place] + _GAP for place in keys)
    rest = range(len(keys), len(table.columns))
    for _, group in groupby(rest, key=lambda place: table.columns[place].group):
        block: list[int] = []
        for place in group:
            if block and taken + sum(widths[one] + _GAP for one in (*block, place)) > width:
                yield [*keys, *block]
                block = []
            block.append(place)
        yield [*keys, *block]


def _keys(columns: Sequence[Column]) -> list[int]:
    """The columns of words with which a row begins; at least the first."""
    return [0, *(place for place, one in enumerate(columns) if place and all(c.words for c in columns[: place + 1]))]


def _widths(table: Table) -> list[int]:
    """Letters that each column needs: its longest cell, or the longest word of its name."""
    cells = [row.cells for row in table.rows if row.kind != SECTION]
    return [
        max([len(word) for word in column.name.split()] + [len(row[place]) for row in cells])
        for place, column in enumerate(table.columns)
    ]


def _drawn(table: Table, places: Sequence[int]) -> Iterator[object]:
    """Headings of sections, and the rows between them as tables of equal columns; the first bears the names."""
    widths = _widths(table)
    named = False
    for section, rows in groupby(table.rows, key=lambda row: row.kind == SECTION):
        if section:
            # A section without rows of its own is a heading all the same.
            if not named:
                yield _part(table.columns, widths, places, (), names=True)
                named = True
            for row in rows:
                yield shown(f" {row.cells[0]}", "bold")
        else:
            yield _part(table.columns, widths, places, tuple(rows), names=not named)
            named = True


def _part(
    columns: Sequence[Column], widths: Sequence[int], places: Sequence[int], rows: Sequence[Row], *, names: bool
) -> Drawn:
    from rich import box
    from rich.table import Table as Drawn

    part = Drawn(box=box.SIMPLE_HEAD, show_header=names, show_edge=False, pad_edge=True)
    for place in places:
        one = columns[place]
        part.add_column(shown(one.name), width=widths[place], justify="left" if one.words else "right", no_wrap=False)
    for row in rows:
        part.add_row(*(shown(row.cells[place]) for place in places), style="italic dim" if row.kind == PAPER else None)
    return part
