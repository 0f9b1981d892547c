"""Ways to forge the record under a proof: rows changed alone, or whole journeys whose ids and digests fit again."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Final

from cohortium.kb.model import Cue, DayInterval, Event, Journey, Mention, Note, Polarity, Temporality, World


@dataclass(frozen=True)
class Target:
    """What of a patient's record a proof relies on: the event that is chosen first, its mention and note."""

    event: Event
    mention: Mention
    note: Note

    @property
    def is_named(self) -> bool:
        """Whether the mention was found by a name of the event's concept, other than the preferred one, which the
        concept itself has."""
        source, _, name = self.mention.source.partition(":")
        is_preferred = name.lower() == self.event.concept.replace("_", " ")
        # "Basal cell carcinoma, nodular type" is found by the name of a concept above.
        is_turned = any(cue.rule == "inverted name" for cue in self.mention.cues)
        is_own = source == "lexicon" and self.mention.concept == self.event.concept
        return is_own and not is_preferred and not is_turned


Forger = Callable[[Journey, Target, Random], Journey | None]


def rewired(
    journey: Journey,
    notes: Mapping[str, Note] = MappingProxyType({}),
    mentions: Callable[[Mention], Mention] = lambda mention: mention,
    events: Callable[[Event], Event | None] = lambda event: event,
) -> Journey:
    """The journey with notes (by id), mentions and events changed, and every id that follows from them made anew."""
    moved = [(mention, mentions(mention)) for mention in journey.mentions]
    moved = [
        (old, replace(new, note_id=notes[old.note_id].note_id) if old.note_id in notes else new) for old, new in moved
    ]
    ids = {old.mention_id: new.mention_id for old, new in moved}
    changed = []
    for event in journey.events:
        other = events(event)
        if other is not None:
            changed.append((event, replace(other, evidence=tuple(ids.get(one, one) for one in other.evidence))))
    renamed = {old.event_id: new.event_id for old, new in changed}
    return Journey(
        journey.patient_id,
        tuple(notes.get(note.note_id, note) for note in journey.notes),
        tuple(new for _, new in moved),
        tuple(
            replace(
                relation,
                note_id=notes[relation.note_id].note_id if relation.note_id in notes else relation.note_id,
                head=ids.get(relation.head, relation.head),
                tail=ids.get(relation.tail, relation.tail),
            )
            for relation in journey.relations
        ),
        tuple({new.event_id: new for _, new in changed}.values()),
        tuple(
            replace(
                decision,
                believed=tuple(renamed.get(one, one) for one in decision.believed),
                rejected=tuple(renamed.get(one, one) for one in decision.rejected),
            )
            for decision in journey.decisions
        ),
    )


def _mention(change: Callable[[Mention], Mention | None]) -> Forger:
    def forge(journey: Journey, target: Target, random: Random) -> Journey | None:
        other = change(target.mention)
        if other is None or other == target.mention:
            return None
        return rewired(journey, mentions=lambda one: other if one.mention_id == target.mention.mention_id else one)

    return forge


def _event(change: Callable[[Event], Event | None]) -> Forger:
    def forge(journey: Journey, target: Target, random: Random) -> Journey | None:
        try:
            other = change(target.event)
        except ValueError:
            return None  # No such event can be: a planned one is in no world.
        if other is None or other == target.event:
            return None
        return rewired(journey, events=lambda one: other if one.event_id == target.event.event_id else one)

    return forge


def _both(change: Callable[[Any], Any]) -> Forger:
    """The same change of the event and of all mentions that it cites."""

    def forge(journey: Journey, target: Target, random: Random) -> Journey | None:
        cited = set(target.event.evidence)
        try:
            change(target.event)
        except ValueError:
            return None
        return rewired(
            journey,
            mentions=lambda one: change(one) if one.mention_id in cited else one,
            events=lambda one: change(one) if one.event_id == target.event.event_id else one,
        )

    return forge


def _inserted(words: str) -> Forger:
    """Words put before the mention, everything behind them moved, and nothing read anew."""

    def forge(journey: Journey, target: Target, random: Random) -> Journey | None:
        note, at = target.note, target.mention.start
        text = note.text[:at] + words + note.text[at:]

        def moved(mention: Mention) -> Mention:
            if mention.note_id != note.note_id:
                return mention
            start, end = _pushed(mention.start, mention.end, at, len(words))
            first, last = mention.sentence
            return replace(
                mention,
                start=start,
                end=end,
                text=text[start:end],
                sentence=(first + len(words) * (first > at), last + len(words) * (last > at)),
                cues=tuple(Cue(*_pushed(cue.start, cue.end, at, len(words)), cue.rule) for cue in mention.cues),
            )

        return rewired(journey, {note.note_id: replace(note, text=text)}, moved)

    return forge


def _pushed(start: int, end: int, at: int, by: int) -> tuple[int, int]:
    return start + by * (start >= at), end + by * (end > at)


def _shifted(day: DayInterval) -> DayInterval:
    return DayInterval(day.low - 400, day.high - 400) if day.known and day.low > 700_000 else day


def _dropped(journey: Journey, target: Target, random: Random) -> Journey | None:
    """The event is not recorded at all."""
    return rewired(journey, events=lambda one: None if one.event_id == target.event.event_id else one)


def _note_removed(journey: Journey, target: Target, random: Random) -> Journey | None:
    return replace(journey, notes=tuple(note for note in journey.notes if note.note_id != target.note.note_id))


def _made_present(one: Any) -> Any:
    told = replace(one.context, polarity=Polarity.PRESENT, temporality=Temporality.CURRENT, reason="none")
    if isinstance(one, Event):
        return replace(one, context=told, world=World.CERTAIN)
    return replace(one, context=told)


def _without_cues(one: Any) -> Any:
    return _made_present(replace(one, cues=()) if isinstance(one, Mention) else one)


#: What is forged in a record so that all ids and digests fit again, by family.
FORGERS: Final[Mapping[str, Mapping[str, Forger]]] = {
    "span": {
        "start and end shifted": _mention(lambda one: replace(one, start=one.start + 1, end=one.end + 1)),
        "text changed": _mention(lambda one: replace(one, text=one.text[::-1])),
    },
    "cue": {
        "negation inserted": _inserted("no evidence of "),
        "relative inserted": _inserted("her mother had "),
        "cues removed": _mention(lambda one: replace(one, cues=())),
        "cue moved": _mention(
            lambda one: replace(one, cues=tuple(Cue(cue.start + 2, cue.end + 2, cue.rule) for cue in one.cues))
        ),
        "context flipped": _mention(
            lambda one: replace(one, context=replace(one.context, polarity=Polarity.ABSENT))
        ),
    },
    "date": {
        "event day moved": _event(lambda one: replace(one, day=_shifted(one.day))),
        "day moved in event and mentions": _both(lambda one: replace(one, day=_shifted(one.day))),
        "note date moved": lambda journey, target, random: None if target.note.date is None else rewired(
            journey, {target.note.note_id: replace(target.note, date=target.note.date - datetime.timedelta(days=500))}
        ),
    },
    "edge": {
        "concept of the mention replaced": _mention(lambda one: replace(one, concept="hair_loss_")),
        "concept of both replaced": _both(lambda one: replace(one, concept="death")),
    },
    "note": {
        "words of the note changed": lambda journey, target, random: rewired(
            journey, {target.note.note_id: replace(target.note, text=_blanked(target))}
        ),
        "note removed": _note_removed,
    },
    "event": {
        "attribute changed": _event(
            lambda one: replace(one, attributes={**one.attributes, "percent": 77.0, "grade": "G4"})
        ),
        "kind changed": _event(
            lambda one: replace(one, kind="comorbidity" if one.kind != "comorbidity" else "symptom")
        ),
        "tumor changed": _event(lambda one: replace(one, tumor="0123456789abcdef", tumor_rule=1)),
        "evidence dangling": _event(lambda one: replace(one, evidence=("0123456789abcdef",))),
        "more sources": _event(lambda one: replace(one, sources=one.sources + 9)),
        "event dropped": _dropped,
    },
    "world": {
        "world lowered": _event(lambda one: replace(one, world=World.POSSIBLE)),
        "world lowered to none": _event(lambda one: replace(one, world=World.NONE)),
    },
}  # fmt: skip

#: What makes a fact out of what is no fact: an event that a patient has and that is in no world.
RAISERS: Final[Mapping[str, Mapping[str, Forger]]] = {
    "world": {
        "world raised": _event(lambda one: replace(one, world=World.CERTAIN) if _own(one) else None),
    },
    "cue": {
        "context made present": _both(_made_present),
        "context made present, cues removed": _both(_without_cues),
    },
}  # fmt: skip


def _own(event: Event) -> bool:
    return event.context.experiencer == "patient" and event.context.temporality in ("current", "historical")


def _blanked(target: Target) -> str:
    text, mention = target.note.text, target.mention
    return text[: mention.start] + "x" * (mention.end - mention.start) + text[mention.end :]


#: Statements that change one row of a patient and nothing else. $1: the id of what is changed.
ROW_CHANGES: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "span": {
        "start moved": ("mention", "UPDATE mention SET span_start = span_start + 1 WHERE mention_id = $1"),
        "text changed": ("mention", "UPDATE mention SET text = text || 's' WHERE mention_id = $1"),
        "sentence moved": ("mention", "UPDATE mention SET sentence_start = sentence_start + 1 WHERE mention_id = $1"),
    },
    "cue": {
        "cues removed": ("cued", "UPDATE mention SET cues = [] WHERE mention_id = $1"),
        "polarity flipped": (
            "mention",
            "UPDATE mention SET polarity = CASE polarity WHEN 'present' THEN 'absent' ELSE 'present' END"
            " WHERE mention_id = $1",
        ),
        "experiencer changed": ("mention", "UPDATE mention SET experiencer = 'family' WHERE mention_id = $1"),
    },
    "date": {
        "event day moved": ("event", "UPDATE event SET low = low - 1, high = high - 1 WHERE event_id = $1"),
        "mention day moved": ("mention", "UPDATE mention SET low = low - 1, high = high - 1 WHERE mention_id = $1"),
        "note date moved": ("note", "UPDATE note SET date = date - 1 WHERE note_id = $1"),
    },
    "edge": {
        "concept of the event": ("event", "UPDATE event SET concept = 'death' WHERE event_id = $1"),
        "concept of the mention": ("mention", "UPDATE mention SET concept = 'death' WHERE mention_id = $1"),
    },
    "note": {
        "text changed": ("note", "UPDATE note SET text = replace(text, 'a', 'e') WHERE note_id = $1"),
        "hash changed": ("note", "UPDATE note SET sha256 = reverse(sha256) WHERE note_id = $1"),
        "note removed": ("note", "DELETE FROM note WHERE note_id = $1"),
        "superseded": ("note", "UPDATE note SET status = 'superseded' WHERE note_id = $1"),
    },
    "event": {
        "kind changed": ("event", "UPDATE event SET kind = 'lab' WHERE event_id = $1"),
        "tumor changed": ("event", "UPDATE event SET tumor = 'other' WHERE event_id = $1"),
        "attribute changed": (
            "attributed",
            "UPDATE event_attribute SET text = 'other', number = NULL, form = 'text'"
            " WHERE position = 0 AND event = (SELECT event FROM event WHERE event_id = $1)",
        ),
        "evidence dangling": (
            "event",
            "UPDATE evidence SET mention_id = '0123456789abcdef'"
            " WHERE position = 0 AND event = (SELECT event FROM event WHERE event_id = $1)",
        ),
        "event removed": ("event", "DELETE FROM event WHERE event_id = $1"),
    },
    "world": {
        "world lowered": ("event", "UPDATE event SET world = CASE world WHEN 1 THEN 0 ELSE 1 END WHERE event_id = $1"),
        "context changed": ("event", "UPDATE event SET polarity = 'uncertain' WHERE event_id = $1"),
    },
}
