"""The record of one patient, in order of time: rows for people and for JSON, with the decisions that were taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ...kb.kinds import DRUGS
from ...kb.model import Event, Journey, World
from ...kb.ontology.concepts import ConceptTable
from ...kb.skin.notebook import small_table
from ...kb.skin.terminal import counted
from .evidence import EvidenceReader, ShownEvent, attributes_text, bounds_text


@dataclass(frozen=True, slots=True)
class ShownDecision:
    """How a conflict was resolved: by which rule, which events are believed and which are not."""

    rule: str
    explanation: str
    believed: tuple[ShownEvent, ...]
    rejected: tuple[ShownEvent, ...]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line of therapy of one tumor: its number, when it began and ended (empty: the record does not say), the
    treatments in order, their intents and the reasons why they ended."""

    tumor: str
    line: int
    since: str
    until: str
    treatments: tuple[str, ...]
    intents: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A patient's record. ``journey`` holds the model objects; ``rows`` are its events, the earliest first and those
    without a date last; ``lines`` the lines of therapy of each tumor, in their order."""

    # None of it stands in a repr, which ends up in logs: it holds the words of notes.
    journey: Journey = field(repr=False)
    rows: tuple[ShownEvent, ...] = field(repr=False)
    decisions: tuple[ShownDecision, ...] = field(repr=False)
    lines: tuple[ShownLine, ...] = field(default=(), repr=False)

    @property
    def patient_id(self) -> str:
        """Whose record it is."""
        return self.journey.patient_id

    @property
    def events(self) -> tuple[Event, ...]:
        """The events as the knowledge base has them."""
        return self.journey.events

    def _repr_html_(self) -> str:
        """The events, for a notebook."""
        rows = [(row.when, row.kind, row.name, attributes_text(row), row.assertion) for row in self.rows]
        caption = f"{self.patient_id}: {counted(len(rows), 'event')}"
        return small_table(caption, ("when", "kind", "what", "attributes", "context"), rows)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "patient": self.patient_id,
            "events": [row.as_dict() for row in self.rows],
            "lines": [asdict(line) for line in self.lines],
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
    return Timeline(
        journey, tuple(shown[event.event_id] for event in ordered), decisions, tuple(_lines(journey, concepts))
    )


def _lines(journey: Journey, concepts: ConceptTable) -> Iterable[ShownLine]:
    """The believed treatments with the number of a line, by tumor and number; regimens by their drugs, if known."""
    groups: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in journey.events:
        if event.world >= World.BELIEVED and event.kind in DRUGS and "line" in event.attributes:
            groups[event.tumor, int(float(event.attributes["line"]))].append(event)
    for (tumor, number), events in sorted(groups.items()):
        drugs = [event for event in events if event.kind == "medication"] or events
        drugs.sort(key=lambda event: (event.day.midpoint, event.concept))
        first = min((event.day for event in drugs), key=lambda day: (day.low, day.high))
        ends = [event.end for event in drugs if event.end is not None]
        last = max(ends, key=lambda day: (day.high, day.low)) if len(ends) == len(drugs) else None
        yield ShownLine(
            tumor,
            number,
            bounds_text(first.low, first.high)[0],
            bounds_text(last.low, last.high)[1] if last is not None else "",
            tuple(dict.fromkeys(concepts.name(event.concept) for event in drugs)),
            _stated(drugs, "intent"),
            _stated(drugs, "reason"),
        )


def _stated(events: Iterable[Event], name: str) -> tuple[str, ...]:
    """The different values of an attribute, in order."""
    return tuple(dict.fromkeys(str(event.attributes[name]) for event in events if name in event.attributes))
