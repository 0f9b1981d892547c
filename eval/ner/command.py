"""The command ``eval ner``: a system's entities against an annotated corpus, in the authors' own formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ...kb.errors import UsageError
from ...kb.terminal import Format, NotYet, answer, check_output, counted, print_csv, print_table
from ..command import print_problems

COLUMNS: Final = ("level", "type", "precision", "recall", "f1", "low", "high", "tp", "fp", "fn")
NO_LISTS: Final = "none: names are compared as they are written"


def ner(
    corpus: Annotated[
        Path,
        typer.Option(
            "--corpus", help="The annotated trials: a table with tokens, ner_tags, nct_id (and text), or JSON lines."
        ),
    ],
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            metavar="CSV",
            help="A system's answers: a column ner_prediction_SYSTEM_normalized of BIO tags or of (start, end, type,"
            " text), or a column SYSTEM_predictions_TYPE a type, its names between bars.",
        ),
    ] = None,
    model: Annotated[Path | None, typer.Option("--model", metavar="DIR", help="Not yet: a trained recogniser.")] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="Which column, or system, to score where a table has several.")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option("--types", help="The types that the system looks for, between commas; others are not scored."),
    ] = None,
    terminology: Annotated[
        Path | None,
        typer.Option(
            "--terminology",
            metavar="DIR",
            help="The folder of the corpus's lists of names; else a folder 'terminology' near one of the files.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws behind the confidence intervals.")] = 0,
    output: Annotated[Format, typer.Option("--format", help="How to print the scores.")] = Format.TABLE,
    out: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the scores here.")] = None,
) -> None:
    """Score named entities as NeuroTrialNER does: abstracts (partial, exact), tokens, placed entities."""
    check_output(output, out, rows=True)
    if model is not None:
        raise NotYet(
            "not yet: '--model' comes with the training of recognisers. Hint: write its answers as a table and score"
            " them with --predictions"
        )
    if predictions is None:
        raise UsageError("eval ner needs answers to score. Hint: --predictions CSV")
    told = scores_of(corpus, predictions, column, types, terminology, seed)
    rows = rows_of(told)
    answer(
        told,
        output=output,
        out=out,
        as_table=lambda: print_scores(told, rows),
        as_csv=lambda: print_csv(COLUMNS, rows),
    )


def scores_of(
    corpus: Path, predictions: Path, column: str | None, types: str | None, terminology: Path | None, seed: int
) -> dict[str, Any]:
    """The scores of a file of predictions, with their signature, as ``--json`` writes them."""
    from ... import __version__
    from .documents import read_corpus, read_predictions
    from .scores import score
    from .terminology import find_folder, no_terminology, read_terminology

    known = read_corpus(corpus)
    answers = read_predictions(predictions, known, column, None if types is None else _types(types))
    folder = terminology or find_folder(corpus, predictions)
    lists = no_terminology() if folder is None else read_terminology(folder)
    told = score(known, answers, lists, seed=seed).as_dict()
    told["signature"] = {
        "cohortium": __version__,
        "corpus": _file(corpus),
        "predictions": _file(predictions),
        "terminology": lists.source or NO_LISTS,
        **({"lists_missing": ", ".join(lists.missing)} if lists.missing else {}),
        "seed": seed,
    }
    return told


def _types(words: str) -> list[str]:
    from .types import vocabulary

    known = {word.strip(): vocabulary().type_of(word) for word in words.split(",")}
    unknown = [word for word, kind in known.items() if kind is None]
    if unknown:
        raise UsageError(f"unknown type '{unknown[0]}'. Hint: one of {', '.join(vocabulary().types)}")
    return [kind for kind in vocabulary().types if kind in known.values()]


def _file(path: Path) -> str:
    """A file by its name and the start of its checksum."""
    import hashlib

    return f"{path.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def rows_of(told: dict[str, Any]) -> list[list[Any]]:
    """A row for each level and type, the averages first."""
    rows: list[list[Any]] = []
    entity = told["entity"] or {}
    levels = {
        "abstract partial": told["partial"],
        "abstract exact": told["exact"],
        "token": told["token"],
        "entity exact": entity.get("exact"),
        "entity partial": entity.get("partial"),
    }
    for level, part in levels.items():
        if part is not None:
            for name, one in {"micro": part["micro"], "entities": part.get("entities"), **part["by_type"]}.items():
                if one is not None:
                    low, high = one["ci"] or (None, None)
                    cells = (one["precision"], one["recall"], one["f1"], low, high, one["tp"], one["fp"], one["fn"])
                    rows.append([level, name, *cells])
    return rows


def print_scores(told: dict[str, Any], rows: list[list[Any]]) -> None:
    """The measures by level and type, then what was left out or could not be read, and the signature."""
    print_table(COLUMNS, [[f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row] for row in rows])
    documents = told["documents"]
    print(
        f"{counted(documents['corpus'], 'abstract')}, {len(documents['without_prediction'])} of them without an answer;"
        f" {counted(len(documents['not_in_corpus']), 'answer')} to abstracts that the corpus has not;"
        f" {counted(documents['bad_rows'], 'bad row')}"
    )
    if told["signature"]["terminology"] == NO_LISTS:
        print(f"no lists of canonical names: {NO_LISTS[6:]}, unlike in the published tables. Hint: --terminology DIR")
    if told["types_not_looked_for"]:
        print(f"not looked for, and not scored: {', '.join(told['types_not_looked_for'])}")
    for name, number in told["unknown_types"].items():
        print(f"unknown type {name}: {number}")
    print_problems(told["problems"])
    print("; ".join(f"{name} {value}" for name, value in told["signature"].items()))
