"""Registers: FHIR Patients and the tables PERSON and DEATH of OMOP tell who somebody is, and are asked as notes are."""

from __future__ import annotations

import json
from pathlib import Path

import cohortium
from cohortium.ingest.readers.records import Incoming
from cohortium.ingest.readers.sources import Sources
from cohortium.ingest.run.pipeline import run_ingest

CORE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-"
PATIENT = {
    "resourceType": "Patient",
    "id": "P1",
    "gender": "female",
    "birthDate": "1950-03-14",
    "deceasedDateTime": "2020-05-06T08:00:00Z",
    "extension": [
        {
            "url": f"{CORE}race",
            "extension": [
                {"url": "ombCategory", "valueCoding": {"system": "urn:oid:2.16", "code": "2106-3", "display": "White"}},
                {"url": "text", "valueString": "White"},
            ],
        },
        {
            "url": f"{CORE}ethnicity",
            "extension": [{"url": "ombCategory", "valueCoding": {"code": "2186-5", "display": "whatever"}}],
        },
    ],
}
NAMELESS = {"resourceType": "Patient", "gender": "male"}
UNTOLD = {"resourceType": "Patient", "id": "P2", "gender": "unknown"}
COLUMNS = (
    "person_id gender_concept_id year_of_birth month_of_birth day_of_birth birth_datetime race_concept_id"
    " ethnicity_concept_id race_source_value"
)
PERSON = f"""{COLUMNS.replace(" ", ",")}
1,8532,1950,3,14,,8516,38003564,
2,8507,1961,,,,0,0,Caucasian
3,0,,,,,0,0,
"""
DEATH = "person_id,death_date,death_type_concept_id\n2,2020-05-06,32817\n"


def texts(*paths: Path) -> dict[str, str]:
    """The notes of the sources: patient and document with the text."""
    return {
        f"{one.note.patient_id} {one.note.doc_id}": one.note.text for one in Sources(paths) if isinstance(one, Incoming)
    }


def test_a_patient_of_fhir_is_a_note_of_what_it_tells(tmp_path: Path) -> None:
    """Sex, birth, race, ethnicity, death; whoever has no id, and who tells nothing, is passed over as before."""
    (tmp_path / "export.ndjson").write_text("\n".join(map(json.dumps, (PATIENT, NAMELESS, UNTOLD))))
    assert texts(tmp_path / "export.ndjson") == {
        "P1 Patient/P1": "Date of birth: 1950-03-14\nSex: female\nRace: White\nEthnicity: not Hispanic or Latino\n"
        "The patient died on 2020-05-06."
    }


def test_a_row_of_omop_is_a_note_of_what_it_tells(tmp_path: Path) -> None:
    """By concepts, else by the source's words; a row that tells nothing is none."""
    (tmp_path / "PERSON.csv").write_text(PERSON)
    (tmp_path / "DEATH.csv").write_text(DEATH)
    assert texts(tmp_path / "PERSON.csv", tmp_path / "DEATH.csv") == {
        "1 PERSON/1": "Date of birth: 1950-03-14\nSex: female\nRace: Black or African American\n"
        "Ethnicity: not Hispanic or Latino",
        "2 PERSON/2": "Date of birth: 1961\nSex: male\nRace: White",
        "2 DEATH/2": "The patient died on 2020-05-06.",
    }


def test_registers_answer_queries(tmp_path: Path) -> None:
    """What they tell is found, and every member is proved."""
    (tmp_path / "export.ndjson").write_text(json.dumps(PATIENT))
    (tmp_path / "PERSON.csv").write_text(PERSON)
    (tmp_path / "DEATH.csv").write_text(DEATH)
    kb = tmp_path / "kb"
    run_ingest([tmp_path / name for name in ("export.ndjson", "PERSON.csv", "DEATH.csv")], kb, progress=False)
    answers = {
        "sex = female": ["1", "P1"],
        "race = White": ["2", "P1"],
        "race = Black": ["1"],
        "ethnicity = 'not Hispanic'": ["1", "P1"],
        "age >= 70 on 2020-04-01": ["1", "P1"],
        "death in 2020-05": ["2", "P1"],
        "alive": ["1"],
    }
    with cohortium.open(kb) as opened:
        assert {query: sorted(opened.find(query)) for query in answers} == answers
    assert all(cohortium.verify(kb, query).holds for query in answers)
