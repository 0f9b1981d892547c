"""Passages that a retriever hands to a reader: the best passages of each patient, each with its place in a note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..systems.contract import Question, Quote


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a note of one patient: ``text`` is what stands at ``quote``; a higher ``score`` is nearer."""

    quote: Quote
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class PatientPassages:
    """A retrieved patient, scored as in the retriever's ranking, with the best passages found, best first."""

    patient_id: str
    score: float
    passages: tuple[Passage, ...] = ()


class Passages(Protocol):
    """What a reader needs of a retriever."""

    def passages(self, question: Question, per_patient: int) -> tuple[PatientPassages, ...]:
        """The patients retrieved for ``question``, best first (ties by patient id), each with at most ``per_patient``
        passages. A patient who is not in the retriever's cohort is not here."""
