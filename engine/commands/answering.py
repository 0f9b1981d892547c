"""The commands of answering, from ``info`` and ``query`` to ``repl``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...kb.deadline import SECONDS
from ...kb.errors import DECLINED
from ...kb.model import World
from ...kb.skin.options import FormatOption, NoRowsOption, OutOption
from ...kb.skin.terminal import Format, answer, print_csv, print_lines, print_table
from ...kb.skin.whole_answers import SecondsOption, in_time
from ..tables import (
    TABLE_ROWS,
    WorldName,
    cohort_payload,
    csv_rows,
    evidence_sheet,
    print_cohort,
    print_findings,
    print_imported,
    print_info,
    print_notes,
)
from .options import (
    DefinitionsOption,
    KbArgument,
    QueryArgument,
    SetOption,
    TodayOption,
    asked,
    asked_sql,
    query_text,
)

if TYPE_CHECKING:
    from ..asking import Answer


def info(kb: KbArgument, output: NoRowsOption = Format.TABLE, out: OutOption = None) -> None:
    """Tell what a knowledge base holds, and that every note that came in is accounted for."""
    from ..api import open as open_kb

    held = open_kb(kb).info()
    answer(held, output=output, out=out, as_table=lambda: print_info(held))


# Each option of the command is a parameter: so typer reads a command line.
def query(
    kb: KbArgument,
    text: QueryArgument,
    world: Annotated[WorldName, typer.Option(help="Which answer the patients are listed of.")] = WorldName.BELIEVED,
    output: FormatOption = Format.TABLE,
    limit: Annotated[int | None, typer.Option(min=0, help="List at most so many patients (a table: 20).")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each listed patient's evidence.")] = False,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    as_sql: Annotated[bool, typer.Option("--sql", help="QUERY is a SELECT over the virtual tables.")] = False,
    top: Annotated[int | None, typer.Option(min=0, help="Rank, and show the first so many.")] = None,
    rank: Annotated[
        bool, typer.Option("--rank", help="Rank all: certain first, then by the weakest evidence.")
    ] = False,
    out: OutOption = None,
) -> None:
    """Find the patients that a query denotes."""
    # A table and JSON have it with the answer.
    tell = output is Format.CSV
    cohort = (
        asked_sql(kb, text, settings, definitions, today)
        if as_sql
        else asked(kb, text, settings, definitions, today, tell=tell)
    )
    ranking = rank or top is not None
    # A sheet of evidence is made row by row, and needs nothing of it in the payload; else each explanation is told
    # twice (as lines or rows, and in JSON), and made once.
    explained = explain and (output is not Format.CSV or out is not None)
    explanation = functools.cache(cohort.explain) if explained else cohort.explain
    told = explanation if explained and not ranking else None
    payload = cohort_payload(cohort, world, _shown(limit, output, out), told)
    if ranking:
        most = min((number for number in (top, limit) if number is not None), default=None)
        payload["ranked"] = [patient.as_dict() for patient in cohort.in_world(World[world.name]).rank(most)]
        if explained:
            payload["explanations"] = {
                row["patient_id"]: explanation(row["patient_id"]).as_dict() for row in payload["ranked"]
            }
    findings = cohort.findings()
    if findings:
        payload["findings"] = [finding.as_dict() for finding in findings]
    answer(
        payload,
        output=output,
        out=out,
        as_table=lambda: print_cohort(cohort, payload, limit, explanation if explain else None),
        as_csv=lambda: print_csv(*(evidence_sheet(payload, explanation) if explain else csv_rows(cohort, payload))),
    )
    if output is not Format.JSON and str(out) != "-":
        print_notes(findings)


# Each option of the command is a parameter: so typer reads a command line.
def lint(
    kb: KbArgument,
    text: QueryArgument,
    output: NoRowsOption = Format.TABLE,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Leave with 1 on a contradiction and the like.")] = False,
    out: OutOption = None,
) -> None:
    """Tell what is doubtful in a query: what contradicts itself, adds nothing, or is never told of here."""
    cohort = asked(kb, text, settings, definitions, today)
    findings = cohort.findings()
    payload = {
        "query": cohort.text,
        "resolved": cohort.resolved,
        "findings": [finding.as_dict() for finding in findings],
    }
    answer(payload, output=output, out=out, as_table=lambda: print_findings(findings))
    if strict and any(finding.severity == "problem" for finding in findings):
        raise typer.Exit(1)


# Each option of the command is a parameter: so typer reads a command line.
def ask(
    kb: KbArgument,
    question: Annotated[str, typer.Argument(metavar="ENGLISH", help="A question in quotes; - reads standard input.")],
    world: Annotated[WorldName, typer.Option(help="Which answer the patients are listed of.")] = WorldName.BELIEVED,
    output: FormatOption = Format.TABLE,
    limit: Annotated[int | None, typer.Option(min=0, help="List at most so many patients (a table: 20).")] = None,
    definitions: Annotated[
        list[Path] | None,
        typer.Option("--definitions", metavar="FILE", help="What words mean here (let elderly be …); may be repeated."),
    ] = None,
    clarify: Annotated[
        bool, typer.Option("--clarify", help="Ask which of several readings is meant, and answer that one.")
    ] = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Also ask the chat model that the environment names (docs/guide/llm.md).")
    ] = False,
    today: TodayOption = None,
    out: OutOption = None,
) -> None:
    """Find the patients that a question in plain English asks for; what cannot be read is declined: exit 8."""
    from ..api import open as open_kb
    from ..asking import print_answer, print_rows_of

    found = open_kb(kb, today).ask(
        query_text(question), translator="llm" if llm else "rules", definitions=definitions or ()
    )
    if clarify and len(found.translation.readings) > 1:
        found = _clarified(found)
    payload = found.to_dict(world, _shown(limit, output, out))
    answer(
        payload,
        output=output,
        out=out,
        as_table=lambda: print_answer(found, payload, limit),
        as_csv=lambda: print_rows_of(found, payload),
    )
    if found.cohort is None:
        raise typer.Exit(DECLINED)


def _clarified(found: Answer) -> Answer:
    """The answer to the reading that is chosen: shown on standard error, its number read from standard input."""
    from ..asking import chosen, tell_readings

    tell_readings(found)
    line = typer.prompt("Which of them", err=True, default="", show_default=False)
    return chosen(found, line.strip())


def _shown(limit: int | None, output: Format, out: Path | None) -> int | None:
    """How many patients are listed: as many as a table shows when that is all that is asked for."""
    return TABLE_ROWS if limit is None and output is Format.TABLE and out is None else limit


def import_circe(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="An OHDSI cohort definition (Circe JSON).")],
    kb: Annotated[
        Path | None, typer.Option("--kb", metavar="KB", help="Map to this knowledge base's ontology, and count there.")
    ] = None,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Turn an OHDSI cohort definition into a query, and list what could not be carried."""
    from ...query_lang.circe.importer import from_circe
    from ..api import open as open_kb

    opened = None if kb is None else open_kb(kb)
    imported = from_circe(file) if opened is None else from_circe(file, opened.concepts, opened.scales)
    payload = imported.as_dict()
    if opened is not None:
        cohort = opened.find(imported.query)
        payload |= {"count": len(cohort), "certain": len(cohort.certain), "possible": len(cohort.possible)}
    answer(payload, output=output, out=out, as_table=lambda: print_imported(payload))


# Each option of the command is a parameter: so typer reads a command line.
def explain(
    kb: KbArgument,
    text: QueryArgument,
    patient: Annotated[str, typer.Argument(metavar="PATIENT", help="A patient id.")],
    output: FormatOption = Format.TABLE,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    out: OutOption = None,
) -> None:
    """Show, for one patient, each criterion with the evidence for it."""
    from ..answers.evidence_sheet import COLUMNS, evidence_rows

    found = asked(kb, text, settings, definitions, today).explain(patient)
    answer(
        found.as_dict(),
        output=output,
        out=out,
        as_table=lambda: print_lines(found.lines()),
        as_csv=lambda: print_csv(COLUMNS, evidence_rows([found])),
    )


def sql(
    kb: KbArgument,
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="A SELECT in quotes; - reads standard input.")],
    output: FormatOption = Format.TABLE,
    limit: Annotated[int | None, typer.Option(min=0, help="Give at most so many rows (a table: 20).")] = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="Stop the statement after so many seconds.")] = 60.0,
    out: OutOption = None,
) -> None:
    """Answer a read-only SQL statement over the views of the knowledge base."""
    from ..api import open as open_kb
    from ..tables import print_rows, rows_payload

    # A table shows the first rows, and needs one more to tell that there are more.
    shown = _shown(limit, output, out)
    text = query_text(statement)
    found = open_kb(kb).sql(text, limit=None if shown is None else shown + 1, seconds=seconds)
    payload = rows_payload(text, found, shown)
    rows = [tuple(row.values()) for row in payload["rows"]]
    answer(
        payload,
        output=output,
        out=out,
        as_table=lambda: print_rows(payload),
        as_csv=lambda: print_csv(payload["columns"], rows),
    )


# Each option of the command is a parameter: so typer reads a command line.
def why_not(
    kb: KbArgument,
    text: QueryArgument,
    patient: Annotated[str, typer.Argument(metavar="PATIENT", help="A patient id.")],
    output: NoRowsOption = Format.TABLE,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    out: OutOption = None,
) -> None:
    """Show why a patient is not found: what fails, the nearest evidence, and the cheapest edit that admits them."""
    found = asked(kb, text, settings, definitions, today).why_not(patient)
    answer(found.as_dict(), output=output, out=out, as_table=lambda: print_lines(found.lines()))


# Each option of the command is a parameter: so typer reads a command line.
def funnel(
    kb: KbArgument,
    text: QueryArgument,
    output: FormatOption = Format.TABLE,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    out: OutOption = None,
) -> None:
    """Show how many patients remain after each criterion, and whom dropping it would regain."""
    found = asked(kb, text, settings, definitions, today).funnel()
    answer(
        found.as_dict(),
        output=output,
        out=out,
        as_table=lambda: print_table(*found.table()),
        as_csv=lambda: print_csv(*found.sheet()),
    )


def repl(kb: KbArgument, seconds: SecondsOption = SECONDS, today: TodayOption = None) -> None:
    """Ask query after query; :help tells what else."""
    from ..api import open as open_kb
    from .repl import converse

    converse(open_kb(kb, today), seconds)


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (
    ("info", info),
    ("query", in_time(query)),
    ("ask", in_time(ask)),
    ("explain", in_time(explain)),
    ("why-not", in_time(why_not)),
    ("funnel", in_time(funnel)),
    ("lint", in_time(lint)),
    ("import-circe", in_time(import_circe)),
    ("sql", sql),
    ("repl", repl),
)
