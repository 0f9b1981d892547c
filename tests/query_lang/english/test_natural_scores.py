"""``eval acr --natural``: answers against labels and translations against formal queries, reported together."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from cohortium.__main__ import app
from cohortium.engine.api import open as open_kb
from tests.places import SAMPLES


def run(*words: object) -> Result:
    """The command line, in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def test_coverage_f1_and_wrong_answers_stand_together(tmp_path: Path) -> None:
    """A question that is declined is an empty answer and listed; one that is answered counts by its patients."""
    kb = tmp_path / "samples.kb"
    assert run("ingest", SAMPLES, "--kb", kb).exit_code == 0
    with open_kb(kb) as session:
        wanted = list(session.find("diagnosis breast cancer"))
        rows = [{"patient_id": one, "match": [58] if one in wanted else []} for one in session.patients]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(json.dumps(row) for row in rows))
    questions = tmp_path / "questions.json"
    asked = [
        {"id": "a", "of": 58, "text": "breast ca pts"},
        {"id": "b", "of": 58, "text": "breast cancer responders"},
        {"id": "c", "of": 58, "text": "lung cancer"},
    ]
    questions.write_text(json.dumps(asked))
    result = run("eval", "acr", "--kb", kb, "--labels", labels, "--natural", "--queries", questions, "--format", "json")
    assert result.exit_code == 0, result.output
    scores = json.loads(result.stdout)
    assert scores["coverage"] == 2 / 3
    assert [row["abstained"] for row in scores["queries"]] == [False, True, False]
    assert scores["queries"][0]["tp"] == len(wanted)
    assert [row["verdict"] for row in scores["natural"]["rows"]] == ["right", "declined", "wrong"]
    table = run("eval", "acr", "--kb", kb, "--labels", labels, "--natural", "--queries", questions).stdout
    assert "coverage 0.667" in table
    assert "wrong 1 (33.3%)" in table


def test_queries_need_natural_and_natural_a_knowledge_base(tmp_path: Path) -> None:
    """Options that do not go together are usage errors."""
    labels = tmp_path / "labels.jsonl"
    labels.write_text("")
    assert run("eval", "acr", "--labels", labels, "--queries", labels, "--kb", tmp_path).exit_code == 2
    assert run("eval", "acr", "--labels", labels, "--natural", "--facts", labels).exit_code == 2
