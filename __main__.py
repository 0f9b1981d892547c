"""The command line's door: joins the commands and turns every error into its exit code.

Exit codes: 0 done, 1 quarantined notes with ``--strict``, 2 usage, 3 query error, 4 nothing stored, 5 a proof fails or
a knowledge base is damaged, 6 knowledge base of another version, 7 locked by another writer, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from . import __version__
from .engine.commands import COMMANDS as ENGINE_COMMANDS
from .engine.difference.command import COMMANDS as DIFFERENCE_COMMANDS
from .eval.benchmark.command import COMMANDS as BENCH_COMMANDS
from .eval.commands import COMMANDS as EVAL_COMMANDS
from .eval.scale.command import COMMANDS as SCALE_COMMANDS
from .eval.training.command import COMMANDS as TRAIN_COMMANDS
from .eval.verify.command import COMMANDS as PROOF_COMMANDS
from .ingest.commands import COMMANDS as INGEST_COMMANDS
from .kb.check.command import COMMANDS as CARE_COMMANDS
from .kb.errors import CohortiumError
from .kb.exchange.commands import COMMANDS as EXCHANGE_COMMANDS
from .kb.ontology_commands import COMMANDS as ONTOLOGY_COMMANDS
from .kb.terminal import NotYet, accept_any_letter, print_error

INTERRUPTED = 130

#: Commands that are planned, with the part of the project that brings each.
LATER: dict[str, str] = {}


BENCH_LATER: dict[str, str] = {}


EVAL_LATER: dict[str, str] = {}


class Door(TyperGroup):
    """The one place where errors become exit codes."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a user's error is told in a line and never as a traceback."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except CohortiumError as error:
            print_error(error)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            print("cohortium: interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            # The reader (head, less) has seen enough: that is its choice, not a failure. What is still buffered must
            # go somewhere, or the interpreter complains when it closes standard output.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from error
        return result


app = typer.Typer(
    cls=Door,
    name="cohortium",
    help="Finds patient cohorts in clinical notes.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would print note text.
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"cohortium {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Finds patient cohorts in clinical notes."""


def _add_later(group: typer.Typer, name: str, part: str) -> None:
    def later(context: typer.Context) -> None:
        caller = context.parent.command_path if context.parent else "cohortium"
        raise NotYet(f"not yet: '{name}' comes with {part}. Hint: '{caller} --help' lists what there is")

    group.command(
        name,
        help=f"Not yet: comes with {part}.",
        rich_help_panel="Not yet",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(later)


for _name, _command in (
    *INGEST_COMMANDS,
    *ENGINE_COMMANDS,
    *DIFFERENCE_COMMANDS,
    *PROOF_COMMANDS,
    *EXCHANGE_COMMANDS,
    *CARE_COMMANDS,
):
    app.command(_name)(_command)

_eval = typer.Typer(help="Score answers against labels.", no_args_is_help=True)
for _name, _command in EVAL_COMMANDS:
    _eval.command(_name)(_command)
app.add_typer(_eval, name="eval")

_bench = typer.Typer(help="Set systems side by side; make corpora to do so.", no_args_is_help=True)
for _name, _command in (*BENCH_COMMANDS, *SCALE_COMMANDS):
    _bench.command(_name)(_command)
for _name, _part in BENCH_LATER.items():
    _add_later(_bench, _name, _part)
app.add_typer(_bench, name="bench")

_train = typer.Typer(help="Train recognisers of mentions.", no_args_is_help=True)
for _name, _command in TRAIN_COMMANDS:
    _train.command(_name)(_command)
app.add_typer(_train, name="train")

_ontology = typer.Typer(help="Look into the ontology, check it, add to it.", no_args_is_help=True)
for _name, _command in ONTOLOGY_COMMANDS:
    _ontology.command(_name)(_command)
app.add_typer(_ontology, name="ontology")

for _name, _part in LATER.items():
    _add_later(app, _name, _part)
for _name, _part in EVAL_LATER.items():
    _add_later(_eval, _name, _part)


def main() -> None:
    """Run the command line; leaves with its exit code."""
    accept_any_letter()
    try:
        app(prog_name="cohortium")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
