"""Many questions to one endpoint: what is kept, what is counted, and when nothing more is sent."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from cohortium.kb.endpoint.asking import MOST_IN_A_ROW, Asking, Budget, Outcome, spending_line
from cohortium.kb.endpoint.kept import KeptAnswers
from cohortium.kb.errors import UsageError
from tests.kb.endpoint.playhouse import Stage, raw, says, status


def question(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


NO_BOUND = Budget()


def asking(stage: Stage, kept: KeptAnswers | None = None, budget: Budget = NO_BOUND, **limits: float) -> Asking:
    return Asking(stage.settings(**limits), kept, budget, sleep=lambda seconds: None)


def test_no_question_is_asked_twice(stage: Stage, tmp_path: Path) -> None:
    """Not in one run, and not in the next with the same file; another question, or another model, is asked."""
    stage.play(says("one"), says("two"), says("three"))
    path = tmp_path / "answers.jsonl"
    first = asking(stage, KeptAnswers(path))
    assert [first.ask(question(text)) for text in ("a", "a", "b")] == [Outcome("one"), Outcome("one"), Outcome("two")]
    again = asking(stage, KeptAnswers(path))
    assert again.ask(question("a")) == Outcome("one")
    assert (again.spending.requests, again.spending.kept, len(stage.seen)) == (0, 1, 2)
    other = Asking(stage.settings(), KeptAnswers(path), temperature=0.5)
    assert other.ask(question("a")) == Outcome("three")


def test_the_file_of_answers_is_its_owners_alone_and_holds_no_question(stage: Stage, tmp_path: Path) -> None:
    """What was asked is a checksum in it; nobody else may read it."""
    stage.play(says("an answer"))
    path = tmp_path / "answers.jsonl"
    asking(stage, KeptAnswers(path)).ask(question("Fictional patient, aged 60."))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (line,) = path.read_text().splitlines()
    assert set(json.loads(line)) == {"asked", "text", "failure"}
    assert "Fictional" not in line


def test_a_line_that_broke_off_is_asked_again(stage: Stage, tmp_path: Path) -> None:
    """What was being written when a run was killed is left out, and what follows stands on a line of its own."""
    stage.play(says("one"), says("two"), says("three"))
    path = tmp_path / "answers.jsonl"
    run = asking(stage, KeptAnswers(path))
    run.ask(question("a"))
    run.ask(question("b"))
    path.write_bytes(path.read_bytes()[:-9])
    again = asking(stage, KeptAnswers(path))
    assert [again.ask(question(text)).text for text in ("a", "b")] == ["one", "three"]
    assert len(KeptAnswers(path)) == 2


@pytest.mark.parametrize("content", ["{}\n", "[1]\n", '{"asked": 1, "text": "", "failure": ""}\n', "patient,note\n"])
def test_another_file_is_no_file_of_answers(tmp_path: Path, content: str) -> None:
    """It is told, and left as it is."""
    path = tmp_path / "notes.csv"
    path.write_text(content)
    with pytest.raises(UsageError, match="no file of a model's answers"):
        KeptAnswers(path)
    assert path.read_text() == content


def test_refusals_and_answers_cut_off_are_failures_that_are_kept(stage: Stage, tmp_path: Path) -> None:
    """They were answers: asking once more would give them once more. Nonsense of the line is asked again."""
    stage.play(says("", refusal="No."), says("half", finish="length"), raw(b"<html>"), says("whole"))
    kept = KeptAnswers(tmp_path / "answers.jsonl")
    run = asking(stage, kept)
    told = [run.ask(question(text)).failure for text in ("a", "b", "c", "a", "b", "c")]
    assert told == ["refusal", "cut_off", "nonsense", "refusal", "cut_off", ""]
    assert run.spending.failures == {"refusal": 2, "cut_off": 2, "nonsense": 1}
    assert "2 refusal" in spending_line(run.spending.as_dict())


def test_a_key_that_is_not_taken_ends_it(stage: Stage) -> None:
    """One request shows it; the other questions fail without being sent."""
    stage.play(status(401))
    run = asking(stage)
    assert [run.ask(question(text)).failure for text in ("a", "b", "c")] == ["connection"] * 3
    assert len(stage.seen) == 1
    assert run.spending.failures == {"connection": 3}


def test_an_endpoint_that_is_down_is_left_alone_after_a_while(stage: Stage) -> None:
    """So many questions in a row, each with its tries; a good answer between them begins the row anew."""
    stage.play(*[status(503)] * (MOST_IN_A_ROW - 1), says("here"), status(503))
    run = asking(stage, tries=1)
    failures = [run.ask(question(str(number))).failure for number in range(3 * MOST_IN_A_ROW)]
    assert failures.count("") == 1
    assert len(stage.seen) == 2 * MOST_IN_A_ROW


def test_a_request_that_is_not_understood_costs_that_question_alone(stage: Stage) -> None:
    """The server's no is not the model's: it is not kept, and the next question is asked."""
    stage.play(status(413), says("fine"))
    run = asking(stage)
    assert [run.ask(question(text)) for text in ("a", "b")] == [Outcome(failure="rejected"), Outcome("fine")]


def test_the_budget_of_the_run_is_kept(stage: Stage, tmp_path: Path) -> None:
    """Requests and tokens are bounded over all questions; what is kept from before stays free."""
    stage.play(says("fine", tokens=100))
    kept = KeptAnswers(tmp_path / "answers.jsonl")
    run = asking(stage, kept, Budget(requests=2))
    assert [run.ask(question(text)).failure for text in ("a", "b", "c", "a")] == ["", "", "budget", ""]
    assert len(stage.seen) == 2
    run = asking(stage, None, Budget(tokens=150))
    assert [run.ask(question(text)).failure for text in ("a", "b", "c")] == ["", "", "budget"]
    assert asking(stage, kept, Budget(requests=0)).ask(question("b")).text == "fine"
    with pytest.raises(UsageError):
        Budget(requests=-1)


def test_a_question_that_is_too_long_is_not_the_end_of_the_budget(stage: Stage) -> None:
    """The limit of one question fails that one alone."""
    stage.play(says("fine"))
    run = asking(stage, tokens=500)
    assert [run.ask(question(text)).failure for text in ("long " * 1_000, "short")] == ["budget", ""]


def test_a_server_that_knows_fewer_options_is_asked_with_fewer_from_then_on(stage: Stage) -> None:
    """It is found out once, not with every question."""
    stage.play(status(400), says("fine"))
    run = asking(stage)
    assert [run.ask(question(text)).text for text in ("a", "b")] == ["fine", "fine"]
    assert len(stage.seen) == 3
