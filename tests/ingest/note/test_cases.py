"""Lists of persons in one note: who is not its patient states no fact of it; other lists are none of persons."""

from __future__ import annotations

import pytest

import cohortium
from cohortium.ingest.text.cases import cases_in

BOARDS = {
    "numbers": (
        "Patient: OBI, Tara\n\n1) KAY, Ann, 66 - grade 1, letrozole.\n2) OBI, Tara, 38 - carboplatin.\n"
        "3) LEE, Bo, 50 - everolimus.\n"
    ),
    "beds": "Bed 1: 84M, amiodarone.\nBed 2: this pt, 74M, carboplatin.\nBed 3: 39F, everolimus.\n",
    "hashes": (
        "Re: Leopold SZYMBORSKI\n\n#1 HARGIS, 88, letrozole.\n#2 SZYMBORSKI, Leopold, 72. Carboplatin.\n"
        "#3 Mrs. AMADI, everolimus.\n"
    ),
    "cases": (
        "Filed under the record of Ms Orla Quaye\nCase 1: man of 55, letrozole.\nCase 2: Ms Quaye, 61, carboplatin.\n"
        "Case 3: woman of 70, everolimus.\n"
    ),
    "items": (
        "Name: Ida Brandt\nItem 1 - Mr F. Pereira, 59, letrozole\nItem 2 - Mrs I. Brandt, 48, carboplatin\n"
        "Item 3 - Ms Roe, 70, everolimus\n"
    ),
}

LISTS = {
    "problems": "Patient: OBI, Tara\n1. Lung cancer.\n2. Diabetes.\n3. Hypertension.\n",
    "specimens": "1) Left breast, core.\n2) Right breast, excision.\n3) Lymph node, level II.\n",
    "drugs": "1. Letrozole 2.5 mg daily.\n2. Metformin 500 mg.\n3. Aspirin 81 mg.\n",
    "relatives and ages": "1. Mother, breast cancer at 45.\n2. Father well.\n3. Two sisters.\n",
    "one person": "Bed 4: 70F, cellulitis.\nBlood pressure 120/80.\n",
}


@pytest.mark.parametrize("board", BOARDS.values(), ids=list(BOARDS))
def test_of_a_list_of_persons_only_the_patient_is_read(board: str) -> None:
    drugs = {one.concept: one.experiencer for one in cohortium.read(board, "2024-01-01").mentions if one.concept}
    assert drugs["carboplatin"] == "patient"
    assert drugs["everolimus"] == "other"


@pytest.mark.parametrize("text", LISTS.values(), ids=list(LISTS))
def test_other_lists_are_no_lists_of_persons(text: str) -> None:
    assert cases_in(text) == []


def test_nobody_guesses_whose_record_it_is() -> None:
    board = "1) KAY, Ann, 66 - letrozole.\n2) OBI, Tara, 38 - carboplatin.\n3) LEE, Bo, 50 - everolimus.\n"
    assert {case.who for case in cases_in(board)} == {"unknown"}


def test_the_case_of_another_ends_at_a_blank_line() -> None:
    text = BOARDS["beds"] + "\nHe was given everolimus himself.\n"
    last = [one for one in cohortium.read(text, "2024-01-01").mentions if one.concept == "everolimus"][-1]
    assert last.experiencer == "patient"
