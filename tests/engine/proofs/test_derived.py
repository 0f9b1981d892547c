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


BREAST = (
    "DIAGNOSIS: A. Breast, left, mastectomy: invasive ductal carcinoma. B. Sentinel node, left: one benign lymph node. "
    "C. Axillary contents, left: 3 of 14 lymph nodes. SYNOPTIC REPORT. Lymph nodes: 1/1 palpable."
)


@pytest.fixture(scope="module")
def counted() -> SimpleNamespace:
    """The record of one patient whose nodes are counted station by station."""
    concepts = shipped_concepts()
    note = Note("P1", "D1", BREAST, datetime.date(2012, 5, 4), "pathology")
    journey = build_journey("P1", [NoteReader(concepts).read(note)], concepts)
    return SimpleNamespace(
        events={event.event_id: event for event in journey.events},
        mentions={mention.mention_id: mention for mention in journey.mentions},
        notes={note.note_id: SimpleNamespace(note=note)},
    )


def faults_of_total(record: Any, change: Callable[[Event, Any], Event] = lambda event, _: event) -> list[str]:
    """What the checker finds of the total of a record, changed."""
    total = next(event for event in record.events.values() if event.attributes.get("rule") == "sum_of_stations")
    findings = Findings()
    DerivedCheck(EvidenceCheck(record, shipped_concepts(), findings)).event(change(total, record))
    return [f"{fault.check}: {fault.message}" for fault in findings.faults]


def _told_again(event: Event, record: Any) -> Event:
    """The total with the count of the synopsis beside that of its station."""
    again = next(
        (one, mention)
        for one in record.events.values()
        for mention in one.evidence
        if one.kind == "node"
        and "rule" not in one.attributes
        and BREAST[record.mentions[mention].start :].startswith("1/1")
    )
    premises = " ".join(sorted({*str(event.attributes["premises"]).split(), again[0].event_id}))
    return _changed(
        event,
        attributes={**event.attributes, "premises": premises, "positive": 4.0, "examined": 16.0},
        evidence=(*event.evidence, again[1]),
    )


def test_a_total_of_stations_holds(counted: SimpleNamespace) -> None:
    assert faults_of_total(counted) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda event, _: _with(event, positive=4.0), "add up to something else"),
        (lambda event, _: _with(event, examined=16.0), "add up to something else"),
        (lambda event, _: _with(event, premises="0123456789abcdef"), "a premise is not recorded"),
        (lambda event, _: _changed(event, evidence=event.evidence[:1]), "other words than counts"),
        (lambda event, _: _changed(event, evidence=(event.evidence[1],) * 2), "not among what it cites"),
        (lambda event, _: _changed(event, evidence=event.evidence[::-1]), "stand in no order"),
        (lambda event, _: _changed(event, tumor="another"), "of another tumor"),
        (lambda event, _: _changed(event, kind="feature"), "concludes something else"),
        (lambda event, _: _changed(event, concept="hilar_lymph_node"), "no count of such nodes"),
        (_told_again, "may be of the same nodes"),
    ],
)
def test_a_changed_total_fails(counted: SimpleNamespace, change: Callable[[Event, Any], Event], says: str) -> None:
    assert any(says in fault for fault in faults_of_total(counted, change))


def test_a_total_fails_beside_a_count_as_great(counted: SimpleNamespace) -> None:
    """What the report states itself is not derived."""
    given, greater = next(
        (event_id, _with(event, positive=3.0, examined=15.0))
        for event_id, event in counted.events.items()
        if event.attributes.get("examined") == 14.0
    )
    record = SimpleNamespace(**{**vars(counted), "events": {**counted.events, given + "0": greater}})
    assert "derivation: the report states a count as great itself" in faults_of_total(record)
