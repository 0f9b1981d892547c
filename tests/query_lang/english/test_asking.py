"""``kb.ask``, ``cohortium ask`` and the conversation: a question, its cohort, its readings, its refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cohortium
from cohortium.__main__ import app


@pytest.fixture(scope="module")
def kb(samples_kb: Path) -> Path:
    """The knowledge base of the sample records."""
    return samples_kb


def test_a_clear_question_gives_the_cohort_of_its_query(kb: Path) -> None:
    """The patients are those of the query that was read, which can be asked again as text."""
    with cohortium.open(kb) as session:
        answer = session.ask("Find me patients with breast cancer")
        assert list(answer) == list(session.find("diagnosis breast cancer"))
        assert len(answer) > 0
        assert list(session.find(answer.translation.text)) == list(answer)
        told = answer.to_dict()
        assert told["patients"] == list(answer)
        assert told["abstained"] is False


def test_an_ambiguous_question_gives_no_patients_but_those_that_tell_apart(kb: Path) -> None:
    """For each reading there are patients who are in it and in no other."""
    with cohortium.open(kb) as session:
        answer = session.ask("patients with breast cancer and lung cancer")
        assert list(answer) == []
        told = answer.to_dict()
        assert told["count"] == 0
        assert len(told["readings"]) == 2
        wide, narrow = (set(cohort) for cohort in answer.cohorts)
        assert set(told["readings"][0]["only"]) <= wide - narrow
        assert told["readings"][0]["only_count"] == len(wide - narrow) > 0


def test_the_command_declines_with_exit_code_8_and_says_why(kb: Path) -> None:
    """A refusal is an answer; it names the words that were not used."""
    result = CliRunner().invoke(app, ["ask", str(kb), "elderly responders", "--format", "json"])
    assert result.exit_code == 8
    told = json.loads(result.stdout)
    assert told["abstained"]
    assert told["patients"] == []
    assert told["unread"] == ["elderly", "responders"]


def test_the_command_lists_the_patients_of_a_world(kb: Path) -> None:
    """As for a query: the world, the limit and the file are options."""
    result = CliRunner().invoke(
        app, ["ask", str(kb), "patients with breast cancer", "--world", "possible", "--limit", "1", "--format", "json"]
    )
    told = json.loads(result.stdout)
    assert told["world"] == "possible"
    assert len(told["patients"]) == 1 <= told["count"]


def test_a_line_with_a_question_mark_is_asked_in_english(kb: Path) -> None:
    """In the conversation ``?`` asks in English, and the cohort can be explained afterwards."""
    result = CliRunner().invoke(app, ["repl", str(kb)], input="? pts with brest cancer\n? responders\n:quit\n")
    assert result.exit_code == 0
    assert "'brest' is read as 'breast'" in result.stdout
    assert "diagnosis breast cancer" in result.stdout
    assert "not answered" in result.stdout
