"""A figure at the end of a list of markers is that of those alone which have no result of their own."""

from __future__ import annotations

import pytest

import cohortium

#: Markers with signs of their own, the last with a figure: concept → percent.
OWN_SIGNS = {
    "ER +, PR +, Ki-67 30%": {"ki67": 30},
    "CD10+ BCL2+, Ki-67 15%": {"ki67": 15},
    "CD20 +  | PAX5 +  | BCL6 + 80%": {"bcl6_ihc": 80},
    "CD3 -, CD5 -, Ki-67 70 %": {"ki67": 70},
    "CK7+, CK20-, TTF-1+ in 80%": {"ttf1": 80},
    "Synaptophysin +, chromogranin +, Ki-67 4%.": {"ki67": 4},
    "MUM1 - (5%), CD30 -": {"mum1": 5},
}


@pytest.mark.parametrize("text", OWN_SIGNS)
def test_what_has_a_sign_takes_no_figure_of_another(text: str) -> None:
    read = cohortium.read(text, "2020-01-01", type="pathology report").mentions
    percents = {one.concept: one.attributes["percent"] for one in read if "percent" in one.attributes}
    assert percents == OWN_SIGNS[text]


def test_a_word_behind_a_list_without_signs_is_that_of_each() -> None:
    read = cohortium.read("ER, PR: positive", "2020-01-01", type="pathology report").mentions
    found = {one.concept: one.attributes.get("result") for one in read if one.concept in ("er", "pr")}
    assert found == {"er": "positive", "pr": "positive"}
