"""The lists on disk, made of generated records, hold the patients that plain loops over the records find."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from pyroaring import BitMap

from cohortium.kb.index.arrays import ArrayFile
from cohortium.kb.index.columns import EVENTS, EventIndex
from cohortium.kb.index.lists import building
from cohortium.kb.index.lists.index_rows import IndexRows
from cohortium.kb.index.lists.listed import Listed
from cohortium.kb.index.lists.values import REST, limits
from cohortium.kb.kinds import KINDS
from cohortium.kb.model import Journey, World
from cohortium.kb.storage.layout import INDEX
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from tests.amounts import examples
from tests.generated import kb_strategies as small
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, SCALES


@pytest.fixture(scope="module", autouse=True)
def few_values() -> None:
    """Only the two commonest values of an attribute are listed, so that there are others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "limits", lambda: {**limits(), "most_values": 2, "least_share": 0.3, "most_told": 1})
        yield


@settings(max_examples=examples(12), deadline=None)
@given(records=small.records())
def test_lists_on_disk_are_those_of_plain_loops(records: list[Journey]) -> None:
    """By kind and concept, of a very concept, and by value; whether few or no bitmaps are shared by the entries."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.kb"
        build_generation(path, records, concepts=CONCEPTS, scales=SCALES)
        memory = MemoryKb(records, CONCEPTS, SCALES)
        with KnowledgeBase.open(path) as kb:
            _same_lists(kb.lists, memory)
            columns = EventIndex(ArrayFile(kb.database.parent / INDEX, EVENTS))
            for most_parts in (0, 1_000):
                again = Path(folder) / f"{most_parts}"
                again.mkdir()
                building.build_lists(IndexRows(columns), again, CONCEPTS, most_parts)
                _same_lists(Listed.of_folder(again), memory)


def _same_lists(lists: Listed, memory: MemoryKb) -> None:
    used = {event.concept for journey in memory.journeys for event in journey.events}
    wanted = {"", *used, *(one for concept in used if concept in CONCEPTS for one in CONCEPTS.above(concept))}
    for kind in KINDS:
        for concept in sorted(wanted):
            for world in World:
                expected = memory.posting(kind, concept, world)
                assert lists.patients(kind, concept, world) == expected
                assert lists.size(kind, concept, world) == len(expected)
                if concept:
                    assert lists.exact(kind, concept, world) == memory.lists.exact(kind, concept, world)
        _same_values(lists, memory, kind)


def _same_values(lists: Listed, memory: MemoryKb, kind: str) -> None:
    told = [event for journey in memory.journeys for event in journey.events if event.kind == kind]
    names = {name for event in told for name, value in event.attributes.items() if value != ""}
    for name in names:
        assert lists.has_attribute(kind, name)
        listed = lists.values(kind, name)
        if listed is None:
            continue
        for world in World:
            found = [lists.of_value(kind, "", name, number, world) for number in range(len(listed.values))]
            for value, patients in zip(listed.values, found, strict=True):
                assert patients == _with_value(memory, kind, name, [value], world)
            others = {
                value
                for event in told
                if (value := event.attributes.get(name, "")) != "" and value not in listed.values
            }
            assert listed.others is None or set(listed.others) == others
            assert lists.of_value(kind, "", name, REST, world) == _with_value(memory, kind, name, list(others), world)


def _with_value(memory: MemoryKb, kind: str, name: str, values: list[object], world: World) -> BitMap:
    return BitMap(
        number
        for number, journey in enumerate(memory.journeys)
        for event in journey.events
        if event.kind == kind and event.world >= world and name in event.attributes and event.attributes[name] in values
    )
