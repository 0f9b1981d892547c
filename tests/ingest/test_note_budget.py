"""What takes too much is put aside with its reason, and the run goes on: by count, and by time in any process."""

from __future__ import annotations

import json
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from cohortium.ingest.run.batches import PatientNotes, Version, batch_key, read_batch
from cohortium.ingest.run.note_budget import USUAL, NoteBudget, OverBudget, budget_of
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Journey, Note
from tests.ingest.made_notes import tables
from tests.ingest.stub_reading import StubReader, stub


def write(path: Path, notes: dict[str, list[str]]) -> Path:
    """Notes of some patients as a source."""
    rows = [
        {"patient_id": patient, "doc_id": f"{patient}-{number}", "date": "2021-03-04", "text": text}
        for patient, texts in notes.items()
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def reasons_of(source: Path, kb: Path, budget: NoteBudget, workers: int = 1) -> dict[str, int]:
    """The reasons of the quarantine after a run; it balances, and quotes no note."""
    report = run_ingest([source], kb, reading=stub(), budget=budget, workers=workers, progress=False)
    assert report.balanced
    assert "ECOG" not in json.dumps(report.as_dict())
    return dict(report.reasons)


def without_end() -> None:
    """Work that never ends by itself."""
    while True:
        pass


def one_patient(*texts: str, patient: str = "P1") -> list[PatientNotes]:
    """A batch of one patient."""
    notes = [Note(patient, f"D{number}", text) for number, text in enumerate(texts)]
    return [PatientNotes(patient, tuple(Version(note, ("s", note.doc_id)) for note in notes))]


def test_a_long_note_goes_and_the_others_stay(tmp_path: Path) -> None:
    """Exactly what is longer than the bound is put aside; the same run again finds the same."""
    source = write(tmp_path / "n.jsonl", {"P1": ["ECOG " * 20, "ECOG " * 20 + "1", "ECOG 1"], "P2": ["ECOG 2"]})
    budget = NoteBudget(characters=100)
    assert reasons_of(source, tmp_path / "a.kb", budget) == {"note_too_long": 1}
    assert reasons_of(source, tmp_path / "b.kb", budget) == {"note_too_long": 1}
    assert tables(tmp_path / "a.kb") == tables(tmp_path / "b.kb")
    assert reasons_of(source, tmp_path / "c.kb", NoteBudget(characters=0)) == {}


def test_a_note_of_too_many_mentions_goes() -> None:
    """Counted, whatever the machine."""

    @dataclass
    class Read:
        mentions: list[int]

    class Crowded:
        def read(self, note: Note) -> Read:
            return Read([0] * len(note.text))

        def build(self, patient_id: str, read_notes: list[Read]) -> Journey:
            return Journey(patient_id)

    result = read_batch(Crowded(), one_patient("abc", "abcd"), NoteBudget(mentions=3))
    assert [why.partition(":")[0] for _, _, why in result.quarantined] == ["note_too_dense"]
    assert result.counts["stored"] == 1


def test_a_patient_of_too_many_notes_goes_before_any_is_read(tmp_path: Path) -> None:
    """All the records that bring such a patient are put aside; one who was within the bound keeps what is known."""
    kb = tmp_path / "n.kb"
    few = write(tmp_path / "few.jsonl", {"P1": ["ECOG 1", "ECOG 2"], "P2": ["ECOG 3"]})
    assert reasons_of(few, kb, NoteBudget(notes=3)) == {}
    before = tables(kb)["event"]
    more = write(tmp_path / "more.jsonl", {"P1": ["ECOG 1", "ECOG 2", "LOOP", "LOOP"]})
    assert reasons_of(more, kb, NoteBudget(notes=3)) == {"too_many_notes": 4}
    assert tables(kb)["event"] == before


@pytest.mark.parametrize("workers", [1, 2])
def test_a_note_without_end_is_stopped(tmp_path: Path, workers: int) -> None:
    """Within a pattern too, in this process and in another; no later note is disturbed."""
    source = write(tmp_path / "n.jsonl", {"P1": ["ECOG 1", "LOOP", "ECOG 2"], "P2": ["ECOG 3"], "endless": ["ECOG 4"]})
    budget = NoteBudget(seconds=0.2)
    assert reasons_of(source, tmp_path / "n.kb", budget, workers) == {"note_out_of_time": 1, "patient_out_of_time": 1}
    assert len(tables(tmp_path / "n.kb")["event"]) == 3
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


def test_a_thread_without_a_timer_asks_the_clock() -> None:
    """Where no timer can be set, the loops of reading ask."""
    found = []
    reading = threading.Thread(
        target=lambda: found.append(read_batch(StubReader(), one_patient("ASKING", "ECOG 1"), NoteBudget(seconds=0.2)))
    )
    reading.start()
    reading.join(60)
    assert [why.partition(":")[0] for _, _, why in found[0].quarantined] == ["note_out_of_time"]
    assert found[0].counts["stored"] == 1


def test_waiting_takes_no_time_of_the_processor() -> None:
    """A machine that does something else puts no note aside."""
    with NoteBudget(seconds=0.05).reading():
        time.sleep(0.15)
    with pytest.raises(OverBudget, match="note_out_of_time"), NoteBudget(seconds=0.05).reading():
        without_end()


def test_many_notes_may_take_longer_to_join() -> None:
    """The time of joining grows with the notes, by the thousand."""
    begun = time.process_time()
    with pytest.raises(OverBudget, match="patient_out_of_time"), NoteBudget(seconds=0.05).joining(2_500):
        without_end()
    assert time.process_time() - begun > 0.12


def test_a_batch_of_another_budget_is_another() -> None:
    """What a killed run finished under one budget is not taken up under another."""
    from dataclasses import replace

    batch = one_patient("ECOG 1")
    keys = {batch_key(replace(stub(), budget=budget), batch) for budget in (USUAL, NoteBudget(seconds=1))}
    assert len(keys) == 2


@pytest.mark.parametrize("wrong", [{"seconds": -1}, {"characters": -5}, {"notes": float("nan")}, {"seconds": "3"}])
def test_a_number_that_is_none_is_told(wrong: dict[str, float]) -> None:
    """Below nothing, not a number, or text."""
    with pytest.raises(UsageError, match="number"):
        budget_of(**wrong)
