"""The language guide: every example parses, and survives rendering."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cohortium.query_lang.parse import parse
from cohortium.query_lang.render import render

GUIDE = Path(__file__).parents[2] / "docs" / "language.md"
EXAMPLES = re.findall(r"^```query\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_guide_has_examples() -> None:
    """The guide's examples are found at all."""
    assert len(EXAMPLES) > 30


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_parses(text: str) -> None:
    """An example of the guide parses, and its rendering parses to the same tree."""
    assert parse(render(parse(text))) == parse(text)
