"""Deadlines of answers: whatever is asked ends in time, is called off, and gives all or nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.engine.cohort import Cohort
from cohortium.kb import deadline
from cohortium.kb.errors import DeadlineExceeded, UsageError

Command = Callable[..., Result]

#: Tumors of tumors of tumors: their number multiplies at each level, and no engine decides this soon.
ENDLESS = (
    "let a0 be diagnosis lung cancer;"
    + "".join(f"let a{at} be same tumor (a{at - 1} and surgery or a{at - 1});" for at in range(1, 60))
    + "a59"
)
#: What is asked of a cohort, by name.
QUESTIONS: dict[str, Callable[[Cohort, str], Any]] = {
    "count": lambda cohort, patient: len(cohort),
    "certain": lambda cohort, patient: list(cohort.certain),
    "possible": lambda cohort, patient: list(cohort.possible),
    "explain": lambda cohort, patient: cohort.explain(patient),
    "why-not": lambda cohort, patient: cohort.why_not(patient),
    "funnel": lambda cohort, patient: cohort.funnel(),
    "rank": lambda cohort, patient: cohort.rank(),
    "prove": lambda cohort, patient: cohort.prove(patient),
    "findings": lambda cohort, patient: cohort.findings(),
    "parts": lambda cohort, patient: (cohort & cohort).counts_by_part(),
    "report": lambda cohort, patient: cohort.report(),
}


@pytest.fixture(scope="module")
def kb(sample_kb: Path) -> Iterator[OpenKb]:
    """The knowledge base of the sample notes, open."""
    with cohortium.open(sample_kb) as opened:
        yield opened


@pytest.mark.parametrize("what", QUESTIONS)
def test_each_evaluation_has_the_seconds_of_its_cohort(kb: OpenKb, what: str) -> None:
    """A cohort is evaluated when it is asked, and each time its clock begins anew: what ends too soon says so."""
    cohort = kb.find("diagnosis breast cancer and not death", seconds=1000)
    member = next(iter(cohort))
    hurried = Cohort(kb._store, cohort.query, allowed=type(cohort._allowed)(1e-9))
    with pytest.raises(DeadlineExceeded, match="seconds"):
        QUESTIONS[what](hurried, member)


def test_an_endless_query_ends(kb: OpenKb) -> None:
    """What would multiply without end is over after its seconds, in each world, and the next query is answered."""
    cohort = kb.find(ENDLESS, seconds=0.5)
    for world in (cohort, cohort.certain, cohort.possible):
        with pytest.raises(DeadlineExceeded):
            len(world)
    assert len(kb.find("diagnosis lung cancer")) > 0


@pytest.mark.parametrize("what", ["count", "explain", "findings", "funnel"])
def test_the_time_may_end_anywhere(kb: OpenKb, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At whichever look at the clock it is over, in reading the text as in answering, the answer is that it is."""
    text = "let a be lung cancer; at least 1 of (a, surgery) and not death"

    def ask(looks: float) -> int:
        """How often the clock is looked at; its time is over at the look of that number."""
        seen = 0

        def clock() -> float:
            nonlocal seen
            seen += 1
            return 0.0 if seen < looks else 1e9

        monkeypatch.setattr(deadline, "monotonic", clock)
        try:
            with deadline.within(1000):
                QUESTIONS[what](kb.find(text, seconds=1000), kb.patients[0])
        finally:
            monkeypatch.undo()
        return seen

    looks = ask(1e9)
    assert looks > 20
    for at in range(2, looks, max(1, looks // 40)):
        with pytest.raises(DeadlineExceeded):
            ask(at)


def test_cohorts_that_come_of_others_keep_their_seconds(kb: OpenKb) -> None:
    """Joined, in another world, or a part: what may be taken stays the same."""
    one = kb.find("diagnosis lung cancer", seconds=7)
    for other in (one & one, one | one, one - one, one.certain, one.possible, (one & one).parts()[0][0]):
        assert other._allowed.seconds == 7


@pytest.mark.parametrize("what", ["count", "funnel", "explain"])
def test_another_thread_calls_an_answer_off(kb: OpenKb, what: str) -> None:
    """Setting the event that ``find`` was given ends what runs, without a deadline too."""
    cancel = threading.Event()
    cohort = kb.find(ENDLESS, seconds=None, cancel=cancel)
    threading.Timer(0.2, cancel.set).start()
    with pytest.raises(DeadlineExceeded, match="called off"):
        QUESTIONS[what](cohort, kb.patients[0])


def test_two_threads_have_deadlines_of_their_own(kb: OpenKb) -> None:
    """One thread that runs out of time takes none from the other."""
    found: list[object] = []

    def hurried() -> None:
        with pytest.raises(DeadlineExceeded):
            len(kb.find(ENDLESS, seconds=0.2))
        found.append("over")

    thread = threading.Thread(target=hurried)
    thread.start()
    while thread.is_alive():
        assert len(kb.find("diagnosis lung cancer", seconds=1000)) > 0
    thread.join()
    assert found == ["over"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda kb, seconds: kb.find("death", seconds=seconds),
        lambda kb, seconds: kb.ask("patients with lung cancer", seconds=seconds),
        lambda kb, seconds: kb.find_sql("SELECT patient_id FROM diagnosis", seconds=seconds),
        lambda kb, seconds: kb.lint("death", seconds=seconds),
        lambda kb, seconds: kb.diff(kb, "death", seconds=seconds),
        lambda kb, seconds: cohortium.verify(kb, "diagnosis lung cancer", seconds=seconds),
    ],
)
def test_every_way_to_ask_has_seconds(kb: OpenKb, ask: Callable[[OpenKb, float], object]) -> None:
    """Too few end it, a number below 0 is refused, and 0 is without end."""
    with pytest.raises(DeadlineExceeded):
        ask(kb, 1e-9)
    with pytest.raises(UsageError, match="no number of seconds"):
        ask(kb, -1)
    assert ask(kb, 0) is not None


@pytest.mark.parametrize(
    "words",
    [
        ["query"],
        ["query", "--format", "json"],
        ["query", "--format", "csv", "--explain"],
        ["explain", "P"],
        ["why-not", "P"],
        ["funnel"],
        ["lint"],
        ["verify"],
        ["ask"],
        ["diff"],
    ],
)
def test_a_command_out_of_time_prints_nothing(run: Command, sample_kb: Path, tmp_path: Path, words: list[str]) -> None:
    """Exit 9, one line on standard error that says what to do, nothing on standard output, and no file."""
    command, *rest = words
    with cohortium.open(sample_kb) as opened:
        rest = [opened.patients[0] if word == "P" else word for word in rest]
    places = [sample_kb] * (2 if command == "diff" else 1)
    out = tmp_path / "answer.json"
    done = run(command, *places, "diagnosis lung cancer", *rest, "--seconds", "0.000001", "--json", out)
    assert (done.exit_code, done.stdout) == (9, "")
    assert "--seconds" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_an_answer_in_time_is_the_same_answer(run: Command, sample_kb: Path) -> None:
    """What is held back until all is there is printed as it was, the findings on standard error among it."""
    query = ("query", sample_kb, "death and not death")
    one, other = (run(*query, "--format", "json", "--seconds", seconds).stdout for seconds in (1000, 0))
    assert one == other
    assert json.loads(one)["count"] == 0
    told = run(*query)
    assert told.stdout.startswith("0 (0–")
    assert "death" in told.stderr
