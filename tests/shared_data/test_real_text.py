"""Real text, complete: every note of three open corpora is stored, and the sums that are printed are right."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cohortium

pytestmark = pytest.mark.shared

Corpus = Callable[[str], Path]
Told = Callable[..., dict[str, Any]]


def test_every_transcription_is_stored_whether_or_not_its_text_repeats(
    corpus: Corpus, told: Told, tmp_path: Path
) -> None:
    """A note is a row, not a text: 1,088 rows of 186 distinct texts are 1,088 notes, and none is copied away."""
    source = corpus("mtsamples/pt_notes.csv")
    csv.field_size_limit(10_000_000)
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kb = tmp_path / "transcriptions.kb"
    mapping = "patient_id=subject_id,date=chartdate,type=category"
    assert told("ingest", source, "--kb", kb, "--map", mapping)["stored"] == len(rows) == 1088
    held = told("info", kb)
    assert (held["notes_in"], held["stored"], held["notes"]) == (1088, 1088, 1088)
    opened = cohortium.open(kb)
    journeys = [opened.journey(patient).journey for patient in sorted({row["subject_id"] for row in rows})]
    assert held["patients"] == len(journeys) == 182
    stored = sorted((j.patient_id, str(note.date), note.text) for j in journeys for note in j.notes)
    assert stored == sorted((row["subject_id"], row["chartdate"], row["text"]) for row in rows)
    assert len({text for _, _, text in stored}) == 186


def test_every_case_report_is_its_own_patient_and_no_annotation_is_a_note(
    corpus: Corpus, told: Told, tmp_path: Path
) -> None:
    """With patient_id=file a folder gives one patient a text; the annotation files beside the texts are passed over."""
    source = corpus("maccrobat")
    texts = sorted(path.stem for path in source.glob("*.txt"))
    kb = tmp_path / "reports.kb"
    assert told("ingest", source, "--kb", kb, "--map", "patient_id=file")["stored"] == len(texts)
    held = told("info", kb)
    assert (held["notes_in"], held["patients"], held["quarantined"]) == (len(texts), len(texts), 0)
    opened = cohortium.open(kb)
    for name in texts:
        (note,) = opened.journey(name).journey.notes
        assert note.text == (source / f"{name}.txt").read_bytes().decode("utf-8-sig")


def test_a_second_run_over_the_same_reports_changes_nothing(corpus: Corpus, told: Told, tmp_path: Path) -> None:
    """Equal notes are unchanged, and the sum of both runs stands in info."""
    source, kb = corpus("deepphe"), tmp_path / "twice.kb"
    first = told("ingest", source, "--kb", kb)
    again = told("ingest", source, "--kb", kb)
    assert (first["stored"], again["unchanged"], again["stored"]) == (3, 3, 0)
    held = told("info", kb)
    assert (held["notes_in"], held["stored"], held["unchanged"], held["notes"]) == (6, 3, 3, 3)
