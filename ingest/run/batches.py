"""Reading as the run sees it: one note at a time, then one patient; and what a batch of patients becomes."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import pyarrow as pa

from ...kb.model import Journey, Note, content_id
from ...kb.storage.rows import QuarantinedRecord, StagingRows, SupersededNote
from ..models.tagging.choice import NONE, Choice
from ..readers.records import KEPT_OF_RAW, reason
from .note_budget import USUAL, NoteBudget, OverBudget

#: The source of a quarantine row for a note of an earlier run that cannot be read any more; it counts as no row in.
_HELD_BEFORE: Final = "knowledge base"


class Reader(Protocol):
    """Reads notes, and joins one patient's notes; made once a process."""

    def read(self, note: Note) -> Any:
        """One note, no state."""

    def build(self, patient_id: str, read_notes: list[Any]) -> Journey:
        """One patient, from what :meth:`read` gave for the notes."""


@runtime_checkable
class PreparingReader(Protocol):
    """A reader that is quicker when it is told beforehand what it will read."""

    def prepare(self, notes: Sequence[Note]) -> None:
        """These notes will be read next. What :meth:`Reader.read` gives for them does not change."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reader that other processes can make (``make`` is a function of a module), and the versions of what it does.

    Other versions mean that every patient is read again. ``budget``: what a note and a patient may take.
    """

    make: Callable[[], Reader]
    versions: tuple[tuple[str, str], ...]
    budget: NoteBudget = USUAL


class ShippedReader:
    """The document model and the journey of this package."""

    def __init__(self, ontology: Path | None = None, model: Choice | None = None) -> None:
        """``ontology``: a folder of concepts beside the shipped ones. ``model``: one that proposes what rules lack;
        UsageError if it cannot be loaded."""
        from ..journey.build import build_journey
        from ..note.read import NoteReader, shared_reader

        # A folder may be changed between two runs of one process, and a model keeps what it has seen of the run.
        self._notes = NoteReader.from_ontology(ontology, model) if ontology or model else shared_reader()
        self._build = build_journey

    def prepare(self, notes: Sequence[Note]) -> None:
        """Let the model, if there is one, see all notes at once."""
        self._notes.prepare(notes)

    def read(self, note: Note) -> Any:
        """One note, no state."""
        return self._notes.read(note)

    def build(self, patient_id: str, read_notes: list[Any]) -> Journey:
        """One patient."""
        return self._build(patient_id, read_notes, self._notes.concepts)


def shipped_reading(ontology: Path | None = None, model: Choice | None = None) -> Reading:
    """The reading of this package, with the versions of its code and of its ontology files.

    With the folder ``ontology``, its concepts are known too, and its files are part of the version. So is the ``model``
    that reads along, by name and hash, and from which probabilities its proposals count.
    """
    make = functools.partial(ShippedReader, ontology, model) if ontology or model else ShippedReader
    version = _ontology_version()
    if ontology is not None:
        added = (path for path in ontology.iterdir() if path.suffix in (".tsv", ".toml"))
        version = f"{version}+{_digest(added)}"
    versions = [("pipeline", _pipeline_version()), ("ontology_files", version), ("model", NONE)]
    if model is not None:
        from ..note.proposals import probabilities

        versions[-1:] = [("model", model.version), ("probabilities", str(probabilities()))]
    return Reading(make, tuple(versions))


@functools.cache
def _pipeline_version() -> str:
    # The files themselves: a number raised by hand is forgotten once, and then old facts pass for new ones.
    from ...kb.version import __version__

    return f"{__version__}+{_digest(_code_files())}"


@functools.cache
def _ontology_version() -> str:
    return _digest(_ontology_files())


def version_files() -> list[Path]:
    """The shipped files on which reading a note depends: of another content, it is another reading."""
    return [*_code_files(), *_ontology_files()]


def _code_files() -> list[Path]:
    ingest = Path(__file__).parents[1]
    kb = ingest.parent / "kb"
    files = [path for kind in ("*.py", "*.toml", "*.tsv") for path in ingest.rglob(kind)]
    rooms = (kb, kb / "files", kb / "ontology", kb / "storage")
    files += [path for room in rooms for path in room.glob("*.py")]
    files += kb.glob("*.toml")
    files += [path for path in (ingest / "models" / "linking").rglob("*") if path.suffix in (".npz", ".json")]
    return files


def _ontology_files() -> list[Path]:
    folder = Path(__file__).parents[2] / "kb" / "ontology"
    return [path for path in folder.rglob("*") if path.suffix in (".toml", ".tsv")]


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(files, key=lambda path: path.as_posix()):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


# --- one patient -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a note. ``row`` is the source and place of the record that brought it in this run, None when the
    knowledge base held it before; there it may already have been ``superseded_by`` another version (a note id), or
    ``retracted``. A ``retraction`` is a record that voids the note: of its own note only the key means something."""

    note: Note
    row: tuple[str, str] | None = None
    superseded_by: str = ""
    retraction: bool = False
    retracted: bool = False


@dataclass(frozen=True, slots=True)
class PatientNotes:
    """All versions of all notes of one patient, in the order in which they came."""

    patient_id: str
    versions: tuple[Version, ...]


@dataclass(slots=True)
class BatchResult:
    """What a batch of patients became: staging rows, counts of the run, and patients that keep their old journey."""

    tables: dict[str, pa.Table]
    counts: dict[str, int]
    kept: list[str]
    quarantined: list[tuple[str, str, str]]  # source, place, reason


@dataclass(slots=True)
class _Chain:
    """The versions of one note, the current one last; none is current where a retraction is last. ``before`` are those
    that were superseded or retracted before this run."""

    versions: list[Version] = field(default_factory=list)
    before: list[Version] = field(default_factory=list)

    @property
    def current(self) -> Version | None:
        """The last word, unless it voids the note."""
        return self.versions[-1] if self.versions and not self.versions[-1].retraction else None

    @property
    def taken_back(self) -> bool:
        """Whether there was a note, and it is void."""
        known = self.before or any(not version.retraction for version in self.versions)
        return bool(known and self.versions and self.versions[-1].retraction)


def read_batch(reader: Reader, patients: Sequence[PatientNotes], budget: NoteBudget = USUAL) -> BatchResult:
    """Read the current version of every note and build every patient's journey, as far as the budget goes."""
    rows = StagingRows()
    counts = dict.fromkeys(("stored", "unchanged", "superseding", "quarantined", "retracted"), 0)
    kept: list[str] = []
    quarantined: list[tuple[str, str, str]] = []
    _prepare(reader, patients)
    for patient in patients:
        faults: list[QuarantinedRecord] = []
        chains = _chains(patient)
        found = dict(_read_current(reader, chains, faults, budget))
        journey, failed = None, False
        try:
            if found:
                with budget.joining(len(found)):
                    journey = reader.build(patient.patient_id, _in_time(found))
            elif any(chain.taken_back for chain in chains.values()):
                journey = Journey(patient.patient_id)
            if journey is not None:
                rows.add_journey(journey, _not_current(chains))
        except Exception as error:
            # A defect must cost one patient, not the run; what is known of the patient from before stays.
            code = _code("journey_error", error)
            faults = [_fault(version, code) for version in patient.versions if version.row]
            journey, failed = None, True
        if journey is None:
            kept.append(patient.patient_id)
        rows.add_quarantine(faults)
        quarantined += [(fault.source, fault.place, fault.reason) for fault in faults]
        counts["quarantined"] += sum(fault.source != _HELD_BEFORE for fault in faults)
        if not failed:
            _count(chains, counts)
    return BatchResult(rows.take(), counts, kept, quarantined)


def _prepare(reader: Reader, patients: Sequence[PatientNotes]) -> None:
    if isinstance(reader, PreparingReader):
        chains = (chain for patient in patients for chain in _chains(patient).values())
        # A note on which it fails is found when it is read by itself, and costs no other.
        with contextlib.suppress(Exception):
            reader.prepare([chain.current.note for chain in chains if chain.current])


def _chains(patient: PatientNotes) -> dict[str, _Chain]:
    chains: dict[str, _Chain] = {}
    for version in patient.versions:
        chain = chains.setdefault(version.note.doc_id, _Chain())
        (chain.before if version.superseded_by or version.retracted else chain.versions).append(version)
    for chain in chains.values():
        if any(version.retracted for version in chain.before):
            # The note was void once, and is so still unless a version that was held or that comes stands behind.
            chain.versions.insert(0, Version(chain.before[0].note, retraction=True))
    return chains


def _read_current(
    reader: Reader, chains: dict[str, _Chain], faults: list[QuarantinedRecord], budget: NoteBudget
) -> Iterator[tuple[Note, Any]]:
    """Each note's latest version that can be read; versions on which the reader fails, or that take too much, leave
    the chain."""
    for chain in chains.values():
        while chain.current is not None:
            note = chain.current.note
            try:
                yield note, _read(reader, note, budget)
                break
            except Exception as error:
                failed = [one for one in chain.versions if not one.retraction and one.note.note_id == note.note_id]
                code = _code("reader_error", error)
                faults += [_fault(version, code) for version in failed]
                chain.versions = [version for version in chain.versions if version not in failed]


def _read(reader: Reader, note: Note, budget: NoteBudget) -> Any:
    budget.admit(note.text)
    with budget.reading():
        read = reader.read(note)
    budget.accept(read)
    return read


def _code(code: str, error: Exception) -> str:
    # The type alone: an exception's message may quote the note.
    return error.code if isinstance(error, OverBudget) else f"{code}:{type(error).__name__}"


def _fault(version: Version, code: str) -> QuarantinedRecord:
    source, place = version.row or (_HELD_BEFORE, version.note.note_id)
    note = version.note
    return QuarantinedRecord(source, place, reason(code), note.patient_id, note.doc_id, note.text[:KEPT_OF_RAW])


def _in_time(found: dict[Note, Any]) -> list[Any]:
    """What was read, undated notes last: in an order that does not depend on how the notes came."""
    undated = datetime.date.max
    return [found[note] for note in sorted(found, key=lambda note: (note.date or undated, note.doc_id, note.note_id))]


def _not_current(chains: dict[str, _Chain]) -> list[SupersededNote]:
    """Each older version once, with the last one that replaced it; a version that is current again is none. What was
    taken back was replaced by nothing."""
    older: dict[tuple[str, str], SupersededNote] = {}
    for doc_id, chain in chains.items():
        for version in chain.before:
            older[doc_id, version.note.note_id] = SupersededNote(version.note, version.superseded_by)
        for version, newer in itertools.pairwise(chain.versions):
            if not version.retraction:
                by = "" if newer.retraction else newer.note.note_id
                older[doc_id, version.note.note_id] = SupersededNote(version.note, by)
        if chain.current is not None:
            older.pop((doc_id, chain.current.note.note_id), None)
    return [older[key] for key in sorted(older)]


def _count(chains: dict[str, _Chain], counts: dict[str, int]) -> None:
    for chain in chains.values():
        #: The note id that stands; None before anything is known of the note, empty when it is void.
        stands: str | None = None
        for version in chain.versions:
            if version.retraction:
                outcome = "superseding" if stands else "unchanged"
                counts["retracted"] += bool(stands)
                stands = "" if stands or version.row is None else stands
            else:
                note_id = version.note.note_id
                outcome = "stored" if stands is None else "unchanged" if note_id == stands else "superseding"
                stands = note_id
            counts[outcome] += version.row is not None


def batch_key(reading: Reading, patients: Sequence[PatientNotes]) -> str:
    """What a batch's result depends on, as an id."""
    return content_id(
        reading.versions,
        dataclasses.astuple(reading.budget),
        [
            (version.note.note_id, version.row, version.superseded_by, version.retraction, version.retracted)
            for patient in patients
            for version in patient.versions
        ],
    )
