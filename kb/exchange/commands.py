"""The commands of exchange: ``export`` (a knowledge base as Parquet files) and ``restore`` (and back)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..skin.terminal import Format, answer, check_output, counted, print_table

FormatOption = Annotated[Format, typer.Option("--format", help="How to print the sums; there are no rows for csv.")]
OutOption = Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the sums to this file.")]


def export(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base; KB@previous is the one before it.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder to make.")],
    without_text: Annotated[
        bool,
        typer.Option(
            "--without-text",
            help="Leave out all words of notes; such an export cannot be restored. Patients and dates stay.",
        ),
    ] = False,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Write every table of a knowledge base to a folder of Parquet files, with their checksums."""
    from ..storage.reader import KnowledgeBase
    from .export import export_tables

    check_output(output, out, rows=False)
    with KnowledgeBase.open(kb) as opened:
        card = export_tables(opened, folder, without_text=without_text)
    summary = card.as_dict()
    answer(summary, output=output, out=out, as_table=lambda: _print_tables(folder, summary))


def restore(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What 'export' made.")],
    kb: Annotated[Path, typer.Option("--kb", help="The knowledge base to make.")],
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Make a knowledge base of an export: the same generation, equal in every row."""
    from .restore import restore_tables

    check_output(output, out, rows=False)
    card = restore_tables(folder, kb)
    summary = card.as_dict()
    answer(summary, output=output, out=out, as_table=lambda: _print_tables(kb, summary))


def _print_tables(place: Path, summary: dict[str, Any]) -> None:
    """Rows and bytes of each table, and what the whole is."""
    rows = [(name, table["rows"], table["bytes"]) for name, table in summary["tables"].items()]
    print_table(("table", "rows", "bytes"), rows)
    print(f"{place}: generation {summary['generation']}, {counted(sum(row[1] for row in rows), 'row')}")
    if summary["without_text"]:
        print(
            f"without text ({', '.join(summary['left_out'])}): this export cannot {', cannot '.join(summary['cannot'])}"
        )


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("export", export), ("restore", restore))
