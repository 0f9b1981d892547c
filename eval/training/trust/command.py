"""The command ``train trust``: judged statements in, the weights of their signs out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Final

import typer

from ....kb.errors import UsageError
from ....kb.files.text_files import bytes_of
from ....kb.files.whole_files import write_text_privately
from ....kb.skin.terminal import print_json


def trust(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the weights go (trust.tsv).")],
    judged: Annotated[list[Path], typer.Argument(help="Folders with notes.jsonl and judged.tsv, each by one writer.")],
    plain: Annotated[
        list[Path] | None,
        typer.Option("--plain", metavar="PATH", help="Records about their patients, not judged; may be given again."),
    ] = None,
    plain_weight: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How much a statement of those counts beside a judged one.")
    ] = 0.2,
    penalty: Annotated[float, typer.Option(min=0.0, help="On the squares of the weights.")] = 10.0,
    loss: Annotated[
        float, typer.Option(min=0.0, max=0.5, help="The share of true statements that may come into doubt.")
    ] = 0.13,
    alone: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How much a statement counts as one of its note alone.")
    ] = 0.3,
) -> None:
    """Learn how far single statements are to be trusted, from statements that people judged."""
    from .fit import fit
    from .judged import charts, plain_charts

    missing = [folder for folder in judged for name in ("notes.jsonl", "judged.tsv") if not (folder / name).is_file()]
    if missing:
        raise UsageError(f"{missing[0]} lacks notes.jsonl or judged.tsv")
    if len(judged) < 2:
        raise UsageError("what is learned is measured on another writer. Hint: name two folders or more")
    learned = [chart for folder in judged for chart in charts(folder)]
    beside = list(plain_charts(plain)) if plain else []
    made = fit([*learned, *beside], penalty, loss, alone, plain_weight)
    digest = hashlib.sha256(b"".join(bytes_of(folder / "judged.tsv") for folder in judged)).hexdigest()[:12]
    head = [
        "What signs around a statement say for its being a fact of the patient (log odds), and how points are weighed",
        f"again. Made by 'cohortium train trust' of {made.statements} judged statements of {len(judged)} writers",
        f"(sha256 {digest}), {made.not_so} of them not so, and {len(beside)} records nobody judged; penalty {penalty},",
        f"loss {loss}, alone {alone}, plain {plain_weight}. On writers not seen the area is {made.area:.3f} and",
        f"{made.caught:.2f} of what is not so comes into doubt, with {made.lost:.2f} of what is so.",
    ]
    lines = [*(f"# {line}" for line in head), *(f"{name}\t{value:.4g}" for name, value in sorted(made.weights.items()))]
    write_text_privately(out, "\n".join(lines) + "\n")
    print_json(
        {
            "statements": made.statements, "not_so": made.not_so, "weights": len(made.weights),
            "unseen_writers": {"area": round(made.area, 4), "caught": round(made.caught, 4), "lost": made.lost},
            "doubt_below": round(made.weights["doubt"], 4), "bytes": out.stat().st_size,
        }
    )  # fmt: skip


COMMANDS: Final = (("trust", trust),)
