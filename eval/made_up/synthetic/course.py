"""What a simulated patient is: a person, the facts of their disease, and the encounters at which notes were written.

``courses`` makes these, ``writing`` turns them into notes. The facts are those of a clinical abstraction
(``docs/guide/abstraction.md``), so that the same loader makes the gold knowledge base of them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Person:
    """Who the patient is. ``site`` is one of the four hospitals, each with its own way of writing."""

    patient_id: str
    site: str
    sex: str
    born: datetime.date
    race: str = ""
    ethnicity: str = ""
    died: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is true of the patient, or was thought, denied, planned or told of a relative.

    ``kind``, ``assertion`` and the keys of ``attributes`` are those of an abstraction. ``concept`` and ``value`` are
    canonical clinical names: how a note says them is up to who writes it. ``tumor`` tells the patient's tumors apart
    ("" for what is of none).
    """

    kind: str
    concept: str
    value: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    date: datetime.date | None = None
    end_date: datetime.date | None = None
    assertion: str = "present"
    tumor: str = ""


@dataclass(frozen=True, slots=True)
class Encounter:
    """An occasion on which one note was written.

    ``type`` is a word for the sort of note (``pathology``, ``molecular``, ``radiology``, ``oncology consult``,
    ``progress``, ``operative``, ``radiation``, ``discharge``, ``emergency``, ``telephone``, ``tumor board``,
    ``infusion``, ``laboratory``, ``primary care``, ``nursing``, ``genetics``, ``death``). ``new`` are the facts that
    this note is the first to state, ``recalled`` those that it repeats as history (places in ``Course.facts``).
    ``purpose`` says what the occasion was (``diagnosis``, ``staging``, ``start of treatment``, ``cycle``,
    ``response``, ``toxicity``, ``recurrence``, ``follow-up``, ``end of life``, ``unrelated``). ``copies`` is the place
    in ``Course.encounters`` of an earlier note whose text was pasted in, None where nothing was.
    """

    date: datetime.date
    type: str
    purpose: str
    new: tuple[int, ...] = ()
    recalled: tuple[int, ...] = ()
    copies: int | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """A patient's whole story: facts in order of time, and the encounters in order of time."""

    person: Person
    facts: tuple[Fact, ...]
    encounters: tuple[Encounter, ...]

    def doc_id(self, encounter: int) -> str:
        """The document of the encounter at this place."""
        return f"{self.person.patient_id}-{encounter + 1:04d}"
