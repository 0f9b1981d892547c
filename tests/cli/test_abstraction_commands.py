"""``cohortium ingest --abstraction`` and ``cohortium eval acr --facts``: what they print, and their exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from markupsafe import escape
from typer.testing import Result

from tests.places import ABSTRACTIONS

Command = Callable[..., Result]

BROKEN = (
    '{"patient_id": "A", "facts": [{"kind": "diagnosis", "concept": "ca breast", "attributes": {"mood": "low"}},'
    ' {"kind": "symptom", "concept": "zzyx"}, {"kind": "omen"}]}\n{"patient_id": \n'
)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """One patient with a fact that nobody knows and one of no kind, and a line that is broken off."""
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN)
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Labels of one sample patient, none of which is right."""
    path = tmp_path / "labels.jsonl"
    path.write_text('{"patient_id": "ABSTRACT-03", "match": [], "ambiguous": []}\n')
    return path


@pytest.fixture(scope="module")
def misspelled(run: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """A run on a file that is not there: what it prints, and where the knowledge base was to be."""
    folder = tmp_path_factory.mktemp("misspelled")
    return run("ingest", "--abstraction", folder / "nowhere.jsonl", "--kb", folder / "facts.kb"), folder / "facts.kb"


@pytest.fixture(scope="module")
def ingested(run: Command, misspelled: tuple[Result, Path]) -> tuple[Result, Path]:
    """The sample abstraction as the command line reads it afterwards: what that prints, and the knowledge base."""
    kb = misspelled[1]
    return run("ingest", "--abstraction", ABSTRACTIONS, "--kb", kb), kb


@pytest.fixture
def facts_kb(ingested: tuple[Result, Path]) -> Path:
    """The knowledge base of the sample abstraction."""
    result, kb = ingested
    assert result.exit_code == 0, result.output
    return kb


def test_samples_become_a_knowledge_base_that_answers(run: Command, facts_kb: Path) -> None:
    """The facts of people are asked like those of notes; absent and blinded ones do not count."""

    def found(query: str) -> list[str]:
        result = run("query", facts_kb, query, "--format", "json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["patients"]

    assert found("diagnosis breast cancer") == ["ABSTRACT-01"]
    assert found("diagnosis rectal cancer") == ["ABSTRACT-03"]
    assert found("diagnosis colon cancer") == []
    assert found("medication osimertinib") == ["ABSTRACT-01"]
    assert found("medication capivasertib") == []
    assert found("death") == ["ABSTRACT-02"]
    assert found("same tumor (diagnosis lung cancer and stage >= IV)") == ["ABSTRACT-01"]
    assert found("same tumor (diagnosis breast cancer and stage >= IV)") == []


def test_the_counts_are_printed_for_people(ingested: tuple[Result, Path]) -> None:
    """A line a kind, and the sums."""
    shown = ingested[0].stdout
    assert "genomic_variant" in shown
    assert "3 patients" in shown


def test_json_lists_what_was_not_resolved(run: Command, broken: Path, tmp_path: Path) -> None:
    """--json OUT and --format json give the same sums, with the facts that name nothing known and the bad records;
    these alone are exit code 0."""
    out = tmp_path / "sums.json"
    words = ("ingest", "--abstraction", broken, "--kb", tmp_path / "new.kb", "--json", out, "--format", "json")
    result = run(*words)
    assert result.exit_code == 0, result.output
    sums = json.loads(out.read_text())
    assert sums == json.loads(result.stdout)
    assert (sums["patients"], sums["facts"], sums["resolved"], sums["unresolved"]) == (1, 2, 1, 1)
    (unresolved,) = sums["unresolved_facts"]
    assert (unresolved["patient_id"], unresolved["number"], unresolved["concept"]) == ("A", 2, "zzyx")
    assert [one["place"] for one in sums["bad"]] == ["line 1, fact 3", "line 2"]
    assert sums["unused_attributes"] == {"mood": 1}


def test_quarantine_is_told_and_is_an_error_when_strict(run: Command, broken: Path, tmp_path: Path) -> None:
    """Bad records are told by place and reason; with --strict they are exit code 1."""
    result = run("ingest", "--abstraction", broken, "--kb", tmp_path / "strict.kb", "--strict")
    assert result.exit_code == 1
    assert "2 records" in result.stderr
    assert "line 1, fact 3" in result.stdout
    assert "kind is not one of" in result.stdout
    assert "omen" not in result.stdout


def test_a_knowledge_base_that_is_there_is_left_alone(run: Command, facts_kb: Path, labels: Path) -> None:
    """Facts are not written over what is there: exit code 2, the place, and what to do; for both commands."""
    before = (facts_kb / "CURRENT").read_text()
    for words in (
        ("ingest", "--abstraction", ABSTRACTIONS, "--kb", facts_kb),
        ("eval", "acr", "--facts", ABSTRACTIONS, "--labels", labels, "--kb", facts_kb),
    ):
        result = run(*words)
        assert result.exit_code == 2, result.output
        assert "facts.kb" in result.stderr
        assert "Hint" in result.stderr
    assert (facts_kb / "CURRENT").read_text() == before


def test_missing_labels_are_a_usage_error(run: Command, tmp_path: Path) -> None:
    """Labels that are not there are exit code 2, told by name."""
    result = run("eval", "acr", "--facts", ABSTRACTIONS, "--labels", tmp_path / "nowhere.jsonl")
    assert result.exit_code == 2, result.output
    assert "nowhere.jsonl" in result.stderr


def test_a_missing_file_is_a_usage_error(misspelled: tuple[Result, Path]) -> None:
    """A file that is not there is exit code 2, told by name and without a traceback."""
    result, _ = misspelled
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr
    assert "Traceback" not in result.output


def test_a_missing_file_leaves_nothing_in_the_way(misspelled: tuple[Result, Path], facts_kb: Path) -> None:
    """After a misspelled name the same command with the right one works."""
    assert facts_kb == misspelled[1]


def test_notes_are_not_joined_to_facts(run: Command, facts_kb: Path) -> None:
    """A knowledge base that was made of facts takes no notes: exit code 2, and it stays as it is."""
    before = (facts_kb / "CURRENT").read_text()
    result = run("ingest", ABSTRACTIONS.with_name("notes.jsonl"), "--kb", facts_kb)
    assert result.exit_code == 2, result.output
    assert "Hint" in result.stderr
    assert (facts_kb / "CURRENT").read_text() == before


@pytest.mark.parametrize("words", [("--map", "patient_id=id"), (ABSTRACTIONS,), ("--workers", 2)])
def test_an_abstraction_is_one_file_as_it_is(run: Command, tmp_path: Path, words: tuple[object, ...]) -> None:
    """Neither another source nor other names for fields nor more processes: exit code 2, told what to leave out."""
    result = run("ingest", "--abstraction", ABSTRACTIONS, *words, "--kb", tmp_path / "new.kb")
    assert result.exit_code == 2
    assert "--abstraction" in result.stderr
    assert "leave out" in result.stderr
    assert not (tmp_path / "new.kb").exists()


def test_a_file_of_nobody_stores_nothing(run: Command, tmp_path: Path) -> None:
    """Without any fact the exit code is 4, as for notes."""
    path = tmp_path / "empty.jsonl"
    path.write_text('\n[]\n{"patient_id": "A", "facts": []}\n')
    result = run("ingest", "--abstraction", path, "--kb", tmp_path / "new.kb")
    assert result.exit_code == 4, result.output
    assert "empty.jsonl" in result.stderr


def test_scores_explain_each_disagreement(run: Command, labels: Path, tmp_path: Path) -> None:
    """--json OUT holds the contract's keys, the facts by kind, and a reason for each pair on which labels differ; the
    table tells the same."""
    out, kb = tmp_path / "scores.json", tmp_path / "kept.kb"
    result = run("eval", "acr", "--facts", ABSTRACTIONS, "--labels", labels, "--json", out, "--kb", kb)
    assert result.exit_code == 0, result.output
    scores = json.loads(out.read_text())
    assert scores.keys() >= {"micro", "kappa", "unresolved", "coverage", "queries", "pairs", "disagreements", "facts"}
    assert scores["pairs"] == len(scores["queries"])
    # Nobody matches anything by the labels, so every answer is a disagreement.
    assert len(scores["disagreements"]) == sum(row["fp"] for row in scores["queries"]) > 0
    assert scores["kappa"] < 1
    assert all(one["explanation"] for one in scores["disagreements"])
    for one in scores["disagreements"]:
        assert f"query {one['id']}, patient ABSTRACT-03" in result.stdout
    assert [one["concept"] for one in scores["unresolved"] if "id" not in one] == ["glorbish feeling"]
    assert "glorbish feeling" in result.stdout
    # Queries that had no answer and facts that name nothing are two counts.
    assert "unresolved: 0 queries, 1 fact\n" in result.stdout
    assert run("info", kb).exit_code == 0


def test_scores_need_facts_or_a_knowledge_base(run: Command, labels: Path) -> None:
    """With neither there is nothing to ask: exit code 2, and both are named."""
    result = run("eval", "acr", "--labels", labels)
    assert result.exit_code == 2
    assert "--kb" in result.stderr
    assert "--facts" in result.stderr


def test_the_page_tells_facts_and_disagreements(run: Command, labels: Path, tmp_path: Path) -> None:
    """--html OUT with --facts: facts by kind, the unresolved ones, and each disagreement with its reasons, escaped."""
    out, written = tmp_path / "scores.json", tmp_path / "scores.html"
    result = run("eval", "acr", "--facts", ABSTRACTIONS, "--labels", labels, "--html", written, "--json", out)
    assert result.exit_code == 0, result.output
    scores, made = json.loads(out.read_text()), written.read_text()
    assert made.count("the label says no") == len(scores["disagreements"]) > 0
    assert all(str(escape(line)) in made for one in scores["disagreements"] for line in one["explanation"])
    assert all(f"<td>{kind}</td>" in made for kind in scores["facts"]["by_kind"])
    assert "glorbish feeling" in made


def test_what_cannot_be_written_is_told_before_the_run(run: Command, labels: Path, tmp_path: Path) -> None:
    """A page or a file that has no folder: exit code 2, and no knowledge base in the way of the next run."""
    for option in ("--html", "--json"):
        words = ("eval", "acr", "--facts", ABSTRACTIONS, "--labels", labels, "--kb", tmp_path / "kept.kb")
        result = run(*words, option, tmp_path / "nowhere" / "out")
        assert result.exit_code == 2
        assert "nowhere" in result.stderr
        assert not (tmp_path / "kept.kb").exists()


def test_one_is_told_in_the_singular(run: Command, tmp_path: Path) -> None:
    """One patient, one fact, one pair, one disagreement."""
    facts, labels = tmp_path / "facts.jsonl", tmp_path / "labels.jsonl"
    facts.write_text('{"patient_id": "A", "facts": [{"kind": "diagnosis", "concept": "melanoma"}, {"kind": "omen"}]}\n')
    labels.write_text('{"patient_id": "A", "match": [58]}\n')
    result = run("eval", "acr", "--facts", facts, "--labels", labels)
    assert result.exit_code == 0, result.output
    for told in ("1 fact of 1 patient,", "114 pairs", "1 disagreement\n", "1 labelled patient,"):
        assert told in result.stdout, told
    result = run("ingest", "--abstraction", facts, "--kb", tmp_path / "new.kb", "--strict")
    assert "1 record in quarantine" in result.stderr
