"""What goes into a knowledge base comes out of it, and equal inputs give equal knowledge bases."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyroaring import BitMap

from cohortium.kb.errors import UnknownNote, UnknownPatient, UsageError
from cohortium.kb.model import Event, Journey, Mention, Note, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import QuarantinedRecord
from cohortium.kb.storage.writer import GenerationWriter, build_generation
from tests.kb.stored_tables import EVENT_COLUMNS, attribute_table, event_table

Build = Callable[..., Path]


def tables(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of the current generation, in stored order."""
    generation = (path / "CURRENT").read_text().strip()
    with duckdb.connect(str(path / "generations" / generation / "kb.duckdb"), read_only=True) as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


@pytest.mark.parametrize(
    "made", [Mention("note", 0, 1, "x", "state", "DiseaseState", "remission"), Event("P1", "state", "remission")]
)
def test_every_field_is_filled(made: Mention | Event) -> None:
    """What is filled all at once lacks no field of its class, and has its defaults."""
    fields = dataclasses.fields(made)
    assert list(vars(made)) == [field.name for field in fields]
    for field in fields:
        if field.default is not dataclasses.MISSING:
            assert getattr(made, field.name) == field.default, field.name


@pytest.fixture
def build(tmp_path: Path, concepts: ConceptTable, scales: Scales) -> Build:
    """Build a kb of some name with the small ontology."""

    def building(journeys: list[Journey], name: str = "notes.kb", **more: Any) -> Path:
        build_generation(tmp_path / name, journeys, concepts=concepts, scales=scales, **more)
        return tmp_path / name

    return building


def test_a_journey_comes_back_equal(build: Build, journeys: list[Journey]) -> None:
    """Every field of every object of a journey survives, with its ids, and so does a patient without facts."""
    with KnowledgeBase.open(build(journeys)) as kb:
        for journey in journeys:
            found = kb.journey(journey.patient_id)
            assert found == journey
            assert [event.event_id for event in found.events] == [event.event_id for event in journey.events]
            assert [m.mention_id for m in found.mentions] == [m.mention_id for m in journey.mentions]
            assert [note.note_id for note in found.notes] == [note.note_id for note in journey.notes]


def test_an_attribute_keeps_its_type(build: Build, journeys: list[Journey]) -> None:
    """A whole number comes back as a whole number: the content id of its event depends on it."""
    with KnowledgeBase.open(build(journeys)) as kb:
        attributes = kb.journey("P2").events[2].attributes
    assert [(name, type(value)) for name, value in attributes.items()] == [("dose", float), ("line", int)]


def test_the_order_of_patients_leaves_no_trace(build: Build, journeys: list[Journey]) -> None:
    """Two builds from the same journeys in another order have the same rows in the same order, and the same id."""
    first, second = build(journeys, "first"), build(journeys[::-1], "second")
    assert tables(first) == tables(second)
    assert (first / "CURRENT").read_text() == (second / "CURRENT").read_text()


def test_other_content_is_another_generation(build: Build, journeys: list[Journey]) -> None:
    """Leaving out one patient, or one count, changes the generation's id."""
    ids = {
        (build(journeys, "a") / "CURRENT").read_text(),
        (build(journeys[1:], "b") / "CURRENT").read_text(),
        (build(journeys, "c", counts={"notes_in": 9}) / "CURRENT").read_text(),
        (build(journeys, "d", quarantine=[QuarantinedRecord("f", "line 1", "empty")]) / "CURRENT").read_text(),
        (build(journeys, "e", versions={"pipeline": "2"}) / "CURRENT").read_text(),
    }
    assert len(ids) == 5


def test_patients_are_sorted_and_numbered(build: Build, journeys: list[Journey]) -> None:
    """The dense number of a patient is the position of the id among all ids."""
    with KnowledgeBase.open(build(journeys)) as kb:
        assert kb.patients == tuple(sorted(journey.patient_id for journey in journeys))
        assert [kb.number(patient) for patient in kb.patients] == list(range(len(journeys)))
        assert kb.all_patients == BitMap(range(len(journeys)))


def test_unknown_names_are_errors(build: Build, journeys: list[Journey]) -> None:
    """An unknown patient or note is told as such, the patient with the nearest id."""
    with KnowledgeBase.open(build(journeys)) as kb:
        with pytest.raises(UnknownPatient, match="did you mean 'P10'"):
            kb.journey("P100")
        with pytest.raises(UnknownNote):
            kb.note("0" * 16)


def test_event_table_filters(build: Build, journeys: list[Journey], concepts: ConceptTable) -> None:
    """Kinds, concepts and patients each narrow the event table, and together they intersect."""
    with KnowledgeBase.open(build(journeys)) as kb:
        everything = event_table(kb)
        assert tuple(everything.column_names) == EVENT_COLUMNS
        assert everything.num_rows == 16
        assert event_table(kb, kinds=["diagnosis"]).num_rows == 8
        assert event_table(kb, ["diagnosis"], concepts.below("nsclc")).num_rows == 4
        number = kb.number("P2")
        narrow = event_table(kb, ["diagnosis"], concepts.below("nsclc"), BitMap([number])).to_pylist()
        assert [(row["patient"], row["concept"]) for row in narrow] == [(number, "lung_adenocarcinoma")]
        assert event_table(kb, patients=[]).num_rows == 0


def test_attribute_table(build: Build, journeys: list[Journey]) -> None:
    """Attributes are asked for by event number, perhaps by name."""
    with KnowledgeBase.open(build(journeys)) as kb:
        events = event_table(kb, ["medication"], None, [kb.number("P2")])["event"]
        expected = {("dose", None, 80.5), ("line", None, 1.0)}
        for asked in (events.to_pylist(), BitMap(events.to_pylist())):
            rows = attribute_table(kb, asked).to_pylist()
            assert {(row["name"], row["text"], row["number"]) for row in rows} == expected
        assert attribute_table(kb, events.to_pylist(), ["dose"]).num_rows == 1
        assert attribute_table(kb, names=["stage"])["text"].to_pylist() == ["IIIA"] * 4


def test_postings_are_closed_over_descendants_and_worlds(build: Build, journeys: list[Journey]) -> None:
    """A patient with a subtype is listed under each of its ancestors; a higher world implies the lower ones."""
    with KnowledgeBase.open(build(journeys)) as kb:
        with_facts = BitMap(kb.number(journey.patient_id) for journey in journeys if journey.events)
        for concept in ("lung_adenocarcinoma", "nsclc", "adenocarcinoma", "neoplasm", ""):
            assert kb.posting("diagnosis", concept, World.CERTAIN) == with_facts, concept
        assert kb.posting("medication", "osimertinib", World.CERTAIN) == BitMap()
        assert kb.posting("medication", "osimertinib", World.BELIEVED) == with_facts
        assert kb.posting("diagnosis", "leukemia", World.POSSIBLE) == BitMap()
        assert kb.posting("diagnosis", "leukemia", World.NONE) == with_facts
        assert kb.posting("stage", "", World.POSSIBLE) == with_facts
        assert kb.posting("stage", "", World.BELIEVED) == BitMap()
        assert kb.posting("diagnosis", "no such concept", World.POSSIBLE) == BitMap()


def test_a_posting_is_the_callers_own(build: Build, journeys: list[Journey]) -> None:
    """What a caller does to a bitmap does not change the next answer."""
    with KnowledgeBase.open(build(journeys)) as kb:
        kb.posting("diagnosis", "", World.CERTAIN).clear()
        assert len(kb.posting("diagnosis", "", World.CERTAIN)) == 4


def test_mentions_and_notes_by_id(build: Build, journeys: list[Journey]) -> None:
    """Mentions come in the order in which their ids are asked for, without those that do not exist."""
    journey = journeys[0]
    with KnowledgeBase.open(build(journeys)) as kb:
        ids = [mention.mention_id for mention in journey.mentions]
        assert kb.mentions([ids[1], "unknown", ids[0]]) == journey.mentions[::-1]
        assert kb.note(journey.notes[0].note_id) == journey.notes[0]


def test_a_named_patient_narrows_the_search(build: Build, journeys: list[Journey]) -> None:
    """Mentions and notes are found among those of the patient who is named, and not among another's."""
    journey, other = journeys[0], journeys[1].patient_id
    with KnowledgeBase.open(build(journeys)) as kb:
        ids, note = [mention.mention_id for mention in journey.mentions], journey.notes[0]
        assert kb.mentions(ids, journey.patient_id) == journey.mentions
        assert kb.mentions(ids, other) == ()
        assert kb.note(note.note_id, journey.patient_id) == note
        with pytest.raises(UnknownNote):
            kb.note(note.note_id, other)


def test_the_ontology_is_the_same_from_the_kb(build: Build, journeys: list[Journey], concepts: ConceptTable) -> None:
    """Concepts, closures, names, value sets and scales of a kb answer as the files did that it was built with."""
    with KnowledgeBase.open(build(journeys)) as kb:
        assert list(kb.concepts.rows()) == list(concepts.rows())
        assert kb.concepts.value_sets() == concepts.value_sets()
        assert kb.concepts.below("neoplasm") == concepts.below("neoplasm")
        assert kb.concepts.lookup("RxCUI 1721560") == ("osimertinib",)
        assert kb.scales.compare("stage", "3", ">=", "II")
        assert not kb.scales.compare("stage", "3B", ">=", "II")


def test_incremental_build(
    build: Build, tmp_path: Path, journeys: list[Journey], make_journey: Any, concepts: ConceptTable, scales: Scales
) -> None:
    """Copying unchanged patients and replacing one gives the rows that a build from scratch gives."""
    path = build(journeys)
    changed = make_journey("P2", "Adenocarcinoma of the lung, now with another ending.")
    new = make_journey("P4")
    with KnowledgeBase.open(path) as before, GenerationWriter(path, concepts=concepts, scales=scales) as writer:
        writer.add([changed, new])
        assert writer.copy_others(before) == 4
        writer.finish()
    scratch = build([changed, new, *journeys[1:]], "scratch")
    incremental, fresh = tables(path), tables(scratch)
    for name in fresh.keys() - {"manifest", "patient"}:
        assert incremental[name] == fresh[name], name
    with KnowledgeBase.open(path) as kb:
        assert kb.journey("P2") == changed


def test_a_patient_comes_once(build: Build, journeys: list[Journey]) -> None:
    """All notes of a patient are handed over at once: a second journey of the same id is an error."""
    with pytest.raises(ValueError, match="'P2' was added twice"):
        build([*journeys, journeys[0]])


def test_text_that_is_no_unicode_is_refused(build: Build) -> None:
    """A lone surrogate is told with the patient, and without the text."""
    with pytest.raises(UsageError, match="patient 'P1' holds a lone surrogate") as caught:
        build([Journey("P1", (Note("P1", "d", "secret \ud800"),))])
    assert "secret" not in str(caught.value)


def test_quarantine_is_kept(build: Build, journeys: list[Journey], concepts: ConceptTable, scales: Scales) -> None:
    """Quarantined records stand in the kb with their reason, are counted, and can be carried on."""
    records = [
        QuarantinedRecord("notes.jsonl", "line 7", "malformed", raw="{broken \ud800"),
        QuarantinedRecord("notes.jsonl", "line 2", "empty", "P1", "d9"),
    ]
    path = build(journeys, quarantine=records)
    with KnowledgeBase.open(path) as before, GenerationWriter(path, concepts=concepts, scales=scales) as writer:
        writer.copy_others(before)
        writer.copy_quarantine(before)
        writer.add_quarantine(records[1:])
        writer.finish()
    with KnowledgeBase.open(path) as kb:
        assert [row["place"] for row in kb.quarantine().to_pylist()] == ["line 2", "line 7"]
        assert kb.info()["quarantine"] == {"empty": 1, "malformed": 1}
        assert kb.info()["quarantined"] == 2


def test_info_checks_the_sum(build: Build, journeys: list[Journey]) -> None:
    """Info shows the run's counts and says whether they add up."""
    right = {"notes_in": 10, "stored": 7, "unchanged": 1, "superseding": 1, "quarantined": 1}
    with KnowledgeBase.open(build(journeys, counts=right)) as kb:
        info = kb.info()
        assert info["balanced"] is True
        assert {name: info[name] for name in right} == right
        assert info["events"] == {"diagnosis": 8, "medication": 4, "stage": 4}
        assert (info["patients"], info["notes"]) == (5, 8)
    with KnowledgeBase.open(build(journeys, counts={**right, "notes_in": 11})) as kb:
        assert kb.info()["balanced"] is False


def test_threads_may_share_a_kb(build: Build, journeys: list[Journey]) -> None:
    """Eight threads that read at once all get the journeys that were loaded."""
    failures: list[object] = []
    with KnowledgeBase.open(build(journeys)) as kb:

        def read() -> None:
            try:
                for journey in journeys * 3:
                    assert kb.journey(journey.patient_id) == journey
                    assert event_table(kb, ["diagnosis"], None, [kb.number("P2")]).num_rows == 2
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
