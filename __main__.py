"""The command line's door: joins the commands and turns every error into its exit code.

Exit codes: 0 done, 1 quarantined notes with ``--strict``, 2 usage, 3 query error, 4 nothing stored, 5 a proof fails or
a knowledge base is damaged, 6 knowledge base of another version, 7 locked by another writer, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from .kb.errors import CohortiumError, DamagedKb
from .kb.skin.terminal import accept_any_letter, print_error
from .kb.version import __version__

INTERRUPTED = 130

#: The commands and the modules that have them, in the order of the help. Only what the command that is asked for needs
#: is loaded: all of them together take longer than a query.
MODULES: Final = (
    (".ingest.commands", ("ingest", "read")),
    (
        ".engine.commands.answering",
        ("info", "query", "ask", "explain", "why-not", "funnel", "lint", "import-circe", "sql", "repl"),
    ),
    (".engine.commands.difference", ("diff",)),
    (".engine.commands.verification", ("verify",)),
    (".kb.exchange.commands", ("export", "restore")),
    (".kb.check.command", ("check", "migrate")),
)
#: Groups of commands: name, help and modules.
GROUPS: Final = (
    ("eval", "Score answers against labels.", (".eval.commands",)),
    (
        "bench",
        "Set systems side by side; make corpora to do so.",
        (".eval.benchmark.command", ".eval.made_up.scale.command"),
    ),
    (
        "train",
        "Train recognisers of mentions, and the linker.",
        (".eval.training.command", ".eval.training.few.command", ".eval.training.linking.command"),
    ),
    ("ontology", "Look into the ontology, check it, add to it.", (".kb.ontology.commands", ".kb.importers.command")),
)


def _database_errors() -> tuple[type[BaseException], ...]:
    """What a damaged database raises; nothing as long as no command has asked one, for its library is slow to load."""
    if "duckdb" not in sys.modules:
        return ()
    import duckdb

    return (duckdb.Error,)


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
        except _database_errors() as error:
            # A block that does not fit its checksum, met in the middle of an answer. Its own words may show values.
            damage = f"the database of the knowledge base cannot be read ({type(error).__name__})"
            print_error(DamagedKb(f"{damage}. Hint: 'cohortium check KB' tells more"))
            raise typer.Exit(DamagedKb.exit_code) from error
        except BrokenPipeError as error:
            # The reader (head, less) has seen enough: that is its choice, not a failure. What is still buffered must
            # go somewhere, or the interpreter complains when it closes standard output.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from error
        return result


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"cohortium {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Finds patient cohorts in clinical notes."""


def commands(asked: str = "") -> typer.Typer:
    """The command line: all of it, or as much as the command or group ``asked`` needs, if there is one of that name."""
    app = typer.Typer(
        cls=Door,
        name="cohortium",
        help="Finds patient cohorts in clinical notes.",
        no_args_is_help=True,
        add_completion=False,
        # A traceback with local variables would print note text.
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    known = {*(name for _, names in MODULES for name in names), *(name for name, _, _ in GROUPS)}
    everything = asked not in known
    for module, names in MODULES:
        if everything or asked in names:
            for name, command in _commands_of(module):
                app.command(name)(command)
    for name, summary, modules in GROUPS:
        if everything or asked == name:
            group = typer.Typer(help=summary, no_args_is_help=True)
            for inner, command in chain.from_iterable(map(_commands_of, modules)):
                group.command(inner)(command)
            app.add_typer(group, name=name)
    return app


def _commands_of(module: str) -> Sequence[tuple[str, Callable[..., None]]]:
    found: Sequence[tuple[str, Callable[..., None]]] = importlib.import_module(module, __package__).COMMANDS
    return found


def __getattr__(name: str) -> typer.Typer:
    """``app``, with all commands, is made when it is first asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()["app"] = commands()
    return found


def main() -> None:
    """Run the command line; leaves with its exit code."""
    accept_any_letter()
    try:
        commands(sys.argv[1] if len(sys.argv) > 1 else "")(prog_name="cohortium")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
