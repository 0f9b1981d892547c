"""The records under a proof, as plain data: events with dates, mentions with spans and cues, notes, is-a edges."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from ...kb.model import EARLIEST_DAY, LATEST_DAY, Context, Cue, DayInterval, Event, Journey, Mention, Note
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.stored_ontology import edge_id

Record = dict[str, Any]


def day_text(day: int) -> str | None:
    """A day as ISO text; None where the record sets no bound."""
    return None if day in (EARLIEST_DAY, LATEST_DAY) else datetime.date.fromordinal(day).isoformat()


def days_of(days: DayInterval) -> list[str | None]:
    """The first and the last day of an interval, as ISO text."""
    return [day_text(days.low), day_text(days.high)]


class Records:
    """Gathers the events, mentions, notes and edges that the parts of one proof name by their ids, each once."""

    def __init__(self, journey: Journey, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._mentions = {mention.mention_id: mention for mention in journey.mentions}
        self._notes = {note.note_id: note for note in journey.notes}
        self._decisions: dict[str, list[str]] = {}
        for decision in journey.decisions:
            for event_id in (*decision.believed, *decision.rejected):
                self._decisions.setdefault(event_id, []).append(decision.decision_id)
        self.events: dict[str, Record] = {}
        self.mentions: dict[str, Record] = {}
        self.notes: dict[str, Record] = {}
        self.edges: dict[str, list[str]] = {}

    def event(self, event: Event) -> str:
        """The id of an event, whose record, with those of its evidence, is then part of the proof."""
        if event.event_id not in self.events:
            self.events[event.event_id] = self._event(event)
            for mention_id in event.evidence:
                self._add_mention(mention_id)
        return event.event_id

    def path(self, concept: str, ancestors: Iterable[str]) -> list[str]:
        """The edges of the shortest way up from a concept to the nearest of ``ancestors`` (none if it is one)."""
        wanted = set(ancestors)
        ways: dict[str, list[str]] = {concept: []}
        waiting = [concept]
        for at in waiting:
            if at in wanted:
                return ways[at]
            for parent in self._concepts.parents(at) if at in self._concepts else ():
                if parent not in ways:
                    edge = edge_id(at, parent)
                    self.edges[edge] = [at, parent]
                    ways[parent] = [*ways[at], edge]
                    waiting.append(parent)
        return []

    def as_dict(self, used: Iterable[str]) -> Record:
        """The four tables; of the edges those in ``used``."""
        return {
            "events": self.events,
            "mentions": self.mentions,
            "notes": self.notes,
            "edges": {edge: self.edges[edge] for edge in sorted(set(used))},
        }

    def _event(self, event: Event) -> Record:
        midpoint = event.day.midpoint if event.day.known else None
        return {
            "kind": event.kind,
            "concept": event.concept,
            "day": days_of(event.day),
            "midpoint": None if midpoint is None else datetime.date.fromordinal(midpoint).isoformat(),
            "end": None if event.end is None else days_of(event.end),
            "dated_by": next(
                (one for one in event.evidence if one in self._mentions and self._mentions[one].day == event.day), None
            ),
            "attributes": dict(event.attributes),
            "context": _context(event.context),
            "world": event.world.name.lower(),
            "tumor": event.tumor,
            "tumor_rule": event.tumor_rule,
            "sources": event.sources,
            "anchors": list(event.anchors),
            "evidence": list(event.evidence),
            "decisions": self._decisions.get(event.event_id, []),
        }

    def _add_mention(self, mention_id: str) -> None:
        mention = self._mentions.get(mention_id)
        if mention is None or mention_id in self.mentions:
            return
        note = self._notes.get(mention.note_id)
        if note is not None:
            self.note(note)
        self.mentions[mention_id] = {
            "note": mention.note_id,
            "start": mention.start,
            "end": mention.end,
            "text": mention.text,
            "kind": mention.kind,
            "concept": mention.concept,
            "attributes": dict(mention.attributes),
            "context": _context(mention.context),
            "day": days_of(mention.day),
            "dated_by": _dated_by(mention, note),
            "source": mention.source,
            "section": mention.section,
            "sentence": list(mention.sentence),
            "cues": [_cue(cue, note) for cue in mention.cues],
        }
        if mention.model:
            self.mentions[mention_id]["probability"] = mention.confidence

    def note(self, note: Note) -> str:
        """The id of a note, whose record is then part of the proof."""
        self.notes[note.note_id] = {
            "doc_id": note.doc_id,
            "date": None if note.date is None else note.date.isoformat(),
            "type": note.type,
            "title": note.title,
            "length": len(note.text),
            "sha256": note.sha256,
        }
        return note.note_id


def _context(context: Context) -> dict[str, str]:
    return {
        "polarity": str(context.polarity),
        "temporality": str(context.temporality),
        "experiencer": str(context.experiencer),
        "reason": context.reason,
    }


def _cue(cue: Cue, note: Note | None) -> Record:
    return {
        "start": cue.start,
        "end": cue.end,
        "rule": cue.rule,
        "text": "" if note is None else note.text[cue.start : cue.end],
    }


def _dated_by(mention: Mention, note: Note | None) -> str:
    """What gave the mention its day: the place of a cue that is a date, the note's own date, or nothing."""
    for position, cue in enumerate(mention.cues):
        if cue.rule.startswith("date:"):
            return f"cue {position}"
    return "note" if mention.day.known and note is not None and note.date is not None else "nothing"
