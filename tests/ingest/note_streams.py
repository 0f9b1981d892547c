"""Streams of notes as they come over the years, and in plain Python what a knowledge base must hold after them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.ingest.made_notes import note

PATIENTS = ("P1", "P2", "P3")
DOCUMENTS = ("a", "b")
TEXTS = ("ECOG", "ECOG and ECOG", "no score", "ECOG three ECOG times ECOG")
#: Late, early, on one day, and none: what comes last may be dated before all that is there.
DATES = ("2020-01-02", "2020-05-06", "1999-12-31", "")

Record = dict[str, Any]


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A note, a correction, the same again, a copy under another document, or a retraction; a few of each collide."""
    key = draw(st.sampled_from(PATIENTS)), draw(st.sampled_from(DOCUMENTS))
    if draw(st.integers(0, 3)) == 0:
        status = draw(st.sampled_from(["retracted", "entered-in-error", "Deleted"]))
        return {"patient_id": key[0], "doc_id": key[1], "status": status}
    return note(*key, text=draw(st.sampled_from(TEXTS)), date=draw(st.sampled_from(DATES)), status="final")


def cut(stream: list[Record], places: Iterable[int]) -> list[list[Record]]:
    """The stream in batches, cut before these places; empty batches among them."""
    ends = [*sorted(places), len(stream)]
    return [stream[first:last] for first, last in zip([0, *ends], ends, strict=False)]


@dataclass
class Held:
    """What is held of one document: its versions in the order of first arrival, each with its status."""

    current: str | None = None
    status: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether any version was ever stored."""
        return bool(self.status)


@dataclass
class Ledger:
    """The last word on each document, told in the plainest way: by looking at one record after the other."""

    documents: dict[tuple[str, str], Held] = field(default_factory=dict)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("stored", "unchanged", "superseding", "quarantined"), 0)
    )

    def take(self, record: Record) -> bool:
        """Take in a record; whether it changed anything."""
        held = self.documents.setdefault((record["patient_id"], record["doc_id"]), Held())
        version = None if "text" not in record else f"{record['date']} {record['text']}"
        if version == held.current:
            self.counts["unchanged"] += 1
            return False
        self.counts["superseding" if held.known else "stored"] += 1
        if held.current is not None:
            held.status[held.current] = ("retracted", None) if version is None else ("superseded", version)
        if version is not None:
            held.status[version] = ("current", None)
        held.current = version
        return True

    def notes(self) -> set[tuple[str, str, str, str, str | None]]:
        """Every version that is held: patient, document, content, status, and the content that replaced it."""
        return {
            (*key, version, *standing)
            for key, held in self.documents.items()
            for version, standing in held.status.items()
        }

    def patients(self) -> set[str]:
        """Those of whom a note was ever stored."""
        return {patient for (patient, _), held in self.documents.items() if held.known}
