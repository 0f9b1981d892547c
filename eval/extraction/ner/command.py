"""The command ``eval ner``: a system's entities against an annotated corpus, in the authors' own formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ....kb.errors import UsageError
from ....kb.skin.options import FormatOption, OutOption
from ....kb.skin.terminal import Format, answer, check_output, counted, print_csv
from ...report.command import SeedOption, print_figures, print_problems, print_signature

if TYPE_CHECKING:
    from ..corpora.label_maps import LabelMap

COLUMNS: Final = ("level", "type", "precision", "recall", "f1", "low", "high", "tp", "fp", "fn")


# Each parameter of a command is an option of it.
def ner(
    corpus: Annotated[
        Path,
        typer.Option(
            "--corpus",
            help="The annotated trials: a table with tokens, ner_tags, nct_id (and text), or JSON lines; with --model"
            " any annotated corpus (BIO, BRAT, JSON, a table).",
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
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", metavar="DIR", help="A trained model, which answers here and now; see docs/reference/tagger.md."
        ),
    ] = None,
    renamed: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="PAIRS|NAME|FILE",
            help="Types of the model as the corpus calls them: disease=CONDITION,medication=DRUG; or a map of labels,"
            " as of 'train ner': neurotrialner_kinds.",
        ),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="Where the model computes: cpu, cuda, mps.")] = "cpu",
    runtime: Annotated[str, typer.Option("--runtime", help="What computes: onnx, torch, or auto.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="Threads of the processor that the model uses.")] = 1,
    answers: Annotated[
        Path | None,
        typer.Option("--predictions-out", metavar="CSV", help="Also write the model's answers here."),
    ] = None,
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
    seed: SeedOption = 0,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score named entities as NeuroTrialNER does: abstracts (partial, exact), tokens, placed entities."""
    check_output(output, out, rows=True)
    if (model is None) == (predictions is None):
        raise UsageError("eval ner needs answers to score. Hint: --predictions CSV, or --model DIR, and not both")
    from .run import Choices, score_model, score_predictions

    asked = None if types is None else [word.strip() for word in types.split(",")]
    if model is not None:
        pairs, labels = _read_map(renamed)
        choices = Choices(asked, pairs, terminology, seed, device, runtime, threads, answers, labels)
        scores = score_model(model, corpus, choices)
    else:
        assert predictions is not None
        scores = score_predictions(corpus, predictions, column, asked, terminology, seed)
    rows = rows_of(scores)
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: print_scores(scores, rows),
        as_csv=lambda: print_csv(COLUMNS, rows),
    )


def _read_map(words: str | None) -> tuple[list[tuple[str, str]], LabelMap | None]:
    """The pairs of ``a=b,c=d``, or a map of labels by its name or file."""
    if words is None or "=" in words:
        return _pairs(words), None
    from ..corpora.label_maps import label_map

    try:
        return [], label_map(words)
    except UsageError as error:
        raise UsageError(f"{error}; or pairs: --map disease=CONDITION,medication=DRUG") from error


def _pairs(words: str | None) -> list[tuple[str, str]]:
    """The pairs of ``a=b,c=d``."""
    pairs = [tuple(part.strip() for part in word.split("=")) for word in (words or "").split(",") if word.strip()]
    if wrong := [pair for pair in pairs if len(pair) != 2 or not all(pair)]:
        raise UsageError(f"--map cannot read '{'='.join(wrong[0])}'. Hint: --map disease=CONDITION,medication=DRUG")
    return [(pair[0], pair[1]) for pair in pairs]


def rows_of(scores: dict[str, Any]) -> list[list[Any]]:
    """A row for each level and type, the averages first."""
    rows: list[list[Any]] = []
    by_place = scores["entity"] or {}
    # A corpus that is scored by place alone has no names of abstracts.
    whole = "entity" if scores["by"] == "entity" else "abstract"
    levels = {f"{whole} partial": scores["partial"], f"{whole} exact": scores["exact"], "token": scores["token"]}
    levels.update({f"entity {name}": part for name, part in by_place.items()})
    for level, part in levels.items():
        if part is not None:
            for name, one in {"micro": part["micro"], "entities": part.get("entities"), **part["by_type"]}.items():
                if one is not None:
                    low, high = one["ci"] or (None, None)
                    cells = (one["precision"], one["recall"], one["f1"], low, high, one["tp"], one["fp"], one["fn"])
                    rows.append([level, name, *cells])
    return rows


def print_scores(scores: dict[str, Any], rows: list[list[Any]]) -> None:
    """The measures by level and type, then what was left out or could not be read, and the signature."""
    print_figures(COLUMNS, rows)
    documents = scores["documents"]
    print(
        f"{counted(documents['corpus'], 'document')}, {len(documents['without_prediction'])} of them without an answer;"
        f" {counted(len(documents['not_in_corpus']), 'answer')} to documents that the corpus has not;"
        f" {counted(documents['bad_rows'], 'bad row')}"
    )
    lists = scores["signature"].get("terminology", "")
    if lists.startswith("none: "):
        print(f"no lists of canonical names: {lists[6:]}, unlike in the published tables. Hint: --terminology DIR")
    if scores["types_not_looked_for"]:
        print(f"not looked for, and not scored: {', '.join(scores['types_not_looked_for'])}")
    if scores.get("model_types_left_out"):
        print(f"found by the model, and not of this corpus: {', '.join(scores['model_types_left_out'])}")
    for name, number in scores["unknown_types"].items():
        print(f"unknown type {name}: {number}")
    print_problems(scores["problems"])
    print_signature(scores["signature"])
