"""The run with the shipped reader: what the command line does, on the sample notes."""

from __future__ import annotations

import json
from pathlib import Path

from cohortium.ingest.run.batches import shipped_reading
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.storage.reader import KnowledgeBase
from tests.ingest.made_notes import tables
from tests.places import SAMPLES


def test_workers_and_runs_leave_no_trace(tmp_path: Path) -> None:
    """Two workers in one run give the tables that one worker gives in two runs."""
    lines = SAMPLES.read_text(encoding="utf-8").splitlines()[:50]
    first, second, whole = (tmp_path / name for name in ("first.jsonl", "second.jsonl", "whole.jsonl"))
    first.write_text("\n".join(lines[:17]))
    second.write_text("\n".join(lines[17:]))
    whole.write_text("\n".join(lines))
    report = run_ingest([whole], tmp_path / "one.kb", workers=2)
    run_ingest([first], tmp_path / "two.kb")
    run_ingest([second], tmp_path / "two.kb")
    assert report.stored == len(lines)
    assert report.patients == len({json.loads(line)["patient_id"] for line in lines})
    assert report.events > report.patients
    assert tables(tmp_path / "one.kb") == tables(tmp_path / "two.kb")


def test_the_manifest_tells_what_read_the_notes(tmp_path: Path) -> None:
    """The versions of code and ontology stand in the knowledge base, so that a later run knows when to read again."""
    source = tmp_path / "notes.jsonl"
    source.write_text(SAMPLES.read_text(encoding="utf-8").splitlines()[0])
    run_ingest([source], tmp_path / "x.kb")
    with KnowledgeBase.open(tmp_path / "x.kb") as kb:
        versions = kb.manifest["versions"]
    assert versions.items() >= dict(shipped_reading().versions).items()
    assert versions["pipeline"].startswith("0.")
