"""``cohortium sql``, ``cohortium query --sql`` and ``:sql``: formats, limits and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cohortium.__main__ import app
from cohortium.engine.api import OpenKb
from cohortium.engine.commands.repl import Conversation

LUNG = "SELECT patient_id FROM diagnosis WHERE concept = 'lung cancer'"


def run(*words: object, stdin: str | None = None) -> Result:
    """Run ``cohortium`` with these words."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin, prog_name="cohortium")


def test_query_takes_sql(sample_path: Path, kb: OpenKb) -> None:
    """``query --sql`` answers as ``query`` does; the resolved text is of the language."""
    done = run("query", sample_path, "--sql", LUNG, "--format", "json")
    assert done.exit_code == 0, done.output
    payload = json.loads(done.stdout)
    assert payload["query"] == LUNG
    assert payload["resolved"] == "diagnosis lung cancer"
    assert payload["patients"] == list(kb.find("diagnosis lung cancer"))
    assert run("query", sample_path, "-", "--sql", stdin=LUNG).stdout.startswith(f"{payload['count']} (")


def test_wrong_sql_is_a_query_error(sample_path: Path) -> None:
    """Exit code 3, with place and hint, for both doors."""
    done = run("query", sample_path, "--sql", f"{LUNG} LIMIT 3")
    assert done.exit_code == 3
    assert "LIMIT is not read here (line 1, column" in done.stderr
    done = run("sql", sample_path, "COPY events TO 'x.csv'")
    assert done.exit_code == 3
    assert "COPY is not allowed" in done.stderr


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_rows_in_each_format(sample_path: Path, limit: int) -> None:
    """Table, JSON and CSV give the same rows, and tell when there are more."""
    statement = "SELECT kind, count(*) AS n FROM events GROUP BY kind ORDER BY kind"
    done = run("sql", sample_path, statement, "--limit", limit, "--format", "json")
    payload = json.loads(done.stdout)
    assert (payload["columns"], len(payload["rows"]), payload["more"]) == (["kind", "n"], limit, True)
    lines = run("sql", sample_path, statement, "--limit", limit, "--format", "csv").stdout.splitlines()
    assert lines == ["kind,n", *(f"{row['kind']},{row['n']}" for row in payload["rows"])]
    table = run("sql", sample_path, statement, "--limit", limit).stdout
    assert all(row["kind"] in table for row in payload["rows"])
    assert "… and more" in table


def test_values_of_all_kinds_are_printed(sample_path: Path, tmp_path: Path) -> None:
    """Dates, maps and lists have a form in JSON; the file has them too."""
    statement = "SELECT earliest, attributes, [1, 2] AS listed FROM mentions WHERE earliest IS NOT NULL"
    done = run("sql", sample_path, statement, "--limit", 1, "--json", tmp_path / "rows.json")
    assert done.exit_code == 0, done.output
    (row,) = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))["rows"]
    assert isinstance(row["earliest"], str)
    assert isinstance(row["attributes"], dict | list)
    assert row["listed"] == [1, 2]


def test_a_conversation_takes_sql(kb: OpenKb, capsys: pytest.CaptureFixture[str]) -> None:
    """``:sql`` prints rows, and a wrong statement does not end the conversation."""
    conversation = Conversation(kb)
    assert conversation.reply(":sql SELECT count(*) AS notes FROM notes")
    assert conversation.reply(":sql DROP VIEW notes")
    assert conversation.reply(":sql")
    told = capsys.readouterr().out
    assert str(kb.info()["notes"]) in told
    assert "DROP is not allowed" in told
    assert ":sql needs a statement" in told
