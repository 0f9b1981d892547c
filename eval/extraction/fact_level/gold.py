"""The gold side: each abstracted fact with the statements that its text resolves to."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ....ingest.abstraction.patient import read_patient, stated
from ....ingest.abstraction.records import Abstraction, BadRecord, read_abstractions
from ....ingest.abstraction.terms import FactReader
from ....ingest.note.read import shared_reader
from ....kb.errors import UsageError
from ....kb.model import Context, DayInterval, Value

#: What a marker becomes that the ontology lacks: it names nothing that notes could be read for.
_ANY_MARKER: Final = "biomarker"


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a fact says, in the terms of an event. ``day`` is None where the fact has no date."""

    kind: str
    concept: str
    attributes: Mapping[str, Value]
    context: Context
    day: DayInterval | None = None
    end: DayInterval | None = None


@dataclass(frozen=True, slots=True)
class GoldFact:
    """One abstracted fact: ``kind`` as it was recorded, ``number`` from 1 within the patient.

    Without ``statements`` it is unresolved. A list of drugs or a diagnosis with its grade makes several.
    """

    number: int
    kind: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Gold:
    """The facts of a file by patient, its records that cannot be used, and the hash of its bytes."""

    patients: Mapping[str, tuple[GoldFact, ...]]
    bad: tuple[BadRecord, ...] = field(repr=False)
    sha256: str = ""


def load_gold(path: Path, only: Collection[str] = ()) -> Gold:
    """The facts of a file (JSONL), each resolved; ``only``: of patients whose ids begin with one of these.

    UsageError for a file that is not there or that holds no such patient.
    """
    patients: dict[str, tuple[GoldFact, ...]] = {}
    bad: list[BadRecord] = []
    reader = FactReader(shared_reader())
    for record in read_abstractions(path):
        if isinstance(record, BadRecord):
            bad.append(record)
        elif not only or record.patient_id.startswith(tuple(only)):
            patients[record.patient_id] = tuple(_facts(reader, record))
    if not patients:
        whose = f" whose id begins with {' or '.join(only)}" if only else ""
        raise UsageError(f"{path.name} holds the facts of no patient{whose}. Hint: JSONL, one patient a line")
    with path.open("rb") as file:
        return Gold(patients, tuple(bad), hashlib.file_digest(file, "sha256").hexdigest())


def _facts(reader: FactReader, record: Abstraction) -> Iterator[GoldFact]:
    read = read_patient(reader, record)
    for one, facts in stated(record.patient_id, read, shared_reader().concepts):
        if not one.fact.number:
            continue  # The vital status is no fact of its own.
        statements = [
            Statement(fact.kind, fact.concept, fact.attributes, fact.context, one.fact.day, one.fact.end)
            for fact in facts
            if (fact.kind, fact.concept) != ("biomarker", _ANY_MARKER)
        ]
        yield GoldFact(one.fact.number, one.fact.kind, tuple(statements))
