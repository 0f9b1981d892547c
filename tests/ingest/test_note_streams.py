"""Streams of notes: corrected, retracted, late, repeated, in whatever batches, they leave what one run would leave."""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cohortium.ingest.run import pipeline
from cohortium.ingest.run.batches import PatientNotes, Reading, Version, read_batch
from cohortium.ingest.run.report import IngestReport
from cohortium.kb.model import Note
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import CURRENT, RETRACTED, SUPERSEDED
from tests.amounts import examples
from tests.ingest.made_notes import note, tables
from tests.ingest.note_streams import PATIENTS, Ledger, Record, cut, records
from tests.ingest.stub_reading import StubReader, stub

VOID = {"patient_id": "P1", "doc_id": "a", "status": "retracted"}
COLLISIONS = [
    *(note(), note("P2"), note(), VOID, note(text="ECOG later"), VOID, VOID, note()),
    note("P2", date="1999-01-01"),
]


class TiredReader(StubReader):
    """Is interrupted at the third note that it reads."""

    def __init__(self) -> None:
        self.read_so_far = 0

    def read(self, note: Note) -> tuple[Note, list[object]]:
        """As the stub, three times less."""
        self.read_so_far += 1
        if self.read_so_far == 3:
            raise KeyboardInterrupt
        return super().read(note)


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """An ontology without concepts, and a batch for each patient: what matters here, and nothing else."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "shipped_concepts", lambda extra: ConceptTable([]))
        patched.setattr(pipeline, "BATCH_NOTES", 1)
        yield


def ingest(stream: Sequence[Record], kb: Path, *, tired: bool = False) -> IngestReport:
    """A run over these records; a tired one is interrupted first, and then resumed."""
    source = kb.with_suffix(".jsonl")
    source.write_text("".join(json.dumps(record) + "\n" for record in stream))
    if tired:
        try:
            pipeline.run_ingest([source], kb, reading=Reading(TiredReader, stub().versions), progress=False)
        except pipeline.Interrupted:
            pass
        else:
            return IngestReport()
    return pipeline.run_ingest([source], kb, reading=stub(), progress=False)


def held(kb: KnowledgeBase) -> set[tuple[str, str, str, str, str | None]]:
    """Every version of every note, as the ledger tells it."""
    rows = kb.note_table().to_pylist()
    told = {row["note_id"]: kb.note(row["note_id"]) for row in rows}
    content = {name: f"{one.date or ''} {one.text}" for name, one in told.items()}
    return {
        (row["patient_id"], row["doc_id"], content[row["note_id"]], row["status"], content.get(row["superseded_by"]))
        for row in rows
    }


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    st.lists(records(), min_size=6, max_size=16),
    st.sets(st.integers(1, 15), min_size=1, max_size=3),
    st.integers(0, 3),
)
@example(COLLISIONS, {1, 4}, 1)
def test_batches_leave_what_one_run_leaves(quick: None, stream: list[Record], places: set[int], tired: int) -> None:
    """The same generation, down to the rows of every table and the sums, and what the ledger says; a run that is
    interrupted and resumed does as well; only the patients who are concerned are read, and the rest stay as they were.
    """
    with tempfile.TemporaryDirectory() as folder:
        whole, parts = Path(folder) / "whole.kb", Path(folder) / "parts.kb"
        ledger = Ledger()
        before: dict[str, str] = {}
        for number, batch in enumerate(cut(stream, [place for place in places if place < len(stream)])):
            changed = [record["patient_id"] for record in batch if ledger.take(record)]
            report = ingest(batch, parts, tired=number == tired)
            assert report.balanced
            with KnowledgeBase.open(parts) as kb:
                digests = kb.digests(PATIENTS)
                assert set(digests) == ledger.patients()
                if report.notes_in:
                    assert report.patients_read == len(set(changed))
                    assert report.patients_copied == len(set(before) - set(changed))
                assert {one: digests[one] for one in before if one not in changed} == {
                    one: before[one] for one in before if one not in changed
                }
                before = digests
        ingest(stream, whole)
        with KnowledgeBase.open(whole) as one, KnowledgeBase.open(parts) as many:
            assert held(one) == held(many) == ledger.notes()
            assert {name: one.info()[name] for name in ledger.counts} == ledger.counts
            assert one.generation == many.generation
        assert tables(whole) == tables(parts)


# --- the versions of one patient, without a database -----------------------------------------------------------------


def as_versions(stream: Sequence[Record]) -> list[Version]:
    """Records as the run tells them apart."""
    found = []
    for number, record in enumerate(stream):
        text, date = record.get("text", ""), record.get("date") or None
        day = None if date is None else datetime.date.fromisoformat(date)
        own = Note(record["patient_id"], record["doc_id"], text, day)
        found.append(Version(own, ("stream", f"line {number}"), retraction="text" not in record))
    return found


def run_of(kept: list[Version], arriving: Sequence[Record]) -> tuple[list[Version], dict[str, int]]:
    """What is held of a patient after a run, in the order in which the next run meets it; and the counts."""
    result = read_batch(StubReader(), [PatientNotes("P1", (*kept, *as_versions(arriving)))])
    rows = result.tables["note"].to_pylist() if "note" in result.tables else []
    found = [
        Version(
            Note("P1", row["doc_id"], row["text"], row["date"]),
            superseded_by=row["superseded_by"] or "",
            retracted=row["status"] == RETRACTED,
        )
        for row in sorted(rows, key=lambda row: row["status"] == CURRENT)
    ]
    assert {row["status"] for row in rows} <= {CURRENT, SUPERSEDED, RETRACTED}
    return found, result.counts


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(records().map(lambda record: {**record, "patient_id": "P1"}), max_size=14),
    st.sets(st.integers(1, 13), max_size=4),
)
def test_the_last_word_counts(stream: list[Record], places: set[int]) -> None:
    """Whether the records of a patient come at once or bit by bit: what stands, what was superseded by what, what was
    taken back, and how each record is counted."""
    ledger = Ledger()
    for record in stream:
        ledger.take(record)
    at_once, counts = run_of([], stream)
    bit_by_bit: list[Version] = []
    sums = dict.fromkeys(counts, 0)
    for batch in cut(stream, [place for place in places if place < len(stream)]):
        bit_by_bit, more = run_of(bit_by_bit, batch)
        sums = {name: sums[name] + more[name] for name in sums}
    assert at_once == bit_by_bit
    assert counts == sums
    assert {name: counts[name] for name in ledger.counts} == ledger.counts
    status = {SUPERSEDED: 0, RETRACTED: 0, CURRENT: 0}
    for _, _, _, standing, _ in ledger.notes():
        status[standing] += 1
    assert len(at_once) == sum(status.values())
    assert sum(one.retracted for one in at_once) == status[RETRACTED]
    assert sum(bool(one.superseded_by) for one in at_once) == status[SUPERSEDED]
