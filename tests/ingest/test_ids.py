"""Ids of patients and documents: what sources leave out is made of content, and no two are joined without a word."""

from __future__ import annotations

import csv
import itertools
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cohortium.ingest.commands import print_ids
from cohortium.ingest.readers.fhir_scope import Scope
from cohortium.ingest.readers.records import UNNAMED, Incoming
from cohortium.ingest.readers.sources import Sources
from cohortium.ingest.run import versions
from tests.ingest.made_notes import note, tables

Ingest = Callable[..., Any]
Write = Callable[..., Path]
Row = tuple[str, str, str]

# --- documents without ids --------------------------------------------------------------------------------------------

#: Patient, date and text; the last note stands twice.
ROWS: Sequence[Row] = (
    ("A", "2020-01-02", "ECOG 1."),
    ("A", "2020-01-02", "ECOG 2."),
    ("A", "", "ECOG 1."),
    ("B", "2020-01-02", "ECOG 1."),
    ("B", "2020-01-03", "ECOG 0."),
    ("B", "2020-01-03", "ECOG 0."),
)


def as_csv(path: Path, rows: Sequence[Row]) -> Path:
    """A table of rows."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("patient_id", "date", "text"), *rows])
    return path


def as_jsonl(path: Path, rows: Sequence[Row]) -> Path:
    """The same as lines of JSON."""
    path.write_text(
        "".join(json.dumps(dict(zip(("patient_id", "date", "text"), row, strict=True))) + "\n" for row in rows)
    )
    return path


def as_parquet(path: Path, rows: Sequence[Row]) -> Path:
    """The same as a Parquet file."""
    source = as_csv(path.with_suffix(".made"), rows)
    duckdb.sql(f"SELECT * FROM read_csv('{source}', header = true, all_varchar = true)").write_parquet(str(path))
    return path


def as_omop(path: Path, rows: Sequence[Row]) -> Path:
    """The same as OMOP's table whose ids are left out."""
    with path.open("w", newline="") as file:
        named = [("note_id", "person_id", "note_date", "note_text"), *(("", *row) for row in rows)]
        csv.writer(file).writerows(named)
    return path


def as_fhir(path: Path, rows: Sequence[Row]) -> Path:
    """The same as a bulk export."""
    resources = [
        {"resourceType": "DiagnosticReport", "subject": {"reference": f"Patient/{patient}"}, "conclusion": text}
        | ({"effectiveDateTime": date} if date else {})
        for patient, date, text in rows
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in resources))
    return path


FORMS = {
    "notes.csv": as_csv, "notes.jsonl": as_jsonl, "notes.parquet": as_parquet, "note.csv": as_omop,
    "notes.ndjson": as_fhir,
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_rows_without_ids_may_move(tmp_path: Path, name: str) -> None:
    """In another order, under another name of the file and with a row before them they have the same ids."""

    def ids(path: Path, rows: Sequence[Row]) -> list[tuple[str, str]]:
        found = [one for one in Sources([FORMS[name](path, rows)]) if isinstance(one, Incoming) and one.unnamed]
        assert len(found) == len(rows)
        return sorted((one.note.patient_id, one.note.doc_id) for one in found)

    rows = [*ROWS]
    before = ids(tmp_path / name, rows)
    assert len(set(before)) == 5
    random.Random(5).shuffle(rows)
    assert ids(tmp_path / f"moved_{name}", rows) == before
    (new,) = set(ids(tmp_path / name, [("C", "2020-01-01", "ECOG 3."), *rows])) - set(before)
    assert new[0] == "C"


def test_rows_that_moved_are_the_notes_that_are_held(ingest: Ingest, tmp_path: Path) -> None:
    """The tables stay as they are, and a new row is one note more."""
    rows = [*ROWS]
    first = ingest(as_csv(tmp_path / "x.csv", rows))
    assert (first.stored, first.superseding, first.quarantined) == (6, 0, 0)
    assert first.ids == {"unnamed": 6}
    before = tables(tmp_path / "x.kb")
    random.Random(5).shuffle(rows)
    again = ingest(as_csv(tmp_path / "y.csv", rows))
    assert (again.stored, again.unchanged) == (0, 6)
    assert {**tables(tmp_path / "x.kb"), "manifest": []} == {**before, "manifest": []}
    more = ingest(as_csv(tmp_path / "x.csv", [("C", "2020-01-01", "ECOG 3."), *rows]))
    assert (more.stored, more.unchanged) == (1, 6)


def test_equal_rows_are_several_documents_of_one_file_and_the_same_of_another(ingest: Ingest, tmp_path: Path) -> None:
    """As many as the file has that has most of them, in whichever run the files come."""
    one, two = as_csv(tmp_path / "one.csv", ROWS), as_jsonl(tmp_path / "two.jsonl", [*ROWS, ROWS[-1]])
    for kb, runs in (
        ("a.kb", [[one, two]]),
        ("b.kb", [[one], [two]]),
        ("c.kb", [[two], [one]]),
        ("d.kb", [[one, two, one]]),
    ):
        for sources in runs:
            ingest(*sources, kb=kb)
    assert tables(tmp_path / "a.kb")["note"] == tables(tmp_path / "b.kb")["note"] == tables(tmp_path / "c.kb")["note"]
    assert tables(tmp_path / "a.kb")["note"] == tables(tmp_path / "d.kb")["note"]
    ids = [row for row in itertools.chain(*tables(tmp_path / "a.kb")["note"]) if str(row).startswith(UNNAMED)]
    assert sorted(one.partition("#")[2] for one in ids) == ["", "", "", "", "", "2", "3"]


def test_many_equal_rows_are_numbered(ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the numbers are handed over in several parts."""
    monkeypatch.setattr(versions, "_NUMBERED_ROWS", 7)
    rows = [(patient, "", f"ECOG {level}.") for patient in "ABC" for level in (0, 1) for _ in range(6)]
    assert ingest(as_csv(tmp_path / "x.csv", rows)).stored == 36
    assert ingest(as_csv(tmp_path / "x.csv", rows[::-1])).unchanged == 36


# --- ids that are written in several ways -----------------------------------------------------------------------------

BLANKS = ("{} ", " {}", "\t{}", "{}\u00a0", "{}\u3000", "\u2003{}  ", "{}\n")


def test_ids_that_differ_by_outer_blanks_are_one_and_that_is_told(
    ingest: Ingest, jsonl: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many records and patients, and where the first stands; a patient of one spelling is not among them."""
    rows = [note(name, "a") for number, form in enumerate(BLANKS) for name in (f"P{number}", form.format(f"P{number}"))]
    padded = [note("P9 ", "a"), note("P9 ", "b")]
    report = ingest(jsonl([*rows, *padded, {**note("P8"), "doc_id": ""}]))
    assert report.patients == len(BLANKS) + 2
    assert report.ids == {
        "unnamed": 1, "blanks": len(BLANKS) + 2, "where": "notes.jsonl, line 2", "patients": len(BLANKS),
    }  # fmt: skip
    print_ids(report.ids)
    told = capsys.readouterr().out
    for words in ("1 note without a document id", "9 records with blanks around an id", "7 patients whose id"):
        assert words in told
    assert "ids" not in ingest(jsonl([note()]), kb="plain.kb").as_dict()


def test_documents_that_differ_by_outer_blanks_are_versions_and_that_is_told(ingest: Ingest, jsonl: Write) -> None:
    """Only where they say something else; a document under one spelling may have versions."""
    rows = [
        note("P1", "a", "ECOG 1."),
        note("P1", "a ", "ECOG 2."),
        note("P2", "b"),
        note("P2", " b"),
        note("P3", text="x"),
    ]
    report = ingest(jsonl([*rows, note("P3", text="y")]))
    assert report.ids == {"blanks": 2, "where": "notes.jsonl, line 2", "documents": 1}
    assert report.superseding == 2


def test_a_patient_whose_folder_has_blanks_is_told(ingest: Ingest, tmp_path: Path) -> None:
    """As in a record."""
    for folder in ("P1", "P1 "):
        (tmp_path / "notes" / folder).mkdir(parents=True)
        (tmp_path / "notes" / folder / f"2020-01-0{len(folder)}.txt").write_text("ECOG 1.")
    assert ingest(tmp_path / "notes").ids["patients"] == 1


def test_a_number_that_stands_for_several_is_no_id(jsonl: Write) -> None:
    """9007199254740993.0 and 9007199254740992.0 are one float; whole numbers are exact, however large."""
    numbers = ("9007199254740993.0", "1e16", "-9007199254740992.0", "9007199254740993", "9007199254740991.0")
    source = jsonl([json.dumps(note()).replace('"P1"', number) for number in numbers])
    found = [
        one.note.patient_id if isinstance(one, Incoming) else one.reason.partition(":")[0] for one in Sources([source])
    ]
    assert found == ["bad_patient_id"] * 3 + ["9007199254740993", "9007199254740991"]


# --- patients of several servers --------------------------------------------------------------------------------------


def report(subject: dict[str, Any], number: int = 1, **more: Any) -> dict[str, Any]:
    """A report about a subject."""
    held = {"resourceType": "DiagnosticReport", "id": f"d{number}", "subject": subject}
    return held | {"conclusion": f"ECOG {number}.", **more}


def refers(url: str) -> dict[str, Any]:
    """A subject by reference."""
    return {"reference": url}


def identified(system: str | None, value: str = "12") -> dict[str, Any]:
    """A subject by identifier."""
    return {"identifier": {"value": value} | ({"system": system} if system else {})}


def entry(full_url: str, resource: dict[str, Any]) -> dict[str, Any]:
    """A Bundle of one resource."""
    return {"resourceType": "Bundle", "type": "collection", "entry": [{"fullUrl": full_url, "resource": resource}]}


PATIENTS = {"resourceType": "Patient", "identifier": [{"system": "urn:oid:1.2.3", "value": "12"}]}
A, B = "https://a.example", "https://b.example"
#: Two ways to tell patient 12, which may be two patients.
APART = {
    "two servers": (report(refers(f"{A}/fhir/Patient/12")), report(refers(f"{B}/fhir/Patient/12"), 2)),
    "two paths": (report(refers(f"{A}/one/Patient/12")), report(refers(f"{A}/two/Patient/12"), 2)),
    "two ports": (report(refers(f"{A}:8080/Patient/12")), report(refers(f"{A}:8081/Patient/12"), 2)),
    "relative ones of two Bundles": (
        entry(f"{A}/fhir/DiagnosticReport/d1", report(refers("Patient/12"))),
        entry(f"{B}/fhir/DiagnosticReport/d2", report(refers("Patient/12"), 2)),
    ),
    "two systems": (report(identified("urn:oid:1.2.3")), report(identified("urn:oid:1.2.4"), 2)),
    "a search in two systems": (
        report(refers("Patient?identifier=urn:oid:1.2.3|12")), report(refers("Patient?identifier=urn:oid:1.2.4|12"), 2),
    ),
    "a server and a system": (report(refers(f"{A}/Patient/12")), report(identified("urn:oid:1.2.3"), 2)),
    "a record number of a Bundle and of another system": (
        {"resourceType": "Bundle", "type": "collection", "entry": [
            {"fullUrl": "urn:uuid:1", "resource": PATIENTS}, {"resource": report(refers("urn:uuid:1"))},
        ]},
        report(identified("urn:oid:9"), 2),
    ),
    "a note and what takes one back": (
        report(refers(f"{A}/Patient/12")),
        report(refers(f"{B}/Patient/12"), status="entered-in-error"),
    ),
}  # fmt: skip
#: Two ways to tell one patient.
ONE = {
    "encrypted or not": (
        report(refers(f"{A}/fhir/Patient/12")), report(refers("http://A.example:80/fhir/Patient/12"), 2),
    ),
    "with a server and without": (report(refers(f"{A}/fhir/Patient/12")), report(refers("Patient/12"), 2)),
    "a version": (report(refers(f"{A}/Patient/12")), report(refers(f"{A}/Patient/12/_history/3"), 2)),
    "with a system and without": (report(identified("urn:oid:1.2.3")), report(identified(None), 2)),
    "a relative one of a Bundle of the server": (
        entry(f"{A}/fhir/DiagnosticReport/d1", report(refers("Patient/12"))),
        report(refers(f"{A}/fhir/Patient/12"), 2),
    ),
}  # fmt: skip


def export(path: Path, *lines: dict[str, Any]) -> Path:
    """A bulk export."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def numbered(lines: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The same of another patient."""
    return [json.loads(json.dumps(line).replace("Patient/12", f"Patient/{number}").replace('"12"', f'"{number}"')
                       .replace("|12", f"|{number}")) for line in lines]  # fmt: skip


@pytest.mark.parametrize("files", [1, 2])
def test_patients_of_one_id_on_several_servers_are_in_quarantine(ingest: Ingest, tmp_path: Path, files: int) -> None:
    """All of their records, in one file or in several; other patients are read, and what was held before stays."""
    apart = [numbered(lines, number) for number, lines in enumerate(APART.values(), 100)]
    one = [numbered(lines, number) for number, lines in enumerate(ONE.values(), 200)]
    ingest(export(tmp_path / "before.ndjson", report(refers("Patient/100"), 9)))
    if files == 1:
        sources = [export(tmp_path / "x.ndjson", *itertools.chain(*apart, *one))]
    else:
        sources = [export(tmp_path / f"{at}.ndjson", *(lines[at] for lines in (*apart, *one))) for at in (0, 1)]
    found = ingest(*sources)
    patients = [row[1] for row in tables(tmp_path / "x.kb")["patient"]]
    assert patients == ["100", *(str(200 + number) for number in range(len(ONE)))]
    assert dict(found.reasons) == {"patient_of_several_servers": 2 * len(APART)}
    assert found.stored == 2 * len(ONE)
    again = ingest(*sources)
    assert (again.quarantined, again.unchanged) == (2 * len(APART), 2 * len(ONE))


def test_documents_of_one_id_in_several_systems_are_told(ingest: Ingest, tmp_path: Path) -> None:
    """They are versions of one as before; ids of types of resources are apart too."""
    pairs = [
        ({"identifier": [{"system": "urn:a", "value": "1"}]}, {"identifier": [{"system": "urn:b", "value": "1"}]}),
        ({"id": "1"}, {"id": "1", "resourceType": "DocumentReference", "content": [
            {"attachment": {"contentType": "text/plain", "data": "RUNPRyAyLgo="}},
        ]}),
        ({"id": "1"}, {"id": " 1"}),
    ]  # fmt: skip
    apart = [report(refers(f"Patient/{at}"), n + 1) | one for at, two in enumerate(pairs) for n, one in enumerate(two)]
    same = [report(refers(f"Patient/{at}"), n) | one for at, (one, _) in enumerate(pairs, 7) for n in (1, 2)]
    found = ingest(export(tmp_path / "x.ndjson", *apart, *same))
    assert found.ids == {"blanks": 1, "where": "x.ndjson, line 6", "documents": 3}
    assert found.superseding == 6


def test_a_long_host_is_no_work() -> None:
    """The pattern of a server goes through an address once."""
    for url in ("https://" + ":80" * 50_000 + "/Patient/1", "https://" + "a" * 100_000 + "/Patient/1"):
        assert Scope().patient({"subject": {"reference": url}}).id == "1"
