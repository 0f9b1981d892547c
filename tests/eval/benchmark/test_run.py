"""The run: answers are kept, what is missing is asked, what failed is told, and nothing else is written over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import cohortium
from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.baselines.systems.contract import Answer, Failure, Outcome, Question, Quote, Ranked, Spent
from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.eval.benchmark.questions import bank_questions
from cohortium.eval.benchmark.report.page import page
from cohortium.eval.benchmark.run import Records, RunOptions, ask_all, prepare, run_benchmark
from cohortium.eval.benchmark.settings import LexicalSetting, Setting
from cohortium.eval.benchmark.workshop import Made
from cohortium.ingest.run.pipeline import Interrupted
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Note

QUESTIONS = bank_questions([57, 58, 60])
SETTING = LexicalSetting(name="words", kind="lexical", encoder="none")
NOTES = tuple(Note(f"P{number}", f"D{number}", f"Fictional note {number}.") for number in range(4))
RECORDS = Records(
    "fictional",
    Corpus(NOTES),
    Labels(
        {"P0": frozenset({57}), "P1": frozenset({57, 58}), "P2": frozenset(), "P3": frozenset({60})},
        {"P2": frozenset({58})},
        "hash",
    ),
)


class Told:
    """A system that answers what it is told to, and remembers what it was asked."""

    name = "words"
    patients: Sequence[str] = ("P0", "P1", "P2", "P3")

    def __init__(self, answers: Mapping[str, Answer], stop_at: int | None = None) -> None:
        self.answers = answers
        self.stop_at = stop_at
        self.asked: list[str] = []

    def answer(self, question: Question) -> Answer:
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(question.id)
        return self.answers[question.id]

    def signature(self) -> Mapping[str, Any]:
        return {"system": "told"}


class Bench:
    """Makes that one system."""

    def __init__(self, system: Told) -> None:
        self.system = system

    def make(self, setting: Setting) -> Made:
        return Made(self.system, "control", {"what": "nothing"})


def answers(**changed: Answer) -> dict[str, Answer]:
    found = tuple(Ranked(patient, 1.0, (Quote(f"D{patient[1]}", 0, 9),)) for patient in ("P1", "P2"))
    plain = {question.id: Answer(question.id, found, 2) for question in QUESTIONS}
    return plain | {name.removeprefix("q"): answer for name, answer in changed.items()}


def run(folder: Path, system: Told, **options: Any) -> dict[str, Any]:
    prepare(folder)
    how = RunOptions(progress=False, **options)
    return run_benchmark(folder, RECORDS, [SETTING], QUESTIONS, Bench(system), how)  # type: ignore[arg-type]


def test_a_stopped_run_asks_what_is_missing(tmp_path: Path) -> None:
    """Stopped after one answer, the same run asks the other two alone, and reports as if it had never stopped."""
    first = Told(answers(), stop_at=1)
    with pytest.raises(Interrupted, match="the answers so far are kept"):
        run(tmp_path / "run", first)
    second = Told(answers())
    resumed = run(tmp_path / "run", second)
    assert (first.asked, second.asked) == (["57"], ["58", "60"])
    whole = run(tmp_path / "other", Told(answers()))
    assert resumed["systems"] == whole["systems"]
    assert resumed["errors"] == whole["errors"]


def test_a_run_that_was_taken_up_reports_the_same_evidence(tmp_path: Path) -> None:
    """A patient who is missed stands in the ranking behind the cohort: kept answers have no quotes there, and so the
    first report has none."""
    behind = Answer("57", (Ranked("P1", 1.0, (Quote("D1", 0, 9),)), Ranked("P0", 0.5, (Quote("D0", 0, 9),))), 1)
    first = run(tmp_path, Told(answers(q57=behind)))
    assert [one["kind"] for one in first["errors"] if (one["question"], one["patient"]) == ("57", "P0")] == ["fn"]
    assert run(tmp_path, Told({}))["errors"] == first["errors"]


def test_a_finished_run_asks_nothing(tmp_path: Path) -> None:
    """All answers are there."""
    run(tmp_path, Told(answers()))
    again = Told(answers())
    run(tmp_path, again)
    assert again.asked == []


def test_what_failed_is_asked_again_when_wanted(tmp_path: Path) -> None:
    """--retry-failed asks a failed question, and one with a failed patient, and no other."""
    failed = Answer("57", outcome=Outcome.FAILED, reason="no connection")
    in_part = Answer("58", (Ranked("P1", 1.0),), 1, failures=(Failure("P2", "timeout", "too late"),))
    run(tmp_path, Told(answers(q57=failed, q58=in_part)))
    kept, again = Told(answers()), Told(answers())
    run(tmp_path, kept)
    assert kept.asked == []
    report = run(tmp_path, again, again=True)
    assert again.asked == ["57", "58"]
    assert report["systems"][0]["scores"]["outcomes"]["failed"] == 0


def test_what_was_asked_again_cost_all_its_tries(tmp_path: Path) -> None:
    """The replies of the first try come from a cache in the second, and were paid for all the same."""
    paid = Spent(seconds=2.0, requests=3, dollars=0.3)
    in_part = Answer("58", (Ranked("P1", 1.0),), 1, failures=(Failure("P2", "timeout"),), spent=paid)
    whole = Answer("58", (Ranked("P1", 1.0),), 1, spent=Spent(seconds=1.0, requests=1, cached=3, dollars=0.1))
    run(tmp_path, Told(answers(q58=in_part)))
    total = run(tmp_path, Told(answers(q58=whole)), again=True)["systems"][0]["scores"]["cost"]["total"]
    assert (total["seconds"], total["requests"], total["cached"]) == (3.0, 4, 3)
    assert total["dollars"] == pytest.approx(0.4)
    assert run(tmp_path, Told({}))["systems"][0]["scores"]["cost"]["total"] == total


def test_errors_are_listed_by_kind_with_their_evidence(tmp_path: Path) -> None:
    """False positives with the places they rest on, misses, failures; the ambiguous are none of them."""
    in_part = Answer("58", (Ranked("P2", 1.0),), 1, failures=(Failure("P1", "timeout", "too late"),))
    report = run(tmp_path, Told(answers(q58=in_part)))
    told = {(one["question"], one["patient"]): one for one in report["errors"]}
    assert {key: one["kind"] for key, one in told.items()} == {
        ("57", "P0"): "fn",
        ("57", "P2"): "fp",
        ("58", "P1"): "failed",
        ("60", "P1"): "fp",
        ("60", "P2"): "fp",
        ("60", "P3"): "fn",
    }
    assert told["57", "P2"]["quotes"] == [{"doc_id": "D2", "start": 0, "end": 9}]
    assert told["57", "P0"]["reasons"] == ["not retrieved at all"]
    assert told["58", "P1"]["reasons"] == ["timeout: too late"]


def test_no_text_of_a_note_stands_in_a_report_unless_asked_for(tmp_path: Path) -> None:
    """Reports name places; --with-text adds the notes they are in, and the page can be made of both."""
    plain = run(tmp_path, Told(answers()))
    assert "Fictional note" not in json.dumps(plain)
    shown = run(tmp_path, Told(answers()), with_text=True)
    assert shown["texts"]["P2"] == {"D2": "Fictional note 2."}
    assert "Fictional" in page(shown)
    assert "Fictional" not in page(plain)


def test_a_folder_is_of_one_set_of_notes(tmp_path: Path) -> None:
    """Other notes are refused before anything is built, whichever systems are asked; the same are taken up."""
    run(tmp_path, Told(answers()))
    prepare(tmp_path)
    other = Records("other", Corpus(NOTES[:2]), RECORDS.labels)
    asked = Told(answers())
    with pytest.raises(UsageError, match="a run over other notes"):
        run_benchmark(tmp_path, other, [SETTING], QUESTIONS, Bench(asked), RunOptions(progress=False))  # type: ignore[arg-type]
    assert asked.asked == []
    run(tmp_path, Told({}))


def test_a_run_of_an_earlier_version_is_taken_up(tmp_path: Path) -> None:
    """Its mark does not say of which notes it is, nor does one whose writing was cut off."""
    for mark in ('{"format": 1}', ""):
        (tmp_path / "run.json").write_text(mark, encoding="utf-8")
        run(tmp_path, Told(answers()))


def test_a_patient_who_failed_is_no_false_positive(tmp_path: Path) -> None:
    """Whatever a system says of the cohort, errors are counted as the scores count them."""
    both = Answer("58", (Ranked("P0", 1.0), Ranked("P1", 0.5)), 2, failures=(Failure("P0", "timeout"),))
    report = run(tmp_path, Told(answers(q58=both)))
    assert [(one["patient"], one["kind"]) for one in report["errors"] if one["question"] == "58"] == [("P0", "failed")]


def test_the_corpus_is_counted(tmp_path: Path) -> None:
    """Patients, notes, words, and who has labels."""
    counted = run(tmp_path, Told(answers()))["corpus"]
    assert (counted["patients"], counted["notes"], counted["words"]) == (4, 4, 12)
    assert (counted["labelled"], counted["without_notes"], counted["unlabelled"]) == (4, 0, 0)


def test_a_folder_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    """Answers are not poured into a folder with something else, nor over a file."""
    (tmp_path / "thesis.txt").write_text("precious", encoding="utf-8")
    for place in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(UsageError, match="holds something that is no run"):
            prepare(place)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.txt"]


def test_systems_are_asked_one_after_the_other(tmp_path: Path) -> None:
    """Each setting gives its answers by question id."""
    (asked,) = ask_all(tmp_path, Bench(Told(answers())), [SETTING], QUESTIONS, progress=False)  # type: ignore[arg-type]
    assert list(asked.answers) == [question.id for question in QUESTIONS]


def test_the_command_runs_on_the_sample_notes(tmp_path: Path) -> None:
    """From notes and labels to the reports, in the command line; a second time nothing is built or asked."""
    from typer.testing import CliRunner

    from cohortium.__main__ import app

    notes = Path(cohortium.__file__).parent / "ingest" / "samples" / "notes.jsonl"
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        "".join(json.dumps({"patient_id": f"SAMPLE-{n:02}", "match": [57] if n == 2 else []}) + "\n" for n in (1, 2)),
        encoding="utf-8",
    )
    out = tmp_path / "run"
    words = ["bench", "acr", "--out", out, "--notes", notes, "--labels", labels, "--systems", "engine,engine-certain"]
    words += ["--queries", "57,58", "--format", "json"]
    result = CliRunner().invoke(app, [str(word) for word in words], prog_name="cohortium")
    assert result.exit_code == 0, result.output
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in report["systems"]] == ["engine", "engine-certain"]
    assert report["signature"]["seed"] == 0
    assert str(tmp_path) not in json.dumps(report["signature"])
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    again = CliRunner().invoke(app, [str(word) for word in words], prog_name="cohortium")
    assert again.exit_code == 0
    assert json.loads((out / "report.json").read_text(encoding="utf-8"))["systems"] == report["systems"]


def test_bounds_that_contradict_are_told(tmp_path: Path) -> None:
    """Exit 2 and a sentence, before anything is built or asked."""
    from typer.testing import CliRunner

    from cohortium.__main__ import app

    notes, labels = tmp_path / "notes.jsonl", tmp_path / "labels.jsonl"
    notes.write_text(json.dumps({"patient_id": "P0", "doc_id": "D0", "text": "A fictional note."}), encoding="utf-8")
    labels.write_text(json.dumps({"patient_id": "P0", "match": [57]}), encoding="utf-8")
    words = ["bench", "acr", "--out", tmp_path / "run", "--notes", notes, "--labels", labels, "--systems", "engine"]
    result = CliRunner().invoke(app, [*map(str, words), "--alpha", "1", "--beta", "5"], prog_name="cohortium")
    assert result.exit_code == 2
    assert "alpha is at least beta" in " ".join(result.stderr.split())
    assert [one.name for one in (tmp_path / "run").iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--corpus", "c", "--labels", "l"], "leave out --notes and --labels"),
        (["--notes", "n"], "belong together"),
        (["--tune-notes", "n"], "belong together"),
        (["--systems", "oracle"], "no system 'oracle'"),
        (["--queries", "57,x"], "--queries"),
        (["--queries", "33"], "no query 33"),
    ],
)
def test_a_command_that_cannot_be_run_leaves_nothing(tmp_path: Path, words: list[str], told: str) -> None:
    """Exit 2, a sentence, and no folder."""
    from typer.testing import CliRunner

    from cohortium.__main__ import app

    result = CliRunner().invoke(app, ["bench", "acr", "--out", str(tmp_path / "run"), *words], prog_name="cohortium")
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert not (tmp_path / "run").exists()
