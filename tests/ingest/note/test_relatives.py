"""Relatives: who in the family had what a sentence tells, on which side of it, and at which age."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.ingest.note.read import read_text
from cohortium.kb.model import Experiencer, Mention, Polarity
from tests.ingest.note.marks import lines_of, taken_apart

LINES = lines_of(Path(__file__).parent / "relatives.txt")


def shown(mention: Mention) -> str:
    """A mention of the family in the words of the data file."""
    if mention.context.polarity is Polarity.ABSENT:
        return "denied"
    told = mention.attributes
    age = told.get("relative_age")
    words = [str(told[name]) for name in ("relative", "side") if name in told]
    return " ".join([*words, *([f"{age:g}"] if isinstance(age, float) else [])]) or "-"


@pytest.mark.parametrize("line", LINES)
def test_relatives(line: str) -> None:
    """Of each marked thing just these relatives are told."""
    text, marks = taken_apart(line.replace(r"\n", "\n"))
    mentions = read_text(text, "2021-06-15").mentions
    for start, end, expected in marks:
        here = [one for one in mentions if one.start < end and start < one.end and one.concept]
        assert here, text[start:end]
        if expected == "!":
            assert not any("relative" in one.attributes for one in here), text[start:end]
            continue
        assert all(one.context.experiencer is Experiencer.FAMILY for one in here), text[start:end]
        assert sorted({shown(one) for one in here}) == sorted(expected.split("; ")), text[start:end]
