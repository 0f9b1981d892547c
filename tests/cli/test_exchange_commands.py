"""``export``, ``restore`` and ``diff`` as commands: what they print, and their exit codes."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Command = Callable[..., Result]


def test_export_and_restore(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """The card is printed and written; what is restored answers alike; what is no export is a usage error."""
    exported = run("export", sample_kb, tmp_path / "out", "--format", "json")
    assert exported.exit_code == 0, exported.output
    card = json.loads(exported.stdout)
    assert card == json.loads((tmp_path / "out" / "export.json").read_text())
    restored = run("restore", tmp_path / "out", "--kb", tmp_path / "copy.kb")
    assert f"generation {card['generation']}" in restored.stdout
    query = ("lung cancer", "--format", "json")
    assert run("query", sample_kb, *query).stdout == run("query", tmp_path / "copy.kb", *query).stdout
    assert run("restore", tmp_path, "--kb", tmp_path / "other.kb").exit_code == 2
    (tmp_path / "out" / "event.parquet").write_bytes(b"")
    assert run("restore", tmp_path / "out", "--kb", tmp_path / "other.kb").exit_code == 10


def test_an_export_without_text_says_so(run: Command, sample_kb: Path, tmp_path: Path) -> None:
    """And what cannot be done with it."""
    told = run("export", sample_kb, tmp_path / "shared", "--without-text")
    assert told.exit_code == 0, told.output
    assert "without text (note.title, note.text, mention.text, quarantine.raw)" in told.stdout
    assert "cannot be restored" in told.stdout


def test_diff(run: Command, sample_kb: Path, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """Joiners and leavers with their causes, as a table, as JSON, and a line each as csv."""
    kb = tmp_path / "x.kb"
    shutil.copytree(sample_kb, kb)
    late = {
        "patient_id": "SAMPLE-03",
        "doc_id": "late",
        "date": "2014-01-05",
        "text": "Started osimertinib 80 mg daily.",
    }
    void = {"patient_id": "SAMPLE-02", "doc_id": "S02-012", "status": "entered-in-error"}
    done = run("ingest", notes_file([late, void]), "--kb", kb)
    assert done.exit_code == 0, done.output
    assert "1 of 1 superseding took a note back" in done.stdout
    assert "(2 read, 9 as before)" in done.stdout
    asked = (f"{kb}@previous", kb, "medication osimertinib or medication pemetrexed")
    told = run("diff", *asked)
    assert told.exit_code == 0, told.output
    assert "SAMPLE-03 joined: note" in told.stdout
    assert "+ new: 2014-01-05  medication osimertinib" in told.stdout
    payload = json.loads(run("diff", *asked, "--format", "json").stdout)
    assert [row["patient_id"] for row in payload["joined"]] == ["SAMPLE-03"]
    assert payload["counts"]["believed"]["joined"] == 1
    (row,) = csv.DictReader(run("diff", *asked, "--format", "csv").stdout.splitlines())
    assert row == {"patient_id": "SAMPLE-03", "change": "joined", "causes": "note:alone", "notes": "late new"}
    assert run("diff", *asked[:2], "medication nonsuch").exit_code == 3
    assert run("diff", f"{kb}@nowhere", kb, "lung cancer").exit_code == 2
