"""The command ``eval facts``: prints how much of the abstracted facts reading has found, and what it missed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ....kb.skin.options import OutOption
from ....kb.skin.terminal import (
    Format,
    answer,
    check_output,
    counted,
    print_csv,
    print_table,
    refuse_in_csv,
    three_places,
)
from ...report.command import SeedOption

#: Columns of csv, as in the JSON form of a part.
_COLUMNS: Final = (
    "facts", "unresolved", "matched", "in_part", "recall", "with_value", "recall_with_value", "compatible",
    "recall_compatible", "dated", "dates_meet",
)  # fmt: skip


# Each parameter of a command is an option of it.
def facts(
    kb: Annotated[Path, typer.Option("--kb", help="The knowledge base that reading the notes gave.")],
    facts: Annotated[
        Path,
        typer.Option(
            "--facts", help="The clinical abstraction of the same patients: JSONL, one a line: patient_id, facts."
        ),
    ],
    dates: Annotated[
        bool, typer.Option("--dates", help="Also show how many of the matched facts share a day with their event.")
    ] = False,
    misses: Annotated[
        int, typer.Option("--misses", metavar="N", min=0, help="List N facts that were missed, and why; no note text.")
    ] = 0,
    only: Annotated[
        str, typer.Option("--only", metavar="PREFIX,…", help="Only patients whose id begins with one of these.")
    ] = "",
    seed: SeedOption = 0,
    output: Annotated[Format, typer.Option("--format", help="How to print the scores; csv: a line a kind.")] = (
        Format.TABLE
    ),
    out: OutOption = None,
) -> None:
    """Hold the events read from notes against abstracted facts: recall by kind, values and dates apart."""
    check_output(output, out, rows=True)
    refuse_in_csv(output, {"--misses": misses})
    from .run import run_facts

    prefixes = tuple(filter(None, (part.strip() for part in only.split(","))))
    report = run_facts(kb, facts, only=prefixes, seed=seed).as_dict(misses=misses)
    answer(
        report,
        output=output,
        out=out,
        as_table=lambda: print_report(report, dates=dates),
        as_csv=lambda: print_csv(
            ("kind", *_COLUMNS),
            ([kind, *(part[name] for name in _COLUMNS)] for kind, part in report["by_kind"].items()),
        ),
    )


def print_report(report: dict[str, Any], *, dates: bool = False) -> None:
    """The facts by kind and by group of patients, the events without a fact, and the misses that are listed."""
    columns = ["", "facts", "unresolved", "matched", "in part", "recall", "95% interval", "with value", "compatible"]
    columns += ["dated", "dates meet"] if dates else []
    groups = report["by_group"] if len(report["by_group"]) > 1 else {}
    parts = {"all": report["all"], **report["by_kind"], **groups}
    print_table(columns, [(name, *_cells(part, dates)) for name, part in parts.items()])
    print_table(
        ("events", "read", "in the facts", "near one", "without a fact"),
        [(kind, *part.values()) for kind, part in report["events"].items()],
    )
    print("Abstractions are not exhaustive: an event without a fact may well be true.")
    patients = report["patients"]
    print(
        f"{counted(patients['with_facts'], 'patient')} with facts, {patients['missing_from_kb']} of them not in the"
        f" knowledge base; {patients['without_facts']} without facts left out"
    )
    if report["bad"]:
        print(
            f"{counted(report['bad'], 'record')} of the facts could not be used. Hint: ingest --abstraction tells why"
        )
    if report["reasons"]:
        print("missed, by reason: " + ", ".join(f"{reason} {number}" for reason, number in report["reasons"].items()))
    for one in report.get("misses", ()):
        print(miss_line(one))


def miss_line(one: dict[str, Any]) -> str:
    """``P1 fact 7 (biomarker): biomarker HER2 (result negative) present 2019-03-04: other value; read …``."""
    values = ", ".join(f"{name} {value}" for name, value in one["attributes"].items())
    what = " ".join(
        filter(None, (one["kind"], one["name"], f"({values})" if values else "", one["assertion"], one["day"]))
    )
    instead = f"; read {' | '.join(one['instead'])}" if one["instead"] else ""
    return f"{one['patient_id']} fact {one['number']} ({one['fact_kind']}): {what}: {one['reason']}{instead}"


def _cells(part: dict[str, Any], dates: bool) -> list[object]:
    ci = part["ci"]
    cells = [part[name] for name in ("facts", "unresolved", "matched", "in_part")]
    cells += [three_places(part["recall"]), "–" if ci is None else f"{three_places(ci[0])} to {three_places(ci[1])}"]
    cells += [three_places(part["recall_with_value"]), three_places(part["recall_compatible"])]
    return [*cells, part["dated"], three_places(part["share_of_dates"])] if dates else cells
