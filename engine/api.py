"""The Python API: open a knowledge base, find cohorts in it, read a patient's journey."""

from __future__ import annotations

import datetime
import functools
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from ..kb.arguments import PATH, expect, expect_path, expect_patient, paths_of
from ..kb.deadline import SECONDS, SECONDS_OF_MANY, Allowance
from ..kb.errors import MissingKb, UsageError
from ..kb.model import EARLIEST_DAY, LATEST_DAY, World
from ..kb.ontology.concepts import ConceptTable
from ..kb.ontology.scales import Scales
from ..kb.skin.notebook import small_table
from ..kb.skin.terminal import counted
from ..kb.storage.reader import KnowledgeBase
from ..query_lang import nodes
from ..query_lang.errors import QueryError
from ..query_lang.keywords import KEYWORDS
from ..query_lang.parsing.library import read_definitions
from ..query_lang.parsing.parameters import Parameters
from ..query_lang.resolution.resolve import resolve, resolve_text
from .cohort import Cohort, named_cohorts

if TYPE_CHECKING:
    import pyarrow as pa

    from ..kb.exchange.card import Card
    from ..kb.free_sql.cage import FreeSql
    from ..query_lang.lint.finding import Finding
    from ..query_lang.sql.source_text import Parameters as SqlParameters

if TYPE_CHECKING:
    from .answers.journey import Timeline
    from .asking import Answer
    from .dialogue import Dialogue
    from .difference.changes import Difference


def open(path: str | os.PathLike[str], today: str | datetime.date | None = None) -> OpenKb:
    """Open the current state of a knowledge base, read-only.

    ``today`` is the day that *now* is in a query (``2021-03-04``, or a date); without it, that of the latest note. No
    clock is asked. MissingKb if there is none, SchemaVersionError if another version of the program wrote it,
    UsageError if ``today`` is no day.
    """
    expect_path("path", path, "the folder of a knowledge base")
    day = None if today is None else _day_of(today)
    store = KnowledgeBase.open(path)
    store.today = day
    return OpenKb(store)


def _day_of(today: str | datetime.date) -> int:
    """The ordinal of a day. UsageError."""
    expect("today", today, (str, datetime.date), "a day, such as '2021-03-04'")
    try:
        found = datetime.date.fromisoformat(today) if isinstance(today, str) else today
    except ValueError:
        raise UsageError(f"today is '{str(today)[:40]}', which is no day. Hint: it is written 2021-03-04") from None
    if not EARLIEST_DAY <= found.toordinal() <= LATEST_DAY:
        raise UsageError(f"today is {found.isoformat()}, which lies outside of all records")
    return found.toordinal()


class OpenKb:
    """An open knowledge base. Its answers stay those of the state in which it was opened. Safe across threads."""

    def __init__(self, store: KnowledgeBase) -> None:
        """Use :func:`open`."""
        self._store = store
        self._sql: FreeSql | None = None
        self._opening = threading.Lock()

    def __repr__(self) -> str:
        return (
            f"<OpenKb {self.path.name}: {counted(len(self._store.patients), 'patient')}, generation {self.generation}>"
        )

    def _repr_html_(self) -> str:
        """Its counts, for a notebook."""
        held = [(name, value) for name, value in self.info().items() if not isinstance(value, dict | list)]
        return small_table(f"Knowledge base {self.path.name}", ("what", "value"), held)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the files; cohorts that were not evaluated yet fail afterwards."""
        self._store.close()
        with self._opening:
            if self._sql is not None:
                self._sql.close()

    @property
    def path(self) -> Path:
        """The folder of the knowledge base."""
        return self._store.path

    @property
    def generation(self) -> str:
        """Which of its states was opened."""
        return self._store.generation

    def now(self) -> int | None:
        """The day that *now* is in a query (an ordinal); None where no note has a date and none was named."""
        return self._store.now()

    @property
    def concepts(self) -> ConceptTable:
        """The ontology under which the notes were read."""
        return self._store.concepts

    @property
    def scales(self) -> Scales:
        """The ordered scales under which the notes were read."""
        return self._store.scales

    @functools.cached_property
    def patients(self) -> tuple[str, ...]:
        """All patient ids, sorted. Of a million patients, a hundred megabytes: ``info()`` counts them for less."""
        return tuple(self._store.patients)

    def find(
        self,
        query: str | nodes.Query,
        parameters: Parameters | None = None,
        definitions: Iterable[str | os.PathLike[str]] = (),
        cohorts: Mapping[str, Cohort] | None = None,
        *,
        seconds: float | None = SECONDS,
        cancel: threading.Event | None = None,
    ) -> Cohort:
        """The cohort that a query, as text or tree, denotes. QueryError if it cannot be read or resolved.

        ``parameters`` are the values of ``$names`` in the text; ``definitions`` are files of ``let … be …;`` lines, and
        ``cohorts`` are cohorts of this knowledge base, that the text may use by name.

        Reading the query, and each evaluation of the cohort (its patients in one world, an explanation, a funnel), may
        take so many ``seconds`` (None or 0: no end), and ends when another thread sets the event ``cancel``:
        DeadlineExceeded, and never a part of an answer.
        """
        expect("query", query, (str, nodes.Query), "a query as text, such as \"diagnosis 'lung cancer'\", or its tree")
        _expect_given(parameters, cohorts)
        allowed = Allowance(seconds, cancel)
        with allowed.running():
            return self._found(query, parameters, definitions, cohorts, allowed)

    def _found(
        self,
        query: str | nodes.Query,
        parameters: Parameters | None,
        definitions: Iterable[str | os.PathLike[str]],
        cohorts: Mapping[str, Cohort] | None,
        allowed: Allowance,
    ) -> Cohort:
        if isinstance(query, nodes.Query):
            resolved = resolve(query, self.concepts, self.scales, today=self._store.now)
            return Cohort(self._store, resolved, allowed=allowed)
        known = (
            *named_cohorts(self._store, cohorts or {}),
            *read_definitions(paths_of("definitions", definitions, "a file of definitions")),
        )
        resolved = resolve_text(query, self.concepts, self.scales, parameters, known, self._store.now)
        return Cohort(self._store, resolved, query, given=(parameters, known), allowed=allowed)

    def lint(
        self,
        query: str | nodes.Query,
        parameters: Parameters | None = None,
        definitions: Iterable[str | os.PathLike[str]] = (),
        cohorts: Mapping[str, Cohort] | None = None,
        *,
        seconds: float | None = SECONDS,
    ) -> tuple[Finding, ...]:
        """What is doubtful in a query, the gravest first, each with its place and what to do; see docs/guide/lint.md.

        Parameters, files of definitions and named cohorts as for :meth:`find`. QueryError if the query cannot be read
        or resolved.
        """
        return self.find(query, parameters, definitions, cohorts, seconds=seconds).findings()

    def diff(
        self,
        old: OpenKb,
        query: str | nodes.Query,
        parameters: Parameters | None = None,
        definitions: Iterable[str | os.PathLike[str]] = (),
        *,
        world: World = World.BELIEVED,
        seconds: float | None = SECONDS_OF_MANY,
    ) -> Difference:
        """Who joins and who leaves the answer to a query between ``old`` and this knowledge base, and why.

        The query is read under the ontology of each. ``world``: of which answer joiners and leavers are listed. Both
        must stay open while the difference is looked at, each part of which may take so many ``seconds``. QueryError if
        the query cannot be read, in either.
        """
        expect("old", old, OpenKb, "another open knowledge base: cohortium.open(path)")
        expect("world", world, World, "a world: World.BELIEVED, World.CERTAIN or World.POSSIBLE")
        from .difference.changes import Difference

        definitions = paths_of("definitions", definitions, "a file of definitions")
        new = self.find(query, parameters, definitions, seconds=seconds)
        try:
            before = old.find(query, parameters, definitions, seconds=seconds)
        except QueryError as error:
            raise QueryError(f"as {old.path} (generation {old.generation}) knows it: {error}") from error
        return Difference(before, new, world)

    def find_circe(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        lossy: bool = False,
        seconds: float | None = SECONDS,
    ) -> Cohort:
        """The cohort of an OHDSI cohort definition (Circe JSON: a path, its text or what it holds).

        CirceError if something is lost that changes who is found, unless ``lossy`` says that this is accepted;
        :func:`cohortium.from_circe` lists what is lost. ``seconds`` as for :meth:`find`.
        """
        expect("source", source, (*PATH, Mapping), "a cohort definition: a path, its JSON text, or what it holds")
        from ..query_lang.circe.document import CirceError
        from ..query_lang.circe.importer import from_circe

        allowed = Allowance(seconds)
        with allowed.running():
            imported = from_circe(source, self.concepts, self.scales)
        lost = [loss for loss in imported.losses if loss.effect != "none"]
        if lost and not lossy:
            losses = "; ".join(f"{loss.path}: {loss.what} ({loss.why})" for loss in lost[:3])
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            raise CirceError(f"not all of it can be asked: {losses}{more}. Hint: lossy=True asks the rest")
        return Cohort(self._store, imported.query, imported.text, allowed=allowed)

    def journey(self, patient_id: str) -> Timeline:
        """What is known of one patient, in order of time. UnknownPatient if there is none of this id."""
        expect_patient(patient_id)
        # Imported when asked for: a cohort needs no journey.
        from .answers.journey import timeline

        return timeline(self._store.journey(patient_id, relations=False), self.concepts)

    def info(self) -> dict[str, Any]:
        """Counts of what came in and what is held."""
        return self._store.info()

    def export(self, folder: str | os.PathLike[str], *, without_text: bool = False) -> Card:
        """Write every table to a Parquet file in a new folder; :func:`cohortium.restore` makes a knowledge base of it.

        ``without_text`` leaves out all words of notes, for good: see docs/guide/exchange.md. NotWritable if the folder
        is there already or cannot be made.
        """
        expect_path("folder", folder, "a new folder to write to")
        from ..kb.exchange.export import export_tables

        return export_tables(self._store, folder, without_text=without_text)

    def keywords(self) -> Iterable[str]:
        """The words and phrases of the query language, for completion."""
        return KEYWORDS.keys()

    def ask(
        self,
        question: str,
        translator: str = "rules",
        *,
        definitions: Iterable[str | os.PathLike[str]] | tuple[nodes.Definition, ...] = (),
        settled: Mapping[tuple[str, ...], int] | None = None,
        seconds: float | None = SECONDS,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """The answer to a question in plain English, with what was understood of it; see docs/guide/english.md.

        Never a guess: a question that is not wholly read is declined, one with several readings gives them all.
        ``translator`` "llm" also asks the chat model that the environment names (docs/guide/llm.md), and the two
        readings are held against each other; with "rules" nothing leaves the machine. UsageError for any other.
        ``definitions``: files of ``let … be …;`` lines, whose names are words that questions may use (*elderly*), also
        where they would be too vague; or such definitions. ``settled``: choices made before, as a :meth:`dialogue`
        keeps. ``seconds`` and ``cancel`` as for :meth:`find`: of the translation, and of each evaluation.
        """
        expect("question", question, str, "a question in plain English, as text")
        # Imported when asked for: answering a query does not need it.
        from ..query_lang.english.translate import House
        from .asking import Answer, translated

        house = House(self._house(definitions), settled or {})
        allowed = Allowance(seconds, cancel)
        with allowed.running():
            return Answer(self._store, translated(self._store, question, translator, house), allowed)

    def dialogue(self, definitions: Iterable[str | os.PathLike[str]] = ()) -> Dialogue:
        """A dialogue in plain English: questions that go on from each other (*only those under 50*), and readings that
        are chosen once. ``definitions`` as for :meth:`ask`."""
        from .dialogue import Dialogue

        return Dialogue(self, self._house(definitions))

    def _house(
        self, definitions: Iterable[str | os.PathLike[str]] | tuple[nodes.Definition, ...]
    ) -> tuple[nodes.Definition, ...]:
        if isinstance(definitions, tuple) and all(isinstance(one, nodes.Definition) for one in definitions):
            return cast("tuple[nodes.Definition, ...]", definitions)
        return read_definitions(paths_of("definitions", definitions, "a file of definitions"))

    def find_sql(
        self,
        text: str,
        parameters: SqlParameters | None = None,
        *,
        seconds: float | None = SECONDS,
        cancel: threading.Event | None = None,
    ) -> Cohort:
        """The cohort of a SELECT over the virtual tables; see docs/guide/sql.md. QueryError if it cannot be read.

        ``parameters`` are the values of ``:name`` (a mapping) or of ``?`` (a sequence). The cohort's
        ``resolved`` is the query in the query language, which has the same meaning. ``seconds`` and ``cancel`` as for
        :meth:`find`.
        """
        expect("text", text, str, "a SELECT statement, as text")
        # Imported when asked for: the parser of SQL would slow down every start.
        from ..query_lang.sql.front import parse_sql

        allowed = Allowance(seconds, cancel)
        with allowed.running():
            parsed = parse_sql(text, parameters)
            resolved = resolve(parsed.query, self.concepts, self.scales, parsed, self._store.now)
            return Cohort(self._store, resolved, text, allowed=allowed)

    def sql(
        self,
        statement: str,
        parameters: Sequence[object] | Mapping[str, object] | None = None,
        *,
        limit: int | None = None,
        seconds: float = 60.0,
    ) -> pa.Table:
        """The rows of a read-only DuckDB statement over the views of docs/guide/sql.md, as an Arrow table.

        ``parameters`` fill ``?`` and ``$1`` (a sequence) or ``$name`` (a mapping). ``limit`` keeps the first
        rows. It runs in a process of its own, in which files, network, extensions and settings are shut off.
        DeadlineExceeded after ``seconds``, DamagedKb where the tables cannot be read, SqlError for whatever else goes
        wrong; no message holds note text.
        """
        expect("statement", statement, str, "a SQL statement, as text")
        expect("parameters", parameters, (Sequence, Mapping, type(None)), "a list of values, or a mapping by name")
        expect("limit", limit, (int, type(None)), "the number of rows to give, or None")
        expect("seconds", seconds, (int, float), "a number of seconds")
        from ..kb.free_sql.cage import UnreadableFile

        try:
            return self._free_sql().answer(statement, parameters, limit=limit, seconds=seconds)
        except (MissingKb, UnreadableFile):
            # The statement is to blame only where the tables are as they were written.
            self._store.prove_tables()
            raise

    def _free_sql(self) -> FreeSql:
        from ..kb.free_sql.cage import FreeSql

        with self._opening:
            if self._sql is None:
                self._sql = FreeSql(self._store.database)
            return self._sql


def _expect_given(parameters: Parameters | None, cohorts: Mapping[str, Cohort] | None) -> None:
    expect("parameters", parameters, (Mapping, type(None)), "a mapping of the names of parameters to their values")
    expect("cohorts", cohorts, (Mapping, type(None)), "a mapping of names to cohorts of this knowledge base")
    for name, cohort in (cohorts or {}).items():
        expect(f"cohorts[{name!r}]", cohort, Cohort, "a cohort of this knowledge base: kb.find(query)")
