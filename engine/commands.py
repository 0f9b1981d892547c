"""The commands of answering: ``info``, ``query``, ``explain`` and ``repl``."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..kb.terminal import Format, answer, count_text, print_csv, print_table

if TYPE_CHECKING:
    from .cohort import Cohort

#: Patients that a table shows when no --limit is given; json and csv give all of them.
TABLE_ROWS: Final = 20


class WorldName(enum.StrEnum):
    """The three worlds, as the command line spells them."""

    BELIEVED = "believed"
    CERTAIN = "certain"
    POSSIBLE = "possible"


KbArgument = Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base that 'ingest' made.")]
QueryArgument = Annotated[str, typer.Argument(metavar="QUERY", help="A query in quotes; - reads standard input.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
OutOption = Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the answer to this file.")]


def info(kb: KbArgument, output: FormatOption = Format.TABLE, out: OutOption = None) -> None:
    """Tell what a knowledge base holds, and that every note that came in is accounted for."""
    from .api import open as open_kb

    held = open_kb(kb).info()
    answer(held, output=output, out=out, as_table=lambda: print_info(held))


def print_info(held: dict[str, Any]) -> None:
    """The sum of the notes first, then everything else, a line each."""
    parts = ("stored", "unchanged", "superseding", "quarantined")
    print(f"{held['notes_in']} notes in = " + " + ".join(f"{held[part]} {part}" for part in parts))
    rows = [(name, value) for name, value in held.items() if not isinstance(value, dict | list)]
    rows += [
        (f"{name}: {key}", value) for name, part in held.items() if isinstance(part, dict) for key, value in part.items()
    ]
    print_table(("what", "value"), [row for row in rows if row[0] not in {"notes_in", *parts}])


def query(
    kb: KbArgument,
    text: QueryArgument,
    world: Annotated[WorldName, typer.Option(help="Which answer the patients are listed of.")] = WorldName.BELIEVED,
    output: FormatOption = Format.TABLE,
    limit: Annotated[int | None, typer.Option(min=0, help="List at most so many patients (a table: 20).")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each listed patient's evidence.")] = False,
    out: OutOption = None,
) -> None:
    """Find the patients that a query denotes."""
    from .api import open as open_kb

    cohort = open_kb(kb).find(query_text(text))
    payload = cohort_payload(cohort, world, limit, explain)
    answer(
        payload,
        output=output,
        out=out,
        as_table=lambda: print_cohort(cohort, payload, TABLE_ROWS if limit is None else limit),
        as_csv=lambda: print_csv(("patient_id", "certainty"), certainty_rows(cohort, payload["patients"])),
    )


def query_text(text: str) -> str:
    """The query itself; ``-`` reads it from standard input."""
    return sys.stdin.read() if text == "-" else text


def cohort_payload(cohort: Cohort, world: WorldName, limit: int | None, explain: bool) -> dict[str, Any]:
    """The answer as JSON has it. ``count`` counts the patients of the world asked for, whatever ``limit`` lists."""
    asked = {"believed": cohort, "certain": cohort.certain, "possible": cohort.possible}[world.value]
    patients = sorted(asked)
    listed = patients if limit is None else patients[:limit]
    payload: dict[str, Any] = {
        "query": cohort.text,
        "resolved": cohort.resolved,
        "world": world.value,
        "count": len(asked),
        "believed": len(cohort),
        "certain": len(cohort.certain),
        "possible": len(cohort.possible),
        "patients": listed,
    }
    if explain:
        payload["explanations"] = {patient: cohort.explain(patient).as_dict() for patient in listed}
    return payload


def certainty_rows(cohort: Cohort, patients: list[str]) -> list[tuple[str, str]]:
    """Each patient with the strongest world that holds it."""
    certain, believed = set(cohort.certain), set(cohort)
    return [
        (patient, "certain" if patient in certain else "believed" if patient in believed else "possible")
        for patient in patients
    ]


def print_cohort(cohort: Cohort, payload: dict[str, Any], rows: int) -> None:
    """The count with its bounds, the query as understood, the patients, and what each rests on when asked."""
    print(f"{count_text(payload['believed'], payload['certain'], payload['possible'])} patients: {payload['resolved']}")
    shown = payload["patients"][:rows]
    if "explanations" in payload:
        for patient in shown:
            print()
            print(cohort.explain(patient).as_text())
    elif shown:
        print_table(("patient", "certainty"), certainty_rows(cohort, shown))
    if len(shown) < payload["count"]:
        print(f"… and {payload['count'] - len(shown)} more (--limit N lists more)")


def explain(
    kb: KbArgument,
    text: QueryArgument,
    patient: Annotated[str, typer.Argument(metavar="PATIENT", help="A patient id.")],
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show, for one patient, each criterion with the evidence for it."""
    from .api import open as open_kb

    found = open_kb(kb).find(query_text(text)).explain(patient)
    answer(found.as_dict(), output=output, out=out, as_table=lambda: print(found.as_text()))


def repl(kb: KbArgument) -> None:
    """Ask query after query; :help tells what else."""
    from .api import open as open_kb
    from .repl import converse

    converse(open_kb(kb))


COMMANDS: Final = (("info", info), ("query", query), ("explain", explain), ("repl", repl))
