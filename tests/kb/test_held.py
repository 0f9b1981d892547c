"""Rows held in memory: the same tables, whether they are filtered in memory or by the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyroaring import BitMap

from cohortium.kb import store
from cohortium.kb.concepts import ConceptTable
from cohortium.kb.load import build_generation
from cohortium.kb.model import Journey, World
from cohortium.kb.scales import Scales
from cohortium.kb.store import KnowledgeBase

Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path, concepts: ConceptTable, scales: Scales) -> Build:
    """Builds a knowledge base with the small ontology."""

    def building(journeys: list[Journey]) -> Path:
        build_generation(tmp_path / "notes.kb", journeys, concepts=concepts, scales=scales)
        return tmp_path / "notes.kb"

    return building


EVENT_FILTERS = [
    (None, None, None),
    (["diagnosis"], None, None),
    (["biomarker", "diagnosis", "diagnosis"], None, BitMap([0, 1])),
    (None, ["her2", "unknown_concept"], None),
    (["diagnosis", "stage"], None, [1]),
    (["death"], ["breast_cancer"], BitMap()),
    ([], None, None),
]


@pytest.mark.parametrize("filters", EVENT_FILTERS)
def test_events_are_the_same_by_the_database(
    build: Build, journeys: list[Journey], monkeypatch: pytest.MonkeyPatch, filters: tuple
) -> None:
    """Kinds, concepts and patients select the same events in the same order on both ways."""
    with KnowledgeBase.open(build(journeys)) as kb:
        held = kb.event_table(*filters).to_pylist()
        monkeypatch.setattr(store, "MOST_EVENTS", -1)
        assert held == kb.event_table(*filters).to_pylist()


@pytest.mark.parametrize("names", [["result"], ["stage", "site", "result"], ["no_such_attribute"], []])
def test_attributes_are_the_same_by_the_database(
    build: Build, journeys: list[Journey], monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    """Events, listed once or twice and also unknown ones, and names select the same attributes on both ways."""
    with KnowledgeBase.open(build(journeys)) as kb:
        every = kb.event_table()["event"].to_pylist()
        asked = [None, every, [*every[::2], *every[:3], 10_000], []]
        held = [by_event(kb.attribute_table(events, names).to_pylist()) for events in asked]
        monkeypatch.setattr(store, "MOST_EVENTS", -1)
        assert held == [by_event(kb.attribute_table(events, names).to_pylist()) for events in asked]


def test_events_are_there_to_be_compared(build: Build, journeys: list[Journey]) -> None:
    """The filters of this file find something, and leave something out."""
    with KnowledgeBase.open(build(journeys)) as kb:
        sizes = [len(kb.event_table(*filters)) for filters in EVENT_FILTERS]
    assert 0 < sizes[1] < sizes[0]
    assert 0 < sizes[2] < sizes[0]
    assert sizes[5:] == [0, 0]


def test_tumors_with_the_highest_world_of_their_events(build: Build, journeys: list[Journey]) -> None:
    """A tumor is listed for its patient with the strongest world that an event of it is in; none is in no world."""
    expected: dict[tuple[str, str], int] = {}
    for journey in journeys:
        for event in journey.events:
            if event.tumor not in ("", "*") and event.world > World.NONE:
                key = journey.patient_id, event.tumor
                expected[key] = max(expected.get(key, 0), event.world)
    with KnowledgeBase.open(build(journeys)) as kb:
        rows = kb.tumor_table.to_pylist()
        found = {(kb.patients[row["patient"]], row["tumor"]): row["world"] for row in rows}
        assert [row["patient"] for row in rows] == sorted(row["patient"] for row in rows)
    assert expected
    assert found == expected


def by_event(rows: list[dict]) -> list[dict]:
    """In an order of their own: both ways give each event's attributes together, names in any order."""
    return sorted(rows, key=lambda row: (row["event"], row["name"]))


def test_filters_may_be_iterators(build: Build, journeys: list[Journey]) -> None:
    """What can be read only once filters every kind all the same."""
    with KnowledgeBase.open(build(journeys)) as kb:
        every = kb.event_table()
        concepts, patients = every["concept"].to_pylist(), range(len(kb.patients))
        assert kb.event_table(None, iter(concepts), iter(patients)).to_pylist() == every.to_pylist()
