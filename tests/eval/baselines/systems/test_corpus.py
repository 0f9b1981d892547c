"""The notes that systems are made over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.kb.errors import UsageError


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def note(patient: str, doc: str, text: str = "text", date: str = "2020-01-01") -> dict[str, str]:
    return {"patient_id": patient, "doc_id": doc, "date": date, "text": text}


def test_notes_stand_by_patient_and_date(tmp_path: Path) -> None:
    """Whatever the order of the file, notes come by patient, date and document, undated ones first."""
    rows = [note("B", "1"), note("A", "2"), note("A", "1", date="2019-05-05"), note("A", "3", date="")]
    corpus = Corpus.load([written(tmp_path / "notes.jsonl", rows)])
    assert [(one.patient_id, one.doc_id) for one in corpus.notes] == [("A", "3"), ("A", "1"), ("A", "2"), ("B", "1")]
    assert corpus.patients == ("A", "B")
    assert [len(notes) for notes in corpus.by_patient.values()] == [3, 1]


def test_the_last_version_of_a_document_holds(tmp_path: Path) -> None:
    """A document that comes twice is one note: as it stood last."""
    corpus = Corpus.load([written(tmp_path / "notes.jsonl", [note("A", "1", "old"), note("A", "1", "new")])])
    assert [one.text for one in corpus.notes] == ["new"]


def test_the_hash_tells_every_letter_and_no_order(tmp_path: Path) -> None:
    """Equal notes in another order have the same hash; another letter or date gives another."""
    rows = [note("A", "1"), note("B", "1")]
    first = Corpus.load([written(tmp_path / "a.jsonl", rows)]).sha256
    assert Corpus.load([written(tmp_path / "b.jsonl", rows[::-1])]).sha256 == first
    for other in ([note("A", "1", "Text"), rows[1]], [note("A", "1", date="2020-01-02"), rows[1]], rows[:1]):
        assert Corpus.load([written(tmp_path / "c.jsonl", other)]).sha256 != first


def test_what_is_no_note_is_counted(tmp_path: Path) -> None:
    """A record without a patient is refused and counted; without any note there is no corpus."""
    rows = [note("A", "1"), {"doc_id": "2", "text": "whose?"}]
    assert Corpus.load([written(tmp_path / "notes.jsonl", rows)]).refused == 1
    with pytest.raises(UsageError, match="hold no note"):
        Corpus.load([written(tmp_path / "none.jsonl", rows[1:])])
