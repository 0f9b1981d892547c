"""A question answers what it names, over notes of general medicine: who has it, and nobody who has something wider."""

from __future__ import annotations

from pathlib import Path

import pytest

import cohortium

#: Patient → note.
NOTES = {
    "chest": "HPI: She has had chest pain since Monday and denies shortness of breath.",
    "knee": "HPI: Knee pain after a fall. Denies dyspnea. No chest pain.",
    "hip": "70-year-old man. X-ray: hip fracture on the left. He lives alone.",
    "wrist": "68-year-old woman. X-ray: wrist fracture. She lives alone.",
    "alzheimer": "PMH: Alzheimer disease. Hypertension.",
    "vascular": "PMH: vascular dementia. Hypertension.",
    "bypass": "PSH: CABG in 2011. Medications: lisinopril.",
    "stent": "PSH: coronary stent in 2012. Medications: lisinopril. Lisinopril caused a cough.",
    "penicillin": "Allergies: penicillin.\n\n62-year-old man with ER positive breast cancer, ECOG 1, on letrozole.",
    "sulfa": "ALLERGIES: sulfa, rash.\nPMH: asthma.",
    "none": "Allergies: NKDA\n\n55-year-old woman on insulin.",
    "scan": "CT of the abdomen revealed a 10-cm mass in the liver.",
    "ordered": "Plan: CT of the abdomen next week.",
    "study": "The carotid study was done per protocol. He was enrolled in physical therapy.",
    "stains": "Stains: pan melanoma negative, S100 negative. The tumor is of non-lung origin.",
    "mother": "FAMILY HISTORY: Mother had a cholecystectomy.\nPAST SURGICAL HISTORY: Appendectomy.",
    "gallbladder": "FAMILY HISTORY: Mother had diabetes.\nPAST SURGICAL HISTORY: Cholecystectomy.",
}
#: Query → who is meant, of those whose notes could be taken for it.
ANSWERS = {
    "chest pain": {"chest"},
    "knee pain": {"knee"},
    "denied chest pain": {"knee"},
    "denied shortness of breath": {"chest", "knee"},
    "hip fracture": {"hip"},
    "age >= 65 at hip fracture": {"hip"},
    "fracture": {"hip", "wrist"},
    "Alzheimer disease": {"alzheimer"},
    "dementia": {"alzheimer", "vascular"},
    "CABG": {"bypass"},
    "'penicillin allergy'": {"penicillin"},
    "'sulfa allergy'": {"sulfa"},
    "breast cancer and ECOG <= 1": {"penicillin"},
    "comorbidity hypertension": {"alzheimer", "vascular"},
    "adverse event hypertension": set(),
    "'CT scan'": {"scan"},
    "medication insulin": {"none"},
    "trial": set(),
    "diagnosis melanoma": set(),
    "diagnosis lung cancer": set(),
    "surgery cholecystectomy": {"gallbladder"},
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    for patient, text in NOTES.items():
        (folder / "notes" / patient).mkdir(parents=True)
        (folder / "notes" / patient / "2021-05-03_note.txt").write_text(text, encoding="utf-8")
    cohortium.ingest([folder / "notes"], folder / "names.kb")
    return folder / "names.kb"


@pytest.mark.parametrize("query", ANSWERS)
def test_a_name_answers_what_it_says(kb: Path, query: str) -> None:
    with cohortium.open(kb) as opened:
        assert set(opened.find(query)) == ANSWERS[query]
