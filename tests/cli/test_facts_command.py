"""``cohortium eval facts``: what it prints, writes, and leaves with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    """Two facts of a sample patient, one of which no note says."""
    path = tmp_path / "facts.jsonl"
    given = [
        {"kind": "comorbidity", "concept": "psoriasis", "date": "2001-02-03"},
        {"kind": "performance_status", "concept": "ECOG", "value": "0"},
    ]
    path.write_text(json.dumps({"patient_id": "SAMPLE-01", "facts": given}) + "\n{}\n")
    return path


def test_a_table_by_kind_is_printed_and_written(run: Command, sample_kb: Path, facts: Path, tmp_path: Path) -> None:
    """Facts by kind, events without a fact with the caveat, and the same as JSON and csv."""
    out = tmp_path / "scores.json"
    result = run("eval", "facts", "--kb", sample_kb, "--facts", facts, "--dates", "--json", out)
    assert result.exit_code == 0, result.output
    for word in ("performance_status", "dates meet", "without a fact", "not exhaustive", "1 record of the facts"):
        assert word in result.stdout
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told.keys() >= {"all", "by_kind", "by_group", "reasons", "events", "patients", "signature"}
    assert "misses" not in told
    rows = run("eval", "facts", "--kb", sample_kb, "--facts", facts, "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("kind,facts,unresolved,matched")
    assert len(rows) == 1 + len(told["by_kind"])


def test_misses_are_listed_when_asked_for(run: Command, sample_kb: Path, facts: Path) -> None:
    """A line a miss: whose, what, when, and why."""
    result = run("eval", "facts", "--kb", sample_kb, "--facts", facts, "--misses", 1)
    assert "SAMPLE-01 fact 1 (comorbidity): comorbidity psoriasis present 2001-02-03: nothing\n" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kb", "nowhere.kb"), "--facts"),
        (("--kb", "nowhere.kb", "--facts", "nowhere.jsonl"), "nowhere.kb"),
        (("--kb", "SAMPLES", "--facts", "nowhere.jsonl"), "nowhere.jsonl"),
        (("--kb", "SAMPLES", "--facts", "FACTS", "--only", "Z"), "begins with Z"),
        (("--kb", "nowhere.kb", "--facts", "nowhere.jsonl", "--json", "no/such/folder.json"), "no/such"),
    ],
)
def test_wrong_calls_leave_with_2(
    run: Command, sample_kb: Path, facts: Path, words: tuple[str, ...], message: str
) -> None:
    """And say what is wrong."""
    places = {"SAMPLES": sample_kb, "FACTS": facts}
    result = run("eval", "facts", *(places.get(word, word) for word in words))
    assert result.exit_code == 2, result.output
    assert message in result.stderr
