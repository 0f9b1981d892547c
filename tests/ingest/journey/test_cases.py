"""Journeys of small records: what is taken back, corrected, told apart, linked, weighed, folded, and in which world.

``cases.toml`` holds the records and what each must give; its head says how.
"""

from __future__ import annotations

import datetime
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.text.dates.intervals import days_text
from cohortium.kb.model import ALL_TUMORS, NO_TUMOR, Event, Journey, Note, World

CASES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "cases.toml").read_text("utf-8"))["case"]
_KEYS = {"name", "gap", "notes", "holds", "never", "tumors", "together", "apart", "decisions", "count"}
_TUMORS = {"all": ALL_TUMORS, "none": NO_TUMOR}


def notes_of(case: dict[str, Any]) -> list[Note]:
    """The notes of a case, in its order."""
    return [
        Note(
            "P1",
            f"N{number}",
            note["text"],
            datetime.date.fromisoformat(note["date"]) if "date" in note else None,
            note.get("type", ""),
            note.get("title", ""),
        )
        for number, note in enumerate(case["notes"])
    ]


def journey_of(notes: list[Note]) -> Journey:
    """The journey of the notes, in the order given."""
    reader = shared_reader()
    return build_journey("P1", [reader.read(note) for note in notes], reader.concepts)


def matching(journey: Journey, wanted: str) -> list[Event]:
    """The events that a line of ``cases.toml`` describes."""
    kind, concept, *rest = wanted.split()
    asked = dict(part.split("=", 1) for part in rest)
    return [event for event in journey.events if event.kind == kind and _fits(event, concept, dict(asked))]


def _fits(event: Event, concept: str, asked: dict[str, str]) -> bool:
    concepts = shared_reader().concepts
    if concept not in ("-", event.concept) and not concepts.is_a(event.concept, concept):
        return False
    world = asked.pop("world", "")
    if world and event.world is not World[world.upper()] or not world and event.world < World.BELIEVED:
        return False
    first_day = datetime.date.fromordinal(event.day.low).isoformat()
    facts: dict[str, object] = {
        "day": first_day if event.day.low == event.day.high else "",
        "sources": event.sources,
        "rule": event.tumor_rule,
        "assertion": event.context.assertion,
        "end": "" if event.end is None else days_text(event.end),
    }
    if "tumor" in asked and event.tumor != _TUMORS[asked.pop("tumor")]:
        return False
    for name, value in asked.items():
        got = facts[name] if name in facts else event.attributes.get(name, "")
        shown = f"{got:g}" if isinstance(got, float) else str(got)
        if shown != value and not (name == "result" and concepts.is_a(shown, value)):
            return False
    return True


def told(journey: Journey) -> str:
    """The events in words, so that a failure can be read."""
    return "\n".join(
        f"{event.kind} {event.concept} {event.world.name} {event.context.assertion} {dict(event.attributes)} "
        f"day={event.day.low}-{event.day.high} tumor={event.tumor} rule={event.tumor_rule} sources={event.sources}"
        for event in journey.events
    )


def tumors_of(journey: Journey, wanted: str) -> set[str]:
    """The tumors that the events of a line hang on; there is at least one such event."""
    events = matching(journey, wanted)
    assert events, f"{wanted} is not there:\n{told(journey)}"
    return {event.tumor for event in events}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_journey(case: dict[str, Any]) -> None:
    """The record gives the events, tumors and decisions that the case names, unless it is a known gap."""
    if "gap" not in case:
        check(case)
        return
    with pytest.raises(AssertionError):
        check(case)


def check(case: dict[str, Any]) -> None:
    """AssertionError where the journey is not what the case names."""
    assert case.keys() <= _KEYS
    journey = journey_of(notes_of(case))
    for wanted in case.get("holds", ()):
        assert matching(journey, wanted), f"{wanted} is not there:\n{told(journey)}"
    for wanted in case.get("never", ()):
        assert not matching(journey, wanted), f"{wanted} is there:\n{told(journey)}"
    if "tumors" in case:
        roots = {event.tumor for event in journey.events if event.kind == "diagnosis" and event.tumor_rule == 0}
        assert len(roots) == case["tumors"], told(journey)
    for one, other in case.get("together", ()):
        assert tumors_of(journey, one) & tumors_of(journey, other), told(journey)
    for one, other in case.get("apart", ()):
        assert not tumors_of(journey, one) & tumors_of(journey, other), told(journey)
    for entry in case.get("count", ()):
        assert len(matching(journey, entry["event"])) == entry["number"], told(journey)
    rules = {decision.rule for decision in journey.decisions}
    assert rules == set(case.get("decisions", ())), told(journey)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_order_of_notes_changes_nothing(case: dict[str, Any]) -> None:
    """Whatever the order in which the notes come, the journey is the same, to the last id."""
    notes = notes_of(case)
    journey = journey_of(notes)
    for seed in range(3):
        shuffled = random.Random(seed).sample(notes, len(notes))
        assert journey_of(shuffled) == journey
    assert journey_of(notes[::-1]) == journey


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_event_cites_mentions_of_the_record(case: dict[str, Any]) -> None:
    """Each event has evidence, each piece of it a mention of one of the notes; each decision is between events."""
    journey = journey_of(notes_of(case))
    known = {mention.mention_id for mention in journey.mentions}
    assert all(event.evidence and set(event.evidence) <= known for event in journey.events)
    events = {event.event_id for event in journey.events}
    assert all({*decision.believed, *decision.rejected} <= events for decision in journey.decisions)
    assert all(decision.rejected for decision in journey.decisions)
