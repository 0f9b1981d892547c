"""What the HTML reports share: a document that needs nothing else, tables, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

__all__ = ["document", "number", "table"]

# Colours are named once for a light and once for a dark screen; everything else speaks of the names.
_STYLE: Final = """
:root { color-scheme: light dark; --text: #1c2733; --page: #ffffff; --line: #d8dee4; --quiet: #57636f; --band: #f2f5f8;
  --wrong: #c2410c; --mark: #fde68a; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #e3e8ee; --page: #14191f; --line: #36404a; --quiet: #9aa7b4;
  --band: #1d242c; --wrong: #fb923c; --mark: #6b5200; --link: #7ab8ff; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; color: var(--text);
  background: var(--page); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin-top: 1.5rem; }
a { color: var(--link); }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--quiet); padding: .3rem 0; caption-side: bottom; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
thead tr:last-child th { position: sticky; top: 0; background: var(--page); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } td.number { white-space: nowrap; }
tr.wrong td:first-child, tr.wrong th:first-child { border-left: 3px solid var(--wrong); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font-size: .85em; } dt { font-weight: 600; }
summary { cursor: pointer; }
"""


def document(title: str, parts: Iterable[str], style: str = "") -> str:
    """A whole page of parts that are HTML already; ``style`` is added to the common one."""
    head = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}{style}</style></head><body>",
    ]
    return "\n".join([*head, *parts, "</body></html>"]) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], wrong: Sequence[bool] = ()) -> str:
    """A table of cells that are HTML already; the first two columns are words, the others numbers."""
    head = "".join(f"<th{_number_class(at)}>{escape(column)}</th>" for at, column in enumerate(columns))
    body = []
    for at, row in enumerate(rows):
        mark = ' class="wrong"' if at < len(wrong) and wrong[at] else ""
        cells = "".join(f"<td{_number_class(column)}>{cell}</td>" for column, cell in enumerate(row))
        body.append(f"<tr{mark}>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def number(value: float | None) -> str:
    """Three places behind the point; a dash for what is undefined."""
    return "–" if value is None else f"{value:.3f}"


def _number_class(column: int) -> str:
    return ' class="number"' if column >= 2 else ""
