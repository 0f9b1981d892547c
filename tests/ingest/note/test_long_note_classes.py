"""Sentences of long oncology notes, by the class of what is easily misread in them, marked as in ``test_language.py``.

Each class holds what must be read and what looks like it and must not be.
"""

from __future__ import annotations

import pytest

from cohortium.ingest.note.read import read_text
from tests.ingest.note.test_language import failures, unmark

CLASSES: dict[str, tuple[str, ...]] = {
    "a bare number is in the unit that it fits": (
        "{Ca 3.42=>lab calcium value=13.7067}, {Hb 91=>lab hemoglobin value=9.1}, {creatinine 214=>lab creatinine value=2.42077}",
        "{Glucose 7.8=>lab glucose value=140.522}, {bilirubin 31=>lab total_bilirubin value=1.81245}, {plt 84=>lab platelet_count value=84}",
        "{Platelets 84,000=>lab platelet_count value=84}, {ANC 900=>lab neutrophil_count value=0.9}",
        "{Calcium 9.1=>lab calcium value=9.1}, {Cr 2.1=>lab creatinine value=2.1}, {glucose 212=>lab glucose value=212}",
        "{Magnesium 0.62=>lab magnesium value=1.50691}; {urate 455=>lab uric_acid value=7.649}; {albumin 28=>lab serum_albumin value=2.8}",
        "{Cholesterol 6.1=>lab total_cholesterol value=235.856}, {HbA1c 58=>lab hemoglobin_a1c value=7.45784}",
        "{Urea 9.4=>lab blood_urea_nitrogen value=26.3332}. {BUN 9.4=>lab blood_urea_nitrogen value=9.4}",
        "{Bilirubin 12=>lab total_bilirubin value=}, to be repeated.",
        "{Bilirubin 12=>lab total_bilirubin value=12}, {creatinine 0.8=>lab creatinine value=0.8}, {albumin 3.4=>lab serum_albumin}",
        "{Bilirubin 12=>lab total_bilirubin value=0.701592}, {creatinine 77=>lab creatinine value=0.871024}, {WCC 5.1=>lab white_blood_cell_count}",
        "{Glucose 31=>lab glucose value=} on the ward.",
    ),
    "a heading gives its place to what is always at some place": (
        "EXTREMITIES: mild {edema=>symptom edema site=extremity}. Known {type 2 diabetes=>comorbidity type_2_diabetes site=}.",
        "Eyes: fundi normal, {diabetes mellitus=>comorbidity diabetes_mellitus site=} well kept.",
        "Chest: clear. {COPD=>comorbidity copd site=}. {Hypertension=>comorbidity hypertension site=}.",
        "Lungs: clear. {Anxiety=>comorbidity anxiety site=}, {gout=>comorbidity gout site=}.",
        "Breast: no {mass=>comorbidity - absent site=breast}. {Hypothyroidism=>comorbidity hypothyroidism site=}.",
        "Skin: {sarcoidosis=>comorbidity sarcoidosis site=} known; {ulceration=>comorbidity ulceration site=skin}.",
    ),
}


@pytest.mark.parametrize(
    "line", [pytest.param(line, id=f"{name}: {unmark(line).text[:50]!r}") for name in CLASSES for line in CLASSES[name]]
)
def test_class(line: str) -> None:
    """Each marked span is read as its mark says."""
    assert not failures(line), unmark(line).text


def test_a_number_stays_open_where_values_of_both_systems_stand() -> None:
    """Where as many values speak for either system, what fits both stays open."""
    read = read_text("Creatinine 1.1, albumin 30, bilirubin 14", "2021-06-15").mentions
    (found,) = (one for one in read if one.concept == "total_bilirubin")
    assert found.attributes == {"written": "14"}
