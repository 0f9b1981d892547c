"""Context measured on marked sentences: how a condition is found, what counts as right, and what is wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.eval.extraction.negex import find_condition, read_marked, score
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Context, Polarity

HEADER = "line\tcondition\tsentence\tnegation\ttemporality\texperiencer\n"
LINES = (
    "1\trash\tHe has no RASH.\tNegated\tRecent\tPatient\n"
    "2\tmigraine\tHer mother suffers from MIGRAINE.\tAffirmed\tRecent\tFamily member\n"
    "3\tasthma\tASTHMA in childhood.\tAffirmed\tHistorical\tPatient\n"
    "4\tfever\tThe FEVER went away.\tNegated\tNot particular\tPatient\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Four invented sentences in the form of the NegEx table."""
    path = tmp_path / "marked.tsv"
    path.write_text(HEADER + LINES)
    return path


def always(text: str, span: tuple[int, int]) -> Context:
    """A reader to whom everything is absent."""
    return Context(polarity=Polarity.ABSENT)


def test_the_condition_is_found_in_capitals_before_any_other_place() -> None:
    """Of two places, the marked one is meant; without one, however it is written."""
    assert find_condition("No rash, old RASH.", "rash") == (13, 17)
    assert find_condition("A rash.", "Rash") == (2, 6)
    assert find_condition("With SEVERE  PAIN today.", "severe pain") == (5, 17)
    assert find_condition("Nothing here.", "cough") is None


def test_negation_is_scored_against_the_annotation(table: Path) -> None:
    """Absent read of a negated condition is a true positive, of an affirmed one a false positive."""
    found = score(*read_marked(table), read=always)
    told = found.as_dict()["negation"]
    assert [told[name] for name in ("tp", "fp", "fn", "tn")] == [2, 2, 0, 0]
    assert (told["precision"], told["recall"], told["f1"]) == (0.5, 1.0, pytest.approx(2 / 3))
    assert [one.number for one in found.wrong] == ["2", "3"]


def test_a_condition_without_particular_time_is_not_scored_for_time(table: Path) -> None:
    """Three of the four sentences have a time; one of them is historical and read as current."""
    found = score(*read_marked(table), read=always)
    assert found.temporality == (2, 3)
    assert found.experiencer == (3, 4)


def test_the_shipped_reader_reads_the_plain_cases(table: Path) -> None:
    """A plain negation and a relative are read from the text itself."""
    found = score(*read_marked(table))
    assert found.negation.tp >= 1
    assert found.negation.fp == 0
    assert found.experiencer == (4, 4)


def test_a_line_with_too_few_fields_is_told_by_its_place(tmp_path: Path) -> None:
    """What the file is, which line, and how many fields it lacks."""
    path = tmp_path / "marked.tsv"
    path.write_text(HEADER + "1\trash\n")
    with pytest.raises(UsageError, match="line 2: 2 fields where 6 belong"):
        read_marked(path)
