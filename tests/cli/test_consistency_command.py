"""``cohortium eval consistency``: what it prints, writes, and leaves with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.bank.consistency import run as consistency_run
from cohortium.eval.bank.consistency.pairs import Paraphrase

Command = Callable[..., Result]
RIGHT = Paraphrase("brand", "medication osimertinib", "medication Tagrisso")
WRONG = Paraphrase("brand", "diagnosis 'lung cancer'", "diagnosis 'breast cancer'")


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> list[Paraphrase]:
    """One paraphrase, to which a test may add, in place of the shipped pairs; few bank queries, so that it is quick."""
    own = [RIGHT]
    monkeypatch.setattr(consistency_run, "load_paraphrases", lambda: own)
    monkeypatch.setattr(consistency_run, "load_subtypes", lambda: ())
    monkeypatch.setattr(consistency_run, "load_intersections", lambda: ())
    monkeypatch.setattr(consistency_run, "load_bank", lambda: load_bank()[56:58])
    return own


def test_counts_are_printed_and_written(run: Command, sample_kb: Path, pairs: list[Paraphrase], tmp_path: Path) -> None:
    """A table, and the same as JSON, with the keys of the contract."""
    out = tmp_path / "report.json"
    result = run("eval", "consistency", "--kb", sample_kb, "--json", out)
    assert result.exit_code == 0, result.output
    for word in ("paraphrases", "intersections", "subtypes", "laws", "double negation"):
        assert word in result.stdout
    assert result.stdout.endswith("\nconsistent\n")
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told.keys() == {"paraphrases", "intersections", "subtypes", "laws", "consistent", "signature"}
    assert told["paraphrases"].keys() >= {"pairs", "equal", "trivial", "failed"}
    assert told["consistent"] is True
    printed = run("eval", "consistency", "--kb", sample_kb, "--format", "json")
    assert json.loads(printed.stdout) == told


def test_a_failure_is_shown_and_strict_leaves_with_1(
    run: Command, sample_kb: Path, pairs: list[Paraphrase], tmp_path: Path
) -> None:
    """Both queries and the patients that differ; without --strict the run itself is done, and leaves with 0."""
    pairs.append(WRONG)
    result = run("eval", "consistency", "--kb", sample_kb)
    assert result.exit_code == 0, result.output
    assert WRONG.left in result.stdout
    assert WRONG.right in result.stdout
    assert "believed: only the first SAMPLE-" in result.stdout
    assert "not consistent" in result.stdout
    out = tmp_path / "report.json"
    strict = run("eval", "consistency", "--kb", sample_kb, "--strict", "--json", out)
    assert strict.exit_code == 1
    assert "1 comparison failed" in strict.stderr
    assert len(json.loads(out.read_text(encoding="utf-8"))["paraphrases"]["failed"]) == 1


def test_what_cannot_be_answered_is_told_once(run: Command, sample_kb: Path, pairs: list[Paraphrase]) -> None:
    """With the number of comparisons that it fails."""
    pairs += [Paraphrase("brand", "medication nosuchdrug", name) for name in ("surgery", "death")]
    result = run("eval", "consistency", "--kb", sample_kb)
    assert "not answered (2 comparisons): " in result.stdout
    assert result.stdout.count("nosuchdrug") == 1


def test_strict_leaves_with_0_when_nothing_failed(run: Command, sample_kb: Path, pairs: list[Paraphrase]) -> None:
    """One right pair."""
    assert pairs == [RIGHT]
    assert run("eval", "consistency", "--kb", sample_kb, "--strict").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--kb"),
        (("--kb", "nowhere.kb"), "nowhere.kb"),
        (("--kb", "nowhere.kb", "--format", "csv"), "csv"),
        (("--kb", "nowhere.kb", "--json", "no/such/folder.json"), "no/such"),
    ],
)
def test_wrong_calls_leave_with_2(run: Command, words: tuple[str, ...], message: str) -> None:
    """And say why, before anything is asked."""
    result = run("eval", "consistency", *words)
    assert result.exit_code == 2
    assert message in result.stderr
