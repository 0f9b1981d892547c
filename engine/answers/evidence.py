"""Events with the sentences that justify them, in structures for people and for JSON."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ...kb.model import EARLIEST_DAY, LATEST_DAY, Event, Journey, Value, World
from ...kb.ontology.concepts import ConceptTable
from ...kb.skin.terminal import value_text


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a note, and the sentence around it. ``start`` and ``end`` are offsets into the note's text.

    ``sentence_start`` is the offset of ``sentence``; ``text`` is the span as the note has it; ``rule`` is the name or
    pattern that read it; ``date`` is the note's own, ISO, empty when it has none.
    """

    doc_id: str
    note_id: str
    date: str
    section: str
    start: int
    end: int
    text: str = field(repr=False)
    sentence_start: int
    sentence: str = field(repr=False)
    rule: str


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event as people read it. ``earliest`` and ``latest`` bound its day (ISO; empty when the record tells none).

    ``attributes`` have names in place of concept ids; ``tumor`` is a tumor id, ``*`` for all, empty for none known;
    ``decisions`` explain how a conflict about it was resolved; ``sources`` counts independent notes.
    """

    kind: str
    concept: str
    name: str
    earliest: str
    latest: str
    ended: str
    attributes: dict[str, Value]
    assertion: str
    experiencer: str
    reason: str
    world: str
    tumor: str
    sources: int
    quotes: tuple[Quote, ...]
    decisions: tuple[str, ...]

    @property
    def when(self) -> str:
        """``2019-03-04``, ``2019-03-01 – 2019-03-31``, ``since …``, ``until …``, or ``undated``."""
        if self.earliest == self.latest:
            return self.earliest or "undated"
        if not self.latest:
            return f"since {self.earliest}"
        return f"{self.earliest} – {self.latest}" if self.earliest else f"until {self.latest}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def as_text(self) -> str:
        """One line, without the evidence."""
        # What differs from a plain fact of the patient is said; what does not is not.
        details = [f"{name} {_plain(value)}" for name, value in sorted(self.attributes.items())]
        context = [word for word in (self.assertion, self.reason, self.experiencer) if word not in _PLAIN]
        details += context
        # Planned, absent or a relative's: the word says why it is no fact of the patient, in whatever world.
        if self.world == "none" and not context:
            details.append("in no world")
        elif self.world not in ("none", "certain"):
            details.append(self.world)
        what = f"{self.kind} {self.name}".strip()
        return f"{self.when}  {what}" + (f"  ({', '.join(details)})" if details else "")


_PLAIN = frozenset({"present", "none", "patient"})


class EvidenceReader:
    """Turns the events of one journey into :class:`ShownEvent`."""

    def __init__(self, journey: Journey, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._mentions = {mention.mention_id: mention for mention in journey.mentions}
        self._notes = {note.note_id: note for note in journey.notes}
        self._decisions: dict[str, list[str]] = {}
        for decision in journey.decisions:
            for event_id in (*decision.believed, *decision.rejected):
                self._decisions.setdefault(event_id, []).append(decision.explanation)

    def shown(self, event: Event) -> ShownEvent:
        """The event with its names and quotes, the strongest first."""
        earliest, latest = bounds_text(event.day.low, event.day.high)
        return ShownEvent(
            kind=event.kind,
            concept=event.concept,
            name=self._concepts.name(event.concept) if event.concept else "",
            earliest=earliest,
            latest=latest,
            ended="" if event.end is None else " – ".join(dict.fromkeys(bounds_text(event.end.low, event.end.high))),
            attributes={name: self._value(value) for name, value in event.attributes.items()},
            assertion=event.context.assertion,
            experiencer=str(event.context.experiencer),
            reason=event.context.reason,
            world=event.world.name.lower(),
            tumor=event.tumor,
            sources=event.sources,
            quotes=tuple(self._quotes(event.evidence)),
            decisions=tuple(self._decisions.get(event.event_id, ())) if self._decisions else (),
        )

    def _value(self, value: Value) -> Value:
        return self._concepts.name(value) if isinstance(value, str) and value in self._concepts else value

    def _quotes(self, mention_ids: Iterable[str]) -> Iterable[Quote]:
        for mention_id in mention_ids:
            mention = self._mentions.get(mention_id)
            if mention is None:
                continue
            note = self._notes.get(mention.note_id)
            first, last = mention.sentence if mention.sentence[1] >= mention.end else (mention.start, mention.end)
            yield Quote(
                doc_id="" if note is None else note.doc_id,
                note_id=mention.note_id,
                date="" if note is None or note.date is None else note.date.isoformat(),
                section=mention.section,
                start=mention.start,
                end=mention.end,
                text=mention.text,
                sentence_start=first,
                sentence=mention.text if note is None else note.text[first:last],
                rule=mention.source,
            )


def bounds_text(low: int, high: int) -> tuple[str, str]:
    """The bounds of a day as ISO dates; empty where the record sets none."""
    return (
        "" if low <= EARLIEST_DAY else datetime.date.fromordinal(low).isoformat(),
        "" if high >= LATEST_DAY else datetime.date.fromordinal(high).isoformat(),
    )


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def world_word(world: World) -> str:
    """``certain``, ``believed``, ``possible``, or ``no``."""
    return "no" if world is World.NONE else world.name.lower()


def attributes_text(row: ShownEvent) -> str:
    """``laterality left, site breast``."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in sorted(row.attributes.items()))
