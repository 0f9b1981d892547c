"""``info``, ``query`` and ``explain`` on the sample records: contracts, formats and exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from cohortium.kb.storage.layout import Layout
from tests.places import ROOT

Command = Callable[..., Result]

BREAST = "diagnosis of breast cancer"


def answered(result: Result) -> dict[str, Any]:
    """The JSON of a command that ended well."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_info_accounts_for_every_note(run: Command, sample_kb: Path) -> None:
    """Notes in = stored + unchanged + superseding + quarantined, in JSON and in words."""
    held = answered(run("info", sample_kb, "--format", "json"))
    assert held["notes_in"] == sum(held[part] for part in ("stored", "unchanged", "superseding", "quarantined")) > 50
    assert f"{held['notes_in']} notes in = " in run("info", sample_kb).stdout


def test_query_json_has_the_contract_keys(run: Command, sample_kb: Path) -> None:
    """The answer holds query, resolved, count, certain, possible and the believed patients, sorted."""
    found = answered(run("query", sample_kb, BREAST, "--format", "json"))
    assert found["query"] == BREAST
    assert found["count"] == len(found["patients"]) >= 1
    assert found["patients"] == sorted(found["patients"])
    assert found["certain"] <= found["count"] <= found["possible"]
    again = answered(run("query", sample_kb, found["resolved"], "--format", "json"))
    assert again["patients"] == found["patients"]


def test_now_is_the_day_of_the_latest_note_or_the_one_named(run: Command, sample_kb: Path) -> None:
    """The answer tells as of which day it is, where the query names now and nowhere else."""
    asked = "medication in the last 50 years"
    latest = answered(run("info", sample_kb, "--format", "json"))["as_of"]
    found = answered(run("query", sample_kb, asked, "--format", "json"))
    assert found["as_of"] == latest
    assert found["patients"]
    assert found["resolved"].endswith(f" and {latest}")
    assert f"(as of {latest})" in run("query", sample_kb, asked).stdout
    early = answered(run("query", sample_kb, asked, "--today", "1950-01-01", "--format", "json"))
    assert (early["as_of"], early["patients"]) == ("1950-01-01", [])
    assert "as_of" not in answered(run("query", sample_kb, BREAST, "--today", "1950-01-01", "--format", "json"))
    explained = answered(
        run("explain", sample_kb, asked, found["patients"][0], "--today", "1950-01-01", "--format", "json")
    )
    assert explained["certainty"] == "no"
    refused = run("query", sample_kb, asked, "--today", "yesterday")
    assert refused.exit_code == 2
    assert "it is written 2021-03-04" in refused.output


@pytest.mark.parametrize("world", ["certain", "believed", "possible"])
def test_the_world_chooses_the_patients(run: Command, sample_kb: Path, world: str) -> None:
    """--world lists the patients of that world, and counts them."""
    found = answered(run("query", sample_kb, "not (diagnosis of lung cancer)", "--world", world, "--format", "json"))
    assert found["world"] == world
    assert len(found["patients"]) == found["count"] == found[world]


def test_the_table_reads_the_count_with_its_bounds(run: Command, sample_kb: Path) -> None:
    """A person reads ``412 (398–437)`` and the query as it was understood."""
    found = answered(run("query", sample_kb, BREAST, "--format", "json"))
    shown = run("query", sample_kb, BREAST).stdout
    assert shown.startswith(f"{found['count']} ({found['certain']}–{found['possible']}) patients: {found['resolved']}")


def test_csv_is_one_line_a_patient(run: Command, sample_kb: Path) -> None:
    """CSV has a header and a line for each patient, with the strongest world that holds it."""
    found = answered(run("query", sample_kb, BREAST, "--format", "json"))
    rows = list(csv.DictReader(io.StringIO(run("query", sample_kb, BREAST, "--format", "csv").stdout)))
    assert [row["patient_id"] for row in rows] == found["patients"]
    assert {row["certainty"] for row in rows} <= {"certain", "believed"}


def test_limit_shortens_the_list_and_not_the_count(run: Command, sample_kb: Path) -> None:
    """--limit N lists N patients and counts all."""
    everyone = f"not ({BREAST})"
    found = answered(run("query", sample_kb, everyone, "--limit", 2, "--format", "json"))
    assert len(found["patients"]) == 2 < found["count"]
    assert f"… and {found['count'] - 2} more" in run("query", sample_kb, everyone, "--limit", 2).stdout


def test_json_out_writes_the_same_answer(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """--json OUT writes what --format json prints."""
    out = tmp_path / "answer.json"
    assert run("query", sample_kb, BREAST, "--json", out).exit_code == 0
    assert json.loads(out.read_text()) == answered(run("query", sample_kb, BREAST, "--format", "json"))


def test_json_out_that_cannot_be_written_is_a_usage_error(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """A path below nothing is told by name."""
    result = run("query", sample_kb, BREAST, "--json", tmp_path / "no" / "answer.json")
    assert result.exit_code == 2
    assert "answer.json" in result.stderr


def test_the_readme_shows_what_the_demo_prints(run: Command, sample_kb: Path) -> None:
    """Each query of the README's transcripts gives, on the sample records, the output that stands there.

    When a reading improves, copy the new output into the README.
    """
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    transcripts = re.findall(r"```console\n(.*?)```", page, re.S)
    commands = re.findall(r"^\$ cohortium (query .*)\n((?:(?!\$ ).*\n)*)", "\n".join(transcripts), re.M)
    assert commands
    for command, shown in commands:
        words = [str(sample_kb) if word == "build/demo.kb" else word for word in shlex.split(command)]
        assert run(*words).stdout.rstrip() == shown.rstrip()


def test_the_python_of_the_readme_runs(sample_kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each Python block of the README runs as it stands, on the sample records."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert blocks
    (tmp_path / "notes.kb").symlink_to(sample_kb)
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        names: dict[str, Any] = {}
        exec(compile(block, "README.md", "exec"), names)
        cohort = names["cohort"]
        assert 0 < len(cohort.certain) <= len(cohort) <= len(cohort.possible)


def test_explain_quotes_evidence(run: Command, sample_kb: Path) -> None:
    """Each listed patient comes with the evidence for each criterion."""
    found = answered(run("query", sample_kb, BREAST, "--explain", "--format", "json"))
    assert set(found["explanations"]) == set(found["patients"])
    patient = found["patients"][0]
    one = answered(run("explain", sample_kb, BREAST, patient, "--format", "json"))
    assert one == found["explanations"][patient]
    assert "breast" in run("explain", sample_kb, BREAST, patient).stdout.lower()


def test_a_query_is_read_from_standard_input(run: Command, sample_kb: Path) -> None:
    """``-`` reads the query from standard input."""
    found = answered(run("query", sample_kb, "-", "--format", "json", stdin=BREAST))
    assert found["patients"] == answered(run("query", sample_kb, BREAST, "--format", "json"))["patients"]


WRONG = {
    "a typo in a keyword": ("diagnosis of breast cancer adn ECOG <= 1", ""),
    "an unknown concept": ("diagnosis of brest cancer", "breast"),
    "a missing bracket": ("(diagnosis of breast cancer", ""),
    "an empty query": ("", ""),
    "five thousand brackets": ("(" * 5000 + BREAST + ")" * 5000, ""),
    "a hundred thousand letters": ("diagnosis of " + "x" * 100_000, ""),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_query_is_exit_code_3(run: Command, sample_kb: Path, text: str, told: str) -> None:
    """A query error is told in a few short lines on standard error, without a traceback."""
    result = run("query", sample_kb, text)
    assert result.exit_code == 3, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert told in result.stderr
    assert len(result.stderr) < 2000


def test_a_long_query_is_answered_up_to_a_limit(run: Command, sample_kb: Path) -> None:
    """A hundred thousand characters of criteria are a query like any other; one more is refused with the limit."""
    joined = " or ".join([BREAST] * (100_000 // (len(BREAST) + 4)))
    text = joined.ljust(100_000)
    found = answered(run("query", sample_kb, "-", "--format", "json", stdin=text))
    assert found["patients"] == answered(run("query", sample_kb, BREAST, "--format", "json"))["patients"]
    refused = run("query", sample_kb, "-", stdin=text + " ")
    assert refused.exit_code == 3
    assert "100,000" in refused.stderr


@pytest.mark.parametrize("command", [("info",), ("query", BREAST), ("explain", BREAST, "P1"), ("repl",)])
def test_a_missing_kb_is_a_usage_error(run: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Each command that opens a knowledge base tells when there is none."""
    result = run(command[0], tmp_path / "none.kb", *command[1:])
    assert result.exit_code == 2
    assert "none.kb" in result.stderr


def test_a_kb_of_another_version_is_exit_code_6(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """A knowledge base that another version wrote is neither read nor written, and the hint says what to do."""
    kb = tmp_path / "old.kb"
    source = notes_file([{"patient_id": "P1", "doc_id": "a", "text": "ECOG 1."}])
    assert run("ingest", source, "--kb", kb).exit_code == 0
    (manifest,) = kb.glob("generations/*/manifest.json")
    held = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**held, "schema_version": held["schema_version"] + 1}))
    for command in (("info", kb), ("query", kb, BREAST), ("ingest", source, "--kb", kb)):
        result = run(*command)
        assert result.exit_code == 6, result.output
        assert "Hint" in result.stderr


def test_a_second_writer_is_exit_code_7(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """While one process writes, a second is refused and readers are not."""
    kb = tmp_path / "busy.kb"
    source = notes_file([{"patient_id": "P1", "doc_id": "a", "text": "ECOG 1."}])
    assert run("ingest", source, "--kb", kb).exit_code == 0
    with Layout(kb).writing():
        assert run("ingest", source, "--kb", kb).exit_code == 7
        assert run("info", kb).exit_code == 0
    assert run("ingest", source, "--kb", kb).exit_code == 0


def test_an_unknown_patient_is_a_usage_error(run: Command, sample_kb: Path) -> None:
    """A patient that the knowledge base lacks is told by id."""
    result = run("explain", sample_kb, BREAST, "NOBODY")
    assert result.exit_code == 2
    assert "NOBODY" in result.stderr


@pytest.mark.parametrize("wrong", [("--world", "likely"), ("--format", "xml"), ("--limit", "-1"), ("--nonsense",)])
def test_wrong_options_are_usage_errors(run: Command, sample_kb: Path, wrong: tuple[str, ...]) -> None:
    """An option or value that there is not is exit code 2."""
    assert run("query", sample_kb, BREAST, *wrong).exit_code == 2


def test_csv_of_what_has_no_rows_is_refused(run: Command, sample_kb: Path) -> None:
    """``info`` has no rows, and says what to ask for instead."""
    result = run("info", sample_kb, "--format", "csv")
    assert result.exit_code == 2
    assert "--format json" in result.stderr


def test_a_query_that_is_not_utf8_is_a_usage_error(run: Command, sample_kb: Path) -> None:
    """Bytes of another encoding are refused with exit code 2, and no half character is repeated."""
    result = run("query", sample_kb, "-", stdin=b"caf\xe9")
    assert result.exit_code == 2
    assert "UTF-8" in result.stderr
