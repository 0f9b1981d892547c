"""The comparison of two knowledge bases: it finds each row that differs, and tells no text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.reading.same_events import Unreadable, compare, main, manifest_differences
from cohortium.kb.model import Cue, Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.rows import QuarantinedRecord
from cohortium.kb.storage.writer import build_generation

Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path, concepts: ConceptTable, scales: Scales) -> Build:
    """Writes a knowledge base of some name."""

    def building(name: str, journeys: list[Journey], pipeline: str = "1", reason: str = "no_text") -> Path:
        build_generation(
            tmp_path / name,
            journeys,
            concepts=concepts,
            scales=scales,
            versions={"pipeline": pipeline},
            quarantine=[QuarantinedRecord("notes.jsonl", "line 7", reason)] * 2,
        )
        return tmp_path / name

    return building


def changed(journeys: list[Journey]) -> list[Journey]:
    """The journeys, with a cue more in one mention and a later end of one event, both of the first patient."""
    first, *others = journeys
    mention, *mentions = first.mentions
    mention = dataclasses.replace(mention, cues=(*mention.cues, Cue(10, 12, "more")))
    *events, medication, stage = first.events
    assert medication.end is not None
    medication = dataclasses.replace(medication, end=dataclasses.replace(medication.end, high=medication.end.high + 1))
    return [
        dataclasses.replace(first, mentions=(mention, *mentions), events=(*events, medication, stage)),
        *others,
    ]


def test_another_version_that_reads_the_same_is_equal(build: Build, journeys: list[Journey], tmp_path: Path) -> None:
    """The version of the pipeline and the order in which patients came make no difference."""
    old, new = build("old.kb", journeys), build("new.kb", journeys[::-1], pipeline="2")
    assert main([str(old), str(new), "--json", str(tmp_path / "same.json")]) == 0
    told = json.loads((tmp_path / "same.json").read_text(encoding="utf-8"))
    assert told["same"]
    assert told["tables"]["event"]["old"] == sum(len(journey.events) for journey in journeys)


def test_each_differing_row_is_told_by_its_columns(
    build: Build, journeys: list[Journey], capsys: pytest.CaptureFixture[str]
) -> None:
    """A cue, a day and a quarantined reason that differ are found, and no word of a note or record is printed."""
    old, new = build("old.kb", journeys), build("new.kb", changed(journeys), reason="no_date")
    found = compare(old, new)
    patient = journeys[0].patient_id
    assert found.tables["mention"].first == [{"patient": patient, "ordinal": 0, "beside": "", "columns": ["cues"]}]
    assert [row["columns"] for row in found.tables["event"].first] == [["event_id", "end_high"]]
    assert [row["columns"] for row in found.tables["quarantine"].first] == [["reason"]]
    assert [row["columns"] for row in found.tables["patient"].first] == [["digest"]]
    assert not found.tables["evidence"].differing
    assert main([str(old), str(new)]) == 1
    assert journeys[0].notes[0].text.split()[0] not in capsys.readouterr().out


def test_a_patient_of_one_side_alone_moves_no_other(build: Build, journeys: list[Journey]) -> None:
    """Rows are found by the patient's own id and ordinal, whatever numbers they have in the whole."""
    gone = min(journeys, key=lambda journey: journey.patient_id)
    found = compare(build("old.kb", journeys), build("new.kb", [one for one in journeys if one is not gone]))
    for table in found.tables.values():
        assert {(row["patient"], *row["columns"]) for row in table.first} <= {(gone.patient_id, "only in old")}
    assert found.tables["patient"].differing == 1
    assert found.tables["event"].differing == len(gone.events)


def test_versions_but_the_pipeline_count() -> None:
    """Another ontology is told by name; another schema and another pipeline are not."""
    old = {"schema_version": 1, "rows": {"event": 1}, "versions": {"pipeline": "1", "ontology": "a"}}
    new = {"schema_version": 2, "rows": {"event": 1}, "versions": {"pipeline": "2", "ontology": "b"}, "index": {}}
    assert manifest_differences(old, new) == ["versions.ontology"]


def test_what_is_no_knowledge_base_is_told(tmp_path: Path) -> None:
    """An empty folder cannot be compared: exit 2."""
    with pytest.raises(Unreadable):
        compare(tmp_path, tmp_path)
    assert main([str(tmp_path), str(tmp_path)]) == 2
