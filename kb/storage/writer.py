"""Writing a knowledge base: journeys in batches by Arrow into a new generation, published in one step or not at all.

A :class:`GenerationWriter` gathers rows in a staging database, where patients still go by name. ``finish`` sorts them
into the tables of ``schema.sql`` (so that the order in which patients came leaves no trace), adds ontology, postings
and manifest, and moves the pointer. Any exception before that leaves the knowledge base as it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import duckdb
import pyarrow as pa

from ..index.build import build_index
from ..model import Journey
from ..ontology.concepts import ConceptTable, shipped_concepts
from ..ontology.scales import Scales
from ..ontology.stored_ontology import ontology_tables
from ..skin.progress import Bar
from ..sql_files import script, statements
from .full_disk import full_disk_reported
from .layout import DATABASE, INDEX, SCHEMA_VERSION, Layout, canonical_json, generation_id
from .merged_rows import MergedRows
from .reader import KnowledgeBase
from .rows import STAGING, QuarantinedRecord, StagingRows, SupersededNote
from .sorted_rows import SortedRows
from .writing_database import writing_database

#: Rows are handed to the database when their notes and facts weigh about this much (characters).
_BATCH_WEIGHT: Final = 16_000_000
_COUNTED: Final = ("patient", "note", "mention", "relation", "event", "event_attribute", "evidence", "decision")


class GenerationWriter:
    """A new generation of the knowledge base at a path; a context manager, one at a time for each path.

    ``concepts`` and ``scales`` (the shipped ones by default) are stored with it; ``versions`` are names and versions
    of whatever read the notes. LockedError if another writer is at work, NotWritable if the path cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        concepts: ConceptTable | None = None,
        scales: Scales | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        self._layout = Layout(path)
        self._concepts = shipped_concepts() if concepts is None else concepts
        self._scales = Scales.from_files() if scales is None else scales
        self._versions = dict(versions or {})
        self._rows = StagingRows()
        self._sorted: SortedRows | None = None
        self._merged: MergedRows | None = None
        self._resources = contextlib.ExitStack()
        #: Seconds that each step of writing took, by the clock and of processors.
        self.seconds: dict[str, float] = {}
        self.processor_seconds: dict[str, float] = {}

    def __enter__(self) -> Self:
        with full_disk_reported(self._layout.path), contextlib.ExitStack() as resources:
            resources.enter_context(self._layout.writing())
            self._database = writing_database(self._layout.building, "staging")
            resources.callback(self._database.close)
            for name, schema in STAGING.items():
                self._database.register("incoming", schema.empty_table())
                self._database.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
                self._database.unregister("incoming")
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with full_disk_reported(self._layout.path):
            self._resources.close()
            if error is not None:
                raise error

    @property
    def scratch(self) -> Path:
        """A folder for whatever is on its way into the knowledge base; it is gone with the writer."""
        return self._layout.building / "scratch"

    # --- what goes in -----------------------------------------------------------------------------------------------

    def add(self, journeys: Iterable[Journey], superseded: Iterable[SupersededNote] = ()) -> int:
        """Add patients, each once in the writer's life; returns how many. ``superseded``: older versions of notes of
        these patients. UsageError if a text is not valid Unicode; nothing of that patient is then added."""
        older: dict[str, list[SupersededNote]] = {}
        for old in superseded:
            older.setdefault(old.note.patient_id, []).append(old)
        number = 0
        for journey in journeys:
            self._rows.add_journey(journey, older.pop(journey.patient_id, ()))
            number += 1
            if self._rows.weight >= _BATCH_WEIGHT:
                self._flush()
        if older:
            raise ValueError(f"superseded notes of patients that are not in this batch: {len(older)}")
        return number

    def add_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Add staging rows (columns as in :data:`.rows.STAGING`) directly: the bulk door, for made-up kbs."""
        for name, table in tables.items():
            if name not in STAGING:
                raise ValueError(f"no staging table {name!r}; there are {', '.join(STAGING)}")
            self._insert(name, table.select(STAGING[name].names).cast(STAGING[name]))

    def add_sorted(self, tables: Mapping[str, pa.Table]) -> None:
        """Add staging rows of patients who come in the order of their ids, for good: no sort is needed then, and no
        memory but the chunk's own. See :class:`.sorted_rows.SortedRows`. ValueError if the order is another, or if
        rows came by another door."""
        if self._sorted is None:
            self._create_tables()
            self._sorted = SortedRows(self._database)
            # Several threads would each begin row groups of their own, to be written again when they are joined: a
            # third more bytes and half as much more work (docs/internals/made_up_kb.md).
            self._database.execute("SET threads = 1")
        with self._timed("append"):
            self._sorted.add(tables)

    def copy_others(self, previous: KnowledgeBase) -> int:
        """Copy every patient of an open generation who is not added, when the generation is finished; returns how many.

        Everyone else is added before this call. The rows do not leave the database: see :mod:`.merged_rows`. DamagedKb,
        before any is copied, where the previous tables are not as they were written: damage goes into no generation.
        """
        self._flush()
        previous.prove_tables()
        self._merged = MergedRows(self._database, previous.database, previous.index_file)
        return self._merged.others

    def add_quarantine(self, records: Iterable[QuarantinedRecord]) -> None:
        """Add records that could not be read."""
        self._rows.add_quarantine(records)

    def copy_quarantine(self, previous: KnowledgeBase) -> None:
        """Keep the quarantined records of ``previous``."""
        self._insert("quarantine", previous.quarantine())

    def _flush(self) -> None:
        for name, table in self._rows.take().items():
            self._insert(name, table)

    def _insert(self, name: str, *tables: pa.Table) -> None:
        for table in tables:
            self._database.register("incoming", table)
            self._database.execute(f"INSERT INTO {name} BY NAME SELECT * FROM incoming")
            self._database.unregister("incoming")

    # --- what comes out ---------------------------------------------------------------------------------------------

    def finish(self, counts: Mapping[str, int] | None = None, bar: Bar | None = None) -> str:
        """Write, publish and return the generation's id, which derives from its content.

        ``counts`` are those of the run (notes_in, stored, unchanged, superseding, quarantined); ``info`` shows them.
        ``bar`` shows how far it is.
        """
        bar = bar or Bar()
        self._database.execute("RESET threads")
        with self._timed("rows"):
            self._flush()
            self._check_patients()
            self._assemble(bar)
        database = self._database
        for name, table in ontology_tables(self._concepts).items():
            self._insert(f"built.{name}", table)
        with self._timed("manifest"):
            manifest = self._manifest(counts)
        cells = [(name, canonical_json(value)) for name, value in sorted(manifest.items())]
        names, values = zip(*cells, strict=True)
        self._insert("built.manifest", pa.table({"name": names, "value": values}))
        folder = self._layout.building / INDEX
        folder.mkdir(mode=0o700)
        bar.step("building the index")
        with self._timed("index"):
            update = None if self._merged is None else self._merged.update()
            build_index(database, folder, self._concepts, update)
        # Not left to DETACH: not every version of the database tells when this fails.
        with self._timed("checkpoint"):
            database.execute("CHECKPOINT built")
        generation = generation_id(manifest)
        with self._timed("publish"):
            database.execute("DETACH built")
            self._layout.publish(generation, manifest)
        return generation

    def _create_tables(self) -> None:
        self._database.execute("ATTACH $1 AS built", [str(self._layout.building / DATABASE)])
        self._database.execute("USE built")
        self._database.execute(script("storage/schema"))
        self._database.execute("USE staging")

    def _assemble(self, bar: Bar) -> None:
        """From staging to the tables; rows that came sorted are there already."""
        if self._merged is not None:
            self._create_tables()
            self._merged.write(bar)
            self._database.execute(statements("storage/assemble")["quarantine"])
            return
        if self._sorted is None:
            self._create_tables()
            for statement in statements("storage/assemble").values():
                self._database.execute(statement)
            return
        if self._number("SELECT count(*) FROM patient"):
            raise ValueError("patients were added both sorted and otherwise")
        self._database.execute(statements("storage/assemble")["quarantine"])

    @contextlib.contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        begun, worked = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - begun
            self.processor_seconds[step] = self.processor_seconds.get(step, 0.0) + time.process_time() - worked

    def _check_patients(self) -> None:
        twice = self._all("SELECT patient_id FROM patient GROUP BY patient_id HAVING count(*) > 1 ORDER BY 1 LIMIT 1")
        if twice:
            raise ValueError(f"patient {twice[0][0]!r} was added twice; hand over all notes of a patient at once")

    def _manifest(self, counts: Mapping[str, int] | None) -> dict[str, Any]:
        ontology = hashlib.blake2b(digest_size=16)
        for row in self._concepts.rows():
            ontology.update(repr(row).encode())
        return {
            "schema_version": SCHEMA_VERSION,
            "versions": {**self._versions, "ontology": ontology.hexdigest()},
            "scales": self._scales.data,
            "content": content_digest(self._database),
            "rows": {name: self._number(f"SELECT count(*) FROM built.{name}") for name in _COUNTED},
            "counts": dict(counts or {}),
            "as_of": self._last_day(),
        }

    def _last_day(self) -> str | None:
        """The date of the latest note that counts; None where none has one."""
        ((last,),) = self._all("SELECT max(date) FROM built.note WHERE status = 'current'")
        return None if last is None else str(last)

    def _all(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        # Always to the end: a result that is not read out blocks the connection.
        found: list[tuple[Any, ...]] = self._database.execute(query, list(parameters)).fetchall()
        return found

    def _number(self, query: str, parameters: Sequence[object] = ()) -> int:
        return int(self._all(query, parameters)[0][0])


def content_digest(database: duckdb.DuckDBPyConnection) -> str:
    """What the tables hold, as one digest: the patients' own, which notes gave way to which or were taken back, and
    what is in quarantine.

    The tables are those of the schema ``built``.
    """
    content = hashlib.blake2b(digest_size=16)
    for query in (
        "SELECT patient_id, digest FROM built.patient ORDER BY patient",
        "SELECT note_id, superseded_by FROM built.note WHERE status <> 'current' ORDER BY ALL",
        "SELECT * FROM built.quarantine ORDER BY ALL",
    ):
        cursor = database.execute(query)
        while rows := cursor.fetchmany(10_000):
            content.update(repr(rows).encode())
        content.update(b"\0")
    return content.hexdigest()


# All that a generation may hold beside journeys, each with a default: most callers give none of it.
def build_generation(
    path: str | os.PathLike[str],
    journeys: Iterable[Journey],
    *,
    notes_superseded: Iterable[SupersededNote] = (),
    quarantine: Iterable[QuarantinedRecord] = (),
    counts: Mapping[str, int] | None = None,
    versions: Mapping[str, str] | None = None,
    concepts: ConceptTable | None = None,
    scales: Scales | None = None,
) -> str:
    """Write a generation that holds these journeys and nothing else; returns its id. Errors as GenerationWriter."""
    with GenerationWriter(path, concepts=concepts, scales=scales, versions=versions) as writer:
        writer.add(journeys, notes_superseded)
        writer.add_quarantine(quarantine)
        return writer.finish(counts)
