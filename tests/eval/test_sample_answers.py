"""The sample questions, end to end: the shipped notes read, loaded and queried; what was right stays right.

``sample_questions_missed.toml`` names those that are not right yet, each with its reason.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import cohortium
import cohortium.ingest as ingest_package
from tests.eval.sample_questions import SampleQuestion, load_questions

NOTES = Path(ingest_package.__file__).parent / "samples" / "notes.jsonl"
QUESTIONS = [one for one in load_questions() if one.query]
MISSED: dict[str, str] = tomllib.loads(Path(__file__).with_name("sample_questions_missed.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def answers(samples_kb: Path) -> dict[str, list[str]]:
    """The patients found for each question, from a knowledge base made of the shipped notes."""
    kb = cohortium.open(str(samples_kb))
    return {one.question: sorted(kb.find(one.query)) for one in QUESTIONS}


@pytest.mark.parametrize(
    "one", [one for one in QUESTIONS if one.question not in MISSED], ids=lambda one: str(one.question)
)
def test_the_answer_is_right(one: SampleQuestion, answers: dict[str, list[str]]) -> None:
    """The patients found are those that the question should find."""
    assert answers[one.question] == sorted(one.patients), one.why


def test_what_is_missed_is_named(answers: dict[str, list[str]]) -> None:
    """The list of missed questions names questions that are asked, each with a reason, and few of them."""
    assert MISSED.keys() <= {one.question for one in QUESTIONS}
    assert all(reason.strip() for reason in MISSED.values())
    assert len(MISSED) <= 3
