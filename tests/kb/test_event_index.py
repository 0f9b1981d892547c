"""The event index: what its columns say is what the tables say, for whatever kinds, concepts and patients."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest
from pyroaring import BitMap

from cohortium.kb.errors import DamagedIndex
from cohortium.kb.index import build, columns
from cohortium.kb.index.arrays import ArrayFile
from cohortium.kb.index.build import build_index
from cohortium.kb.index.concept_order import preorder, ranks
from cohortium.kb.model import Journey, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from tests.kb.conftest import Copied
from tests.kb.stored_tables import attribute_table, event_table

Build = Callable[..., Path]
CONTEXT = ("polarity", "temporality", "experiencer", "reason")


@pytest.fixture
def kb(
    copied: Copied, tmp_path: Path, journeys: list[Journey], concepts: ConceptTable, scales: Scales
) -> Iterator[KnowledgeBase]:
    """The invented journeys, with the small ontology."""

    def write(path: Path) -> None:
        build_generation(path, journeys, concepts=concepts, scales=scales)

    with KnowledgeBase.open(copied("event index", write, tmp_path / "notes.kb")) as opened:
        yield opened


FILTERS = [
    (None, None, None),
    (["diagnosis"], None, None),
    (["biomarker", "diagnosis"], None, [0, 1]),
    (None, ["her2", "unknown_concept"], None),
    (["diagnosis"], ["lung_adenocarcinoma", "leukemia"], [1]),
    (["diagnosis", "stage"], None, [1]),
    (["death"], ["breast_cancer"], []),
]


@pytest.mark.parametrize("cost", [0, 20, 10**9])
@pytest.mark.parametrize("filters", FILTERS)
def test_rows_are_those_of_the_table(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, filters: tuple, cost: int
) -> None:
    """Kinds, concepts and patients select the same events, found by range or patient by patient, with equal cells."""
    monkeypatch.setattr(columns, "_TIMES_THE_COST", cost)
    monkeypatch.setattr(columns, "_FEW_SLICES", cost)
    kinds, concepts, patients = filters
    expected = event_table(kb, *filters).to_pylist()
    wanted = [(kind, None if concepts is None else frozenset(concepts)) for kind in kinds or [None]]
    rows = kb.event_index.rows(wanted, None if patients is None else BitMap(patients))
    index, order = kb.event_index, np.argsort(rows.event)
    assert np.array_equal(rows.at, np.sort(rows.at))
    ends, end_low, end_high = rows.ends
    found = [
        {
            "event": int(rows.event[at]),
            "patient": int(rows.patient[at]),
            "kind": next(kind for kind in index.kinds if rows.among(kind, None)[at]),
            "concept": index.concepts[rows.concept[at]],
            "low": int(rows.low[at]),
            "high": int(rows.high[at]),
            "end_low": int(end_low[at]) if ends[at] else None,
            "end_high": int(end_high[at]) if ends[at] else None,
            **dict(zip(CONTEXT, index.contexts[rows.context[at]], strict=True)),
            "world": int(rows.world[at]),
        }
        for at in order.tolist()
    ]
    assert found == [{name: row[name] for name in found[0]} for row in expected]


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("patients", [[0, 1, 2, 3], [0, 2, 3], [1], [3], []])
def test_portions_are_the_rows_of_some_patients_at_a_time(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, patients: list[int], few: int
) -> None:
    """Each patient is in one portion, and the portions have the rows that there are without them."""
    monkeypatch.setattr(columns, "_FEW_SLICES", few)
    for wanted in ([(None, None)], [("diagnosis", None), ("stage", None)], [(None, frozenset(("nsclc", "her2")))]):
        whole = kb.event_index.rows(wanted, BitMap(patients))
        for size in (1, 2, 3, 10):
            portions = list(kb.event_index.portions(wanted, BitMap(patients), size))
            assert [number for numbers, _ in portions for number in numbers.tolist()] == patients
            assert all(set(rows.patient.tolist()) <= set(numbers.tolist()) for numbers, rows in portions)
            assert sorted(row for _, rows in portions for row in rows.at.tolist()) == whole.at.tolist()


def test_some_filters_find_something_and_leave_something_out(kb: KnowledgeBase) -> None:
    """The filters of this file are worth comparing."""
    sizes = [len(event_table(kb, *filters)) for filters in FILTERS]
    assert sizes[0] > sizes[1] > sizes[4] > 0
    assert sizes[0] > sizes[2] > 0


@pytest.mark.parametrize("name", ["stage", "dose", "line", "no_such_attribute"])
def test_values_are_those_of_the_table(kb: KnowledgeBase, name: str) -> None:
    """Every row has the value of its event, text or number, or none."""
    expected = {
        row["event"]: row["number"] if row["text"] is None else row["text"]
        for row in attribute_table(kb, None, [name]).to_pylist()
    }
    rows = kb.event_index.rows([(None, None)])
    values = rows.values(name)
    found = {
        int(event): values.distinct[code]
        for event, code in zip(rows.event.tolist(), values.codes.tolist(), strict=True)
        if code >= 0
    }
    assert found == expected
    assert (name == "no_such_attribute") == (not expected)


def test_tumors_with_the_highest_world_of_their_events(kb: KnowledgeBase, journeys: list[Journey]) -> None:
    """A patient's tumors are in the strongest world of their events; one that is in no world is not numbered."""
    expected: dict[str, dict[str, int]] = {}
    for journey in journeys:
        held = expected.setdefault(journey.patient_id, {})
        for event in journey.events:
            if event.tumor not in ("", "*") and event.world > World.NONE:
                held[event.tumor] = max(held.get(event.tumor, 0), event.world)
    first, worlds = kb.event_index.array("first_tumor"), kb.event_index.array("tumor_world")
    for number, patient in enumerate(kb.patients):
        own = worlds[first[number] : first[number + 1]].tolist()
        assert own == [expected[patient][tumor] for tumor in sorted(expected[patient])]
    rows = kb.event_index.rows([(None, None)])
    told = dict(zip(rows.event.tolist(), rows.tumor.tolist(), strict=True))
    for row in event_table(kb).to_pylist():
        named = sorted(expected[kb.patients[row["patient"]]])
        at = {"": -1, "*": -2}.get(row["tumor"], named.index(row["tumor"]) if row["tumor"] in named else -3)
        assert told[row["event"]] == at
    assert max(told.values()) >= 0


def test_what_lies_below_a_concept_stands_together(concepts: ConceptTable) -> None:
    """In a tree it is one stretch; of several parents one has the child in its stretch; unknown ids come last."""
    order = preorder(concepts)
    assert sorted(order) == sorted(row.id for row in concepts.rows())
    place = {concept: at for at, concept in enumerate(order)}
    below = sorted(place[concept] for concept in concepts.below("neoplasm"))
    assert below == list(range(below[0], below[0] + len(below)))
    numbered = ranks(concepts, ["zebra", "nsclc", "", "neoplasm"])
    assert sorted(numbered, key=numbered.__getitem__) == ["", "neoplasm", "nsclc", "zebra"]


def test_the_index_is_the_same_when_it_is_built_again(kb: KnowledgeBase, tmp_path: Path) -> None:
    """From the stored tables alone, byte for byte; nothing else is left in its folder."""
    folder = rebuilt(kb, tmp_path)
    stored = kb.database.parent / "index"
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in stored.iterdir())
    for path in folder.iterdir():
        assert path.read_bytes() == (stored / path.name).read_bytes()
        assert (stored / path.name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["gone", "short", "version", "no array", "outside"])
def test_a_damaged_index_is_an_error(kb: KnowledgeBase, damage: str) -> None:
    """Missing, cut, of another version, or with a directory that points elsewhere: told before anything is read."""
    folder = kb.database.parent / "index"
    directory = json.loads((folder / "events.json").read_text())
    if damage == "gone":
        (folder / "events.json").unlink()
    elif damage == "short":
        (folder / "events.bin").write_bytes((folder / "events.bin").read_bytes()[:-1])
    else:
        if damage == "version":
            directory["version"] += 1
        elif damage == "no array":
            del directory["arrays"]["patient"]
        else:
            directory["arrays"]["patient"][2] = directory["bytes"] - 1
        (folder / "events.json").write_text(json.dumps(directory))
    with pytest.raises(DamagedIndex, match=r"index.*Hint"):
        ArrayFile(folder, "events").array("patient")


def test_a_build_in_small_batches_gives_the_same(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many events are handed over at a time, also fewer than a patient has."""
    monkeypatch.setattr(build, "_BATCH", 3)
    again = rebuilt(kb, tmp_path)
    assert (again / "events.bin").read_bytes() == (kb.database.parent / "index" / "events.bin").read_bytes()


def rebuilt(kb: KnowledgeBase, tmp_path: Path) -> Path:
    """The folder of an index that is made anew from the tables."""
    folder = tmp_path / "again"
    folder.mkdir()
    with duckdb.connect() as database:
        database.execute(f"ATTACH '{kb.database}' AS built (READ_ONLY)")
        told = build_index(database, folder, kb.concepts)
    assert sum(told["bytes"].values()) == sum(path.stat().st_size for path in folder.iterdir())
    return folder
