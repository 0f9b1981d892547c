"""What is known of one patient, in order of time: rows for people and for JSON, with the decisions that were taken."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..kb.concepts import ConceptTable
from ..kb.model import Event, Journey
from .evidence import EvidenceReader, ShownEvent


@dataclass(frozen=True, slots=True)
class ShownDecision:
    """How a conflict was resolved: by which rule, which events are believed and which are not."""

    rule: str
    explanation: str
    believed: tuple[ShownEvent, ...]
    rejected: tuple[ShownEvent, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A patient's record. ``journey`` holds the model objects; ``rows`` are its events, the earliest first and those
    without a date last."""

    journey: Journey
    rows: tuple[ShownEvent, ...]
    decisions: tuple[ShownDecision, ...]

    @property
    def patient_id(self) -> str:
        """Whose record it is."""
        return self.journey.patient_id

    @property
    def events(self) -> tuple[Event, ...]:
        """The events as the knowledge base has them."""
        return self.journey.events

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "patient": self.patient_id,
            "events": [row.as_dict() for row in self.rows],
            "decisions": [asdict(decision) for decision in self.decisions],
        }


def timeline(journey: Journey, concepts: ConceptTable) -> Timeline:
    """The record of one patient in order of time."""
    reader = EvidenceReader(journey, concepts)
    ordered = sorted(journey.events, key=lambda event: (not event.day.known, event.day.midpoint, event.kind))
    shown = {event.event_id: reader.shown(event) for event in journey.events}
    decisions = tuple(
        ShownDecision(
            decision.rule,
            decision.explanation,
            tuple(shown[event] for event in decision.believed if event in shown),
            tuple(shown[event] for event in decision.rejected if event in shown),
        )
        for decision in journey.decisions
    )
    return Timeline(journey, tuple(shown[event.event_id] for event in ordered), decisions)
