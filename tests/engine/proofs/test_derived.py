"""The checker applies the rule of a derived event again: intact it holds, and each change makes it fail."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from cohortium.engine.proofs.checker.derived import DerivedCheck
from cohortium.engine.proofs.checker.evidence import EvidenceCheck
from cohortium.engine.proofs.checker.faults import Findings
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import DayInterval, Event, Note, Polarity, World
from cohortium.kb.ontology.concepts import shipped_concepts

REPORT = (
    "Left kidney, radical nephrectomy: clear cell renal cell carcinoma, Fuhrman grade 2. Tumor size: 4.5 cm. "
    "Tumor is confined to the kidney. Nine lymph nodes, all negative (0/9)."
)
Events = Mapping[str, Event]


@pytest.fixture(scope="module")
def events() -> Events:
    """Those of one patient, by id."""
    concepts = shipped_concepts()
    note = Note("P1", "D1", REPORT, datetime.date(2012, 5, 4), "pathology")
    journey = build_journey("P1", [NoteReader(concepts).read(note)], concepts)
    return {event.event_id: event for event in journey.events}


def faults(events: Events, event: Event) -> list[str]:
    """What the checker finds of a derived event."""
    stored = SimpleNamespace(note=SimpleNamespace(text=REPORT))
    record: Any = SimpleNamespace(events=events, notes={"D1": stored})
    findings = Findings()
    DerivedCheck(EvidenceCheck(record, shipped_concepts(), findings)).event(event)
    return [f"{fault.check}: {fault.message}" for fault in findings.faults]


def the_t(events: Events) -> Event:
    return next(event for event in events.values() if "rule" in event.attributes and "t" in event.attributes)


def test_what_the_rules_give_holds(events: Events) -> None:
    made = [event for event in events.values() if "rule" in event.attributes]
    assert {"t", "n"} <= {name for event in made for name in event.attributes}
    assert not [fault for event in made for fault in faults(events, event)]


def _with(event: Event, **attributes: object) -> Event:
    return _changed(event, attributes={**event.attributes, **attributes})


def _changed(event: Event, **fields: object) -> Event:
    names = (
        "patient_id kind concept day end attributes context world tumor tumor_rule evidence sources anchors confidence"
    ).split()
    return Event(**{**{name: getattr(event, name) for name in names}, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda event: _with(event, t="T2"), "its rule concludes something else"),
        (lambda event: _with(event, rule="kidney_t3a_perinephric"), "no premise gives"),
        (lambda event: _with(event, rule="no_such_rule"), "there is none of"),
        (lambda event: _with(event, edition=3.0), "not of that edition"),
        (lambda event: _with(event, edition=8.0), "edition"),
        (lambda event: _with(event, premises="0123456789abcdef"), "a premise is not recorded"),
        (lambda event: _changed(event, evidence=event.evidence[:1]), "other words than its premises"),
        (lambda event: _changed(event, tumor="another"), "of another tumor"),
        (
            lambda event: _changed(event, day=DayInterval(event.day.low + 1, event.day.high + 1)),
            "the day of no premise",
        ),
    ],
)
def test_a_changed_conclusion_fails(events: Events, change: Callable[[Event], Event], says: str) -> None:
    assert any(says in fault for fault in faults(events, change(the_t(events))))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("feature", lambda event: _with(event, value=90.0)),
        ("extension", lambda event: _with(event, reach="into")),
        (
            "extension",
            lambda event: _changed(event, context=replace(event.context, polarity=Polarity.ABSENT), world=World.NONE),
        ),
    ],
)
def test_a_changed_premise_fails(events: Events, kind: str, change: Callable[[Event], Event]) -> None:
    """The premise is changed in the record, under the id that the conclusion names."""
    event = the_t(events)
    named = str(event.attributes["premises"]).split()
    premise = next(one for one in named if events[one].kind == kind)
    assert faults({**events, premise: change(events[premise])}, event)


def test_a_less_sure_premise_makes_a_sure_conclusion_fail(events: Events) -> None:
    event = the_t(events)
    premise = str(event.attributes["premises"]).split()[0]
    doubted = _changed(
        events[premise],
        context=replace(events[premise].context, polarity=Polarity.UNCERTAIN),
        world=World.POSSIBLE,
    )
    assert "world: it is surer than what it follows from" in faults({**events, premise: doubted}, event)
