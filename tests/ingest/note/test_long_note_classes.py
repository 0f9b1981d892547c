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
    "an image has no place of what it showed": (
        "{CT=>procedure ct_scan site=} showed a {nodule=>comorbidity - site=right_upper_lobe} in the right upper lobe.",
        "{PET/CT=>procedure pet_ct site=}: 3 cm hilar mass with {liver metastases=>metastasis liver}.",
        "{MRI=>procedure mri site=}: lesion of the pons. {Ultrasound=>procedure ultrasound site=liver} of the liver normal.",
        "{CT chest=>procedure ct_scan site=thorax} showed a liver cyst.",
    ),
    "TNM and grade have the place of the primary": (
        "{Adenocarcinoma of the lung=>diagnosis lung_adenocarcinoma}, {cT2aN2M1c=>tnm - t=T2a site=} with brain and liver metastases.",
        "{pT3 pN1=>tnm - t=T3 site=}, invading the chest wall.",
        "{cT4=>tnm - t=T4 site=} tumour infiltrating the bladder.",
        "Grade {3=>grade - grade=3 site=} tumour with extension to the skin.",
        "Sigmoid: {pT3N1b=>tnm - site=sigmoid_colon}.",
        "Left breast mass, {cT2N0=>tnm - t=T2 site=left_breast}.",
    ),
    "the head and the neck of a part are that part": (
        "Left {humeral head lesion=>comorbidity lesion site=humeral_head}.",
        "{Lump of the neck of the gallbladder=>symptom lump site=gallbladder}.",
        "{Fracture=>comorbidity fracture site=radial_neck} of the radial neck.",
        "{Pain=>symptom pain site=fibula} in the head of the left fibula.",
        "{Mass=>comorbidity mass site=head_of_pancreas} in the head of the pancreas, 3 cm.",
        "{Adenocarcinoma=>diagnosis adenocarcinoma_of_pancreatic_head} of the pancreatic head.",
        "{Metastasis=>metastasis humeral_head} in the right humeral head.",
        "{Pain=>symptom neck_pain} in the neck of the same kind. {Lump=>symptom lump site=neck} of the neck.",
    ),
    "how often, which cycle and how many are no dose": (
        "{Dexamethasone=>medication dexamethasone dose=} x 4 days.",
        "{FOLFOX=>regimen folfox dose= cycles=8} x 8.",
        "{Pembrolizumab=>medication pembrolizumab dose= cycles=4} C4.",
        "{Ondansetron=>medication ondansetron dose=} #30.",
        "{Carboplatin=>medication carboplatin dose= cycles=3} cycle #3.",
        "{R-CHOP=>regimen r_chop dose= cycles=5} C5D1.",
    ),
    "what is treated is no harm of its treatment": (
        "{AF=>comorbidity atrial_fibrillation cause=} on apixaban.",
        "{DVT=>comorbidity deep_vein_thrombosis cause=} on enoxaparin, {HTN=>comorbidity hypertension cause=} on amlodipine.",
        "{Hypothyroidism=>comorbidity hypothyroidism cause=} on levothyroxine.",
        "{Osteoporosis=>comorbidity osteoporosis cause=}, on alendronate.",
        "{Neuropathy=>comorbidity peripheral_neuropathy cause=} with gabapentin at night.",
        "{Neutropenia=>adverse_event neutropenia cause=docetaxel} on docetaxel.",
        "{Pneumonitis=>adverse_event pneumonitis cause=pembrolizumab} after pembrolizumab.",
        "{Bleeding=>adverse_event bleeding cause=apixaban} due to apixaban.",
        "{Hyperglycemia=>adverse_event hyperglycemia cause=dexamethasone} while on dexamethasone.",
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
