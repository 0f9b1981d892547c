"""The ingest run: sources in, one new generation of the knowledge base out.

A run reads again only the patients who have a note that the knowledge base does not hold; the others are copied. It
holds the writer's lock from beginning to end. A run that is killed leaves the knowledge base as it was, and its
finished batches beside it: the same run again takes them up.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ...kb.errors import CohortiumError, NotWritable, UsageError
from ...kb.ontology.concepts import shipped_concepts
from ...kb.rare_collections import rare_collections
from ...kb.skin.progress import Bar, bar
from ...kb.storage.layout import Layout
from ...kb.storage.reader import KnowledgeBase
from ...kb.storage.rows import QuarantinedRecord, StagingRows, joined_tables
from ...kb.storage.writer import GenerationWriter
from ..models.tagging.choice import Choice, ModelChoice, chosen_model, load_tagger
from ..readers.note_dates import ORDERS
from ..readers.records import Incoming, reason
from ..readers.sources import Sources
from .batches import BatchResult, PatientNotes, Reading, shipped_reading
from .note_budget import NoteBudget
from .report import IngestReport
from .spool import Spool
from .versions import VersionStore
from .workers import Batch, read_all

#: A batch of patients ends with so many notes, or so many characters: a second of reading or a few.
BATCH_NOTES: Final = 40
BATCH_CHARACTERS: Final = 400_000
#: So many batches are loaded at once: each insertion costs the same, however few its rows.
_LOADED_AT_ONCE: Final = 16
#: More processes than any machine is given; each takes memory of its own.
_MOST_WORKERS: Final = 1_024
_QUARANTINE_ROWS: Final = 500
_QUARANTINE_WEIGHT: Final = 8_000_000
#: So many bytes of sources take longer to read than a worker to make ready.
_WORTH_A_WORKER: Final = 1_000_000


class Interrupted(CohortiumError):
    """The run was interrupted from the keyboard (exit 130)."""

    exit_code = 130


@dataclass(slots=True)
class Run:
    """What the steps of one run share."""

    reading: Reading
    workers: int
    writer: GenerationWriter
    previous: KnowledgeBase | None
    spool: Spool
    versions: VersionStore
    report: IngestReport
    bar: Bar
    #: Whether there is surely something to read for every worker.
    much: bool = False
    affected: list[str] = field(default_factory=list)
    quarantine: StagingRows = field(default_factory=StagingRows)
    waiting: int = 0
    weight: int = 0

    def put_aside(self, record: QuarantinedRecord) -> None:
        """Quarantine a record."""
        self.report.add(quarantined=1)
        self.report.add_fault(record.source, record.place, record.reason)
        self.quarantine.add_quarantine([record])
        self.waiting += 1
        self.weight += len(record.raw)
        if self.waiting >= _QUARANTINE_ROWS or self.weight >= _QUARANTINE_WEIGHT:
            self.flush()

    def flush(self) -> None:
        """Hand over the quarantined records."""
        self.writer.add_tables(self.quarantine.take())
        self.waiting = self.weight = 0

    @property
    def read_otherwise(self) -> bool:
        """Whether the knowledge base was made by another version of the reading: then every patient is read again."""
        if self.previous is None:
            return False
        before = self.previous.manifest["versions"]
        return any(before.get(name) != version for name, version in self.reading.versions)


# --- the steps -------------------------------------------------------------------------------------------------------


def read_sources(run: Run, records: Iterable[Incoming | QuarantinedRecord]) -> Iterator[Incoming]:
    """Records to notes; the others go to quarantine with their reason."""
    run.bar.step("reading sources")
    for record in records:
        run.report.add(notes_in=1)
        run.bar.advance()
        if isinstance(record, QuarantinedRecord):
            run.put_aside(record)
        else:
            yield record
    run.flush()


def separate_versions(run: Run, arrivals: Iterable[Incoming]) -> Iterator[PatientNotes]:
    """Notes to patients with all versions of their notes, those only of whom something is new."""
    run.versions.add(arrivals)
    run.report.ids = run.versions.ids()
    run.affected = run.versions.affected(everyone=run.read_otherwise)
    several = run.versions.of_several_servers()
    unchanged = run.versions.unchanged(sorted({*run.affected, *several}))
    if several:
        # As with crowded ones: what is known of them from before stays.
        for record in run.versions.records(several, reason("patient_of_several_servers")):
            run.put_aside(record)
        run.flush()
        run.affected = sorted({*run.affected}.difference(several))
    most = run.reading.budget.notes
    if crowded := run.versions.crowded(run.affected, most) if most else frozenset():
        # They keep what is known of them from before.
        for record in run.versions.records(sorted(crowded), reason("too_many_notes")):
            run.put_aside(record)
        run.flush()
        run.affected = [patient for patient in run.affected if patient not in crowded]
    run.report.add(unchanged=unchanged, patients_read=len(run.affected))
    run.bar.step("reading notes", run.versions.volume(run.affected))
    yield from run.versions.histories(run.affected)


def group_by_patient(run: Run, patients: Iterable[PatientNotes]) -> Iterator[Batch]:
    """Patients to batches of a few, the unit of work and of resuming."""
    batch: list[PatientNotes] = []
    notes = characters = 0
    for patient in patients:
        batch.append(patient)
        notes += len(patient.versions)
        characters += sum(len(version.note.text) for version in patient.versions)
        if notes >= BATCH_NOTES or characters >= BATCH_CHARACTERS:
            yield batch
            batch, notes, characters = [], 0, 0
    if batch:
        yield batch


def read_notes_and_build_journeys(run: Run, batches: Iterable[Batch]) -> Iterator[BatchResult]:
    """Batches to staging rows: each note read, then each journey built (:func:`.reading.read_batch`)."""
    for batch, result, resumed in read_all(run.reading, batches, run.spool, run.workers, much=run.much):
        run.report.add(batches=1, resumed=int(resumed), **result.counts)
        for fault in result.quarantined:
            run.report.add_fault(*fault)
        run.bar.advance(sum(version.row is not None for patient in batch for version in patient.versions))
        yield result


def load(run: Run, results: Iterator[BatchResult]) -> Iterator[str]:
    """Staging rows, and what is copied from before, to a new generation; its id."""
    while few := list(itertools.islice(results, _LOADED_AT_ONCE)):
        tables = joined_tables([result.tables for result in few])
        if run.previous is None and "patient" in tables:
            # Patients come in the order of their ids, and none is copied in between: their rows need no sorting.
            aside = tables.pop("quarantine", None)
            run.writer.add_sorted(tables)
            tables = {} if aside is None else {"quarantine": aside}
        run.writer.add_tables(tables)
    run.bar.step("writing")
    counts = run.report.counts()
    if run.previous is not None:
        # Those too who could not be read again keep what was known of them.
        run.report.add(patients_copied=run.writer.copy_others(run.previous))
        run.writer.copy_quarantine(run.previous)
        before = run.previous.info()
        counts = {name: number + int(before.get(name, 0)) for name, number in counts.items()}
    yield run.writer.finish(counts, run.bar)


#: A run, in its order: each step takes what the one before it gives.
STEPS: Final[tuple[Callable[[Run, Any], Iterator[Any]], ...]] = (
    read_sources,
    separate_versions,
    group_by_patient,
    read_notes_and_build_journeys,
    load,
)


def _previous(kb_path: str | os.PathLike[str]) -> KnowledgeBase | None:
    """The knowledge base as it is, if there is one. UsageError for one that was made of abstractions."""
    if Layout(kb_path).current() is None:
        return None
    previous = KnowledgeBase.open(kb_path)
    if "made_of" in previous.manifest["versions"]:
        previous.close()
        raise UsageError(
            f"'{kb_path}' holds clinical abstractions, to which notes are not joined. Hint: name another place"
        )
    return previous


@contextlib.contextmanager
def _breaks_explained(kb_path: str | os.PathLike[str]) -> Iterator[None]:
    """What stops a run from outside becomes an error that says what is left of it and how it goes on."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; the knowledge base at {kb_path} is as it was, and the notes read so far are kept beside it. "
            "Hint: run the same command again, it goes on where it was"
        ) from error
    except OSError as error:
        raise NotWritable(
            f"the run could not go on: {error.strerror or type(error).__name__}. The knowledge base at {kb_path} is as "
            "it was. Hint: is there space left on the disk? The same command goes on where it was"
        ) from error


# Each parameter is an option of the command of this name, and all but two have a default: a value that holds them would
# only be taken apart again.
def run_ingest(
    sources: Iterable[str | os.PathLike[str]],
    kb_path: str | os.PathLike[str],
    *,
    mapping: Mapping[str, str] | None = None,
    workers: int = 1,
    strict: bool = False,
    progress: bool | None = None,
    reading: Reading | None = None,
    ontology: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | Choice | None = None,
    budget: NoteBudget | None = None,
    dates: str = ORDERS[0],
) -> IngestReport:
    """Read notes into the knowledge base at ``kb_path``, which is made when missing.

    ``mapping``: field of a note → its name in the sources. ``workers``: processes that read notes; a script that asks
    for more than one needs the usual ``if __name__ == "__main__":``. ``progress``: a bar on a terminal, None for yes.
    ``reading``: another reader than the shipped one, for tests. ``ontology``: a folder of concepts beside the shipped
    ones, which the knowledge base keeps. ``model``: a model directory that proposes what the rules lack, ``shipped``,
    ``llm`` (the chat model of the environment, which is sent the notes) or ``none`` (and None). ``budget``: what one
    note, and one patient, may take; what takes more goes to quarantine. ``dates``: in which order ``5/2/2023`` is
    read in all sources, ``month-first`` or ``day-first``; a date of the other order goes to quarantine.

    UsageError (a source, the map, a folder, a model), NotWritable, LockedError, SchemaVersionError, Interrupted; a bad
    record is none, it is counted and kept with its reason.
    """
    if not 1 <= workers <= _MOST_WORKERS:
        raise UsageError(f"workers is {workers}; it is 1 to {_MOST_WORKERS} (--workers)")
    begun = time.monotonic()
    found = Sources(sources, mapping, dates)
    extra = None if ontology is None else Path(ontology)
    concepts = shipped_concepts(extra)
    learned = chosen_model(model)
    if learned is not None and learned.alone and workers > 1:
        raise UsageError(f"the model {learned.name} is asked by one process. Hint: leave out --workers")
    if isinstance(learned, ModelChoice) and workers > 1:
        # What is wrong with a model, or missing for it, is told before processes are started.
        load_tagger(learned)
    reading = reading or shipped_reading(extra, learned)
    if budget is not None:
        reading = replace(reading, budget=budget)
    report = IngestReport(strict=strict)
    spool = Spool(Path(kb_path))
    with (
        _breaks_explained(kb_path),
        rare_collections(),
        GenerationWriter(kb_path, concepts=concepts, versions=dict(reading.versions)) as writer,
        bar(progress) as shown,
    ):
        previous = _previous(kb_path)
        spool.make()
        with previous or contextlib.nullcontext(), VersionStore(spool.folder, previous) as versions:
            much = previous is None and found.size >= workers * _WORTH_A_WORKER
            run = Run(reading, workers, writer, previous, spool, versions, report, shown, much)
            stream: Any = found
            for step in STEPS:
                stream = step(run, stream)
            (report.generation,) = stream
        spool.remove()
    with KnowledgeBase.open(kb_path) as written:
        rows = written.manifest["rows"]
    report.patients, report.events = rows["patient"], rows["event"]
    report.passed_over = found.told.as_dict()
    report.dates = found.dates.as_dict()
    report.asked = {} if learned is None else dict(learned.asked())
    report.seconds = round(time.monotonic() - begun, 3)
    return report
