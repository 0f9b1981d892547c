"""Which tumor each fact of a patient with several primaries is of, and by which rule.

``patients.toml`` holds the patients and what must come; its head says how.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohortium.kb.model import ALL_TUMORS, NO_TUMOR, Event, Journey

PATIENTS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "patients.toml").read_text("utf-8"))["patient"]
REACHED = [entry for entry in PATIENTS if "gap" not in entry]
_KEYS = {"name", "facts", "tumors", "of", "rule", "gap"}


def events_of(journey: Journey, number: int) -> list[Event]:
    """The events that a fact, by its number, is evidence of."""
    notes = {note.note_id for note in journey.notes if note.doc_id.split(" of ")[0] == f"fact {number}"}
    mentions = {mention.mention_id for mention in journey.mentions if mention.note_id in notes}
    return [event for event in journey.events if mentions & set(event.evidence)]


def told(journey: Journey) -> str:
    """The events in words, so that a failure can be read."""
    return "\n".join(
        f"{event.kind} {event.concept} {event.world.name} {dict(event.attributes)} tumor={event.tumor} "
        f"rule={event.tumor_rule}"
        for event in journey.events
    )


@pytest.mark.parametrize("entry", PATIENTS, ids=[entry["name"] for entry in PATIENTS])
def test_patient(entry: dict[str, Any], journey_of: Callable[..., Journey]) -> None:
    """The facts of the patient are of the tumors that the entry names, by the rules that it names."""
    facts = [{key: value for key, value in fact.items() if key != "is"} for fact in entry["facts"]]
    journey = journey_of(facts)
    if "gap" not in entry:
        check(entry, journey)
        return
    with pytest.raises(AssertionError):
        check(entry, journey)


@pytest.mark.parametrize("entry", REACHED, ids=[entry["name"] for entry in REACHED])
def test_order_of_facts_changes_nothing(entry: dict[str, Any], journey_of: Callable[..., Journey]) -> None:
    """Whatever the order in which the facts are written down, they are of the same tumors, by the same rules."""
    backwards = {**entry, "facts": entry["facts"][::-1]}
    check(backwards, journey_of([{key: fact[key] for key in fact if key != "is"} for fact in backwards["facts"]]))


def check(entry: dict[str, Any], journey: Journey) -> None:
    """AssertionError where a fact is of another tumor."""
    assert entry.keys() <= _KEYS
    events = {fact["is"]: events_of(journey, number) for number, fact in enumerate(entry["facts"], 1)}
    roots = {
        name: next(event.tumor for event in found if event.kind == "diagnosis")
        for name, found in events.items()
        if any(event.kind == "diagnosis" for event in found)
    }
    for name, wanted in entry["of"].items():
        assert events[name], f"{name} makes no event:\n{told(journey)}"
        tumor = {"*": ALL_TUMORS, "": NO_TUMOR}.get(wanted) if wanted in ("*", "") else roots[wanted]
        assert wanted == "" or tumor
        assert {event.tumor for event in events[name]} == {tumor}, f"{name} is not of {wanted}:\n{told(journey)}"
    for name, rule in entry.get("rule", {}).items():
        assert {event.tumor_rule for event in events[name]} == {rule}, f"{name}, rule {rule}:\n{told(journey)}"
    if "tumors" in entry:
        assert len({event.tumor for event in journey.events if event.tumor_rule == 0}) == entry["tumors"], told(journey)


def test_every_rule_is_tried() -> None:
    """There is a patient for each of the five rules, and names of facts are told apart."""
    assert {rule for entry in PATIENTS for rule in entry.get("rule", {}).values()} == {1, 2, 3, 4, 5}
    for entry in PATIENTS:
        names = [fact["is"] for fact in entry["facts"]]
        assert len(set(names)) == len(names)
        assert {*entry["of"], *entry.get("rule", {})} <= set(names), entry["name"]
