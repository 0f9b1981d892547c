"""The second reading of a patient's notes: the tables must say what a journey that is built anew says."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ....ingest.models.tagging.choice import NONE, SHIPPED, Choice, chosen_model
from ....ingest.run.batches import shipped_reading
from ....kb.errors import UsageError
from ....kb.model import Decision, Event, Mention, Note
from ....kb.ontology.concepts import ConceptTable
from .record import Record, Tables

#: What the manifest says of a knowledge base that was made of an abstraction.
_OF_FACTS: Final = "abstraction"
#: Patients whose rereading, and ontologies whose reader, are kept.
_KEPT: Final = 256
_READERS: Final = 2


@dataclass(frozen=True, slots=True)
class Reread:
    """What the notes of one patient give when they are read again."""

    mentions: Mapping[str, Mention]
    events: Mapping[str, Event]
    decisions: Mapping[str, Decision]


def is_of_facts(tables: Tables) -> bool:
    """Whether the knowledge base was made of abstracted facts: its notes are lines that no reader can read back."""
    return bool(tables.manifest.get("versions", {}).get("made_of") == _OF_FACTS)


def is_read_alike(tables: Tables) -> bool:
    """Whether this program reads notes as the one did that made the knowledge base."""
    return bool(tables.manifest.get("versions", {}).get("pipeline") == shipped_versions()["pipeline"])


@functools.cache
def shipped_versions() -> dict[str, str]:
    """The versions of the reading and the ontology files of this program."""
    return dict(shipped_reading().versions)


def model_of(tables: Tables, given: str | os.PathLike[str] | None) -> tuple[Choice | None, bool]:
    """The model that the notes were read with, and whether reading again can be done as it was done: with no model
    where there was none, else with the one ``given`` or the one that ships.

    UsageError where another one is given than that which the manifest names.
    """
    recorded = str(tables.manifest.get("versions", {}).get("model", NONE))
    choice = chosen_model(given)
    if choice is not None:
        if choice.version != recorded:
            raise UsageError(
                f"the notes were read with the model {recorded}, not with {choice.version}. Hint: name that one"
                if recorded != NONE
                else "the notes were read with no model. Hint: leave out --model"
            )
        return choice, True
    if recorded == NONE:
        return None, True
    try:
        choice = chosen_model(SHIPPED)
    except UsageError:
        return None, False
    return (choice, True) if choice is not None and choice.version == recorded else (None, False)


class ReaderAgain:
    """Reads under one ontology, that of the knowledge base. Patients read lately are kept."""

    def __init__(self, concepts: ConceptTable, model: Choice | None = None) -> None:
        from ....ingest.note.read import NoteReader, Parts

        self._reader = NoteReader(concepts, Parts(learned=None if model is None else model.recognizer))
        self._kept = functools.lru_cache(_KEPT)(self._read)

    def read(self, record: Record) -> Reread:
        """The current notes of a patient."""
        current = tuple(stored.note for stored in record.notes.values() if stored.status == "current")
        return self._kept(record.patient_id, current)

    def _read(self, patient_id: str, notes: tuple[Note, ...]) -> Reread:
        from ....ingest.journey.build import build_journey

        journey = build_journey(patient_id, [self._reader.read(note) for note in notes], self._reader.concepts)
        return Reread(
            {mention.mention_id: mention for mention in journey.mentions},
            {event.event_id: event for event in journey.events},
            {decision.decision_id: decision for decision in journey.decisions},
        )


@dataclass(frozen=True, slots=True)
class ReaderKey:
    """An ontology by the digest of its content, and the model that reads along."""

    digest: str
    model: Choice | None
    concepts: ConceptTable = field(compare=False)


@functools.lru_cache(_READERS)
def reader_of(key: ReaderKey) -> ReaderAgain:
    """The reader under an ontology and with a model, made once a process."""
    return ReaderAgain(key.concepts, key.model)
