"""The commands of measurement: ``eval acr`` (the query bank against labels)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..kb.errors import UsageError
from ..kb.terminal import Format, NotYet, answer, print_csv, print_table
from .consistency.command import consistency

_QUERY_COLUMNS: Final = ("id", "tp", "fp", "fn", "abstained", "query")


def acr(
    labels: Annotated[
        Path,
        typer.Option(
            "--labels",
            help="Labels: JSONL, one patient a line: patient_id, match (ids of the queries that hold), ambiguous (ids"
            " left open). --format csv lists the ids and their queries.",
        ),
    ],
    kb: Annotated[Path | None, typer.Option("--kb", help="The knowledge base to ask.")] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", help="Not yet: score the knowledge base of an abstraction (facts.jsonl).")
    ] = None,
    alpha: Annotated[int | None, typer.Option(min=1, help="Smallest gold of a broad query.")] = None,
    beta: Annotated[int | None, typer.Option(min=1, help="Smallest gold of a narrow query.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws behind the confidence interval.")] = 0,
    errors: Annotated[
        bool, typer.Option("--errors", help="List the patients that each query was wrong about.")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Also write a page.")] = None,
    natural: Annotated[bool, typer.Option("--natural", help="Not yet: ask in plain English.")] = False,
    output: Annotated[Format, typer.Option("--format", help="How to print the scores.")] = Format.TABLE,
    out: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the scores here.")] = None,
) -> None:
    """Score the query bank on labelled patients: precision, recall, F1, by size and complexity."""
    for given, option, part in (
        (natural, "--natural", "questions in plain English"),
        (facts is not None, "--facts", "knowledge bases out of clinical abstractions"),
    ):
        if given:
            raise NotYet(f"not yet: '{option}' comes with {part}. Hint: leave it out, and name --kb KB")
    if kb is None:
        raise UsageError("eval acr needs a knowledge base. Hint: --kb KB")
    from .acr.run import run_acr

    try:
        report = run_acr(kb, labels, alpha=alpha, beta=beta, seed=seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    scores = report.as_dict(errors=errors)
    if html is not None:
        _write_page(html, scores)
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: print_scores(scores),
        as_csv=lambda: print_csv(_QUERY_COLUMNS, ([row[name] for name in _QUERY_COLUMNS] for row in scores["queries"])),
    )


def print_scores(scores: dict[str, Any]) -> None:
    """The scores by size and complexity, what was not answered, and, where listed, the patients it was wrong about."""
    columns = ("", "queries", "precision", "recall", "F1", "fp", "fn")
    fp, fn = (sum(row[name] for row in scores["queries"]) for name in ("fp", "fn"))
    rows: list[tuple[object, ...]] = [
        ("micro", len(scores["queries"]), *_three(scores["micro"]), fp, fn),
        ("macro", len(scores["queries"]), *_three(scores["macro"]), "", ""),
    ]
    for table in ("by_size", "by_complexity"):
        for name, part in scores[table].items():
            rows.append((name, part["queries"], *_three(part), part["false_positives"], part["false_negatives"]))
    print_table(columns, rows)
    bounds, patients = scores["micro"]["ci"], scores["patients"]
    if bounds is not None:
        print(f"micro F1 {_number(scores['micro']['f1'])}, 95% interval {_number(bounds[0])} to {_number(bounds[1])}")
    print(
        f"kappa {_number(scores['kappa'])}; coverage {_number(scores['coverage'])}; "
        f"zero-result false positives {scores['zero_result_false_positives']}; {len(scores['unresolved'])} unresolved"
    )
    print(
        f"{patients['labelled']} labelled patients, {patients['missing_from_kb']} of them not in the knowledge base; "
        f"{patients['unlabelled']} without labels left out"
    )
    for one in scores["unresolved"]:
        print(f"query {one['id']} was not answered: {one['reason']}")
    wrong = [row for row in scores["queries"] if row.get("false_positives") or row.get("false_negatives")]
    if wrong:
        print_table(
            ("id", "found, and not wanted", "wanted, and not found"),
            [(row["id"], " ".join(row["false_positives"]), " ".join(row["false_negatives"])) for row in wrong],
        )


def _three(part: dict[str, Any]) -> tuple[str, str, str]:
    return _number(part["precision"]), _number(part["recall"]), _number(part["f1"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _write_page(path: Path, scores: dict[str, Any]) -> None:
    from .acr.page import page

    try:
        path.write_text(page(scores), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from error


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("acr", acr), ("consistency", consistency))
