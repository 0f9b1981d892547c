"""Versions: rows in = stored + unchanged + superseding + quarantined, whatever comes again and in which run."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohortium.kb.storage.reader import KnowledgeBase
from tests.ingest.made_notes import note, tables
from tests.ingest.stub_reading import stub

Ingest = Callable[..., Any]
Write = Callable[..., Path]


def ends(report: Any) -> tuple[int, int, int, int]:
    """The four ends of the records."""
    return report.stored, report.unchanged, report.superseding, report.quarantined


def statuses(kb: Path) -> dict[str, list[str]]:
    """Note texts by status."""
    found: dict[str, list[str]] = {}
    with KnowledgeBase.open(kb) as base:
        for row in base.note_table().to_pylist():
            found.setdefault(row["status"], []).append(base.note(row["note_id"]).text)
    return {status: sorted(texts) for status, texts in found.items()}


def test_the_same_notes_again_are_unchanged(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """Nothing is read again, and the tables but the manifest's counts stay."""
    source = jsonl([note(), note("P2")])
    assert ends(ingest(source)) == (2, 0, 0, 0)
    before = tables(tmp_path / "x.kb")
    again = ingest(source)
    assert ends(again) == (0, 2, 0, 0)
    assert again.batches == 0
    after = tables(tmp_path / "x.kb")
    assert before.pop("manifest") != after.pop("manifest")
    assert after == before


def test_other_content_is_a_new_version(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """The new version is read, the old one is kept as superseded, other patients are copied."""
    ingest(jsonl([note(text="ECOG one"), note("P2", text="ECOG two")]))
    report = ingest(jsonl([note(text="ECOG new ECOG")]))
    assert ends(report) == (0, 0, 1, 0)
    assert (report.patients, report.events) == (2, 3)
    assert statuses(tmp_path / "x.kb") == {"current": ["ECOG new ECOG", "ECOG two"], "superseded": ["ECOG one"]}


def test_other_metadata_is_another_version_too(ingest: Ingest, jsonl: Write) -> None:
    """A corrected date changes when everything in the note happened."""
    ingest(jsonl([note()]))
    assert ends(ingest(jsonl([note(date="2021-01-01")]))) == (0, 0, 1, 0)


def test_within_one_run_the_later_row_supersedes(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """And an equal row is unchanged, and a version that comes back is current again."""
    rows = [note(text="A"), note(text="A"), note(text="B"), note(text="A"), note(text="C")]
    assert ends(ingest(jsonl(rows))) == (1, 1, 3, 0)
    assert statuses(tmp_path / "x.kb") == {"current": ["C"], "superseded": ["A", "B"]}
    assert ends(ingest(jsonl([note(text="A")]))) == (0, 0, 1, 0)
    assert statuses(tmp_path / "x.kb") == {"current": ["A"], "superseded": ["B", "C"]}


def test_equal_text_under_another_document_is_stored(ingest: Ingest, jsonl: Write) -> None:
    """Copied text is evidence, not a duplicate."""
    assert ends(ingest(jsonl([note(doc_id="a"), note(doc_id="b")]))) == (2, 0, 0, 0)


def test_the_order_and_the_number_of_runs_leave_no_trace(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """Notes that come in one run, in two, or turned round give the same tables."""
    rows = [note(f"P{n % 7}", f"d{n}", date=f"2020-01-{n + 1:02}") for n in range(20)]
    ingest(jsonl(rows, "1.jsonl"), kb="one.kb")
    ingest(jsonl(rows[::-1], "2.jsonl"), kb="turned.kb")
    ingest(jsonl(rows[:9], "3.jsonl"), kb="two.kb")
    ingest(jsonl(rows[9:], "4.jsonl"), kb="two.kb")
    assert tables(tmp_path / "one.kb") == tables(tmp_path / "turned.kb") == tables(tmp_path / "two.kb")


def test_what_info_prints_is_the_sum_over_all_runs(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """Stored and superseding together are the versions held, and the sum is right."""
    ingest(jsonl([note(), note("P2"), "nonsense"]))
    ingest(jsonl([note(text="other"), note("P2"), "more nonsense", "and more"]))
    with KnowledgeBase.open(tmp_path / "x.kb") as base:
        info = base.info()
    assert [info[name] for name in ("notes_in", "stored", "unchanged", "superseding", "quarantined")] == [7, 2, 1, 1, 3]
    assert info["balanced"]
    assert info["notes"] + info["notes_superseded"] == 3


def test_another_version_of_the_reading_reads_every_patient_again(ingest: Ingest, jsonl: Write) -> None:
    """Facts of two versions never stand side by side."""
    ingest(jsonl([note(), note("P2")]), reading=stub("1"))
    report = ingest(jsonl([note()]), reading=stub("2"))
    assert (report.unchanged, report.batches, report.patients) == (1, 1, 2)


# --- notes that are taken back ---------------------------------------------------------------------------------------

VOID = {"patient_id": "P1", "doc_id": "a", "status": "retracted"}


def test_a_retraction_takes_the_note_back(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """It supersedes what stands, which is kept; the patient stays, without its events; a second one changes nothing."""
    ingest(jsonl([note(), note("P2")]))
    report = ingest(jsonl([VOID]))
    assert ends(report) == (0, 0, 1, 0)
    assert (report.retracted, report.patients_read, report.patients_copied, report.patients, report.events) == (
        1, 1, 1, 2, 1,
    )  # fmt: skip
    assert statuses(tmp_path / "x.kb") == {"retracted": ["ECOG 1."], "current": ["ECOG 1."]}
    again = ingest(jsonl([VOID, VOID]))
    assert (ends(again), again.retracted, again.patients_read) == ((0, 2, 0, 0), 0, 0)
    with KnowledgeBase.open(tmp_path / "x.kb") as base:
        assert base.journey("P1").events == base.journey("P1").notes == ()
        assert (base.info()["notes"], base.info()["notes_retracted"], base.info()["balanced"]) == (1, 1, True)


def test_what_was_taken_back_can_come_again(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """The last word in the order of arrival counts, in one run as in several."""
    rows = [VOID, note(), VOID, note(text="ECOG new"), VOID, note()]
    assert ends(ingest(jsonl(rows), kb="one.kb")) == (1, 1, 4, 0)
    for number, row in enumerate(rows):
        ingest(jsonl([row, note("P2")], f"{number}.jsonl"))
    assert statuses(tmp_path / "one.kb") == {"current": ["ECOG 1."], "retracted": ["ECOG new"]}
    assert statuses(tmp_path / "x.kb") == {"current": ["ECOG 1.", "ECOG 1."], "retracted": ["ECOG new"]}


def test_a_retraction_of_what_is_not_known_changes_nothing(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """It is counted as unchanged, brings no patient, and does not bar the note if that comes later."""
    assert ends(ingest(jsonl([VOID]))) == (0, 1, 0, 0)
    with KnowledgeBase.open(tmp_path / "x.kb") as base:
        assert base.patients == ()
    assert ends(ingest(jsonl([note()]))) == (1, 0, 0, 0)
    unread = ingest(jsonl([{**VOID, "doc_id": "b"}]))
    assert (ends(unread), unread.patients_read) == ((0, 1, 0, 0), 0)


def test_a_retraction_beside_a_note_on_which_the_reader_fails(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """What cannot be read does not bring back what was taken back, and each record has its one end."""
    ingest(jsonl([note(), note(doc_id="b")]))
    assert ends(ingest(jsonl([VOID, note(text="EXPLODE"), {**VOID, "doc_id": "c"}]))) == (0, 1, 1, 1)
    assert statuses(tmp_path / "x.kb") == {"retracted": ["ECOG 1."], "current": ["ECOG 1."]}
    assert ends(ingest(jsonl([{**VOID, "patient_id": "broken"}, note("broken")]))) == (0, 0, 0, 2)


# --- notes on which the reader fails ---------------------------------------------------------------------------------


def test_a_note_on_which_the_reader_fails_is_quarantined(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """The patient's other notes are stored, and the reason names the error without its message."""
    report = ingest(jsonl([note(), note(doc_id="b", text="EXPLODE"), note("P2")]))
    assert ends(report) == (2, 0, 0, 1)
    ((row),) = tables(tmp_path / "x.kb")["quarantine"]
    assert row[:4] == ("notes.jsonl", "line 2", "P1", "b")
    assert row[4].startswith("reader_error:ValueError: ")
    assert "secret" not in row[4]
    assert report.reasons == {"reader_error:ValueError": 1}


def test_an_unreadable_new_version_leaves_the_old_one_current(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """Nothing known is lost to a defect."""
    ingest(jsonl([note(text="ECOG old")]))
    assert ends(ingest(jsonl([note(text="EXPLODE"), note(text="EXPLODE")]))) == (0, 0, 0, 2)
    assert statuses(tmp_path / "x.kb") == {"current": ["ECOG old"]}


def test_a_patient_who_cannot_be_built_costs_no_other(ingest: Ingest, jsonl: Write) -> None:
    """Its notes are in quarantine, every one."""
    report = ingest(jsonl([note(), note("broken"), note("broken", "b"), note("P2")]))
    assert ends(report) == (2, 0, 0, 2)
    assert report.reasons == {"journey_error:KeyError": 2}


def test_exit_codes(ingest: Ingest, jsonl: Write) -> None:
    """Quarantine alone is 0, with strict 1; nothing stored is 4, and the quarantine is kept even then."""
    mixed, bad = jsonl([note(), "nonsense"], "1.jsonl"), jsonl(["nonsense"], "2.jsonl")
    assert ingest(mixed).exit_code == 0
    assert ingest(mixed, kb="y.kb", strict=True).exit_code == 1
    assert ingest(bad, kb="z.kb", strict=True).exit_code == 4


# --- workers ---------------------------------------------------------------------------------------------------------


def test_two_workers_give_the_same_tables_as_one(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """Batches come back in the order of the patients, and defects are told the same way."""
    rows = [note(f"P{n % 30:02}", f"d{n}", f"ECOG {n} " + "EXPLODE" * (n == 55)) for n in range(130)]
    one = ingest(jsonl(rows), kb="one.kb")
    two = ingest(jsonl(rows), kb="two.kb", workers=2)
    assert one.batches == two.batches > 2
    assert ends(one) == ends(two) == (129, 0, 0, 1)
    assert tables(tmp_path / "one.kb") == tables(tmp_path / "two.kb")


def test_nothing_is_left_beside_the_knowledge_base(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """And what there is can be read by its owner alone."""
    ingest(jsonl([note()]))
    assert not (tmp_path / "x.kb" / "unfinished").exists()
    for path in (tmp_path / "x.kb").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize("workers", [0, -1])
def test_at_least_one_worker(ingest: Ingest, jsonl: Write, workers: int) -> None:
    """A number below one is told."""
    with pytest.raises(Exception, match="it is 1 to"):
        ingest(jsonl([note()]), workers=workers)
