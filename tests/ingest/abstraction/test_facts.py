"""Single facts in the wording of people: the events that each makes, and those that it must not make.

``facts.toml`` holds the facts and what each must give; its head says how.
"""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cohortium.ingest.abstraction.records import Abstraction, read_abstractions
from cohortium.ingest.abstraction.structure import ASSERTIONS, KINDS
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.kinds import KINDS as EVENT_KINDS
from cohortium.kb.model import DayInterval, Event, Journey, World
from cohortium.query_lang.resolution.findings import SECTIONS, findings

FACTS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "facts.toml").read_text("utf-8"))["fact"]
_WRITTEN = ("kind", "concept", "value", "attributes", "date", "end_date", "assertion")
_KEYS = {"name", *_WRITTEN, "holds", "never", "count", "resolved", "gap"}

Made = tuple[str, Journey]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, abstractor: Any, write: Any) -> dict[str, Made]:
    """For each fact by name, by itself in a patient of its own: how far it was resolved, and the journey."""
    patients = [
        {"patient_id": entry["name"], "facts": [{key: entry[key] for key in _WRITTEN if key in entry}]}
        for entry in FACTS
    ]
    found: dict[str, Made] = {}
    for record in read_abstractions(write(tmp_path_factory.mktemp("facts") / "facts.jsonl", patients)):
        assert isinstance(record, Abstraction), record
        (read,), journey = abstractor.read(record)
        found[record.patient_id] = (read.resolved, journey)
    return found


def matching(journey: Journey, wanted: str) -> list[Event]:
    """The events that a line of ``facts.toml`` describes."""
    kinds, concept, *rest = wanted.split()
    asked = dict(part.split("=", 1) for part in rest)
    return [event for event in journey.events if event.kind in kinds.split("/") and _fits(event, concept, dict(asked))]


def _fits(event: Event, concept: str, asked: dict[str, str]) -> bool:
    concepts = shared_reader().concepts
    if concept not in ("-", event.concept) and not (
        event.concept in concepts and concepts.is_a(event.concept, concept)
    ):
        return False
    world = asked.pop("world", "")
    if world and event.world is not World[world.upper()] or not world and event.world < World.BELIEVED:
        return False
    told = {
        "assertion": event.context.assertion,
        "experiencer": str(event.context.experiencer),
        "reason": event.context.reason,
        "day": _days(event.day),
        "end": _days(event.end),
    }
    for name, value in asked.items():
        got = told[name] if name in told else event.attributes.get(name, "")
        shown = f"{got:g}" if isinstance(got, float) else str(got)
        if shown != value and (name in told or not _below(name, shown, value)):
            return False
    return True


def _below(attribute: str, shown: str, value: str) -> bool:
    """Whether a value is a kind of another: of a result, or of an alteration or its like."""
    concepts = shared_reader().concepts
    if attribute in SECTIONS:
        return shown in findings()[attribute].below[value]
    return shown in concepts and value in concepts and concepts.is_a(shown, value)


def _days(days: DayInterval | None) -> str:
    if days is None or not days.known:
        return ""
    return "..".join(datetime.date.fromordinal(day).isoformat() for day in (days.low, days.high))


def told(journey: Journey) -> str:
    """The events in words, so that a failure can be read."""
    return "\n".join(
        f"{event.kind} {event.concept} {event.world.name} {event.context.assertion} {event.context.experiencer} "
        f"{event.context.reason} {dict(event.attributes)} day={_days(event.day)} end={_days(event.end)}"
        for event in journey.events
    )


@pytest.mark.parametrize("entry", FACTS, ids=[entry["name"] for entry in FACTS])
def test_fact(entry: dict[str, Any], made: dict[str, Made]) -> None:
    """The fact makes the events that its entry names and none that it rules out, unless it is a known gap."""
    if "gap" not in entry:
        check(entry, made)
        return
    with pytest.raises(AssertionError):
        check(entry, made)


def check(entry: dict[str, Any], made: dict[str, Made]) -> None:
    """AssertionError where the journey is not what the entry names."""
    resolved, journey = made[entry["name"]]
    for wanted in entry.get("holds", ()):
        assert matching(journey, wanted), f"{wanted} is not there:\n{told(journey)}"
    for wanted in entry.get("never", ()):
        assert not matching(journey, wanted), f"{wanted} is there:\n{told(journey)}"
    if "count" in entry:
        assert len(journey.events) == entry["count"], told(journey)
    assert entry.get("resolved", "yes") in (resolved, "any"), f"resolved: {resolved}"


def test_all_kinds_and_assertions_are_tried() -> None:
    """There are facts of every kind and assertion that an abstraction may hold, and each asks for something."""
    assert {entry["kind"] for entry in FACTS} == set(KINDS)
    assert {entry.get("assertion", "present") for entry in FACTS} == set(ASSERTIONS)
    assert len({entry["name"] for entry in FACTS}) == len(FACTS) >= 100
    assert all({"holds", "count"} & entry.keys() and entry.keys() <= _KEYS for entry in FACTS)


def test_expectations_are_spelled_right() -> None:
    """Each kind and concept that an entry names exists: a misspelled one would rule out nothing."""
    concepts = shared_reader().concepts
    for entry in FACTS:
        for wanted in (*entry.get("holds", ()), *entry.get("never", ())):
            kinds, concept, *rest = wanted.split()
            assert set(kinds.split("/")) <= set(EVENT_KINDS), wanted
            assert concept == "-" or concept in concepts, wanted
            results = [part.removeprefix("result=") for part in rest if part.startswith("result=")]
            assert all(result in concepts for result in results), wanted
            alterations = [part.removeprefix("alteration=") for part in rest if part.startswith("alteration=")]
            assert all(one in findings()["alteration"].below for one in alterations), wanted


def test_every_event_cites_the_fact(made: dict[str, Made]) -> None:
    """Each event has evidence, and each mention is a span of the line that its fact became."""
    for name, (_, journey) in made.items():
        mentions = {mention.mention_id: mention for mention in journey.mentions}
        notes = {note.note_id: note for note in journey.notes}
        for event in journey.events:
            assert event.evidence, name
            assert set(event.evidence) <= mentions.keys(), name
        for mention in mentions.values():
            assert notes[mention.note_id].text[mention.start : mention.end] == mention.text, name
