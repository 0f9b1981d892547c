"""Cells of predictions are read whatever stands in them; what is wrong is told, never raised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.ner.cells import read_names, read_tags, read_tuples
from cohortium.eval.extraction.ner.tagging import NOWHERE

TOKENS = ["Larkadol", "for", "gout"]


@pytest.mark.parametrize(
    "cell",
    [
        "['B-DRUG', 'O', 'B-COND']",
        '["B-DRUG", "O", "B-CONDITION"]',
        "['B-DRUG' 'O' 'B-COND']",
        "[B-DRUG, O, B-COND]",
        " ['b-drug', 'O', 'B-cond'] ".replace("b-drug", "B-drug"),
    ],
)
def test_spellings_of_tags(cell: str) -> None:
    """Quotes, commas, long names and the case of a type make no difference."""
    reading = read_tags(cell, TOKENS)
    assert reading.tags == ["B-DRUG", "O", "B-CONDITION"]
    assert not reading.reasons


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("['B-DRUG', 'O']", "2 tags for 3 tokens"),
        ("[]", "0 tags for 3 tokens"),
        ("B-DRUG O B-COND", "not a list of BIO tags"),
        ("['B-DRUG', 'O', 'B-COND'", "not a list of BIO tags"),
        ("{'a': 1}", "not a list of BIO tags"),
        ("['B-DRUG', ['O'], 'B-COND']", "not a list of BIO tags"),
    ],
)
def test_lists_that_are_no_tags_of_the_tokens(cell: str, reason: str) -> None:
    """Nothing of such a cell counts, and the reason names both numbers where they differ."""
    reading = read_tags(cell, TOKENS)
    assert reading.tags is None
    assert reading.reasons == [reason]


def test_unknown_types_and_tags_are_outside_and_told() -> None:
    """An unknown type is listed by its name; what is no tag at all is counted."""
    reading = read_tags("['B-GENE', 'X', 'B-COND']", TOKENS)
    assert reading.tags == ["O", "O", "B-CONDITION"]
    assert reading.unknown == {"GENE": 1}
    assert reading.reasons == ["1 of 3 tags are neither O, B-TYPE nor I-TYPE"]


def test_tuples_keep_what_is_right_beside_what_is_wrong() -> None:
    """A wrong part is named by its number, and the others count; a name without a place is a name."""
    cell = "[(0, 8, 'DRUG', 'Larkadol'), (9, 8, 'DRUG', 'x'), ('0', 1, 'DRUG', 'y'), (1, 2), (1, 2, 'DRUG', 3),"
    reading = read_tuples(cell + " (4, 6, 'GENE', 'x'), (13, 17, 'cond', \"gout's\")]")
    assert [(one.start, one.end, one.type, one.text) for one in reading.entities] == [
        (0, 8, "DRUG", "Larkadol"),
        (*NOWHERE, "DRUG", "x"),
        (*NOWHERE, "DRUG", "y"),
        (13, 17, "CONDITION", "gout's"),
    ]
    assert reading.unknown == {"GENE": 1}
    assert reading.reasons == [
        "entity 2: no place; scored by abstract alone",
        "entity 3: no place; scored by abstract alone",
        "entity 4: not four values (start, end, type, text)",
        "entity 5: type and text are not words",
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "[(0, 8, 'DRUG', \"nan's np.int64(3)\")]",
        "[(np.int64(0), np.int64(8), 'DRUG', \"nan's np.int64(3)\")]",
        "[(0.0, 8.0, 'DRUG', \"nan's np.int64(3)\")]",
        "((0, 8, np.str_('x'), nan), (0, 8, 'DRUG', 'nan\\'s np.int64(3)'))",
        '[[0, 8, "DRUG", "nan\'s np.int64(3)"], [null, null, null, null]]',
        "[(0, 8, 'DRUG', \"nan's np.int64(3)\"), (9, 12, 'CONDITION', 'crohn's')]",
        "[(0, 8, 'DRUG', \"nan's np.int64(3)\"), (9, 12, 'COND",
    ],
)
def test_spellings_of_tuples(cell: str) -> None:
    """Numbers of numpy's, missing values, JSON and a list that is broken behind a tuple leave the tuple as it is."""
    entities = read_tuples(cell).entities
    assert [(one.start, one.end, one.type, one.text) for one in entities] == [(0, 8, "DRUG", "nan's np.int64(3)")]


@pytest.mark.parametrize(
    "cell",
    # The last one in little time.
    [
        "[(0, 8, 'DRUG'",
        "nan, nan",
        "[" * 500,
        "__import__('os')",
        "7",
        "[(0, 8, DRUG, x)]",
        "[(0, 8, 'DRUG', '" + r"\'" * 100_000,
    ],
)
def test_what_is_no_list_of_tuples(cell: str) -> None:
    """It has no entity and says why; nothing of it is run."""
    reading = read_tuples(cell)
    assert not reading.entities
    assert reading.reasons


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("Stroke| gout", ["Stroke", "gout"]),
        ("none", []),
        ("", []),
        (None, []),
        ("None.", []),
        # Beside another name the word stays, as in the published run; the lists of conditions and drugs drop it.
        ("sham|none", ["sham", "none"]),
    ],
)
def test_names_between_bars(cell: str | None, names: list[str]) -> None:
    """Names are cut at bars; a cell that says none holds none."""
    assert read_names(cell) == names


@given(st.text(max_size=80))
def test_every_cell_is_read(cell: str) -> None:
    """No cell raises, and one without a reason gave as many tags as there are tokens."""
    read_names(cell)
    read_tuples(cell)
    reading = read_tags(cell, TOKENS)
    assert bool(reading.reasons) or (reading.tags is not None and len(reading.tags) == len(TOKENS))
