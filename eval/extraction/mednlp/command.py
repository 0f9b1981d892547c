"""The command ``eval mednlp``: entities of case or radiology reports, scored as Real-MedNLP scores them."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ....kb.skin.options import FormatOption, OutOption
from ....kb.skin.terminal import Format, answer, check_output, counted, print_csv
from ...report.command import SeedOption, print_figures, print_problems, print_signature

_COLUMNS: Final = ("match", "level", "weights", "precision", "recall", "f1", "low", "high", "predictions", "gold")


class Kind(enum.StrEnum):
    """Which reports, and so which tags are scored."""

    CR = "CR"
    RR = "RR"


# Each parameter of a command is an option of it.
def mednlp(
    corpus: Annotated[
        Path,
        typer.Option(
            "--corpus",
            help="The annotated reports: JSON lines with doc_id and text and entities ([start, end, label, modality]),"
            " tokens and tags, or tagged; or a file of <article> elements.",
        ),
    ],
    predictions: Annotated[Path, typer.Option("--predictions", help="A system's reports, in one of these forms.")],
    train: Annotated[
        Path | None, typer.Option("--train", help="The training reports, whose entities weigh less; else no weights.")
    ] = None,
    tags: Annotated[Kind, typer.Option("--tags", help="The tags that count: of case or radiology reports.")] = Kind.CR,
    seed: SeedOption = 0,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score entities as Real-MedNLP does: span, label, modality; exact and partial; weighted by rarity."""
    check_output(output, out, rows=True)
    from ....kb.version import __version__
    from .reports import read_reports
    from .scores import score

    training = None if train is None else read_reports(train)
    scored = score(read_reports(corpus), read_reports(predictions), kind=tags.value, training=training, seed=seed)
    scores = scored.as_dict()
    scores["signature"] = {
        "cohortium": __version__,
        "corpus": corpus.name,
        "predictions": predictions.name,
        "train": train.name if train else "none: nothing is weighted",
        "tags": tags.value,
        "seed": seed,
    }
    rows = _rows(scores)
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: print_scores(scores, rows),
        as_csv=lambda: print_csv(_COLUMNS, rows),
    )


def _rows(scores: dict[str, Any]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for match in ("exact", "partial"):
        levels = {name: part for name, part in scores[match].items() if name != "by_label"}
        for level, part in {**levels, **scores[match]["by_label"]}.items():
            for weights, one in part.items():
                if one is not None:
                    low, high = one["ci"] or (None, None)
                    cells = [one[name] for name in ("precision", "recall", "f1")]
                    rows.append([match, level, weights, *cells, low, high, one["predictions"], one["gold"]])
    return rows


def print_scores(scores: dict[str, Any], rows: list[list[Any]]) -> None:
    """The measures, then what has no answer or could not be read, and the signature."""
    print_figures(_COLUMNS, rows, places=4)
    reports = scores["reports"]
    print(
        f"{counted(reports['corpus'], 'report')}, {len(reports['without_prediction'])} of them without an answer;"
        f" {counted(len(reports['not_in_corpus']), 'answer')} to reports that the corpus has not"
    )
    for file, labels in scores["unknown_labels"].items():
        for label, number in labels.items():
            print(f"unknown label {label} in the {file}: {number}")
    for file, number in scores["unread"].items():
        if number:
            print(f"{counted(number, 'place')} of the {file} could not be read")
    print_problems(scores["problems"])
    print_signature(scores["signature"])
