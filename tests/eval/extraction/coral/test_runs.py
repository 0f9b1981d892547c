"""Whole runs: from our reading, from files, from a chat model over HTTP; what fails is counted and never scored."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.extraction.coral import scores
from cohortium.eval.extraction.coral.answers import (
    Answer,
    Kept,
    first_diagnosis,
    from_folder,
    from_reader,
    load_answers,
)
from cohortium.eval.extraction.coral.findings import Annotated, findings_of
from cohortium.eval.extraction.coral.model import from_model
from cohortium.eval.extraction.coral.report import Choices, judge
from cohortium.eval.extraction.coral.scores import Convention
from cohortium.eval.extraction.coral.tasks import Task, Tasks
from cohortium.eval.extraction.coral.units import Note, Stretch, load_notes
from cohortium.ingest.coral_schema.tuples import write
from cohortium.ingest.single import read
from cohortium.kb.endpoint.asking import MOST_IN_A_ROW, Asking
from cohortium.kb.endpoint.settings import Limits, from_environment
from cohortium.kb.errors import UsageError
from tests.eval.extraction.coral.invented import Model, note_of, reply

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, sample: Path) -> Run:
    """Runs ``eval coral`` on the sample and gives its scores."""

    def run(*options: str) -> dict[str, Any]:
        out = tmp_path / "scores.json"
        done = CliRunner().invoke(app, ["eval", "coral", "--gold", str(sample), "--json", str(out), *options])
        assert done.exit_code == 0, done.output
        told: dict[str, Any] = json.loads(out.read_text())
        return told

    return run


def right(notes: tuple[Note, ...], tasks: Tasks) -> dict[tuple[str, str], str]:
    """The right answer to each question: text of the unit and id of the task, to the answer."""
    return {
        (unit.text(note.text), task.id): write(task, findings_of(task, Annotated(note.standoff, unit)))
        for note in notes
        for unit in note.units()
        for task in tasks
    }


def asked(message: str, notes: tuple[Note, ...], tasks: Tasks) -> tuple[str, Task]:
    """Which unit and task a message is about: nothing else stands in it."""
    for note in notes:
        for unit in note.units():
            for task in tasks:
                if message == task.messages(unit.text(note.text), tasks.rules)[1]["content"]:
                    return unit.text(note.text), task
    raise AssertionError("another question")


def test_the_gold_as_answers_has_every_figure_at_one(run: Run, sample: Path) -> None:
    """In both conventions, section by section and by notes."""
    for options in ((), ("--convention", "tables"), ("--by", "note")):
        told = run("--predictions", str(sample), *options)
        for name in ("bleu", "rouge", "precision", "recall", "f1"):
            assert told["mean"][name] == pytest.approx(1)
            assert told["mean_where_told"][name] == pytest.approx(1)
        assert told["stated"]["f1"] == 1
        assert told["answers"]["coverage"] == 1
        assert len(told["relations"]) == 29


def test_our_reading_is_scored_and_the_run_can_be_had_again(run: Run) -> None:
    """A smoke test: the sample is three invented notes; the same run gives the same scores."""
    told = run()
    assert told["answers"] == {"asked": 84, "answered": 84, "failed": {}, "coverage": 1.0, "pieces_not_read": 0}
    assert 0.5 < told["mean"]["bleu"] <= 1
    low, high = told["mean"]["ci"]["f1"]
    assert low <= told["mean"]["f1"] <= high
    assert told["signature"]["settings"]["system"] == "reading"
    assert set(told["signature"]["data"]) == {"gold", "answers", "tasks"}
    assert run() == told


def test_one_note_by_hand(symptoms: Task, tasks: Tasks) -> None:
    """Gold *fever: May* and *cough: unknown*; output *fever: May*: all of it right, half of the gold."""
    note = note_of(
        "Fever in May. Cough.", "Symptom Fever", "Datetime May", "Symptom Cough", "HappensAtOnDuring Fever > May"
    )
    given = Answer("note", "note", "symptoms", "SymptomEnt(Symptom='Fever', Datetime={'May'})")
    told = judge([note], [given], tasks).as_dict()
    row = told["relations"]["Symptoms Datetime"]
    assert (row["units"], row["failed"], row["bleu"], row["rouge"]) == (1, 0, 1.0, 0.5)
    assert (row["precision"], row["recall"], row["f1"]) == (1.0, 0.5, 0.6667)
    # Of *cough* the gold tells no time: it is no stated pair.
    assert row["stated"] == dict.fromkeys(("precision", "recall", "f1"), 1.0) | {
        "tp": 1,
        "fp": 0,
        "fn": 0,
        "ci": (1, 1),
    }
    assert told["answers"]["failed"] == {"missing": 13}
    assert told["mean"]["f1"] == 0.6667
    assert told["mean_failures_as_wrong"]["f1"] == round(0.6667 / 29, 4)
    assert told["relations"]["Stage Datetime"]["f1"] is None


def test_a_failure_is_counted_and_not_scored(tasks: Tasks) -> None:
    """Where nothing was to be found a failed answer would be right if it counted as an empty one. It does not."""
    note = note_of("Nothing of note.")
    empty = judge([note], [Answer("note", "note", "symptoms", "None")], tasks).as_dict()
    failed = judge([note], [Answer("note", "note", "symptoms", failure="timeout")], tasks).as_dict()
    nonsense = judge([note], [Answer("note", "note", "symptoms", "Well, well.")], tasks).as_dict()
    assert empty["relations"]["Symptoms Datetime"]["f1"] == 1
    assert empty["mean_where_told"]["f1"] is None
    assert failed["relations"]["Symptoms Datetime"]["f1"] is None
    assert failed["mean"] == {"relations": 0, **dict.fromkeys(("bleu", "rouge", "precision", "recall", "f1"))} | {
        "ci": dict.fromkeys(("bleu", "rouge", "f1"))
    }
    assert failed["mean_failures_as_wrong"]["f1"] == 0
    assert failed["answers"]["failed"] == {"missing": 13, "timeout": 1}
    assert nonsense["answers"]["failed"] == {"missing": 13, "nonsense": 1}
    assert nonsense["answers"]["coverage"] == 0


def test_no_notes_are_no_scores(tasks: Tasks) -> None:
    """Nothing asked, nothing told."""
    told = judge([], [], tasks).as_dict()
    assert (told["relations"], told["answers"]["coverage"], told["mean"]["bleu"]) == ({}, None, None)
    for convention in Convention:
        assert judge([], [], tasks, Choices(convention=convention)).as_dict()["units"] == 0


def test_a_model_that_answers_right_has_every_figure_at_one(
    run: Run, model: Model, monkeypatch: pytest.MonkeyPatch, sample: Path, tasks: Tasks
) -> None:
    """84 requests over HTTP, each with one unit and one question, and the answers understood."""
    notes = load_notes(sample)
    answers = right(notes, tasks)

    def say(message: str) -> tuple[int, dict[str, Any]]:
        text, task = asked(message, notes, tasks)
        return reply(answers[text, task.id])

    model.say = say
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    told = run("--llm")
    assert told["mean"]["f1"] == told["mean"]["rouge"] == 1
    assert told["signature"]["settings"]["model"] == "a-model"
    assert told["signature"]["settings"]["cost"] == {"requests": 84, "tokens": 840, "kept": 0}
    assert len(model.heard) == 84
    assert all(sent["messages"][0] == {"role": "system", "content": tasks.rules.system} for sent in model.heard)
    # Lines are wanted, not JSON, and room for them.
    assert all("response_format" not in sent and sent["max_tokens"] >= 2000 for sent in model.heard)


def test_no_note_is_sent_without_leave(model: Model, monkeypatch: pytest.MonkeyPatch, sample: Path) -> None:
    """An endpoint that is set up for questions gets no note: nothing is sent until that is allowed."""
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("COHORTIUM_LLM_SEND_NOTES")
    result = CliRunner().invoke(app, ["eval", "coral", "--gold", str(sample), "--llm"], prog_name="cohortium")
    assert result.exit_code == 2
    assert "COHORTIUM_LLM_SEND_NOTES" in result.stderr
    assert model.heard == []


def test_what_a_model_fails_at_is_counted_by_its_kind_and_asked_again(
    run: Run, model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample: Path, tasks: Tasks
) -> None:
    """A refusal, an answer cut off, nonsense, a broken request; the second run asks for those alone that failed."""
    notes = load_notes(sample)
    odd = {
        "symptoms": reply("", "content_filter"),
        "histology": reply("Histo(Histology='IDC', Datetime={'20", "length"),
        "stage": reply("I would rather not say."),
        "tnm": (413, {"error": "too long"}),
        "grade": (200, {"error": "no choices"}),
    }
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    model.say = lambda message: odd.get(asked(message, notes, tasks)[1].id, reply("unknown"))
    kept = tmp_path / "answers.jsonl"
    told = run("--llm", "--answers", str(kept))
    assert told["answers"]["failed"] == {"cut_off": 6, "nonsense": 12, "refusal": 12}
    assert told["answers"]["answered"] == 54
    assert told["relations"]["Histology Datetime"]["f1"] is None
    assert len(model.heard) == 84
    # Nonsense of the model is an answer, which it would give again: it is kept. That of the server is none.
    again = run("--llm", "--answers", str(kept))
    assert len(model.heard) == 84 + 24
    assert again["signature"]["settings"]["cost"]["kept"] == 60
    assert again["relations"] == told["relations"]
    assert run("--predictions", str(kept))["relations"] == told["relations"]
    # What a model was paid for is not written over by a run without one.
    held = kept.read_text()
    assert CliRunner().invoke(app, ["eval", "coral", "--gold", str(sample), "--answers", str(kept)]).exit_code == 2
    assert kept.read_text() == held


@pytest.mark.parametrize(("status", "kind", "requests"), [(500, "connection", MOST_IN_A_ROW), (401, "connection", 1)])
def test_an_endpoint_that_is_down_is_not_asked_for_ever(
    model: Model, tmp_path: Path, sample: Path, tasks: Tasks, status: int, kind: str, requests: int
) -> None:
    """After a few failures in a row, or one that all would share, the rest fails unasked, and is asked another time."""
    notes, kept = load_notes(sample), tmp_path / "answers.jsonl"
    settings = from_environment(model.environment, Limits(tries=1))

    def failed() -> dict[str, int]:
        given = from_model(notes, Stretch.SECTION, tasks, Asking(settings), Kept(kept, tasks))
        told: dict[str, int] = judge(notes, given, tasks).as_dict()["answers"]["failed"]
        return told

    model.say = lambda _: (status, {})
    assert failed() == {kind: 84}
    assert len(model.heard) == requests
    model.say = lambda _: reply("unknown")
    assert failed() == {}


def test_a_run_that_is_ended_keeps_what_it_has(model: Model, tmp_path: Path, sample: Path, tasks: Tasks) -> None:
    """Each answer is in the file before the next is asked for."""
    notes, place = load_notes(sample), tmp_path / "answers.jsonl"
    settings = from_environment(model.environment)
    running = from_model(notes, Stretch.SECTION, tasks, Asking(settings), Kept(place, tasks))
    for number in range(1, 4):
        next(running)
        assert len(load_answers(place, tasks)) == number
    running.close()
    assert len(list(from_model(notes, Stretch.SECTION, tasks, Asking(settings), Kept(place, tasks)))) == 84
    assert len(model.heard) == 84


@pytest.mark.parametrize("library", ["sacrebleu.metrics", "rouge_score.rouge_scorer", "scipy.stats"])
def test_a_library_that_is_not_installed_is_named(library: str, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With how to install it."""
    scores._sacrebleu.cache_clear()
    scores._rouge.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)
    options = ["eval", "coral", "--gold", str(sample), "--strata", str(sample / "strata.tsv")]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 2
    assert "cohortium[bench]" in done.output


def test_a_file_of_answers_that_broke_off_is_gone_on_with(tmp_path: Path, tasks: Tasks) -> None:
    """The half line is left out; the next answer stands on a line of its own."""
    place = tmp_path / "answers.jsonl"
    whole = json.dumps(Answer("d", "history", "symptoms", "unknown", asked="x").as_dict())
    place.write_text(whole + "\n" + whole[:20])
    kept = Kept(place, tasks)
    assert kept.get(("d", "history", "symptoms"), "x") is not None
    assert kept.get(("d", "history", "symptoms"), "another question") is None
    kept.add(Answer("d", "plan", "symptoms", "unknown"))
    assert set(load_answers(place, tasks)) == {("d", "history", "symptoms"), ("d", "plan", "symptoms")}
    place.write_text(whole)
    Kept(place, tasks).add(Answer("d", "plan", "symptoms", "unknown"))
    assert len(load_answers(place, tasks)) == 2


@pytest.mark.parametrize("row", ["[]", "{", '{"document": "d", "task": "x"}', '{"document": 1, "task": "symptoms"}'])
def test_a_line_that_is_no_answer_is_told(tmp_path: Path, tasks: Tasks, row: str) -> None:
    """With its number."""
    place = tmp_path / "answers.jsonl"
    place.write_text(f"\n{row}\n")
    with pytest.raises(UsageError, match="line 2"):
        load_answers(place, tasks)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no answer"),
        ("\n\n", "holds no answer"),
        ('{"document": "brea', "line 1 of the predictions breaks off"),
        ('{"document": "another", "task": "symptoms", "output": "unknown"}\n', "answers to no document of the gold"),
        (None, "holds no annotation"),
    ],
)
def test_answers_of_which_nothing_can_be_read_are_no_empty_answers(
    tmp_path: Path, sample: Path, text: str | None, told: str
) -> None:
    """Neither a file nor a folder without an answer to the gold is scored: exit code 2, and what is expected."""
    place = tmp_path / "answers"
    if text is None:
        place.mkdir()
    else:
        place.write_text(text)
    done = CliRunner().invoke(app, ["eval", "coral", "--gold", str(sample), "--predictions", str(place)])
    assert done.exit_code == 2, done.output
    assert told in done.output
    assert "Hint: " in done.output


def test_a_line_that_broke_off_is_told_with_the_scores(tmp_path: Path, sample: Path) -> None:
    """The others are scored."""
    place = tmp_path / "answers.jsonl"
    whole = json.dumps(Answer("breast_1", "history", "symptoms", "unknown").as_dict())
    place.write_text(f"{whole}\n{whole[:20]}")
    done = CliRunner().invoke(app, ["eval", "coral", "--gold", str(sample), "--predictions", str(place)])
    assert done.exit_code == 0, done.output
    assert "line 2 of the predictions breaks off" in done.output


def test_annotations_of_another_text_are_refused(tmp_path: Path, tasks: Tasks, sample: Path) -> None:
    """A note that the other folder lacks is missing; one with another text is a mistake."""
    notes = load_notes(sample)
    (tmp_path / "breast_1.ann").write_text("")
    (tmp_path / "breast_1.txt").write_text("Another note.")
    with pytest.raises(UsageError, match="another text"):
        list(from_folder(tmp_path, notes, Stretch.SECTION, tasks))
    (tmp_path / "breast_1.txt").write_text(notes[0].text)
    told = judge(notes, from_folder(tmp_path, notes, Stretch.SECTION, tasks), tasks).as_dict()
    assert told["answers"]["failed"] == {"missing": 56}


def test_our_reading_finds_the_first_diagnosis(tasks: Tasks) -> None:
    """The earliest date that a cancer of the patient is tied to, in words of the note; a relative's is none."""
    text = (
        "HPI: She was diagnosed with invasive ductal carcinoma in March 2019. Invasive ductal carcinoma recurred in"
        " June 2021. Her mother was diagnosed with breast cancer in May 1990."
    )
    document = read(text)
    (unit,) = note_of(text).units(Stretch.NOTE)
    assert first_diagnosis(document, unit) == ("March 2019",)
    assert first_diagnosis(read("She feels well."), unit) == ()


def test_our_reading_answers_in_the_format(sample: Path, tasks: Tasks) -> None:
    """Every answer is understood; what a note says outright is in it."""
    notes = load_notes(sample)
    given = list(from_reader(notes, Stretch.SECTION, tasks))
    report = judge(notes, given, tasks)
    assert not [one for one in report.judged if one.answer.failure or one.answer.unread]
    found = {
        (one.unit.document, one.task.id): one.answer.findings for one in report.judged if one.unit.name == "history"
    }
    assert [one.name for one in found["breast_1", "biomarkers"]] == ["ER positive", "PR positive", "HER2 negative"]


def test_our_answers_may_be_kept_and_scored_again(run: Run, tmp_path: Path) -> None:
    """The file that ``--answers`` writes is one that ``--predictions`` reads."""
    place = tmp_path / "ours.jsonl"
    told = run("--answers", str(place))
    assert run("--predictions", str(place))["relations"] == told["relations"]
    assert run("--answers", str(place))["relations"] == told["relations"]


def test_without_an_endpoint_a_model_cannot_be_asked(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that are not set are named."""
    for name in ("BASE_URL", "MODEL", "API_KEY"):
        monkeypatch.delenv(f"COHORTIUM_LLM_{name}", raising=False)
    done = CliRunner().invoke(app, ["eval", "coral", "--gold", str(sample), "--llm"])
    assert done.exit_code == 2
    assert "COHORTIUM_LLM_BASE_URL" in done.output


def test_groups_of_documents_are_compared(run: Run, sample: Path) -> None:
    """One row for each relation, figure and stratum."""
    told = run("--strata", str(sample / "strata.tsv"))
    assert len(told["strata"]) == 2 * 29 * 3
    tested = [one for one in told["strata"] if one["p"] is not None]
    assert tested
    assert all(one["q"] >= one["p"] for one in tested)


def test_the_sheet_of_a_run_is_counted(run: Run, tmp_path: Path) -> None:
    """What ``--review`` writes ``coral-review`` reads; untouched, every row is open."""
    sheet = tmp_path / "sheet.tsv"
    told = run("--review", str(sheet))
    done = CliRunner().invoke(app, ["eval", "coral-review", str(sheet), "--format", "json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["all"]["open"] == told["review_rows"] > 100


def test_a_model_and_a_file_are_not_both_scored(sample: Path) -> None:
    """One or the other."""
    options = ["eval", "coral", "--gold", str(sample), "--llm", "--predictions", str(sample)]
    assert CliRunner().invoke(app, options).exit_code == 2
