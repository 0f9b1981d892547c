"""``cohortium eval acr``: the bank scored on the sample records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Labels of two sample patients and of one that the knowledge base lacks."""
    path = tmp_path / "labels.jsonl"
    rows = [{"patient_id": name, "match": [], "ambiguous": []} for name in ("SAMPLE-01", "SAMPLE-02", "ABSENT")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_scores_have_the_contract_keys(run: Command, sample_kb: Path, labels: Path, tmp_path: Path) -> None:
    """--json OUT and --format json give the same scores, query by query and in sum."""
    out = tmp_path / "scores.json"
    result = run("eval", "acr", "--kb", sample_kb, "--labels", labels, "--json", out, "--format", "json")
    assert result.exit_code == 0, result.output
    scores = json.loads(out.read_text())
    assert scores == json.loads(result.stdout)
    assert scores.keys() >= {
        "micro", "by_size", "by_complexity", "zero_result_false_positives", "kappa", "unresolved", "coverage",
        "queries",
    }  # fmt: skip
    assert scores["micro"].keys() >= {"precision", "recall", "f1", "ci"}
    assert all(query.keys() >= {"id", "query", "tp", "fp", "fn", "abstained"} for query in scores["queries"])
    # Nobody matches anything, so every answer about these patients is wrong.
    assert {query["tp"] for query in scores["queries"]} == {0}


def test_scores_are_printed_for_people(run: Command, sample_kb: Path, labels: Path) -> None:
    """The table names the micro mean, the coverage, and how many queries had no answer."""
    shown = run("eval", "acr", "--kb", sample_kb, "--labels", labels).stdout
    assert "micro" in shown
    assert "coverage" in shown
    assert "unresolved: 0 queries\n" in shown


@pytest.mark.parametrize("line", ['{"patient_id": "SAMPLE-01", "match": ', '{"match": []}', "[]"])
def test_wrong_labels_are_a_usage_error(run: Command, sample_kb: Path, tmp_path: Path, line: str) -> None:
    """A labels file that cannot be read is exit code 2, with the line's number."""
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n")
    result = run("eval", "acr", "--kb", sample_kb, "--labels", path)
    assert result.exit_code == 2, result.output
    assert "1" in result.stderr


def test_missing_labels_are_a_usage_error(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """A path that is not there is told by name."""
    result = run("eval", "acr", "--kb", sample_kb, "--labels", tmp_path / "nowhere.jsonl")
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr
