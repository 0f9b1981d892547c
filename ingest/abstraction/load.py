"""The way of a file of abstractions into a knowledge base; what could not be resolved is counted and listed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...kb.model import Journey
from ...kb.ontology.scales import Scales
from ...kb.skin.progress import bar
from ...kb.storage.rows import QuarantinedRecord
from ...kb.storage.writer import GenerationWriter
from ..note.read import shared_reader
from ..run.batches import shipped_reading
from .patient import build_patient, read_patient
from .records import BadRecord, read_abstractions
from .structure import KNOWN_ATTRIBUTES
from .terms import FactReader, ReadFact

#: What the manifest of a knowledge base says that was made of facts: notes are not joined to them.
MADE_OF_FACTS: Final = {"made_of": "abstraction"}


@dataclass(frozen=True, slots=True)
class UnresolvedFact:
    """A fact whose text names nothing that the ontology knows. ``number`` counts from 1 within the patient."""

    patient_id: str
    number: int
    kind: str
    assertion: str
    concept: str
    value: str


@dataclass(slots=True)
class AbstractionReport:
    """What came of a file: facts by kind that were resolved, resolved to their kind only, or not; bad records."""

    patients: int = 0
    vital_statuses: int = 0
    resolved: Counter[str] = field(default_factory=Counter)
    kind_only: Counter[str] = field(default_factory=Counter)
    unresolved: list[UnresolvedFact] = field(default_factory=list)
    unused: Counter[str] = field(default_factory=Counter)
    bad: list[BadRecord] = field(default_factory=list)

    def add(self, patient_id: str, read: ReadFact) -> None:
        """Count a fact."""
        fact = read.fact
        self.unused.update(fact.attributes.keys() - KNOWN_ATTRIBUTES)
        if read.resolved == "yes":
            self.resolved[fact.kind] += 1
        elif read.resolved == "kind":
            self.kind_only[fact.kind] += 1
        else:
            self.unresolved.append(
                UnresolvedFact(patient_id, fact.number, fact.kind, fact.assertion, fact.concept, fact.value)
            )

    def by_kind(self) -> dict[str, dict[str, int | float]]:
        """For each kind: facts, resolved, kind_only, unresolved, and the share resolved."""
        missed = Counter(fact.kind for fact in self.unresolved)
        table: dict[str, dict[str, int | float]] = {}
        for kind in sorted({*self.resolved, *self.kind_only, *missed}):
            facts = self.resolved[kind] + self.kind_only[kind] + missed[kind]
            table[kind] = {
                "facts": facts,
                "resolved": self.resolved[kind],
                "kind_only": self.kind_only[kind],
                "unresolved": missed[kind],
                "share": round(self.resolved[kind] / facts, 4),
            }
        return table

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without the texts of the facts."""
        table = self.by_kind()
        facts = sum(int(row["facts"]) for row in table.values())
        resolved = sum(self.resolved.values())
        return {
            "patients": self.patients,
            "facts": facts,
            "resolved": resolved,
            "kind_only": sum(self.kind_only.values()),
            "unresolved": len(self.unresolved),
            "share": round(resolved / facts, 4) if facts else None,
            "by_kind": table,
            "unused_attributes": dict(sorted(self.unused.items())),
            "bad": [{"place": one.place, "reason": one.reason} for one in self.bad],
        }


def load_abstractions(
    source: str | os.PathLike[str], kb_path: str | os.PathLike[str], *, progress: bool | None = None
) -> AbstractionReport:
    """Read the abstractions in ``source`` (JSONL) into a new generation of the knowledge base at ``kb_path``.

    It holds these patients alone; whether something may be replaced is the caller's to ask.

    Bad lines and facts go to its quarantine. UsageError (no such file), NotWritable, LockedError.
    """
    report = AbstractionReport()
    notes = shared_reader()
    reader, scales = FactReader(notes), Scales.from_files()
    versions = dict(shipped_reading().versions) | MADE_OF_FACTS
    with GenerationWriter(kb_path, versions=versions) as writer, bar(progress) as shown:
        shown.step("reading facts")

        def journeys() -> Iterator[Journey]:
            for record in read_abstractions(Path(source)):
                if isinstance(record, BadRecord):
                    report.bad.append(record)
                    continue
                read = read_patient(reader, record)
                report.patients += 1
                for one in read:
                    shown.advance()
                    if one.fact.number:
                        report.add(record.patient_id, one)
                    else:
                        report.vital_statuses += 1
                yield build_patient(record.patient_id, read, notes.concepts, scales)

        writer.add(journeys())
        facts = report.vital_statuses + sum(report.resolved.values()) + sum(report.kind_only.values())
        facts += len(report.unresolved)
        name = Path(source).name
        writer.add_quarantine(
            QuarantinedRecord(name, one.place, one.reason, one.patient_id, raw=one.raw) for one in report.bad
        )
        writer.finish({"notes_in": facts + len(report.bad), "stored": facts, "quarantined": len(report.bad)})
    return report
