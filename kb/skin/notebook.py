"""Small tables for notebooks: what ``_repr_html_`` of an answer shows. All text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

from .escape import escaped

#: Rows that a notebook shows when an object is the last line of a cell.
MOST_ROWS: Final = 10


def small_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], beneath: str = "") -> str:
    """A table as HTML with its caption above; ``beneath`` is a line below it (how many more there are, say)."""
    head = "".join(f"<th>{_cell(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
    return f"<div><p>{_cell(caption)}</p>{table}{f'<p>{_cell(beneath)}</p>' if beneath else ''}</div>"


def _cell(value: object) -> str:
    return html.escape(escaped("" if value is None else str(value)))
