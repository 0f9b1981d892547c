"""The notes that systems are made over: read once through the readers of ``ingest``, in a fixed order."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ....ingest.readers.sources import Sources
from ....kb.errors import UsageError
from ....kb.model import Note
from ....kb.storage.rows import QuarantinedRecord


@dataclass(frozen=True)
class Corpus:
    """Notes by patient, date and document id; all of them in memory (100,000 notes of 600 characters are 60 MB)."""

    notes: tuple[Note, ...]
    #: Records that could not be read as notes.
    refused: int = 0

    @classmethod
    def load(cls, sources: Iterable[str | os.PathLike[str]], mapping: Mapping[str, str] | None = None) -> Corpus:
        """The notes of ``sources``, as ``cohortium ingest`` would read them. UsageError when there is none at all."""
        found: dict[tuple[str, str], Note] = {}
        refused = 0
        for record in Sources(sources, mapping):
            if isinstance(record, QuarantinedRecord):
                refused += 1
            else:
                # The last of several versions of one document is the one that holds.
                found[record.note.patient_id, record.note.doc_id] = record.note
        if not found:
            raise UsageError("the sources hold no note. Hint: 'cohortium ingest' says what is wrong with each record")
        return cls(tuple(sorted(found.values(), key=_place)), refused)

    @cached_property
    def by_patient(self) -> Mapping[str, tuple[Note, ...]]:
        """Patient id to their notes, oldest first; patients sorted."""
        held: dict[str, list[Note]] = {}
        for note in self.notes:
            held.setdefault(note.patient_id, []).append(note)
        return {patient: tuple(notes) for patient, notes in held.items()}

    @cached_property
    def patients(self) -> tuple[str, ...]:
        """All patient ids, sorted."""
        return tuple(self.by_patient)

    @cached_property
    def sha256(self) -> str:
        """The hash of all notes: of who, when, what kind and every letter."""
        total = hashlib.sha256()
        for note in self.notes:
            for part in (note.patient_id, note.doc_id, str(note.date or ""), note.type, note.title, note.text):
                data = part.encode()
                total.update(len(data).to_bytes(8, "big") + data)
        return total.hexdigest()


def _place(note: Note) -> tuple[str, str, str]:
    return note.patient_id, "" if note.date is None else note.date.isoformat(), note.doc_id
