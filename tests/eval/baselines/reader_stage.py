"""What the tests of reading share: fictional notes, a retriever that gives all of them, readers over a server."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cohortium.eval.baselines.reading.offline_reader import OfflineReader
from cohortium.eval.baselines.reading.passages import Passage, PatientPassages
from cohortium.eval.baselines.reading.reader import Reader
from cohortium.eval.baselines.reading.settings import ReaderOptions
from cohortium.eval.baselines.systems.contract import Question, Quote
from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.kb.endpoint.kept import KeptAnswers
from cohortium.kb.model import Note

#: Fictional patients: every third has melanoma, one note each that says so, and one that says something else.
SECRET = "Larkspur Hollow"


def corpus(patients: int) -> Corpus:
    """Fictional notes of so many patients, two each."""
    notes = []
    for number in range(patients):
        sick = number % 3 == 0
        first = f"Patient {number} of {SECRET}. Here for review.\nBiopsy shows\n  metastatic melanoma of the skin."
        other = f"Patient {number} of {SECRET}. Here for review. No evidence of melanoma. Hypertension."
        date = datetime.date(2020, 1, 1) + datetime.timedelta(days=number)
        notes.append(Note(f"P{number:04}", f"P{number:04}-b", first if sick else other, date, "Progress note"))
        notes.append(Note(f"P{number:04}", f"P{number:04}-a", "Blood pressure is well controlled."))
    return Corpus(tuple(notes))


QUESTION = Question("q1", "Find patients with metastatic melanoma")


class Everybody:
    """A retriever that gives each note of each patient as one passage, patients in the order of their ids."""

    name = "everybody"

    def __init__(self, held: Corpus) -> None:
        self._corpus = held

    @property
    def patients(self) -> Sequence[str]:
        return self._corpus.patients

    def signature(self) -> Mapping[str, Any]:
        return {"name": self.name}

    def passages(self, question: Question, per_patient: int) -> tuple[PatientPassages, ...]:
        return tuple(
            PatientPassages(
                patient,
                1.0 / (1 + place),
                tuple(
                    Passage(Quote(note.doc_id, 0, len(note.text)), note.text, 1.0 / (1 + place + number))
                    for number, note in enumerate(notes[:per_patient])
                ),
            )
            for place, (patient, notes) in enumerate(self._corpus.by_patient.items())
        )


def reader(
    server: OfflineReader,
    held: Corpus,
    cache: KeptAnswers | None = None,
    limits: Mapping[str, float] | None = None,
    **options: Any,
) -> Reader:
    """A reader over everybody, with quick limits."""
    settings = server.settings(**{"seconds": 20.0, "pause": 0.005, "tries": 3, **(limits or {})})
    return Reader(Everybody(held), held, settings, ReaderOptions(**{"passages": None, **options}), cache)


def truly(held: Corpus) -> set[str]:
    """Who has metastatic melanoma."""
    return {note.patient_id for note in held.notes if "metastatic melanoma" in note.text}


__all__ = ["QUESTION", "SECRET", "Everybody", "corpus", "reader", "replace", "truly"]
