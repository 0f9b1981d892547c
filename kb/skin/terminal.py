"""The terminal as all commands use it: formats, counts, tables, JSON files and plain error lines."""

from __future__ import annotations

import csv
import enum
import io
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import CohortiumError, UsageError
from ..files.whole_files import write_text_privately
from .escape import csv_cell, escaped, escaped_json
from .streams import data_output, prints_as_is

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


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

    table = Table(title=shown(title) if title else None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(shown(column), overflow="fold")
    for row in rows:
        table.add_row(*(shown("" if cell is None else cell) for cell in row))
    target = console()
    if target.is_terminal:
        target.print(table)
        return
    # A pipe or a file gets no blanks that only fill up a line.
    with target.capture() as drawn:
        target.print(table)
    data_output().write("\n".join(line.rstrip() for line in drawn.get().split("\n")))


def shown(cell: object, style: str = "") -> Text:
    """A cell as rich takes it: text, never markup, on one line, all of it to be seen (but for ``--raw``)."""
    from rich.text import Text

    return Text(str(cell) if prints_as_is() else escaped(str(cell)), style)


def print_lines(lines: Iterable[object]) -> None:
    """Print each as one line: a line end inside it is data, and shown as such."""
    for line in lines:
        print(line)


def print_text(text: str) -> None:
    """Print a text of several lines of our own: a rendered query, a paragraph."""
    print_lines(text.split("\n"))


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as comma-separated values with a header line: a row is a line, and no cell a formula."""
    write_csv(data_output(), columns, rows, as_is=prints_as_is())


def write_csv(
    file: TextIO,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    as_is: bool = False,
    delimiter: str = ",",
) -> None:
    """Write a table with its header line; every table of the program that a spreadsheet may open is written here.

    What cannot be seen is escaped and what would be a formula begins with an apostrophe, unless it is to be written
    ``as_is``.
    """
    writer = csv.writer(file, lineterminator="\n", delimiter=delimiter)
    for row in itertools.chain((columns,), rows):
        writer.writerow(row if as_is else [csv_cell(cell) for cell in row])


def json_text(payload: Mapping[str, Any]) -> str:
    """The payload as JSON of two-space indent; letters unescaped, what cannot be seen escaped; dates become ISO
    text."""
    return escaped_json(_plain_json(payload))


def _plain_json(payload: Mapping[str, Any]) -> str:
    return json.dumps(payload, indent=2, ensure_ascii=False, default=str)


def print_json(payload: Mapping[str, Any]) -> None:
    """Print the payload; letters are escaped where standard output is not of Unicode."""
    text = _plain_json(payload) if prints_as_is() else json_text(payload)
    target = data_output()
    try:
        text.encode(target.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(payload, indent=2, default=str)
    target.write(f"{text}\n")


def write_json(path: Path, payload: Mapping[str, Any]) -> None:
    """Write the payload to a file that its owner alone may read, or to standard output for ``-``."""
    if str(path) == "-":
        print_json(payload)
        return
    write_text_privately(path, json_text(payload) + "\n")


def check_output(output: Format, out: Path | None, *, rows: bool) -> None:
    """UsageError when no answer could be given so: as csv by a command without ``rows``, or where no file can be."""
    if output is Format.CSV and not rows:
        raise UsageError("this command has no rows to print as csv. Hint: use --format json")
    if out is None:
        return
    if str(out) == "-":
        if output is Format.CSV:
            raise UsageError("--json - takes standard output, where csv should go. Hint: name a file after --json")
        return
    if out.is_dir():
        raise UsageError(f"cannot write '{out}': it is a folder. Hint: name a file in it")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"cannot write '{out}': there is no folder '{out.parent}'")


def refuse_in_csv(output: Format, given: Mapping[str, object]) -> None:
    """UsageError when csv is asked for with an option, of those given, whose answer no row of it could show."""
    for option, value in given.items():
        if output is Format.CSV and value:
            raise UsageError(f"{option} tells what csv has no rows for. Hint: use --format json, or leave it out")


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
    if str(out) == "-" or output is Format.JSON:
        print_json(payload)
    elif output is Format.CSV and as_csv is not None:
        as_csv()
    else:
        as_table()
    # Last: a table that is not there in time leaves no file behind either.
    if out is not None and str(out) != "-":
        write_json(out, payload)


def print_error(error: CohortiumError) -> None:
    """Say what went wrong on standard error, in the error's own words."""
    for line in f"cohortium: {error}".split("\n") if error.has_lines else (f"cohortium: {error}",):
        print(line, file=sys.stderr)
