"""What is said beside a complaint is not always its place."""

from __future__ import annotations

import pytest

import cohortium
from cohortium.kb.kinds import CONDITIONS


@pytest.mark.parametrize(
    "text",
    [
        "Pain, worse with chest expansion.",
        "Pain at night; the arm is weak.",
        "The knee is stable. Pain is controlled.",
        "Pain on the day of her breast surgery.",
        "Pain and a lesion of the liver.",
    ],
)
def test_a_place_further_off_is_not_its_own(text: str) -> None:
    """Only what stands right beside a complaint, or behind a preposition of place."""
    (pain,) = [one for one in cohortium.read(text, "2020-05-04").mentions if one.concept == "pain"]
    assert "site" not in pain.attributes


def test_the_next_of_a_list_has_no_place_of_the_first() -> None:
    """*Abdominal pain, nausea*: nausea is nowhere."""
    read = cohortium.read("Abdominal pain, nausea and vomiting.", "2020-05-04").mentions
    assert {one.concept: one.attributes.get("site") for one in read if one.kind == "symptom"} == {
        "pain": "abdomen",
        "nausea": None,
        "vomiting": None,
    }


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("Left hydronephrosis.", "left"),
        ("There is a small pneumothorax on the right.", "right"),
        ("She wears hearing aids bilaterally.", "bilateral"),
        ("A small hydronephrosis, left.", "left"),
        ("He left with hydronephrosis unexplained.", None),
        ("Hydronephrosis. Right knee is normal.", None),
        ("Hydronephrosis was seen. The left ureter is normal.", None),
    ],
)
def test_what_has_its_place_in_its_name_has_a_side(text: str, side: str | None) -> None:
    """The side that stands right beside it, and no other."""
    found = [one for one in cohortium.read(text, "2021-05-05").mentions if one.kind in CONDITIONS]
    assert found
    assert {one.attributes.get("laterality") for one in found} == {side}
