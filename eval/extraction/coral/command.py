"""The commands ``eval coral`` (extraction against annotated notes) and ``eval coral-review`` (a filled sheet)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ....kb.errors import UsageError
from ....kb.files.whole_files import write_text_privately
from ....kb.skin.options import FormatOption, OutOption
from ....kb.skin.terminal import Format, answer, check_output, counted, print_csv, print_table
from ...report.command import SeedOption
from .scores import Convention
from .units import Stretch

if TYPE_CHECKING:
    from .answers import Answer
    from .tasks import Tasks
    from .units import Note

_COLUMNS: Final = ("relation", "units", "failed", "bleu", "rouge", "precision", "recall", "f1")


# Each parameter of a command is an option of it.
def coral(
    gold: Annotated[
        Path, typer.Option("--gold", help="Annotated notes: a folder of brat files, .ann beside .txt, of the schema.")
    ],
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            help="Score these answers (JSONL: document, section, task, output) or annotations (a folder), instead of"
            " our own reading.",
        ),
    ] = None,
    llm: Annotated[
        bool,
        typer.Option(
            "--llm",
            help="Ask the chat model of COHORTIUM_LLM_BASE_URL instead: SENDS NOTES to it, which"
            " COHORTIUM_LLM_SEND_NOTES=yes must allow.",
        ),
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            metavar="FILE",
            help="Keep the answers here (JSONL); with --llm, what is kept is not asked again.",
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", metavar="OUT.tsv", help="Also write a review sheet, each output on a row."),
    ] = None,
    strata: Annotated[
        Path | None,
        typer.Option("--strata", help="Groups of documents (CSV or TSV: document, then a column for each stratum)."),
    ] = None,
    stretch: Annotated[
        Stretch, typer.Option("--by", help="Score the history and the plan of each note, or each note as a whole.")
    ] = Stretch.SECTION,
    convention: Annotated[
        Convention, typer.Option(help="The paper's definitions, or as the figures of its tables were computed.")
    ] = Convention.PAPER,
    seed: SeedOption = 0,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score extraction on notes annotated under the CORAL schema: BLEU-4, ROUGE-1, exact pairs."""
    if llm and predictions is not None:
        raise UsageError("--llm asks a model and --predictions scores answers that are there. Hint: one of the two")
    check_output(output, out, rows=True)
    from .report import Choices, judge
    from .strata import load_strata
    from .tasks import shipped
    from .units import load_notes

    notes, tasks = load_notes(gold), shipped()
    groups = load_strata(strata, [note.name for note in notes]) if strata is not None else {}
    given, source = _answers(notes, tasks, predictions, llm, answers, stretch)
    report = judge(notes, given, tasks, Choices(stretch, convention, seed, groups, source))
    scores = report.as_dict()
    if review is not None:
        from .review import rows, write_sheet

        scores["review_rows"] = write_sheet(review, rows(report.judged, notes))
    table = [[name, *(row[column] for column in _COLUMNS[1:])] for name, row in scores["relations"].items()]
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: print_scores(scores, table, report.signature.line if report.signature else ""),
        as_csv=lambda: print_csv(_COLUMNS, table),
    )


def _answers(
    notes: tuple[Note, ...], tasks: Tasks, predictions: Path | None, llm: bool, keep: Path | None, stretch: Stretch
) -> tuple[Iterable[Answer], dict[str, Any]]:
    """The answers of the source that was asked for, and what of it belongs into the signature."""
    from .answers import Kept, from_folder, from_reader, load_answers

    if llm:
        from ....kb.endpoint.asking import Asking
        from ....kb.endpoint.settings import check_leave, from_environment
        from .model import from_model

        hint = "score our reading, without --llm, or see docs/guide/llm.md"
        asking = Asking(from_environment(hint=hint))
        check_leave()
        given = list(from_model(notes, stretch, tasks, asking, Kept(keep, tasks)))
        cost = {name: getattr(asking.spending, name) for name in ("requests", "tokens", "kept")}
        return given, {"system": "model", "model": asking.model, "cost": cost}
    if predictions is not None and predictions.is_dir():
        given = list(from_folder(predictions, notes, stretch, tasks))
        source: dict[str, Any] = {"system": "annotations"}
    elif predictions is not None:
        given = list(load_answers(predictions, tasks, told=print_broken).values())
        source = {"system": "file"}
    else:
        from ....ingest.run.batches import shipped_reading

        given = list(from_reader(notes, stretch, tasks))
        source = {"system": "reading", "reading": dict(shipped_reading().versions)}
    if predictions is not None:
        _require_answers(predictions, given, notes)
    if keep is not None:
        if keep.exists() and any(one.asked for one in load_answers(keep, tasks).values()):
            raise UsageError(f"'{keep}' keeps the answers of a model. Hint: name another file, or add --llm")
        write_text_privately(keep, "".join(json.dumps(one.as_dict()) + "\n" for one in given))
    return given, source


def _require_answers(predictions: Path, given: list[Answer], notes: tuple[Note, ...]) -> None:
    """UsageError unless one of the answers is to a note of the gold: to answer nothing is another thing."""
    names = {note.name for note in notes}
    if any(one.document in names for one in given):
        return
    if not given and not predictions.is_dir():
        raise UsageError(f"'{predictions}' holds no answer. Hint: JSON lines with document, section, task, output")
    raise UsageError(
        f"'{predictions}' answers to no document of the gold. Hint: a document is named by its path in the folder of"
        f" the gold, without ending: {min(names)}"
    )


def print_broken(number: int) -> None:
    """Tells that a line of a file of answers breaks off."""
    print(f"cohortium: line {number} of the predictions breaks off: it is left out", file=sys.stderr)


def print_scores(scores: dict[str, Any], table: list[list[Any]], line: str) -> None:
    """The figures of each relation, their means, what failed, differences between groups, and the signature's line."""
    rows = [[_number(cell) for cell in row] for row in table]
    for name, key in (("mean", "mean"), ("mean where the gold tells", "mean_where_told")):
        rows.append([name, "", "", *(_number(scores[key][column]) for column in _COLUMNS[3:])])
    print_table(("", *_COLUMNS[1:]), rows)
    given, exact = scores["answers"], scores["stated"]
    failed = ", ".join(f"{number} {kind}" for kind, number in given["failed"].items())
    print(
        f"{counted(scores['documents'], 'document')}, {counted(scores['units'], 'unit')}; {given['answered']} of"
        f" {counted(given['asked'], 'question')} answered; failed: {failed or 'none'}"
    )
    if failed:
        wrong = scores["mean_failures_as_wrong"]
        print("failures counted as wrong: " + ", ".join(f"{name} {_number(wrong[name])}" for name in _COLUMNS[3:]))
    print(
        f"exact pairs of which both halves are told: precision {_number(exact['precision'])}, recall"
        f" {_number(exact['recall'])}, F1 {_number(exact['f1'])}{_interval(exact['ci'])}"
    )
    bounds = scores["mean"]["ci"]
    print("; ".join(f"mean {name} {_number(scores['mean'][name])}{_interval(bounds[name])}" for name in bounds))
    if "strata" in scores:
        tested = [one for one in scores["strata"] if one["p"] is not None]
        print(f"{counted(len(tested), 'test')} between groups, {sum(one['q'] < 0.05 for one in tested)} with q < 0.05")
        columns = ("stratum", "relation", "figure", "h", "p", "q")
        lowest = [[_number(one[column]) for column in columns] for one in tested if one["p"] < 0.05]
        if lowest:
            print_table(columns, lowest)
    if "review_rows" in scores:
        print(f"{counted(scores['review_rows'], 'output')} to review")
    print(line)


def _number(cell: object) -> object:
    if cell is None:
        return "–"
    return f"{cell:.3f}" if isinstance(cell, float) else cell


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" ({bounds[0]:.3f}–{bounds[1]:.3f})"


def coral_review(
    sheet: Annotated[Path, typer.Argument(metavar="SHEET.tsv", help="A review sheet with its categories filled in.")],
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Count the categories of a review sheet of extraction: right, right in part, wrong, and how."""
    check_output(output, out, rows=True)
    from .review import CATEGORIES, read_sheet, tally

    shares = tally(read_sheet(sheet))
    columns = ("kind", "inference", "rows", "open", *CATEGORIES)
    every = [*shares["inferences"], {"kind": "", "inference": "all"} | shares["all"]]
    table = [
        [*(row[column] for column in columns[:4]), *(row["categories"][name] for name in CATEGORIES)] for row in every
    ]
    answer(
        shares,
        output=output,
        out=out,
        as_table=lambda: print_table(columns, [[_number(cell) for cell in row] for row in table]),
        as_csv=lambda: print_csv(columns, table),
    )


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("coral", coral), ("coral-review", coral_review))
