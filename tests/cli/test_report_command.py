"""``cohortium report``: the page it writes, for its owner alone, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Command = Callable[..., Result]
QUERY = "lung cancer and not metastasis to brain"


def test_the_page_is_written_for_its_owner(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """A line tells what was written; JSON has the same parts."""
    out = tmp_path / "answer.html"
    told = run("report", sample_kb, QUERY, "--html", out)
    assert told.exit_code == 0, told.output
    assert str(out) in told.stdout.replace("\n", "")
    assert out.stat().st_mode & 0o777 == 0o600
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    payload = json.loads(run("report", sample_kb, QUERY, "--html", out, "--format", "json").stdout)
    asked = json.loads(run("query", sample_kb, QUERY, "--format", "json").stdout)
    assert [member["patient"] for member in payload["members"]] == asked["patients"]
    assert payload["believed"] == asked["count"]


def test_the_page_goes_to_standard_output_for_a_dash(run: Command, sample_kb: Path) -> None:
    """And nothing else does."""
    told = run("report", sample_kb, QUERY, "--html", "-", "--limit", 0)
    assert told.exit_code == 0
    assert told.stdout.startswith("<!doctype html>")
    assert told.stdout.rstrip().endswith("</html>")


def test_what_cannot_be_written_is_told_before_the_work(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """A folder, a folder that is not there, two things for one output, csv, no file at all: exit code 2."""
    for words in (
        ("--html", tmp_path),
        ("--html", tmp_path / "none" / "a.html"),
        ("--html", "-", "--format", "json"),
        ("--html", tmp_path / "a.html", "--format", "csv"),
        (),
    ):
        assert run("report", sample_kb, QUERY, *words).exit_code == 2, words
    assert list(tmp_path.iterdir()) == []
