"""``cohortium read``: one note, printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]

TEXT = "Invasive ductal carcinoma of the left breast. No evidence of brain metastasis. ECOG 1."


def test_read_prints_mentions_with_their_context(run: Command) -> None:
    """Each mention has its span, label, concept and the four parts of its context; the span gives the text."""
    result = run("read", "-", "--date", "2019-03-04", "--json", stdin=TEXT)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found) >= {"mentions", "relations"}
    for mention in found["mentions"]:
        assert TEXT[mention["start"] : mention["end"]] == mention["text"]
        assert mention.keys() >= {
            "label", "concept", "name", "polarity", "temporality", "experiencer", "assertion",
        }  # fmt: skip
    assert "absent" in {mention["assertion"] for mention in found["mentions"]}


def test_read_takes_a_file_and_prints_a_table(run: Command, tmp_path: Path) -> None:
    """A file is read as well, and --format json is the same as --json."""
    note = tmp_path / "note.txt"
    note.write_text(TEXT)
    assert "mentions" in run("read", note).stdout
    assert run("read", note, "--format", "json").stdout == run("read", note, "--json").stdout


@pytest.mark.parametrize("date", ["3/4/19", "2019-02-30", "soon"])
def test_a_wrong_date_is_a_usage_error(run: Command, date: str) -> None:
    """A date that is none is told, with how to write one."""
    result = run("read", "-", "--date", date, stdin=TEXT)
    assert result.exit_code == 2
    assert "2019-03-04" in result.stderr


def test_a_missing_file_is_a_usage_error(run: Command, tmp_path: Path) -> None:
    """A path that is not there is told by name."""
    result = run("read", tmp_path / "nowhere.txt")
    assert result.exit_code == 2
    assert "nowhere.txt" in result.stderr


def test_bytes_that_are_no_text_are_a_usage_error(run: Command) -> None:
    """Input that is not UTF-8 is refused, with what to do."""
    result = run("read", "-", stdin=b"caf\xe9")
    assert result.exit_code == 2
    assert "UTF-8" in result.stderr


def test_an_empty_note_says_nothing(run: Command) -> None:
    """No text, no mentions, no error."""
    result = run("read", "-", "--json", stdin="")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["mentions"] == []


def test_read_writes_annotations_of_brat(run: Command, tmp_path: Path) -> None:
    """--brat writes the annotations with their text and the schema beside; - prints them."""
    note = tmp_path / "note.txt"
    note.write_text(TEXT)
    result = run("read", note, "--brat", tmp_path / "note.ann")
    assert result.exit_code == 0, result.output
    assert [Path(line).name for line in result.stdout.split()] == ["note.ann", "annotation.conf"]
    assert run("read", note, "--brat", "-").stdout == (tmp_path / "note.ann").read_text()
    other = run("read", "-", "--brat", tmp_path / "note.ann", stdin="ECOG 2.")
    assert other.exit_code == 2
    assert "holds another text" in other.stderr


def test_steps_are_printed_as_a_table_and_as_json(run: Command) -> None:
    """Each step with what it changed; brat has no place for them."""
    assert "bind results" in run("read", "-", "--steps", stdin=TEXT).stdout
    told = json.loads(run("read", "-", "--steps", "--json", stdin=TEXT).stdout)
    assert "write mentions" in [step["name"] for step in told["steps"]]
    assert run("read", "-", "--steps", "--format", "json", stdin=TEXT).stdout == json.dumps(told, indent=2) + "\n"
    assert run("read", "-", "--steps", "--brat", "-", stdin=TEXT).exit_code == 2
