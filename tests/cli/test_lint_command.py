"""``lint``, and the notes under the answers of ``query`` and ``repl``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Command = Callable[..., Result]

DOUBTFUL = "lung cancer and not lung cancer"


def test_lint_tells_each_finding_with_its_place(run: Command, sample_kb: Path) -> None:
    """Message, place and hint for people; the same as JSON; exit code 0."""
    told = run("lint", sample_kb, DOUBTFUL)
    assert told.exit_code == 0
    assert "exclude each other" in told.stdout
    assert "(line 1, column 1)" in told.stdout
    assert "Hint:" in told.stdout
    found = json.loads(run("lint", sample_kb, DOUBTFUL, "--format", "json").stdout)
    assert found["query"] == DOUBTFUL
    assert [finding["code"] for finding in found["findings"]] == ["contradiction"]
    assert found["findings"][0]["column"] == 1


def test_a_query_in_order_has_no_findings(run: Command, sample_kb: Path) -> None:
    """It is said that nothing was found, and the list is empty."""
    assert run("lint", sample_kb, "lung cancer").stdout == "nothing doubtful was found\n"
    assert json.loads(run("lint", sample_kb, "lung cancer", "--format", "json").stdout)["findings"] == []


def test_lint_of_what_is_no_query_is_a_query_error(run: Command, sample_kb: Path) -> None:
    """Exit code 3, as of query."""
    assert run("lint", sample_kb, "stage >=").exit_code == 3


def test_findings_stand_under_an_answer_and_not_in_it(run: Command, sample_kb: Path) -> None:
    """A table and csv tell them on standard error; JSON under their own key, which is absent when there are none."""
    shown = run("query", sample_kb, DOUBTFUL)
    assert "exclude each other" in shown.stderr
    assert "exclude each other" not in shown.stdout
    assert run("query", sample_kb, DOUBTFUL, "--format", "csv").stdout == "patient_id,certainty\n"
    answer = json.loads(run("query", sample_kb, DOUBTFUL, "--format", "json").stdout)
    assert [finding["code"] for finding in answer["findings"]] == ["contradiction"]
    assert "findings" not in json.loads(run("query", sample_kb, "lung cancer", "--format", "json").stdout)
    assert run("query", sample_kb, "lung cancer").stderr == ""


def test_the_conversation_lints_a_line_and_the_last_query(run: Command, sample_kb: Path) -> None:
    """``:lint`` alone is about the last query."""
    shown = run("repl", sample_kb, stdin=f"{DOUBTFUL}\n:lint\n:lint not not death\n:quit\n")
    assert shown.stdout.count("exclude each other") == 1
    assert "cancel out" in shown.stdout
    assert "exclude each other" in shown.stderr
