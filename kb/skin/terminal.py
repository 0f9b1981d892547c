"""The terminal as all commands use it: formats, counts, tables, JSON files and plain error lines."""

from __future__ import annotations

import csv
import enum
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CohortiumError, UsageError

if TYPE_CHECKING:
    from rich.console import Console


class Format(enum.StrEnum):
    """How a command prints its answer."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def count_text(believed: int, certain: int, possible: int) -> str:
    """A count with its bounds: ``412 (398–437)``."""
    return f"{believed} ({certain}–{possible})"


def counted(number: int, thing: str) -> str:
    """``1 mention``, ``2 mentions``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def value_text(value: object) -> str:
    """A value for people: a whole number without its ``.0``."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def three_places(value: float | None) -> str:
    """Three places behind the point; a dash for what is undefined."""
    return "–" if value is None else f"{value:.3f}"


def accept_any_letter() -> None:
    """Let an output that cannot show a letter show its code instead, and an input that is no UTF-8 be read on.

    An old locale must not turn an answer into a traceback; JSON keeps to letters that such an output has.
    """
    for stream, errors in ((sys.stdout, "backslashreplace"), (sys.stdin, "replace")):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors=errors)


def console() -> Console:
    """A rich console on standard output; plain text when that is a pipe, as wide as the text needs."""
    from rich.console import Console

    # Eighty columns would fold the cells of a piped table; a reader of a pipe can fold for itself.
    width = None if sys.stdout.isatty() else 200
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=not sys.stdout.isatty())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table; cells are shown as text, never read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    target = console()
    if target.is_terminal:
        target.print(table)
        return
    # A pipe or a file gets no blanks that only fill up a line.
    with target.capture() as drawn:
        target.print(table)
    print("\n".join(line.rstrip() for line in drawn.get().split("\n")), end="")


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as comma-separated values with a header line."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def json_text(payload: Mapping[str, Any]) -> str:
    """The payload as JSON of two-space indent, letters unescaped; dates become ISO text."""
    return json.dumps(payload, indent=2, ensure_ascii=False, default=str)


def print_json(payload: Mapping[str, Any]) -> None:
    """Print the payload; letters are escaped where standard output is not of Unicode."""
    text = json_text(payload)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(payload, indent=2, default=str)
    print(text)


def write_json(path: Path, payload: Mapping[str, Any]) -> None:
    """Write the payload to a file, or to standard output for ``-``."""
    if str(path) == "-":
        print_json(payload)
        return
    try:
        path.write_text(json_text(payload) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from error


def check_output(output: Format, out: Path | None, *, rows: bool) -> None:
    """UsageError when no answer could be given so: as csv by a command without ``rows``, or where no file can be."""
    if output is Format.CSV and not rows:
        raise UsageError("this command has no rows to print as csv. Hint: use --format json")
    if out is None or str(out) == "-":
        return
    if out.is_dir():
        raise UsageError(f"cannot write '{out}': it is a folder. Hint: name a file in it")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"cannot write '{out}': there is no folder '{out.parent}'")


def answer(
    payload: Mapping[str, Any],
    *,
    output: Format,
    out: Path | None,
    as_table: Callable[[], None],
    as_csv: Callable[[], None] | None = None,
) -> None:
    """Give one answer in the format asked for, and as a JSON file as well when ``out`` names one."""
    check_output(output, out, rows=as_csv is not None)
    if out is not None:
        write_json(out, payload)
        if str(out) == "-":
            return
    if output is Format.JSON:
        print_json(payload)
    elif output is Format.CSV and as_csv is not None:
        as_csv()
    else:
        as_table()


def print_error(error: CohortiumError) -> None:
    """Say what went wrong on standard error, in the error's own words."""
    print(f"cohortium: {error}", file=sys.stderr)
