"""Options that the commands of answering share, and the cohort that a command line asks for by them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...kb.errors import UsageError

if TYPE_CHECKING:
    from ..cohort import Cohort

KbArgument = Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base that 'ingest' made.")]
QueryArgument = Annotated[str, typer.Argument(metavar="QUERY", help="A query in quotes; - reads standard input.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="The value of a parameter $NAME; may be repeated."),
]
DefinitionsOption = Annotated[
    list[Path] | None, typer.Option("--definitions", metavar="FILE", help="A file of definitions; may be repeated.")
]

TodayOption = Annotated[
    str | None,
    typer.Option("--today", metavar="DATE", help="The day that 'now' is in a query; else that of the latest note."),
]


# What a command line gives, and whether names are told.
def asked(
    kb: Path,
    text: str,
    settings: list[str] | None,
    definitions: list[Path] | None,
    today: str | None = None,
    *,
    tell: bool = True,
) -> Cohort:
    """The cohort of a query of the command line, with the values of its parameters and its files of definitions.

    ``tell``: names that were read as a concept of another extent are told on standard error; they are no part of rows.
    """
    from ...query_lang.parsing.library import read_parameters
    from ..api import open as open_kb

    cohort = open_kb(kb, today).find(query_text(text), read_parameters(settings or ()), definitions or ())
    if tell:
        for one in cohort.read_as():
            print(one.as_text(), file=sys.stderr)
    return cohort


def asked_sql(
    kb: Path, text: str, settings: list[str] | None, definitions: list[Path] | None, today: str | None = None
) -> Cohort:
    """As :func:`asked`, of a SELECT over the virtual tables."""
    from ...query_lang.parsing.library import read_parameters
    from ..api import open as open_kb

    if definitions:
        raise UsageError("definitions are of the query language. Hint: in SQL, begin with WITH name AS (SELECT …)")
    return open_kb(kb, today).find_sql(query_text(text), read_parameters(settings or ()))


def query_text(text: str) -> str:
    """The query itself; ``-`` reads it from standard input."""
    if text == "-":
        from ...query_lang.parsing.parse import LONGEST_QUERY

        # A character takes up to four bytes.
        read = sys.stdin.buffer.read(4 * LONGEST_QUERY + 1)
        if len(read) > 4 * LONGEST_QUERY:
            raise UsageError(f"standard input has more than a query may: {LONGEST_QUERY:,} characters")
        text = read.decode("utf-8", "surrogateescape")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        # Bytes that are no UTF-8 arrive as lone surrogates, on the command line too.
        raise UsageError(f"the query is not UTF-8 (character {error.start + 1})") from error
    return text
