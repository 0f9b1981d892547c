"""The page on conflicts names every rule, and its table is the table of the data."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

from cohortium.ingest.journey.contradictions import RULES
from cohortium.ingest.journey.paradoxes import DISTRUSTED, REORDERED
from cohortium.ingest.note.read import shared_reader
from tests.places import DOCS

PAGE = (DOCS / "internals" / "conflicts.md").read_text("utf-8")
SIDES = {"": "", "same": "the same side", "both": "both sides"}


def line_of(row: dict[str, Any]) -> str:
    """The line of the page's table that tells a row."""
    concepts = shared_reader().concepts
    removal = ", ".join([*map(concepts.name, row.get("removed_by", ())), *row.get("kinds_removed", ())])
    if "only" in row:
        removal = ", ".join(row["only"])
    order = "never together" if row.get("order") == "never" else "afterwards"
    return f"| {row['name']} | {removal} | {SIDES[row.get('side', '')]} | {order} |"


def test_the_table_of_the_page_is_that_of_the_data() -> None:
    """Line for line, in the order of the data."""
    text = resources.files("cohortium.ingest.journey").joinpath("impossible.toml").read_text("utf-8")
    told = [line for line in PAGE.splitlines() if line.endswith(("| afterwards |", "| never together |"))]
    assert told == [line_of(row) for row in tomllib.loads(text)["impossible"]]


def test_the_page_names_the_rules_in_their_order() -> None:
    """The rules of the code, the first first, between those of corrections and those of impossible orders."""
    names = ["correction over error", "final over preliminary"]
    names += [rule.__name__.replace("_", " ") for rule in RULES]
    names += [REORDERED, DISTRUSTED]
    places = [PAGE.find(f"**{name}**") for name in names]
    assert -1 not in places, names
    assert places == sorted(places)
