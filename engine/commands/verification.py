"""The command ``verify``: proves the members of a cohort, checks each proof, says what failed and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ...kb.deadline import SECONDS_OF_MANY
from ...kb.errors import CohortiumError, UsageError
from ...kb.files.text_files import json_of
from ...kb.files.whole_files import write_text_privately
from ...kb.skin.options import NoRowsOption, OutOption
from ...kb.skin.terminal import Format, answer, check_output, counted, json_text, print_table, print_text
from ...kb.skin.whole_answers import in_time
from ..tables import TABLE_ROWS, WorldName
from .options import (
    DefinitionsOption,
    KbArgument,
    QueryArgument,
    SetOption,
    TodayOption,
    asked,
)


class ProofFailed(CohortiumError):
    """A proof fails, or cannot be checked (exit 5)."""

    exit_code = 5


# Each option of the command is a parameter: so typer reads a command line.
def verify(
    kb: KbArgument,
    text: QueryArgument,
    patient: Annotated[list[str] | None, typer.Option("--patient", help="Only this patient; may be repeated.")] = None,
    world: Annotated[WorldName, typer.Option(help="Whose membership is proved.")] = WorldName.BELIEVED,
    proofs: Annotated[
        Path | None, typer.Option("--proofs", metavar="FILE", help="Check these proofs instead (what --keep wrote).")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FILE", help="Also write the proofs that were checked, as JSON.")
    ] = None,
    reading: Annotated[
        bool, typer.Option("--reading/--no-reading", help="Whether the patients' notes are read anew as well.")
    ] = True,
    model: Annotated[
        str,
        typer.Option("--model", metavar="DIR", help="The model directory that the notes were read with, if one was."),
    ] = "",
    output: NoRowsOption = Format.TABLE,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    out: OutOption = None,
) -> None:
    """Prove that each member of a cohort is one, and check the proofs by an independent verifier."""
    check_output(output, out, rows=False)
    check_output(Format.JSON, keep, rows=False)
    from ..verification import verify as run

    given = None if proofs is None else read_proofs(proofs)
    cohort = asked(kb, text, settings, definitions, today)
    done = run(kb, cohort, patient or None, world=world.value, proofs=given, read_again=reading, model=model or None)
    if keep is not None:
        write_text_privately(keep, json_text({"proofs": dict(done.proofs)}) + "\n")
    outcome = done.as_dict()
    answer(outcome, output=output, out=out, as_table=lambda: print_verification(outcome))
    if not done.holds:
        raise ProofFailed(
            f"{counted(len(done.failed), 'proof')} of {len(done.verdicts)} failed or could not be checked"
        )


def read_proofs(path: Path) -> dict[str, Any]:
    """The proofs in a file, by patient: as ``--keep`` wrote them, a list of proofs, or one proof. UsageError."""
    read = json_of(path)
    if isinstance(read, dict) and isinstance(read.get("proofs"), dict):
        return {str(patient): proof for patient, proof in read["proofs"].items()}
    listed = [read] if isinstance(read, dict) else read
    if not isinstance(listed, list) or not all(isinstance(one, dict) and "patient" in one for one in listed):
        raise UsageError(f"'{path}' holds no proofs. Hint: 'cohortium verify KB QUERY --keep FILE' writes them")
    return {str(one["patient"]): one for one in listed}


def print_verification(outcome: dict[str, Any]) -> None:
    """The count, what failed and where, and what was left unchecked, with the reasons."""
    proofs = counted(outcome["checked"], "proof")
    print_text(f"{outcome['verified']} of {proofs} verified ({outcome['world']}): {outcome['resolved']}")
    rows = [
        (member["patient"], fault["check"], fault["where"], fault["message"])
        for member in outcome["members"]
        for fault in member["faults"]
    ]
    if rows:
        print_table(("patient", "check", "where", "what does not hold"), rows[:TABLE_ROWS])
        if len(rows) > TABLE_ROWS:
            print(f"… and {len(rows) - TABLE_ROWS} more (--json OUT tells all)")
    for name, count in outcome["on_models"].items():
        verb = "stands" if count == 1 else "stand"
        print(f"{count} of them {verb} on the model {name}: that it read rightly is not proved")
    for reason in outcome["unchecked"]:
        print(f"not checked: {reason}")


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("verify", in_time(verify, SECONDS_OF_MANY)),)
