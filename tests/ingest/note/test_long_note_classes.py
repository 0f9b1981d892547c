"""Sentences of long oncology notes, by the class of what is easily misread in them (``long_note_classes.txt``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.ingest.note.read import read_text
from tests.ingest.note.marks import lines_of
from tests.ingest.note.test_language import failures, unmark

LINES = lines_of(Path(__file__).with_name("long_note_classes.txt"))


@pytest.mark.parametrize("line", [pytest.param(line, id=repr(unmark(line).text[:60])) for line in LINES])
def test_class(line: str) -> None:
    """Each marked span is read as its mark says (the marks are those of ``test_language.py``)."""
    assert not failures(line), unmark(line).text


def test_a_number_stays_open_where_values_of_both_systems_stand() -> None:
    """What fits two units has no value where as many values speak for the one as for the other."""
    read = read_text("Creatinine 1.1, albumin 30, bilirubin 14", "2021-06-15").mentions
    (found,) = (one for one in read if one.concept == "total_bilirubin")
    assert found.attributes == {"written": "14"}
