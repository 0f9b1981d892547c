"""The report of an ingest run: what it did, in numbers."""

from __future__ import annotations

import collections
import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final

#: The four ends of a record: rows in = their sum.
OUTCOMES: Final = ("stored", "unchanged", "superseding", "quarantined")
#: So many quarantined records are listed one by one; all are in the knowledge base.
LISTED: Final = 50


@dataclass(slots=True)
class IngestReport:
    """The sums of a run. ``patients`` and ``events`` are those of the knowledge base afterwards.

    ``retracted`` counts the superseding records that void a note and put nothing in its place; ``patients_read`` the
    patients who were read, new or again, and ``patients_copied`` those whose rows were copied as they were.
    ``resumed`` counts the batches that a killed run had finished; ``reasons`` the quarantined records by reason;
    ``quarantine`` lists the first of them as ``{"where", "reason"}``; ``asked`` what a chat model was asked, and what
    of it failed: empty, and not told, where none was; ``passed_over`` what of the sources was not used (``Told`` of
    ``ingest/readers/told.py``): files, FHIR resources, columns, and hints; ``dates`` in which order those were read
    that have another day in the other (``order``), and how many (``either``): empty, and not told, where none was.
    ``ids`` what is to be known of ids: how many notes their sources give none (``unnamed``), how many are written with
    outer blanks (``blanks``, and ``where`` the first), and how many ``patients``, and ``documents`` of several
    contents, have one id that is written in several ways, or is of several systems; each name where there are some.
    """

    notes_in: int = 0
    stored: int = 0
    unchanged: int = 0
    superseding: int = 0
    quarantined: int = 0
    retracted: int = 0
    patients: int = 0
    patients_read: int = 0
    patients_copied: int = 0
    events: int = 0
    seconds: float = 0.0
    batches: int = 0
    resumed: int = 0
    generation: str = ""
    strict: bool = False
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)
    quarantine: list[dict[str, str]] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    passed_over: dict[str, Any] = field(default_factory=dict)
    dates: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)

    def add(self, **counts: int) -> None:
        """Add to the counts of these names."""
        for name, number in counts.items():
            setattr(self, name, getattr(self, name) + number)

    def add_fault(self, source: str, place: str, reason: str) -> None:
        """Note a quarantined record for the reader of the report."""
        self.reasons[reason.partition(": ")[0]] += 1
        if len(self.quarantine) < LISTED:
            self.quarantine.append({"where": f"{source}, {place}", "reason": reason})

    @property
    def balanced(self) -> bool:
        """Whether every row in has exactly one end."""
        return self.notes_in == sum(getattr(self, name) for name in OUTCOMES)

    @property
    def exit_code(self) -> int:
        """4 when nothing is stored, 1 with ``strict`` and quarantine, else 0."""
        if self.stored + self.unchanged + self.superseding == 0:
            return 4
        return 1 if self.strict and self.quarantined else 0

    def counts(self) -> dict[str, int]:
        """Rows in and their four ends."""
        return {name: getattr(self, name) for name in ("notes_in", *OUTCOMES)}

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        fields = {**dataclasses.asdict(self), "reasons": dict(sorted(self.reasons.items())), "balanced": self.balanced}
        for name in ("asked", "dates", "ids"):
            if not fields[name]:
                del fields[name]
        return fields
