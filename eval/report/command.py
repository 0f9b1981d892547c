"""Parts that the commands of measurement share: options, what could not be read, signatures, and the command line
as a report may show it, without where on this machine its files lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ...kb.skin.terminal import print_table

SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the draws behind the confidence intervals.")]


def without_places(words: Iterable[str]) -> str:
    """Words of a command with absolute paths cut to their names: ``/a/b.json`` as ``b.json``, ``--json=/a/b.json`` as
    ``--json=b.json``."""
    return " ".join(map(_without_place, words))


def _without_place(word: str) -> str:
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word


#: Rows that could not be read, of which so many are printed.
_SHOWN_PROBLEMS: Final = 20


def print_figures(columns: Sequence[str], rows: Iterable[Sequence[object]], places: int = 3) -> None:
    """A table whose figures have so many places behind the point."""
    print_table(columns, ([f"{cell:.{places}f}" if isinstance(cell, float) else cell for cell in row] for row in rows))


def print_problems(problems: Sequence[Mapping[str, str]]) -> None:
    """What could not be read: the file where it is told, the place, the reason; of many the first."""
    for one in problems[:_SHOWN_PROBLEMS]:
        print(f"not read: {': '.join(one[name] for name in ('file', 'place', 'reason') if name in one)}")
    if len(problems) > _SHOWN_PROBLEMS:
        print(f"and {len(problems) - _SHOWN_PROBLEMS} more; --format json lists all")


def print_signature(signature: Mapping[str, Any]) -> None:
    """What the scores depend on, on one line."""
    print("; ".join(f"{name} {value}" for name, value in signature.items()))
