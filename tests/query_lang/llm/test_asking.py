"""Questions to a knowledge base with a model beside the rules, in Python and on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import cohortium
from cohortium.__main__ import app
from cohortium.engine.api import OpenKb
from cohortium.kb.errors import UsageError
from tests.kb.endpoint.playhouse import KEY, Stage, query, says, status

#: A question that the rules read, the query that they make of it, and one that they have no words for.
PLAIN = "patients with breast cancer"
ODD = "breast cancer in folks that floximate"


@pytest.fixture
def kb(sample_path: Path) -> Iterator[OpenKb]:
    """The sample records, open."""
    with cohortium.open(sample_path) as opened:
        yield opened


def ask(path: Path, question: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["ask", str(path), question, *options], prog_name="cohortium")


@pytest.mark.parametrize("question", [PLAIN, ODD])
def test_without_being_asked_for_a_model_hears_nothing(kb: OpenKb, here: Stage, question: str) -> None:
    """An endpoint in the environment is not enough."""
    kb.ask(question)
    kb.ask(question, translator="rules")
    assert here.seen == []


def test_without_an_endpoint_a_model_cannot_be_asked(kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's wish is not enough either."""
    for name in ("BASE_URL", "MODEL", "API_KEY"):
        monkeypatch.delenv(f"COHORTIUM_LLM_{name}", raising=False)
    with pytest.raises(UsageError, match="COHORTIUM_LLM_BASE_URL"):
        kb.ask(PLAIN, translator="llm")


def test_a_translator_that_there_is_not_is_told(kb: OpenKb) -> None:
    """The message names those that there are."""
    with pytest.raises(UsageError, match="rules and llm"):
        kb.ask(PLAIN, translator="oracle")


def test_agreement_answers(kb: OpenKb, here: Stage) -> None:
    """The patients are those of the query that both give."""
    here.play(query("diagnosis breast cancer"))
    answer = kb.ask(PLAIN, translator="llm")
    assert set(answer) == set(kb.find("diagnosis breast cancer"))
    assert len(answer)
    assert answer.translation.confidence >= kb.ask(PLAIN).translation.confidence


def test_disagreement_offers_both_and_no_patients(kb: OpenKb, here: Stage) -> None:
    """Each reading comes with a few patients who are in it alone."""
    here.play(query("diagnosis lung cancer"))
    answer = kb.ask(PLAIN, translator="llm")
    assert (answer.abstained, list(answer)) == (True, [])
    readings = answer.to_dict()["readings"]
    assert [one["query"] for one in readings] == ["diagnosis breast cancer", "diagnosis lung cancer"]
    assert readings[0]["only"]
    assert readings[1]["only"]


def test_a_model_answers_what_the_rules_have_no_words_for(kb: OpenKb, here: Stage) -> None:
    """The rules alone decline it."""
    here.play(query("diagnosis breast cancer and not death"))
    assert kb.ask(ODD).abstained
    answer = kb.ask(ODD, translator="llm")
    assert set(answer) == set(kb.find("diagnosis breast cancer and not death"))
    assert 0 < answer.translation.confidence < 1


@pytest.mark.parametrize("question", ["breast cancer with recent chemo", "HER2 patients", "responders"])
def test_what_is_unclear_stays_so_with_a_model(kb: OpenKb, here: Stage, question: str) -> None:
    """However sure a model is, no patients are shown for what has no exact meaning."""
    here.play(query("diagnosis breast cancer"))
    answer = kb.ask(question, translator="llm")
    assert (answer.abstained, list(answer)) == (True, [])


def test_criteria_of_the_front_end_may_be_named_by_a_model(kb: OpenKb, here: Stage) -> None:
    """So both readers can mean the same by *triple negative*."""
    question = "triple negative breast cancer"
    alone = kb.ask(question).translation
    definitions, _, criterion = alone.text.rpartition(";")
    assert "triple negative" in definitions
    here.play(query(criterion))
    answer = kb.ask(question, translator="llm")
    assert "triple negative" in json.loads(here.seen[0].contents[1])["criteria"]
    assert not answer.abstained
    assert answer.translation.query == alone.query


# --- the command line -----------------------------------------------------------------------------------------------


def test_the_option_asks_the_model(sample_path: Path, here: Stage) -> None:
    """The answer has the form of every answer to a question."""
    here.play(query("diagnosis breast cancer"))
    result = ask(sample_path, PLAIN, "--llm", "--format", "json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["patients"]
    assert {"understood", "unread", "readings", "abstained", "confidence"} <= set(told)
    assert len(here.seen) == 1


def test_without_the_option_nothing_is_sent(sample_path: Path, here: Stage) -> None:
    """The command is the same, the network is not touched."""
    assert ask(sample_path, PLAIN).exit_code == 0
    assert here.seen == []


def test_without_an_endpoint_the_option_is_a_wrong_use(sample_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, and the variable by its name."""
    monkeypatch.delenv("COHORTIUM_LLM_BASE_URL", raising=False)
    result = ask(sample_path, PLAIN, "--llm")
    assert result.exit_code == 2
    assert "COHORTIUM_LLM_BASE_URL" in result.stderr


def test_an_endpoint_that_refuses_leaves_the_rules(sample_path: Path, here: Stage) -> None:
    """The answer is the one without a model, with a note; the key is nowhere."""
    here.play(status(401))
    result = ask(sample_path, PLAIN, "--llm")
    assert result.exit_code == 0
    assert "note: read by rules alone" in result.stdout
    assert KEY not in result.output


def test_a_refusal_is_told_with_its_reason(sample_path: Path, here: Stage) -> None:
    """No patients, and what stood in the way; it is an answer, and no error."""
    here.play(says("I am only a poem."))
    result = ask(sample_path, ODD, "--llm")
    assert result.exit_code == 8
    assert "not answered" in result.stdout
    assert "no usable query" in result.stdout
    assert "poem" not in result.output
