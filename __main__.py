"""The command line's door: joins the commands and turns every error into its exit code.

What the codes mean is told in :data:`.kb.errors.EXIT_CODES`.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from .kb.errors import EXIT_CODES, CohortiumError, DamagedKb, UsageError
from .kb.files.foreign_names import is_foreign, told
from .kb.rare_collections import COLLECTIONS
from .kb.skin.escape import escaped
from .kb.skin.streams import SureStream, print_as_is, visible_output
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
    (".engine.commands.reporting", ("report",)),
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
        (
            ".eval.training.command",
            ".eval.training.few.command",
            ".eval.training.linking.command",
            ".eval.training.trust.command",
            ".eval.training.zones.command",
        ),
    ),
    ("ontology", "Look into the ontology, check it, add to it.", (".kb.ontology.commands", ".kb.importers.command")),
)


def _database_errors() -> tuple[type[BaseException], ...]:
    """What a damaged database raises; nothing as long as no command has asked one, for its library is slow to load."""
    if "duckdb" not in sys.modules:
        return ()
    import duckdb

    return (duckdb.Error,)


#: What typer raises when a command line is wrong; it exports a kind of it alone.
_WrongWords: Final[Any] = typer.BadParameter.__bases__[0]


#: Arguments of several words, as the help calls them, each with one that stands in quotes as a shell wants them.
_ASKED: Final = {
    "QUERY": "\"diagnosis 'lung cancer' and stage IV\"",
    "ENGLISH": "'patients with lung cancer'",
    "STATEMENT": "'SELECT * FROM events'",
}


def _quotes_hint(error: Any) -> str:
    """What to do about words too many, where a command takes a query: a shell parts what stands in no quotes."""
    command = getattr(error.ctx, "command", None)
    asked = [one.metavar for one in getattr(command, "params", ()) if one.metavar in _ASKED]
    if not asked or "extra argument" not in error.message:
        return ""
    return f". Hint: {asked[0]} is one argument, and stands in quotes: {_ASKED[asked[0]]}"


_RawOption = Annotated[
    bool, typer.Option("--raw", help="Print unseen characters, and cells that look like formulas, as they are.")
]


class Door(TyperGroup):
    """The one place where errors become exit codes, and where all that is printed becomes visible."""

    _words: tuple[str, ...] = ()

    def make_context(self, *words: Any, **settings: Any) -> Any:
        """The context of a command line; what is wrong with it is told in words that can be seen."""
        self._words = tuple(words[1] if len(words) > 1 else settings.get("args") or ())
        try:
            return super().make_context(*words, **settings)
        except _WrongWords as error:
            error.message = escaped(error.message)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command behind the visible escapes; a user's error is told in a line and never as a traceback."""
        with visible_output():
            return self._invoke(ctx)

    def _invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except _WrongWords as error:
            error.message = escaped(error.message) + _quotes_hint(error)
            raise
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
        except (ValueError, TypeError, RuntimeError, OSError) as error:
            # Libraries that take no name but UTF-8 have many ways to say so.
            foreign = next(filter(is_foreign, self._words), None)
            if foreign is None:
                raise
            wrong = UsageError(f"{told(foreign)} is not UTF-8, which this command needs. Hint: rename it")
            print_error(wrong)
            raise typer.Exit(wrong.exit_code) from error
        return result


def skinned(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the option that every command has: ``--raw``."""

    @functools.wraps(command)
    def run(*words: Any, raw: bool = False, **settings: Any) -> None:
        if raw:
            print_as_is()
        command(*words, **settings)

    own = inspect.signature(command, eval_str=True)
    for one in own.parameters.values():
        _bounded(one.annotation)
    added = inspect.Parameter("raw", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_RawOption)
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), added])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*own.parameters.values(), added)}
    return run


#: No number on a command line is greater: what is passes no check of a program below, or ends in one of its errors.
_GREATEST: Final = 2**31 - 1


def _bounded(annotation: Any) -> None:
    """Gives an option of a number, whatever else it is bounded by, what refuses one that no machine counts to."""
    of_number = {int, float} & {annotation, *getattr(annotation, "__args__", ()), *_alternatives(annotation)}
    for info in getattr(annotation, "__metadata__", ()):
        if of_number and hasattr(info, "callback") and info.callback is None:
            info.callback = _counted_to


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """The types of ``Annotated[int | None, …]``."""
    return tuple(kind for one in getattr(annotation, "__args__", ()) for kind in getattr(one, "__args__", ()))


def _counted_to(value: float | None) -> float | None:
    if value is not None and not abs(value) <= _GREATEST:
        raise typer.BadParameter(f"{value:g} is no number that it can be: it is at most {_GREATEST}")
    return value


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
        epilog="Exit codes:\n\n" + "\n\n".join(f"{code}  {meaning}" for code, meaning in EXIT_CODES.items()),
        no_args_is_help=True,
        # A traceback with local variables would print note text.
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    known = {*(name for _, names in MODULES for name in names), *(name for name, _, _ in GROUPS)}
    everything = asked not in known
    for module, names in MODULES:
        if everything or asked in names:
            for name, command in _commands_of(module):
                app.command(name)(skinned(command))
    for name, summary, modules in GROUPS:
        if everything or asked == name:
            group = typer.Typer(help=summary, no_args_is_help=True)
            for inner, command in chain.from_iterable(map(_commands_of, modules)):
                group.command(inner)(skinned(command))
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
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if sys.stdout is None:
        # The next file that is opened would take its place, and be printed into.
        print("cohortium: standard output is closed. Hint: >/dev/null discards an answer", file=sys.stderr)
        sys.exit(UsageError.exit_code)
    # For as long as the process lives, since it does nothing else.
    gc.set_threshold(*COLLECTIONS)
    accept_any_letter()
    sure: Any = SureStream(sys.stdout)
    sys.stdout = sure
    try:
        commands(sys.argv[1] if len(sys.argv) > 1 else "")(prog_name="cohortium")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except CohortiumError as error:  # of help or a version, which no command prints
        print_error(error)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
