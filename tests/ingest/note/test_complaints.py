"""What is said beside a complaint is not always its place."""

from __future__ import annotations

import pytest

import cohortium


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
