"""The conversation: query after query on one open knowledge base, with completion, history and counts of the parts."""

from __future__ import annotations

import bisect
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...kb.deadline import SECONDS, Allowance
from ...kb.errors import CohortiumError, UsageError
from ...kb.model import World
from ...kb.skin.escape import escaped
from ...kb.skin.terminal import count_text, counted, print_lines, print_table, print_text
from ...kb.skin.whole_answers import whole_or_nothing
from ..tables import (
    WorldName,
    certainty_rows,
    print_empty,
    print_findings,
    print_info,
    print_journey,
    print_notes,
    print_rows,
    rows_payload,
)

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.history import History

    from ..api import OpenKb
    from ..cohort import Cohort
    from ..dialogue import Dialogue

PROMPT: Final = "cohortium> "
#: A concept name is completed from its first words on; longer tails of the line are not looked up.
LONGEST_TAIL: Final = 6
MOST_COMPLETIONS: Final = 40
#: Ten times as long as a query may be (characters): what goes on for longer has no lines.
_LONGEST_LINE: Final = 1_000_000


def state_folder() -> Path:
    """Where this user's history is kept: ``$XDG_STATE_HOME/cohortium``, by default under ``~/.local/state``."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "cohortium"


def open_history() -> History:
    """The history file, readable by its owner alone (queries tell what one looks for); in memory if that fails."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    path = state_folder() / "history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class Names:
    """Keywords and concept names, found by how they begin (upper and lower case alike)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted({(name.lower(), name) for name in names if name})

    def beginning(self, start: str) -> Iterator[str]:
        """The names that begin with ``start``, in alphabetical order."""
        low = start.lower()
        for key, name in self._names[bisect.bisect_left(self._names, (low, "")) :]:
            if not key.startswith(low):
                return
            yield name

    def completions(self, line: str) -> list[tuple[str, int]]:
        """(name, how many characters of the line's end it replaces), for the longest tail of words that begins one."""
        words = line.split(" ")
        for first in range(max(0, len(words) - LONGEST_TAIL), len(words)):
            tail = " ".join(words[first:]).lstrip("(")
            found = list(itertools.islice(self.beginning(tail), MOST_COMPLETIONS)) if tail.strip() else []
            if found:
                return [(name, len(tail)) for name in found]
        return []


def completer(names: Names, commands: Iterable[str]) -> Completer:
    """Completion for the prompt: commands after a colon, otherwise keywords and concept names."""
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    listed = sorted(commands)

    class LineCompleter(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            line = document.text_before_cursor
            if line.startswith(":"):
                yield from (Completion(name, -len(line)) for name in listed if name.startswith(line))
            else:
                yield from (
                    Completion(name, -length, display=escaped(name)) for name, length in names.completions(line)
                )

    return LineCompleter()


class Conversation:
    """What stays from line to line: the knowledge base, the world and limit in force, the last cohort."""

    def __init__(self, kb: OpenKb, seconds: float = SECONDS) -> None:
        """``seconds``: what each answer may take (0: no end)."""
        self.kb = kb
        self.seconds = seconds
        self.world = WorldName.BELIEVED
        self.limit = 10
        self.last: Cohort | None = None
        self._dialogue: Dialogue | None = None
        self.commands: dict[str, tuple[Callable[[str], None], str]] = {
            ":explain": (self._explain, ":explain PATIENT   why the patient is in the last cohort, or how far not"),
            ":why-not": (
                self._why_not,
                ":why-not PATIENT   why the patient is not in it, and the cheapest edit that admits them",
            ),
            ":funnel": (
                self._funnel,
                ":funnel            what each criterion of the last query removes, and would regain",
            ),
            ":journey": (self._journey, ":journey PATIENT   everything known of a patient, in order of time"),
            ":lint": (self._lint, ":lint QUERY         what is doubtful in a query, with places and hints"),
            ":world": (self._world, ":world NAME        list the patients of believed, certain or possible"),
            ":limit": (self._limit, ":limit N           list at most N patients"),
            ":time": (self._time, ":time SECONDS      give up an answer after so many seconds (0: never)"),
            ":info": (self._info, ":info              what the knowledge base holds"),
            ":sql": (self._sql, ":sql STATEMENT     rows of a read-only SQL statement (docs/guide/sql.md)"),
            ":help": (self._help, ":help              this"),
            ":quit": (self._help, ":quit              leave (so does Ctrl-D)"),
        }

    def reply(self, line: str) -> bool:
        """Answer one line; False when it asks to leave. A user's error is told and the conversation goes on."""
        line = line.strip()
        if line in (":quit", ":q", ":exit", "quit", "exit"):
            return False
        try:
            with whole_or_nothing(self.seconds):
                self._answer(line)
        except KeyboardInterrupt:
            # At a prompt it is this answer that is given up; a file of lines is given up whole.
            if not sys.stdin.isatty():
                raise
            print("interrupted")
        except CohortiumError as error:
            print_lines(str(error).split("\n") if error.has_lines else [str(error)])
        return True

    def _answer(self, line: str) -> None:
        if line == "help":
            self._help("")
        elif line.startswith(":"):
            self._command(line)
        elif line.startswith("?"):
            self._question(line[1:].strip())
        elif line and not line.startswith("#"):
            self._query(line)

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        chosen = [known for known in self.commands if known.startswith(name)]
        if len(chosen) != 1:
            raise UsageError(f"'{name}' is no command. Hint: {', '.join(self.commands)}")
        self.commands[chosen[0]][0](rest.strip())

    def _query(self, text: str) -> None:
        self.last = cohort = self.kb.find(text)
        print_lines(one.as_text() for one in cohort.read_as())
        print_text(cohort.resolved + ("" if cohort.as_of is None else f" (as of {cohort.as_of})"))
        for part, depth in cohort.parts():
            counts = count_text(len(part), len(part.certain), len(part.possible))
            print_text(f"{counts:>20}  {'  ' * depth}{part.resolved}")
        patients = sorted(cohort.in_world(World[self.world.name]))
        if patients and self.limit:
            print_table(("patient", "certainty"), certainty_rows(cohort, patients[: self.limit]))
        if len(patients) > self.limit:
            print(f"… and {len(patients) - self.limit} more (:limit N lists more)")
        print(f"{count_text(len(cohort), len(cohort.certain), len(cohort.possible))} patients")
        print_empty(cohort.in_world(World[self.world.name]))
        print_notes(cohort.findings())

    def _question(self, text: str) -> None:
        from ...query_lang.english.follow_up import follow_up
        from ..asking import print_answer

        said = follow_up(text)
        if said is not None and said.how == "why_not":
            self._why_not(said.rest)
            return
        if self._dialogue is None:
            self._dialogue = self.kb.dialogue()
        found = self._dialogue.ask(text)
        if found.cohort is not None:
            self.last = found.cohort
        print_answer(found, found.to_dict(self.world, self.limit), self.limit)

    def _last(self, what: str = "") -> Cohort:
        """The cohort of the last query."""
        if self.last is None:
            raise UsageError(f"there is no cohort{what} yet. Hint: ask a query first")
        return self.last

    def _explain(self, patient: str) -> None:
        cohort = self._last(" to explain")
        print_lines(cohort.explain(_named(patient, ":explain")).lines())

    def _why_not(self, patient: str) -> None:
        cohort = self._last()
        print_lines(cohort.why_not(_named(patient, ":why-not")).lines())

    def _funnel(self, rest: str) -> None:
        print_table(*self._last().funnel().table())

    def _journey(self, patient: str) -> None:
        print_journey(self.kb.journey(_named(patient, ":journey")))

    def _lint(self, text: str) -> None:
        if not text and self.last is None:
            raise UsageError(":lint needs a query, for example :lint death and not death")
        print_findings(self.kb.lint(text) if text or self.last is None else self.last.findings())

    def _world(self, name: str) -> None:
        if name not in list(WorldName):
            raise UsageError(f"'{name}' is no world. Hint: {', '.join(WorldName)}")
        self.world = WorldName(name)

    def _limit(self, number: str) -> None:
        if not number.isdecimal():
            raise UsageError(":limit needs a number, for example :limit 20")
        self.limit = int(number)

    def _time(self, number: str) -> None:
        try:
            self.seconds = Allowance(float(number)).seconds or 0
        except ValueError:
            raise UsageError(":time needs a number of seconds, for example :time 120") from None

    def _info(self, rest: str) -> None:
        print_info(self.kb.info())

    def _sql(self, statement: str) -> None:
        if not statement:
            raise UsageError(":sql needs a statement, for example :sql SELECT kind, count(*) FROM events GROUP BY kind")
        found = self.kb.sql(statement, limit=self.limit + 1)
        print_rows(rows_payload(statement, found, self.limit), ":limit N")

    def _help(self, rest: str) -> None:
        print("A line is a query, for example: diagnosis of breast cancer and HER2 positive")
        print("A line that begins with ? is a question in plain English: ? patients with HER2-positive breast cancer")
        print_lines(text for _, text in self.commands.values())
        print("Counts read 412 (398–437): believed, and from certain to possible. Tab completes.")


def _named(patient: str, command: str) -> str:
    """The patient id that a command needs."""
    if not patient:
        raise UsageError(f"{command} needs a patient id, for example {command} SAMPLE-01")
    return patient


def lines_of(kb: OpenKb, conversation: Conversation) -> Iterator[str]:
    """The lines to answer: from the prompt on a terminal, else from standard input."""
    if not sys.stdin.isatty():
        while line := sys.stdin.readline(_LONGEST_LINE + 1):
            if len(line) > _LONGEST_LINE:
                raise UsageError(f"a line of standard input has more than {_LONGEST_LINE:,} characters")
            yield line.rstrip("\n")
        return
    from prompt_toolkit import PromptSession

    names = Names((*kb.keywords(), *(name for row in kb.concepts.rows() for name in kb.concepts.names(row.id))))
    session: PromptSession[str] = PromptSession(
        history=open_history(), completer=completer(names, conversation.commands), complete_while_typing=False
    )
    while True:
        try:
            yield session.prompt(PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def greeting(kb: OpenKb) -> str:
    """The lines that a conversation begins with: what is open, and how to go on."""
    patients = counted(kb.info()["patients"], "patient")
    return (
        f"{kb.path.name}: {patients}. A line is a query; one that begins with ? is a question in plain English.\n"
        ":help tells what else, Tab completes, :quit leaves"
    )


def converse(kb: OpenKb, seconds: float = SECONDS) -> None:
    """Read lines and answer them, each in so many seconds, until the last, ``:quit`` or the end of input."""
    conversation = Conversation(kb, seconds)
    if sys.stdin.isatty():
        print(greeting(kb))
    for line in lines_of(kb, conversation):
        if not conversation.reply(line):
            return
