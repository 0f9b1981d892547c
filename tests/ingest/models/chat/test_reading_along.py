"""``--model llm``: a chat model reads along where it is set up, allowed and asked for, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.ingest.models.chat.choice import chat_choice, sentence_of
from cohortium.kb.errors import UsageError
from cohortium.kb.storage.reader import KnowledgeBase
from tests.kb.endpoint.playhouse import Act, Stage, status

Script = Callable[[dict[str, "str | Act"]], Stage]
#: Fictional notes; nobody sells larkadol.
NOTES = (
    {"patient_id": "P1", "doc_id": "1", "date": "2021-03-01", "text": "Breast cancer. Started larkadol 5 mg in March."},
    {"patient_id": "P2", "doc_id": "1", "date": "2021-04-01", "text": "Lung cancer. On osimertinib."},
)
LARKADOL = {"prescribed_medications": "PrescribedMedEnt(MedicationName='larkadol', Begin={'March'})"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The notes as a file."""
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps(note) + "\n" for note in NOTES), encoding="utf-8")
    return path


@pytest.fixture
def allowed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the server, and says that it may have notes."""
    for name, value in stage.environment(COHORTIUM_LLM_SEND_NOTES="yes", COHORTIUM_LLM_SECONDS="5").items():
        monkeypatch.setenv(name, value)


def command(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="cohortium")


def ingested(notes: Path, kb: Path, *words: object) -> dict[str, Any]:
    result = command("ingest", notes, "--kb", kb, *words, "--format", "json")
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    return told


@pytest.mark.usefixtures("allowed")
def test_what_the_model_quotes_becomes_a_mention_of_the_knowledge_base(
    model: Script, notes: Path, tmp_path: Path
) -> None:
    """It names the model, the manifest names it too, and the sums tell what was asked."""
    stage = model(LARKADOL)
    told = ingested(notes, tmp_path / "with.kb", "--model", "llm")
    assert told["asked"]["failed"] == {}
    assert (told["asked"]["texts"], told["asked"]["quotes"]) == (2, 1)
    # The second note does not say what the server says of every note.
    assert told["asked"]["not_in_text"] == 1
    assert told["asked"]["questions"] == len(stage.seen) == told["asked"]["requests"]
    with KnowledgeBase.open(tmp_path / "with.kb") as opened:
        assert opened.manifest["versions"]["model"].startswith("llm:a-model+")
    result = command(
        "sql", tmp_path / "with.kb", "SELECT rule FROM mentions WHERE rule LIKE 'model:%'", "--format", "json"
    )
    assert "model:llm:a-model" in result.output


@pytest.mark.usefixtures("allowed")
def test_a_linked_quote_is_possible_and_its_proof_says_whom_it_stands_on(model: Script, tmp_path: Path) -> None:
    """Never believed by itself; reading again asks the model again."""
    model({"symptoms": "SymptomEnt(Symptom='fatigued', Datetime={'unknown'})"})
    (tmp_path / "note.jsonl").write_text(json.dumps({**NOTES[0], "text": "Lung cancer. Feels fatigued."}) + "\n")
    kb = tmp_path / "one.kb"
    ingested(tmp_path / "note.jsonl", kb, "--model", "llm")
    answer = json.loads(command("query", kb, "fatigue", "--format", "json").stdout)
    assert (answer["count"], answer["certain"], answer["possible"]) == (0, 0, 1)
    told = json.loads(
        command("verify", kb, "fatigue", "--world", "possible", "--model", "llm", "--format", "json").stdout
    )
    assert told["on_models"] == {"llm:a-model": 1}


@pytest.mark.usefixtures("allowed")
def test_without_the_option_nothing_is_sent(model: Script, notes: Path, tmp_path: Path) -> None:
    """However well it is set up; and the sums do not speak of it."""
    stage = model(LARKADOL)
    assert "asked" not in ingested(notes, tmp_path / "without.kb")
    assert not stage.seen


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("missing", ["COHORTIUM_LLM_SEND_NOTES", "COHORTIUM_LLM_MODEL", "COHORTIUM_LLM_BASE_URL"])
def test_without_leave_or_endpoint_it_is_refused(
    model: Script, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """Before anything is read or sent, with the variable named."""
    stage = model(LARKADOL)
    monkeypatch.delenv(missing)
    result = command("ingest", notes, "--kb", tmp_path / "no.kb", "--model", "llm")
    assert result.exit_code == 2
    assert missing in result.stderr
    assert not (tmp_path / "no.kb").exists()
    assert not stage.seen


@pytest.mark.usefixtures("allowed")
def test_an_endpoint_that_fails_costs_no_note(stage: Stage, notes: Path, tmp_path: Path) -> None:
    """All are stored as rules read them, and each failure is counted and told."""
    stage.play(status(401))
    told = ingested(notes, tmp_path / "with.kb", "--model", "llm")
    assert (told["stored"], told["quarantined"]) == (2, 0)
    assert told["asked"]["texts_with_failures"] == 2
    assert sum(told["asked"]["failed"].values()) == told["asked"]["questions"]
    assert len(stage.seen) == 1
    assert "in 2 of 2 notes" in sentence_of(told["asked"])
    rules = ingested(notes, tmp_path / "without.kb")
    assert told["events"] == rules["events"]


@pytest.mark.usefixtures("allowed")
def test_answers_are_kept_where_the_environment_says(
    model: Script, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run asks nothing, and makes an equal knowledge base."""
    stage = model(LARKADOL)
    monkeypatch.setenv("COHORTIUM_LLM_ANSWERS", str(tmp_path / "answers.jsonl"))
    first = ingested(notes, tmp_path / "one.kb", "--model", "llm")
    monkeypatch.setenv("COHORTIUM_LLM_MOST_REQUESTS", "0")
    second = ingested(notes, tmp_path / "two.kb", "--model", "llm")
    assert len(stage.seen) == first["asked"]["requests"]
    assert (second["asked"]["requests"], second["asked"]["kept"]) == (0, first["asked"]["requests"])
    assert second["generation"] == first["generation"]


@pytest.mark.usefixtures("allowed")
def test_one_process_asks(model: Script, notes: Path, tmp_path: Path) -> None:
    """Several would each spend the budget."""
    stage = model({})
    result = command("ingest", notes, "--kb", tmp_path / "no.kb", "--model", "llm", "--workers", "2")
    assert result.exit_code == 2
    assert "--workers" in result.stderr
    assert not stage.seen


@pytest.mark.usefixtures("allowed")
def test_one_note_is_read_with_it_too(model: Script, tmp_path: Path) -> None:
    """The mentions go to standard output, what was asked to standard error."""
    model(LARKADOL)
    path = tmp_path / "note.txt"
    path.write_text(NOTES[0]["text"], encoding="utf-8")
    result = command("read", path, "--model", "llm", "--json")
    assert result.exit_code == 0, result.output
    (mention,) = (one for one in json.loads(result.stdout)["mentions"] if one["source"].startswith("model:"))
    assert (mention["text"], mention["source"], mention["concept"]) == ("larkadol", "model:llm:a-model", "")
    assert mention["confidence"] < 1
    assert "llm:a-model: 6 questions, 0 failed" in result.stderr


def test_a_budget_is_a_number_and_answers_are_answers(stage: Stage, tmp_path: Path) -> None:
    """What is wrong with either is told before anything is sent."""
    held = stage.environment(COHORTIUM_LLM_SEND_NOTES="yes")
    with pytest.raises(UsageError, match="MOST_TOKENS"):
        chat_choice(environment={**held, "COHORTIUM_LLM_MOST_TOKENS": "lots"})
    (tmp_path / "notes.csv").write_text("patient,note\n")
    with pytest.raises(UsageError, match="no file of a model's answers"):
        chat_choice(environment={**held, "COHORTIUM_LLM_ANSWERS": str(tmp_path / "notes.csv")})
    with pytest.raises(UsageError, match="cannot be kept"):
        chat_choice(environment={**held, "COHORTIUM_LLM_ANSWERS": str(tmp_path / "no" / "answers.jsonl")})


def test_the_name_holds_no_sign_that_means_something_elsewhere(stage: Stage) -> None:
    """A manifest divides name and hash, a source its parts; the key is in neither."""
    choice = chat_choice(
        environment={**stage.environment(COHORTIUM_LLM_SEND_NOTES="yes"), "COHORTIUM_LLM_MODEL": "house/model+8b:q4"}
    )
    assert choice.name == "llm:house-model-8b-q4"
    assert choice.version.count("+") == 2
    assert choice.settings.key not in repr(choice)
