"""What annotations tell for each task: entities that count, values by their relations, modality, sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.eval.extraction.coral.findings import Annotated, findings_of
from cohortium.eval.extraction.coral.tasks import Tasks, tasks_of
from cohortium.eval.extraction.coral.units import Note, Stretch, load_notes
from cohortium.ingest.coral_schema.questions import questions_of
from cohortium.ingest.coral_schema.types import schema
from cohortium.kb.errors import UsageError
from tests.eval.extraction.coral.invented import note_of


def told(tasks: Tasks, task: str, note: Note, unit: int = 0) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
    """The findings of a task in a unit of a note: names with values."""
    annotated = Annotated(note.standoff, note.units()[unit])
    return [(one.name, dict(one.values)) for one in findings_of(tasks.by_id[task], annotated)]


def test_a_symptom_that_is_denied_or_of_another_is_none(tasks: Tasks) -> None:
    """Negated, hypothetical, and the family's are left out; uncertain ones stay, and a time may be a duration."""
    note = note_of(
        "Fever for two weeks. No chills. May cause nausea. Sister had cough. Perhaps itching.",
        "Symptom Fever", "Duration two weeks", "Symptom chills", "Symptom nausea", "Symptom cough", "Symptom itching",
        "HappensOverlapping Fever > two weeks", "NegationModalityVal chills = negated",
        "NegationModalityVal nausea = hypothetical_in_future", "ExperiencerVal cough = family",
        "NegationModalityVal itching = uncertain_in_present",
    )  # fmt: skip
    assert told(tasks, "symptoms", note) == [
        ("Fever", {"Datetime": ("two weeks",)}),
        ("itching", {"Datetime": ("unknown",)}),
    ]
    assert told(tasks, "symptoms_at_diagnosis", note) == []


def test_a_symptom_counts_as_caused_where_the_annotation_says_so(tasks: Tasks) -> None:
    """The attribute must be yes, in whatever capitals; left out it is unclear."""
    note = note_of(
        "Jaundice and fever.", "Symptom Jaundice", "Symptom fever",
        "IsCausedByDiagnosedCancer Jaundice = Yes", "IsPresentOnFirstCancerDiagnosis fever = yes",
    )  # fmt: skip
    assert [name for name, _ in told(tasks, "symptoms_due_to_cancer", note)] == ["Jaundice"]
    assert [name for name, _ in told(tasks, "symptoms_at_diagnosis", note)] == ["fever"]


def test_a_test_has_its_time_place_with_side_reason_and_result(tasks: Tasks) -> None:
    """A negated result begins with *no*, an uncertain one says so, a hypothetical one is none."""
    note = note_of(
        "MRI of the left breast in May for a lump: mass, adenopathy, cyst, spread.",
        "Radiology MRI", "Laterality left", "Site breast", "Datetime May", "Symptom lump", "RadPathResult mass",
        "LymphNodeInvolvement adenopathy", "RadPathResult cyst", "Metastasis spread",
        "HappensAtOnDuring MRI > May", "LateralityOfSite left > breast", "SiteOf breast > MRI",
        "TestOrProcedureConductedForProblem MRI > lump", "ResultOfTest mass > MRI",
        "TestOrProcedureReveals MRI > adenopathy", "NegationModalityVal adenopathy = negated",
        "ResultOfTest cyst > MRI", "NegationModalityVal cyst = uncertain_in_present",
        "TestOrProcedureReveals MRI > spread", "NegationModalityVal spread = hypothetical_in_future",
    )  # fmt: skip
    values = {
        "Datetime": ("May",),
        "Site": ("left breast",),
        "Reason": ("lump",),
        "Result": ("mass", "no adenopathy", "uncertain cyst"),
    }
    assert told(tasks, "radiology_tests", note) == [("MRI", values)]


def test_a_procedures_result_is_its_outcome_and_not_how_it_was_done(tasks: Tasks) -> None:
    """Margins and findings are results, *laparoscopic* is none."""
    note = note_of(
        "Laparoscopic resection with clean margins.", "ProcedureModifier Laparoscopic", "ProcedureName resection",
        "MarginStatus clean margins", "ProcedureDesc Laparoscopic > resection",
        "ProcedureDesc clean margins > resection",
    )  # fmt: skip
    ((_, values),) = told(tasks, "procedures", note)
    assert values["Result"] == ("clean margins",)


def test_what_a_test_revealed_has_the_time_of_the_test(tasks: Tasks) -> None:
    """Markers with their result, and spread with its procedure; a time of its own counts as well."""
    note = note_of(
        "Biopsy in June: ER positive, metastasis in liver, adenocarcinoma known since 2018.",
        "ProcedureName Biopsy", "Datetime June", "BiomarkerName ER", "BiomarkerResult positive",
        "Metastasis metastasis", "Site liver", "Histology adenocarcinoma", "Datetime 2018",
        "HappensAtOnDuring Biopsy > June",
        "TestOrProcedureReveals Biopsy > ER", "BiomarkerRel ER > positive",
        "TestOrProcedureReveals Biopsy > metastasis", "SiteOf liver > metastasis", "BeginsOnOrAt adenocarcinoma > 2018",
    )  # fmt: skip
    assert told(tasks, "biomarkers", note) == [("ER positive", {"Datetime": ("June",)})]
    spread = {"Site": ("liver",), "Procedure": ("Biopsy",), "Datetime": ("June",)}
    assert told(tasks, "metastasis", note) == [("metastasis", spread)]
    assert told(tasks, "histology", note) == [("adenocarcinoma", {"Datetime": ("2018",)})]


def test_a_medication_is_prescribed_or_for_the_future(tasks: Tasks) -> None:
    """Planned and hypothetical ones are future ones, supportive and denied ones neither."""
    note = note_of(
        "Took FEC from March until July, stopped for fever, risk of clots. Plan letrozole. Maybe olaparib. Ondansetron."
        " Never tamoxifen.",
        "MedicationRegimen FEC", "Datetime March", "Datetime July", "Symptom fever", "ClinicalCondition clots",
        "MedicationName letrozole", "MedicationName olaparib", "MedicationName Ondansetron", "MedicationName tamoxifen",
        "TreatmentContinuityVal FEC = discontinued_early", "BeginsOnOrAt FEC > March", "EndsOnOrAt FEC > July",
        "TreatmentDiscontinuedBecauseOf FEC > fever", "ConditionOrTreatmentCausesProblem FEC > clots",
        "NegationModalityVal clots = hypothetical_in_future", "TreatmentContinuityVal letrozole = planned",
        "NegationModalityVal olaparib = hypothetical_in_future", "TreatmentCategory Ondansetron = Supportive",
        "NegationModalityVal tamoxifen = negated",
    )  # fmt: skip
    values = {
        "Begin": ("March",),
        "End": ("July",),
        "Reason": ("unknown",),
        "Continuity": ("discontinued early",),
        "ConfirmedAdvEvent": ("fever",),
        "PotentialAdvEvent": ("clots",),
    }
    assert told(tasks, "prescribed_medications", note) == [("FEC", values)]
    assert [(name, one["Consideration"]) for name, one in told(tasks, "future_medications", note)] == [
        ("letrozole", ("planned",)),
        ("olaparib", ("hypothetical",)),
    ]


def test_a_unit_tells_what_stands_in_it(tasks: Tasks) -> None:
    """History and plan are read apart; a value in the other section is not known there."""
    note = note_of(
        "HISTORY OF PRESENT ILLNESS:\nFever began in May.\n\nFAMILY HISTORY:\nItching in all.\n\n"
        "ASSESSMENT AND PLAN:\nCough since June.\n",
        "Symptom Fever", "Datetime May", "Symptom Itching", "Symptom Cough", "Datetime June",
        "HappensAtOnDuring Fever > June", "HappensAtOnDuring Cough > June",
    )  # fmt: skip
    assert [unit.name for unit in note.units()] == ["history", "plan"]
    assert told(tasks, "symptoms", note) == [("Fever", {"Datetime": ("unknown",)})]
    assert told(tasks, "symptoms", note, 1) == [("Cough", {"Datetime": ("June",)})]
    assert "Fever" in note.units()[0].text(note.text)
    assert "Itching" not in "".join(unit.text(note.text) for unit in note.units())


def test_a_note_without_those_sections_is_one_unit() -> None:
    """So is any note, where that is asked for; an empty text is none."""
    assert [unit.name for unit in note_of("Fever.", "Symptom Fever").units()] == ["note"]
    note = note_of("HPI:\nFever.\nPLAN:\nRest.\n", "Symptom Fever")
    assert [unit.name for unit in note.units()] == ["history", "plan"]
    assert [unit.spans for unit in note.units(Stretch.NOTE)] == [((0, len(note.text)),)]
    assert note_of(" \n").units() == ()


def test_the_same_words_twice_are_one_finding(tasks: Tasks) -> None:
    """A set of findings, as answers are."""
    note = Note("n", "pain pain", note_of("pain ache", "Symptom pain", "Symptom ache").standoff)
    assert len(told(tasks, "symptoms", note)) == 2
    from cohortium.ingest.coral_schema.standoff import parse

    text = "pain pain"
    twice = Note("n", text, parse("T1\tSymptom 0 4\tpain\nT2\tSymptom 5 9\tpain\n", text))
    assert [name for name, _ in told(tasks, "symptoms", twice)] == ["pain"]


def test_a_folder_without_annotations_is_told(tmp_path: Path) -> None:
    """And so is one that is not there, or an annotation without its text."""
    with pytest.raises(UsageError, match="no folder"):
        load_notes(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no annotation"):
        load_notes(tmp_path)
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(UsageError, match="no text beside it"):
        load_notes(tmp_path)


def test_the_sample_is_annotated_under_the_schema(sample: Path) -> None:
    """Every entity, attribute and relation is one that the schema allows, and every note says that it is invented."""
    known = schema()
    notes = load_notes(sample)
    assert len(notes) == 3
    for note in notes:
        assert "FICTIONAL" in note.text
        types = {entity.id: entity.type for entity in note.standoff.entities}
        for attribute in note.standoff.attributes:
            known.check(types[attribute.target], {attribute.name: attribute.value})
        for relation in note.standoff.relations:
            assert known.relations[relation.type].joins(*(types[target] for _, target in relation.arguments))


def test_every_task_finds_something_in_the_sample(sample: Path, tasks: Tasks) -> None:
    """So that a run over it exercises all of them."""
    for task in tasks:
        found = [
            one
            for note in load_notes(sample)
            for unit in note.units()
            for one in findings_of(task, Annotated(note.standoff, unit))
        ]
        assert found, task.id


def test_tasks_that_the_schema_does_not_bear_are_refused() -> None:
    """A wrong name of a type, relation or attribute is found when the tasks are loaded."""
    row = {"id": "x", "form": "X", "field": "F", "shown": "F", "types": ["Symptom"], "ask": "?", "examples": []}
    value = {"name": "V", "how": "linked", "means": "m", "relations": ["SiteOf"]}
    rules = {"system": "", "format": "", "every": []}
    table = {"rules": rules, "answer": {"nothing": "x"}, "without": {}, "task": [{**row, "value": [value]}]}
    asked = questions_of(table)
    assert len(tasks_of(asked, table, schema())) == 1
    for wrong in (
        {**row, "id": "y"},
        {**row, "value": []},
        {**row, "value": [value], "types": ["Sympton"]},
        {**row, "value": [{**value, "relations": ["Sites"]}]},
        {**row, "value": [{**value, "how": "guessed"}]},
        {**row, "value": [{**value, "how": "attribute"}]},
        {**row, "value": [value], "with": {"ExperiencerVal": ["dog"]}},
    ):
        with pytest.raises(ValueError):
            tasks_of(asked, {**table, "task": [{"value": [value], **wrong}]}, schema())
