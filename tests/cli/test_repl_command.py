"""``cohortium repl``: a conversation, here through standard input."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from cohortium.engine.commands.repl import Names, open_history, state_folder

Command = Callable[..., Result]


def test_each_line_is_answered_and_errors_do_not_end_it(run: Command, sample_kb: Path) -> None:
    """A query shows counts of itself and its parts; a typo shows its place; the next line is answered again."""
    talk = "\n".join(
        [
            "diagnosis of breast cancer and not (death)",
            "diagnosis of brest cancer",
            ":nonsense",
            ":world possible",
            ":limit 1",
            "not (death)",
            ":quit",
            "diagnosis of lung cancer",
        ]
    )
    result = run("repl", sample_kb, stdin=talk)
    assert result.exit_code == 0, result.output
    assert "–" in result.stdout
    assert "^" in result.stdout
    assert ":nonsense" in result.stdout
    assert "more (:limit N lists more)" in result.stdout
    assert "lung" not in result.stdout


def test_explain_and_journey(run: Command, sample_kb: Path) -> None:
    """:explain tells why a patient is in the last cohort, :journey tells all of a patient."""
    talk = ":explain SAMPLE-01\ndiagnosis of breast cancer\n:explain SAMPLE-01\n:journey SAMPLE-01\n:help\n"
    result = run("repl", sample_kb, stdin=talk)
    assert result.exit_code == 0, result.output
    assert "ask a query first" in result.stdout
    assert "SAMPLE-01" in result.stdout
    assert "diagnosis" in result.stdout
    assert ":quit" in result.stdout


def test_bytes_of_no_letter_are_an_unknown_name(sample_kb: Path) -> None:
    """Input that is no UTF-8 is a query that names nothing known, whatever the locale; the next line is answered."""
    done = subprocess.run(
        [sys.executable, "-m", "cohortium", "repl", str(sample_kb)],
        input=b"caf\xe9\ndeath\n",
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    told = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "not known" in told
    assert told.endswith("patients\n")


@pytest.mark.parametrize("word", ["quit", "exit", ":q"])
def test_a_plain_word_leaves(run: Command, sample_kb: Path, word: str) -> None:
    """What one types to leave elsewhere leaves here, and help is help without a colon."""
    result = run("repl", sample_kb, stdin=f"help\n{word}\ndeath\n")
    assert result.exit_code == 0
    assert ":journey" in result.stdout
    assert "not known" not in result.stdout
    assert ") patients" not in result.stdout


def test_a_journey_tells_whole_numbers_as_such(run: Command, sample_kb: Path) -> None:
    """A performance of 1 is shown as 1, as in evidence, and no line ends in blanks."""
    told = run("repl", sample_kb, stdin=":journey SAMPLE-02\n").stdout
    assert "value 1 " in told
    assert "value 1.0" not in told
    assert not [line for line in told.splitlines() if line != line.rstrip()]


def test_names_complete_whole_phrases() -> None:
    """The longest tail of the line that begins a name is completed, whatever its case."""
    names = Names(["breast cancer", "Breast implant", "cancer antigen 125", "and"])
    assert names.completions("diagnosis of Breast c") == [("breast cancer", 8)]
    assert [name for name, _ in names.completions("breast")] == ["breast cancer", "Breast implant"]
    assert names.completions("(breast ca") == [("breast cancer", 9)]
    assert names.completions("") == []


def test_the_history_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history file lies in the user's state folder and only its owner may read it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    open_history()
    path = state_folder() / "history"
    assert path.parent.parent == tmp_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_state_folder_that_cannot_be_made_costs_only_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file cannot be written the conversation goes on without it."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert type(open_history()).__name__ == "InMemoryHistory"


def test_input_without_lines_is_refused(run: Command, sample_kb: Path) -> None:
    """What comes before it is answered; a line that does not end is not read on: exit 2."""
    result = run("repl", sample_kb, stdin="death\n" + "x" * 1_000_001)
    assert result.exit_code == 2
    assert "line of standard input" in result.output
    assert run("repl", sample_kb, stdin="x" * 200_000 + "\ndeath\n").exit_code != 2
