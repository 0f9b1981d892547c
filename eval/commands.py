"""The commands of measurement: ``eval acr`` (the query bank against labels)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..kb.errors import UsageError
from ..kb.terminal import Format, NotYet, answer, print_table


def acr(
    labels: Annotated[Path, typer.Option("--labels", help="Labels: JSONL of patient_id, match, ambiguous.")],
    kb: Annotated[Path | None, typer.Option("--kb", help="The knowledge base to ask.")] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", help="Score the knowledge base of this abstraction (facts.jsonl) instead.")
    ] = None,
    alpha: Annotated[int | None, typer.Option(min=1, help="Smallest gold of a broad query.")] = None,
    beta: Annotated[int | None, typer.Option(min=1, help="Smallest gold of a narrow query.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Not yet: write a page.")] = None,
    natural: Annotated[bool, typer.Option("--natural", help="Not yet: ask in plain English.")] = False,
    output: Annotated[Format, typer.Option("--format", help="How to print the scores.")] = Format.TABLE,
    out: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the scores here.")] = None,
) -> None:
    """Score the query bank on labelled patients: precision, recall, F1, by size and complexity."""
    for given, option, part in (
        (natural, "--natural", "questions in plain English"),
        (html is not None, "--html", "the pages of results"),
        (facts is not None, "--facts", "knowledge bases out of clinical abstractions"),
    ):
        if given:
            raise NotYet(f"eval acr {option} is not yet there; it comes with {part}")
    if kb is None:
        raise UsageError("eval acr needs a knowledge base. Hint: --kb KB")
    from .acr import score_bank

    scores = score_bank(kb, labels, alpha=alpha, beta=beta)
    answer(scores, output=output, out=out, as_table=lambda: print_scores(scores), as_csv=None)


def print_scores(scores: dict[str, Any]) -> None:
    """The scores by size and complexity, and what was not answered."""
    columns = ("", "queries", "precision", "recall", "F1")
    rows = [("micro", len(scores["queries"]), *_three(scores["micro"]))]
    for table in ("by_size", "by_complexity"):
        rows += [(name, part.get("queries"), *_three(part)) for name, part in scores[table].items()]
    print_table(columns, rows)
    print(
        f"coverage {scores['coverage']:.3f}; zero-result false positives {scores['zero_result_false_positives']}; "
        f"{len(scores['unresolved'])} unresolved"
    )


def _three(part: dict[str, Any]) -> tuple[str, str, str]:
    precision, recall, f1 = (
        "–" if part.get(name) is None else f"{part[name]:.3f}" for name in ("precision", "recall", "f1")
    )
    return precision, recall, f1


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("acr", acr),)
