"""The command ``eval variants``: expressions of change against an annotated corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ....kb.skin.options import FormatOption, OutOption
from ....kb.skin.terminal import Format, answer, check_output, counted, print_csv, print_table, refuse_in_csv
from ...report.command import print_figures, print_signature

_COLUMNS = ("half", "class", "gold", "found", "tp", "fp", "fn", "precision", "recall", "f1")


def variants(
    corpus: Annotated[
        Path,
        typer.Option("--corpus", help="A PubTator file, a folder of such, or one with corpus.txt and annotations/."),
    ],
    errors: Annotated[
        bool, typer.Option("--errors", help="List the wrong spans of the development half (texts of even number).")
    ] = False,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score exact spans of variants (protein, DNA, dbSNP) on an annotated corpus."""
    check_output(output, out, rows=True)
    refuse_in_csv(output, {"--errors": errors})
    from ....ingest.run.batches import shipped_reading
    from ....kb.version import __version__
    from .corpora import read_corpus
    from .scores import score

    scores = score(read_corpus(corpus)).as_dict(errors=errors)
    scores["signature"] = {
        "cohortium": __version__,
        "reading": dict(shipped_reading().versions),
        "corpus": corpus.name,
        "match": "exact span and class",
        "halves": "even numbers are development, odd held aside",
    }
    rows = [
        [half, name, *(one[column] for column in _COLUMNS[2:])]
        for half, classes in scores["halves"].items()
        for name, one in classes.items()
    ]
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: print_scores(scores, rows),
        as_csv=lambda: print_csv(_COLUMNS, rows),
    )


def print_scores(scores: dict[str, Any], rows: list[list[Any]]) -> None:
    """The counts and measures by half and class, the wrong spans where asked for, and the signature."""
    print_figures(_COLUMNS, rows)
    left_out = ", ".join(f"{number} {name}" for name, number in scores["left_out"].items())
    print(f"{counted(scores['texts'], 'text')}; annotations not scored: {left_out or 'none'}")
    if "errors" in scores:
        columns = ("id", "start", "end", "class", "kind", "text")
        print_table(columns, [[one[column] for column in columns] for one in scores["errors"]])
    print_signature(scores["signature"])
