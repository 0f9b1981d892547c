"""The commands of care: ``check`` (is it sound, and what is to be done when it is not) and ``migrate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..errors import DamagedKb
from ..skin.options import NoRowsOption, OutOption
from ..skin.terminal import Format, answer, check_output, counted, print_table

if TYPE_CHECKING:
    from ..storage.migrations import Migrated
    from .checking import CheckReport


def check(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base: its folder, or KB@previous, KB@ID.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out what reads every text and makes every id and index row again.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="First make the index again from the tables; nothing else can be repaired.")
    ] = False,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Check a knowledge base: keys, spans, ids, dates, worlds, order, index, bytes. Leaves with 10 if not sound."""
    from .checking import check_kb
    from .repair import repair_index

    check_output(output, out, rows=False)
    if repair:
        repair_index(kb)
    report = check_kb(kb, quick=quick)
    report.repaired = repair
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
    if report.repaired:
        print("the index was made again from the tables")
    if report.sound:
        print("sound")
        return
    print_table(
        ("part", "check", "found", "what", "for example"),
        [(one.part, one.name, one.number, one.finds, one.example) for one in report.findings],
    )
    for advice in dict.fromkeys(one.advice for one in report.findings):
        print(f"Hint: {advice}")


def migrate(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base: its folder.")],
    back: Annotated[
        bool, typer.Option("--back", help="Make the generation before the migration current again, for its program.")
    ] = False,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Bring a knowledge base of an older version to this program's, as a new generation. No note is read again."""
    from ..storage.migrations import migrate as migrated
    from ..storage.migrations import migrate_back

    check_output(output, out, rows=False)
    done = migrate_back(kb) if back else migrated(kb)
    answer(done.as_dict(), output=output, out=out, as_table=lambda: print_migrated(done))


def print_migrated(done: Migrated) -> None:
    """What became of the knowledge base."""
    if not done.steps:
        print(f"generation {done.generation} has schema version {done.after} already")
        return
    print(f"schema version {done.before} (generation {done.generation_before})")
    for step in done.steps:
        print(f"  {step}")
    print(f"schema version {done.after} (generation {done.generation})")


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("check", check), ("migrate", migrate))
