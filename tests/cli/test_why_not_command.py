"""``why-not``, ``funnel`` and ``query --top`` on the sample records: contracts, tables and the conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

import cohortium
from cohortium.engine.commands.repl import Conversation

Command = Callable[..., Result]

QUERY = "diagnosis of breast cancer and not metastasis"


def left_out(kb: Path) -> str:
    """A patient whom the query does not find."""
    with cohortium.open(kb) as opened:
        return next(patient for patient in opened.patients if patient not in opened.find(QUERY))


def test_why_not_as_json(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """What fails with its place, and an edit that can be asked and finds the patient; --json writes the same."""
    patient, out = left_out(sample_kb), tmp_path / "why.json"
    result = run("why-not", sample_kb, QUERY, patient, "--format", "json", "--json", out)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found == json.loads(out.read_text(encoding="utf-8"))
    assert (found["patient"], found["admitted"]) == (patient, False)
    assert all(found["query"][part["start"] : part["end"]] == part["text"] for part in found["failing"])
    again = json.loads(run("query", sample_kb, found["edit"]["query"], "--format", "json").stdout)
    assert patient in again["patients"]


def test_why_not_as_a_table(run: Command, sample_kb: Path) -> None:
    """A person reads what fails and the cheapest edit; an unknown patient is a usage error."""
    shown = run("why-not", sample_kb, QUERY, left_out(sample_kb)).stdout
    assert "cheapest edit: " in shown
    assert "the edited query: " in shown
    assert run("why-not", sample_kb, QUERY, "nobody").exit_code == 2


def test_funnel(run: Command, sample_kb: Path) -> None:
    """Rows in the order of the text; the last one is the answer."""
    found = json.loads(run("funnel", sample_kb, QUERY, "--format", "json").stdout)
    asked = json.loads(run("query", sample_kb, QUERY, "--format", "json").stdout)
    assert [row["criterion"] for row in found["criteria"]] == ["diagnosis breast cancer", "metastasis"]
    assert found["criteria"][-1]["remain"]["believed"] == asked["count"] == found["answer"]["believed"]
    shown = run("funnel", sample_kb, QUERY).stdout
    assert "gain" in shown
    assert "not metastasis" in shown


def test_query_top(run: Command, sample_kb: Path) -> None:
    """--top ranks and lists so many, --rank all of them; certainty decides first."""
    found = json.loads(run("query", sample_kb, "diagnosis", "--top", "3", "--format", "json").stdout)
    assert [row["rank"] for row in found["ranked"]] == [1, 2, 3]
    assert len(found["patients"]) == found["count"] > 3
    whole = json.loads(run("query", sample_kb, "diagnosis", "--rank", "--format", "json").stdout)["ranked"]
    assert sorted(row["patient_id"] for row in whole) == found["patients"]
    assert whole[:3] == found["ranked"]
    assert "weakest criterion" in run("query", sample_kb, "diagnosis", "--top", "3").stdout
    rows = run("query", sample_kb, "diagnosis", "--top", "3", "--format", "csv").stdout.splitlines()
    assert rows[0] == "patient_id,certainty,strength,weakest"
    assert len(rows) == 4


def test_the_conversation_tells_why_not(sample_kb: Path, capsys) -> None:
    """:why-not and :funnel are about the last query, and say so when there is none."""
    patient = left_out(sample_kb)
    with cohortium.open(sample_kb) as kb:
        talk = Conversation(kb)
        talk.reply(f":why-not {patient}")
        talk.reply(":funnel")
        assert capsys.readouterr().out.count("ask a query first") == 2
        for line in (QUERY, ":why-not", f":why-not {patient}", ":funnel"):
            talk.reply(line)
    shown = capsys.readouterr().out
    assert ":why-not needs a patient id" in shown
    assert "cheapest edit: " in shown
    assert "gain" in shown
