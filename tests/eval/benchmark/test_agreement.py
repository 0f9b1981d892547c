"""Paraphrases, and the pairs of questions whose answers must agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from cohortium.eval.bank.consistency.pairs import PairsError, load_subtypes
from cohortium.eval.benchmark.agreement import KINDS, expected_agreement, load_paraphrases
from cohortium.eval.benchmark.questions import bank_questions


def test_paraphrases_are_asked_in_english_alone():
    """Ids differ from each other and from those of the bank; every kind but the codes occurs."""
    listed = load_paraphrases()
    ids = [one.id for one in listed]
    assert len(listed) >= 60
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {one.id for one in bank_questions()}
    assert {one.kind for one in listed} == set(KINDS) - {"code"}
    assert all(one.question.query == "" and one.question.of == one.of for one in listed)


def test_every_pair_is_of_questions_that_are_asked():
    """And stands once under its check."""
    asked = {one.id for one in (*bank_questions(), *(one.question for one in load_paraphrases()))}
    pairs = [(one.check, one.first, one.second) for one in expected_agreement()]
    assert all({first, second} <= asked and first != second for _, first, second in pairs)
    assert len(set(pairs)) == len(pairs)


def test_the_pairs_of_the_paper_are_there():
    """Table 2 has one, table 3 four with the base 58, table 4 five that make a chain."""
    shown = {table: [one for one in expected_agreement() if one.table == table] for table in (2, 3, 4)}
    assert [(one.first, one.second) for one in shown[2]] == [("97", "101")]
    assert [(one.first, one.second) for one in shown[3]] == [
        ("113", "58"),
        ("107", "58"),
        ("105", "58"),
        ("18", "58"),
    ]
    assert {(one.second, one.first) for one in shown[4]} == {
        ("102", "103"),
        ("103", "99"),
        ("99", "98"),
        ("98", "101"),
        ("101", "108"),
    }


def test_every_subtype_of_the_bank_is_checked():
    """All pairs of the shipped list, and no intersection that is not one of them."""
    number = Counter(one.check for one in expected_agreement())
    implied = {(str(one.child), str(one.parent)) for one in load_subtypes()}
    assert number["subtype"] == len(load_subtypes())
    assert {(one.first, one.second) for one in expected_agreement() if one.check == "intersection"} < implied


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('of = 9999\nkind = "order"\ntext = "x"', "no question 9999"),
        ('of = 58\nkind = "rhyme"\ntext = "x"', "'rhyme' is not one of"),
        ('of = 58\nkind = "order"\ntext = "find me  patients with BREAST cancer"', "says the same"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused(tmp_path: Path, row: str, message: str):
    """An unknown question, an unknown kind, the bank's own words."""
    file = tmp_path / "rows.toml"
    file.write_text(f"[[paraphrase]]\n{row}\n", encoding="utf-8")
    with pytest.raises(PairsError, match=message):
        load_paraphrases(file)
