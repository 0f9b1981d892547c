"""``cohortium ingest``: every record is accounted for, whatever is wrong with it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from cohortium.kb.storage.writer import GenerationWriter

Command = Callable[..., Result]

GOOD = {
    "patient_id": "P1",
    "doc_id": "a",
    "date": "2020-01-02",
    "text": "Invasive ductal carcinoma of the left breast.",
}
PARTS = ("stored", "unchanged", "superseding", "quarantined")


def sums(result: Result) -> dict[str, Any]:
    """The run's JSON, with the sum checked."""
    report = json.loads(result.stdout)
    assert report["notes_in"] == sum(report[part] for part in PARTS)
    return report


BAD_LINES: dict[str, dict[str, object] | str | bytes] = {
    "a malformed line": '{"patient_id": "P2", "doc_id": "b", "text": ',
    "a line that is no object": "[1, 2]",
    "no patient": {"doc_id": "b", "text": "ECOG 1."},
    "no text": {"patient_id": "P2", "doc_id": "b"},
    "an unparsable date": {"patient_id": "P2", "doc_id": "b", "date": "the third of Maj", "text": "ECOG 1."},
    "an empty note": {"patient_id": "P2", "doc_id": "b", "text": "  \n "},
    "invalid UTF-8": b'{"patient_id": "P2", "doc_id": "b", "text": "caf\xe9"}',
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_record_goes_to_quarantine_and_the_run_goes_on(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path, bad: object
) -> None:
    """The good notes around a bad one are stored, the bad one is counted with its reason, and the exit code is 0."""
    source = notes_file([GOOD, bad, {**GOOD, "doc_id": "c"}])
    result = run("ingest", source, "--kb", tmp_path / "x.kb", "--format", "json")
    assert result.exit_code == 0, result.output
    report = sums(result)
    assert (report["stored"], report["quarantined"]) == (2, 1)
    told = run("info", tmp_path / "x.kb", "--format", "json")
    assert sums(told)["quarantined"] == 1


def test_strict_turns_quarantine_into_exit_code_1(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path
) -> None:
    """With --strict the good notes are still stored; only the exit code differs."""
    source = notes_file([GOOD, "not json"])
    result = run("ingest", source, "--kb", tmp_path / "x.kb", "--strict")
    assert result.exit_code == 1
    assert "quarantine" in result.stderr
    assert json.loads(run("info", tmp_path / "x.kb", "--format", "json").stdout)["stored"] == 1


def test_strict_without_quarantine_is_0(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """--strict asks nothing more of a clean run."""
    assert run("ingest", notes_file([GOOD]), "--kb", tmp_path / "x.kb", "--strict").exit_code == 0


def test_nothing_stored_is_exit_code_4(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """A run without one good note says so."""
    result = run("ingest", notes_file(["nonsense", "more"]), "--kb", tmp_path / "x.kb")
    assert result.exit_code == 4
    assert "no note" in result.stderr


def test_the_same_notes_again_are_unchanged(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """A second run over equal notes stores nothing and changes no answer."""
    source, kb = notes_file([GOOD, {**GOOD, "doc_id": "c"}]), tmp_path / "x.kb"
    assert run("ingest", source, "--kb", kb).exit_code == 0
    report = sums(run("ingest", source, "--kb", kb, "--format", "json"))
    assert (report["stored"], report["unchanged"]) == (0, 2)


def test_the_same_id_with_other_text_is_a_new_version(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path
) -> None:
    """The new text answers queries, the old one is kept as superseded and counted."""
    kb = tmp_path / "x.kb"
    run("ingest", notes_file([GOOD]), "--kb", kb)
    other = notes_file([{**GOOD, "text": "Adenocarcinoma of the sigmoid colon."}], "other.jsonl")
    report = sums(run("ingest", other, "--kb", kb, "--format", "json"))
    assert (report["stored"], report["superseding"]) == (0, 1)
    breast = json.loads(run("query", kb, "diagnosis of breast cancer", "--format", "json").stdout)
    colon = json.loads(run("query", kb, "diagnosis of colon cancer", "--format", "json").stdout)
    assert (breast["patients"], colon["patients"]) == ([], ["P1"])


def test_the_time_that_a_long_note_takes_grows_with_its_length(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path
) -> None:
    """Length alone is no reason for quarantine, and four times the length takes no ten times the processor's time."""
    spent = []
    for times in (3_000, 12_000):
        source = notes_file([{**GOOD, "text": "The weather was discussed at length. " * times + GOOD["text"]}])
        begun = time.process_time()
        report = sums(run("ingest", source, "--kb", tmp_path / f"{times}.kb", "--format", "json"))
        spent.append(time.process_time() - begun)
        assert report["stored"] == 1
    assert source.stat().st_size > 400_000
    assert spent[1] < 10 * spent[0]


def test_columns_can_be_mapped(run: Command, tmp_path: Path) -> None:
    """--map tells what our fields are called in a CSV file; the run's numbers go to --json OUT."""
    source = tmp_path / "notes.csv"
    source.write_text('subject_id,row,chartdate,body\nA,1,2020-01-02,"ECOG 1, stable"\nB,2,2020-01-03,ECOG 2\n')
    out = tmp_path / "sums.json"
    mapping = "patient_id=subject_id,doc_id=row,date=chartdate,text=body"
    result = run("ingest", source, "--kb", tmp_path / "x.kb", "--map", mapping, "--json", out)
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text())["stored"] == 2


def test_a_missing_column_names_the_columns_there_are(run: Command, tmp_path: Path) -> None:
    """A CSV without a patient column is refused with exit code 2 and a hint at --map."""
    source = tmp_path / "notes.csv"
    source.write_text("subject_id,text\nA,ECOG 1\n")
    result = run("ingest", source, "--kb", tmp_path / "x.kb")
    assert result.exit_code == 2
    assert "patient_id" in result.stderr
    assert "--map" in result.stderr


@pytest.mark.parametrize(
    "mapping", ["patient_id", "patient=subject", "=x", "date=", ",,", "patient_id=doc_id,patient_id=title"]
)
def test_a_wrong_map_is_a_usage_error(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path, mapping: str
) -> None:
    """--map with a pair that is none, or with a field that notes lack, is exit code 2 and writes nothing."""
    result = run("ingest", notes_file([GOOD]), "--kb", tmp_path / "x.kb", "--map", mapping)
    assert result.exit_code == 2
    assert "--map" in result.stderr
    assert not (tmp_path / "x.kb").exists()


def test_a_missing_source_is_a_usage_error(run: Command, tmp_path: Path) -> None:
    """A path that is not there is told by name."""
    result = run("ingest", tmp_path / "nowhere.jsonl", "--kb", tmp_path / "x.kb")
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr


def test_an_unwritable_folder_is_a_usage_error(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """A knowledge base below a plain file cannot be written, and that is said without a traceback."""
    (tmp_path / "file").write_text("")
    result = run("ingest", notes_file([GOOD]), "--kb", tmp_path / "file" / "x.kb")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_text_folders_are_read(run: Command, tmp_path: Path) -> None:
    """``<patient>/<date>_<anything>.txt`` gives a dated note of that patient."""
    folder = tmp_path / "notes" / "P7"
    folder.mkdir(parents=True)
    (folder / "2020-01-02_visit.txt").write_text("ECOG 1.")
    assert run("ingest", tmp_path / "notes", "--kb", tmp_path / "x.kb").exit_code == 0
    found = json.loads(run("query", tmp_path / "x.kb", "ECOG <= 1 in 2020", "--format", "json").stdout)
    assert found["patients"] == ["P7"]


def test_no_note_text_is_ever_printed(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """Neither the sums nor the reasons of quarantine quote a note."""
    secret = "Zanzibarine"
    bad = '{"patient_id": "P2", "text": "' + secret
    result = run("ingest", notes_file([{**GOOD, "text": secret}, bad]), "--kb", tmp_path / "x.kb")
    assert secret not in result.output


@pytest.mark.parametrize("words", [("--format", "csv"), ("--json", "nowhere/sums.json"), ("--json", ".")])
def test_an_answer_that_cannot_be_given_is_told_before_the_run(
    run: Command,
    notes_file: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, str],
) -> None:
    """A format without rows, a missing folder and a folder for a file are exit code 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    assert run("ingest", notes_file([GOOD]), "--kb", "x.kb", *words).exit_code == 2
    assert not Path("x.kb").exists()


def test_a_source_without_any_note_is_told_by_name(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path
) -> None:
    """No record at all is exit code 4, and the message points at the source and not at reasons that do not stand."""
    result = run("ingest", notes_file([], "hollow.jsonl"), "--kb", tmp_path / "x.kb")
    assert result.exit_code == 4
    assert "hollow.jsonl" in result.stderr
    assert "reasons" not in result.stderr


def test_a_text_file_outside_a_patients_folder_is_told_what_to_do(run: Command, tmp_path: Path) -> None:
    """Its reason names the folder that is missing and the map that makes each file a patient."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "visit.txt").write_text("ECOG 1.")
    result = run("ingest", tmp_path / "notes", "--kb", tmp_path / "x.kb", "--format", "json")
    assert result.exit_code == 4
    assert "--map patient_id=file" in result.stdout


def test_a_packed_table_that_is_not_packed_is_told_so(run: Command, tmp_path: Path) -> None:
    """A plain file under a .gz name is exit code 2 with what to do."""
    source = tmp_path / "notes.csv.gz"
    source.write_text("patient_id,text\nP1,ECOG 1\n")
    result = run("ingest", source, "--kb", tmp_path / "x.kb")
    assert result.exit_code == 2
    assert "gzip" in result.stderr
    assert "Hint" in result.stderr


def test_the_header_of_a_report_dates_its_note(run: Command, tmp_path: Path) -> None:
    """A text file whose name has no date takes the day that its report's header tells."""
    folder = tmp_path / "notes" / "P7"
    folder.mkdir(parents=True)
    (folder / "visit.txt").write_text("Principal Date....20190304 1345\nRecord Type....RAD\n\nECOG 1 today.")
    assert run("ingest", tmp_path / "notes", "--kb", tmp_path / "x.kb").exit_code == 0
    found = json.loads(run("query", tmp_path / "x.kb", "ECOG <= 1 in 2019", "--format", "json").stdout)
    assert found["patients"] == ["P7"]


def test_what_was_passed_over_is_printed(run: Command, tmp_path: Path) -> None:
    """A line for each reason, and the same in JSON; the link that leads out of the source is not read."""
    folder = tmp_path / "notes" / "P7"
    folder.mkdir(parents=True)
    (folder / "visit.txt").write_text("ECOG 1.")
    (folder / "x.txt").symlink_to("/etc/passwd")
    (folder / "scan.pdf").write_text("%PDF")
    (folder.parent / "notes.csv").write_text("patient_id,text,ward\nP7,ECOG 2.,b\n")
    (folder.parent / "one.json").write_text('{"resourceType": "Patient", "id": "7"}')
    result = run("ingest", folder.parent, "--kb", tmp_path / "x.kb")
    assert result.exit_code == 0, result.output
    assert "a link that leads out of the source: P7/x.txt" in result.stdout
    assert "of no kind that is read: P7/scan.pdf" in result.stdout
    assert "bring no note: 1 Patient" in result.stdout
    assert "columns not used: notes.csv: ward" in result.stdout
    told = sums(run("ingest", folder.parent, "--kb", tmp_path / "y.kb", "--format", "json"))
    assert (told["stored"], told["passed_over"]["files"]) == (2, {"link_outside": 1, "unknown_kind": 1})


def test_the_order_of_dates_is_told_and_can_be_changed(run: Command, tmp_path: Path) -> None:
    """With how many dates have another day in the other; read again in it, the notes are of other days."""
    table = tmp_path / "notes.csv"
    table.write_text("patient_id,doc_id,text,date\nP7,a,ECOG 1.,05/02/2023\nP7,b,ECOG 2.,13/02/2023\n")
    result = run("ingest", table, "--kb", tmp_path / "x.kb")
    assert result.exit_code == 0, result.output
    assert "1 note date like 5/2/2023 read month-first. Hint: --dates day-first" in result.stdout
    assert "date_day_first" in result.stdout
    told = sums(run("ingest", table, "--kb", tmp_path / "x.kb", "--dates", "day-first", "--format", "json"))
    assert (told["superseding"], told["stored"], told["dates"]) == (1, 1, {"order": "day-first", "either": 1})
    found = json.loads(run("query", tmp_path / "x.kb", "ECOG <= 1 in 2023-02", "--format", "json").stdout)
    assert found["patients"] == ["P7"]
    assert run("ingest", table, "--kb", tmp_path / "y.kb", "--dates", "us").exit_code == 2
    table.write_text("patient_id,text,date\nP7,ECOG 1.,2023-02-05\n")
    assert "dates" not in sums(run("ingest", table, "--kb", tmp_path / "z.kb", "--format", "json"))


def test_another_schema_version_is_not_written_to(
    run: Command, notes_file: Callable[..., Path], tmp_path: Path
) -> None:
    """Ingest into a knowledge base of another schema version is exit code 6 and leaves it as it was."""
    kb = tmp_path / "x.kb"
    assert run("ingest", notes_file([GOOD]), "--kb", kb).exit_code == 0
    (manifest,) = kb.rglob("manifest.json")
    held = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**held, "schema_version": held["schema_version"] + 1}))
    before = sorted(path.relative_to(kb) for path in kb.rglob("*") if "unfinished" not in path.parts)
    assert run("ingest", notes_file([{**GOOD, "doc_id": "c"}]), "--kb", kb).exit_code == 6
    assert sorted(path.relative_to(kb) for path in kb.rglob("*") if "unfinished" not in path.parts) == before


def test_a_second_writer_is_refused(run: Command, notes_file: Callable[..., Path], tmp_path: Path) -> None:
    """While another run writes, a second one is exit code 7, and readers go on."""
    kb = tmp_path / "x.kb"
    assert run("ingest", notes_file([GOOD]), "--kb", kb).exit_code == 0
    with GenerationWriter(kb):
        assert run("ingest", notes_file([GOOD]), "--kb", kb).exit_code == 7
        assert run("info", kb).exit_code == 0
