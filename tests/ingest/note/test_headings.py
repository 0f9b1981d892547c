"""Headings in many dresses, unlisted ones that end what stands before them, lists that end, several notes in one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cohortium.ingest.text.headings import heading_table, headings_of, section_names
from cohortium.ingest.text.shape import Shape

_MARK = re.compile("⟦([a-z_]+)⟧")
BLOCKS = Path(__file__).with_name("headings.txt").read_text("utf-8").split("\n", 1)[1].rstrip("\n").split("\n---\n")


def unmarked(block: str) -> tuple[str, list[str]]:
    """The text of a block without its marks and its first line, and the section wanted of each character."""
    text, wanted, section = "", [], "body"
    for part in re.split("(⟦[a-z_]+⟧)", block.partition("\n")[2]):
        mark = _MARK.fullmatch(part)
        if mark:
            section = mark[1]
        else:
            text += part
            wanted += [section] * len(part)
    return text, wanted


@pytest.mark.parametrize("block", BLOCKS)
def test_each_word_stands_in_its_section(block: str) -> None:
    """Whatever its headings look like."""
    text, wanted = unmarked(block)
    shape = Shape(text)
    seen = [place for place, letter in enumerate(text) if not letter.isspace() and letter != ","]
    wrong = [place for place in seen if shape.section_at(place).name != wanted[place]]
    assert not wrong, (text[wrong[0] :][:60], wanted[wrong[0]], shape.section_at(wrong[0]))


def test_every_heading_says_why() -> None:
    """The evidence of each is named as the table names it."""
    points = heading_table().points
    for block in BLOCKS:
        for heading in headings_of(unmarked(block)[0]):
            assert heading.why
            assert set(heading.why) <= set(points) | {"rule", "underlined"}


def test_words_of_the_table_are_reached() -> None:
    """Lines that open a part begin with letters that are looked for, and common names are names of sections."""
    table = heading_table()
    for words in (
        "Electronically signed by A",
        "Dear Dr A",
        "Yours sincerely",
        "Kind regards",
        "I reviewed her",
        "cc: A",
    ):
        assert words[:4].lower() in table.openings
        assert table.opens.match(words)
    assert table.common <= set(section_names().names)


def test_a_long_line_of_names_and_colons_costs_what_its_length_costs() -> None:
    """No place is looked at again for each other."""
    text = "Past Medical History: gout Medications: none, PLAN:, x.ALLERGIES: y " * 3000
    assert len(headings_of(text)) > 9000
