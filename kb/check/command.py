"""The command ``check``: is a knowledge base sound, and what is to be done when it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..errors import DamagedKb
from ..terminal import Format, answer, check_output, counted, print_table

if TYPE_CHECKING:
    from .run import CheckReport


def check(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base: its folder, or KB@previous, KB@ID.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out what reads every text and makes every id and index row again.")
    ] = False,
    output: Annotated[Format, typer.Option("--format", help="How to print; there are no rows for csv.")] = Format.TABLE,
    out: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Also write the answer to this file.")
    ] = None,
) -> None:
    """Check a knowledge base: keys, spans, ids, dates, worlds, order and index. Leaves with 5 when it is not sound."""
    from .run import check_kb

    check_output(output, out, rows=False)
    report = check_kb(kb, quick=quick)
    answer(report.as_dict(), output=output, out=out, as_table=lambda: print_report(report))
    if not report.sound:
        raise DamagedKb(f"the knowledge base at {report.path} is not sound: {counted(len(report.findings), 'finding')}")


def print_report(report: CheckReport) -> None:
    """What was found, with what to do; or that nothing was."""
    looked_at = f"{counted(report.patients, 'patient')}, {counted(report.events, 'event')}"
    rules = f"{counted(report.checked, 'check')}{' (quick)' if report.quick else ''}"
    print(f"generation {report.generation}: {looked_at}; {rules}")
    for rule, number in report.unchecked.items():
        print(f"{rule}: {number} were not derived from content, and tell nothing")
    if report.sound:
        print("sound")
        return
    print_table(
        ("part", "check", "found", "what", "for example"),
        [(one.part, one.name, one.number, one.finds, one.example) for one in report.findings],
    )
    for advice in dict.fromkeys(one.advice for one in report.findings):
        print(f"Hint: {advice}")


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("check", check),)
