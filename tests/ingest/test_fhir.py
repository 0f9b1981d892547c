"""FHIR R4: documents, reports and compositions become notes, and what cannot is in quarantine with its reason."""

from __future__ import annotations

import base64
import datetime
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.readers.attachments import formats
from cohortium.ingest.readers.markup import lines_of_markup
from cohortium.ingest.readers.records import Incoming, id_of_content
from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import UsageError
from cohortium.kb.storage.rows import QuarantinedRecord
from tests.amounts import examples


def packed(text: str, charset: str = "utf-8") -> str:
    """Text as an attachment's data."""
    return base64.b64encode(text.encode(charset)).decode()


def attachment(text: str, kind: str = "text/plain") -> dict[str, Any]:
    """An attachment of plain text, or of another kind."""
    return {"attachment": {"contentType": kind, "data": packed(text)}}


def document(**changes: Any) -> dict[str, Any]:
    """A document with every field; a change to None leaves one out."""
    whole = {
        "resourceType": "DocumentReference",
        "id": "d1",
        "status": "current",
        "masterIdentifier": {"value": "doc-1"},
        "subject": {"reference": "Patient/P1"},
        "date": "2020-01-02T23:30:00-05:00",
        "type": {"coding": [{"code": "11526-1", "display": "Pathology study"}]},
        "description": "Left breast core biopsy",
        "content": [attachment("ECOG 1.\nNo pain.\n")],
    }
    return {name: value for name, value in (whole | changes).items() if value is not None}


def bundle(*resources: Any, kind: str = "collection") -> dict[str, Any]:
    """A Bundle; a resource may be given as (full URL, resource)."""
    pairs = [one if isinstance(one, tuple) else ("", one) for one in resources]
    return {
        "resourceType": "Bundle",
        "type": kind,
        "entry": [{"fullUrl": url, "resource": held} if url else {"resource": held} for url, held in pairs],
    }


def read(folder: Path, value: Any, name: str = "x.json") -> tuple[list[Incoming], list[QuarantinedRecord]]:
    """Notes and quarantine of one file; a list of lines for .ndjson."""
    path = folder / name
    text = "\n".join(map(json.dumps, value)) if ".ndjson" in name or ".jsonl" in name else json.dumps(value)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    found = list(Sources([path]))
    notes = [one for one in found if isinstance(one, Incoming)]
    return notes, [one for one in found if isinstance(one, QuarantinedRecord)]


def codes(bad: list[QuarantinedRecord]) -> list[str]:
    """The reasons' codes."""
    return [one.reason.partition(":")[0] for one in bad]


def test_a_document_becomes_a_note_with_all_its_fields(tmp_path: Path) -> None:
    """The day is the calendar day as written, whatever the time zone."""
    (one,), bad = read(tmp_path, document())
    note = one.note
    assert (note.patient_id, note.doc_id, note.date) == ("P1", "doc-1", datetime.date(2020, 1, 2))
    assert (note.type, note.title) == ("Pathology study", "Left breast core biopsy")
    assert note.text == "ECOG 1.\nNo pain.\n"
    assert not bad


def test_the_same_document_is_the_same_note_in_every_wrapping(tmp_path: Path) -> None:
    """Alone, in a Bundle, in a list, as a line of an export, packed."""
    wrappings = {
        "x.json": document(),
        "bundle.json": bundle(document()),
        "nested.json": bundle(bundle(document())),
        "list.json": [document()],
        "x.ndjson": [document()],
        "x.jsonl": [bundle(document())],
        "x.json.gz": document(),
        "x.ndjson.gz": [document()],
    }
    found = {name: read(tmp_path, value, name)[0] for name, value in wrappings.items()}
    assert {one.note.note_id for notes in found.values() for one in notes} == {found["x.json"][0].note.note_id}
    assert all(len(notes) == 1 for notes in found.values())


UUID = "urn:uuid:11111111-2222-4333-8444-555555555555"
RECORD_NUMBER = {"type": {"coding": [{"code": "MR"}]}, "value": "M77"}
PATIENT = {"resourceType": "Patient", "identifier": [{"value": "SSN9"}, RECORD_NUMBER]}
SUBJECTS = {
    "a relative reference": ({"reference": "Patient/P1"}, None, "P1"),
    "an absolute one": ({"reference": "https://ehr.example/fhir/Patient/P1"}, None, "P1"),
    "one with a version": ({"reference": "Patient/P1/_history/4"}, None, "P1"),
    "a search": ({"reference": "Patient?identifier=urn:mrn|M77"}, None, "M77"),
    "a number": ({"reference": "Patient/12"}, None, "12"),
    "the Bundle's patient by its id": ({"reference": UUID}, {**PATIENT, "id": "P1"}, "P1"),
    "the Bundle's patient by record number": ({"reference": UUID}, PATIENT, "M77"),
    "the identifier of the subject": ({"identifier": {"value": "M77"}}, None, "M77"),
    "a name that leads nowhere": ({"reference": UUID}, None, UUID.rpartition(":")[2]),
}


@pytest.mark.parametrize(("subject", "patient", "expected"), SUBJECTS.values(), ids=SUBJECTS.keys())
def test_the_patient_is_who_the_subject_names(tmp_path: Path, subject: Any, patient: Any, expected: str) -> None:
    """By reference, through the Bundle, or by identifier."""
    held = [(UUID, patient)] if patient else []
    (one,), _ = read(tmp_path, bundle(document(subject=subject), *held))
    assert one.note.patient_id == expected


def test_a_contained_patient_is_known_by_the_record_number_alone(tmp_path: Path) -> None:
    """Its id is a name within the document: p1 of one document is not p1 of the next."""
    subject = {"reference": "#p1"}
    known = document(subject=subject, contained=[{**PATIENT, "id": "p1"}])
    unknown = document(subject=subject, contained=[{"resourceType": "Patient", "id": "p1"}])
    (one,), bad = read(tmp_path, [known, unknown])
    assert one.note.patient_id == "M77"
    assert codes(bad) == ["missing_patient_id"]


@pytest.mark.parametrize(
    "subject",
    [
        None,
        "Patient/P1",
        {"reference": "Group/7"},
        {"reference": "Group/7", "identifier": {"value": "P9"}},
        {"reference": "https://ehr.example/fhir/Group/7", "identifier": {"value": "P9"}},
        {"reference": "https://ehr.example/fhir/Group/Patient/5"},
        {"reference": "Patient/5/Observation/7"},
        {"type": "Device", "identifier": {"value": "P9"}},
        {"reference": 7},
        {"display": "Ann"},
    ],
)
def test_who_is_no_patient_is_none(tmp_path: Path, subject: Any) -> None:
    """A missing subject, one of the wrong type, a group, a name for display."""
    notes, bad = read(tmp_path, document(subject=subject))
    assert (notes, codes(bad)) == ([], ["missing_patient_id"])


def test_a_name_of_several_is_nobodys(tmp_path: Path) -> None:
    """Two patients under one full URL, or contained under one id: the first is not taken; versions of one are one."""
    one, other = {**PATIENT, "id": "P1"}, {**PATIENT, "id": "P2"}
    subject = {"reference": UUID, "identifier": {"value": "M77"}}
    notes, bad = read(tmp_path, bundle((UUID, one), (UUID, other), document(subject=subject)))
    assert (notes, codes(bad)) == ([], ["missing_patient_id"])
    contained = [PATIENT | {"id": "p"}, {"resourceType": "Patient", "id": "p", "identifier": [{"value": "M78"}]}]
    notes, bad = read(tmp_path, document(subject={"reference": "#p"}, contained=contained))
    assert (notes, codes(bad)) == ([], ["missing_patient_id"])
    (found,), bad = read(tmp_path, bundle((UUID, one), (UUID, {**one, "active": True}), document(subject=subject)))
    assert (found.note.patient_id, bad) == ("P1", [])


def test_a_url_of_two_binaries_leads_to_neither(tmp_path: Path) -> None:
    """The text of the first may be that of somebody else."""
    binaries = [{"resourceType": "Binary", "contentType": "text/plain", "data": packed(each)} for each in "ab"]
    content = [{"attachment": {"contentType": "text/plain", "url": UUID}}]
    held = [(UUID, one) for one in binaries]
    assert read(tmp_path, bundle(document(content=content), *held[:1]))[0]
    notes, bad = read(tmp_path, bundle(document(content=content), *held))
    assert not notes
    assert len(bad) == 1


def test_the_document_id_is_the_first_that_there_is(tmp_path: Path) -> None:
    """Master identifier, identifier, id, and else what it says."""
    found = [
        document(),
        document(masterIdentifier=None, identifier=[{"system": "x"}, {"value": "second"}]),
        document(masterIdentifier=None),
        document(masterIdentifier=None, id=None),
    ]
    notes, _ = read(tmp_path, found)
    assert [one.note.doc_id for one in notes] == ["doc-1", "second", "d1", id_of_content(notes[3].note)]
    notes, _ = read(tmp_path, [found[3], bundle(found[3], document(masterIdentifier=None, id=""))], "x.ndjson")
    assert [(one.note.doc_id, one.unnamed) for one in notes] == [(id_of_content(notes[0].note), True)] * 3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"date": None, "context": {"period": {"start": "2019-03-04"}}}, datetime.date(2019, 3, 4)),
        ({"date": "2019-03", "context": {"period": {"start": "2019-03-04T10:00:00Z"}}}, datetime.date(2019, 3, 4)),
        ({"date": "2019"}, None),
        ({"date": None}, None),
    ],
)
def test_a_date_without_a_day_dates_no_note(tmp_path: Path, changes: Any, expected: datetime.date | None) -> None:
    """The next that has one is taken; without any the note is read undated."""
    (one,), bad = read(tmp_path, document(**changes))
    assert (one.note.date, bad) == (expected, [])


def test_a_type_of_codes_alone_is_told_by_loinc(tmp_path: Path) -> None:
    """Words of the type go first, then its display, then the code."""
    types: list[Any] = [{"coding": [{"code": "18842-5"}]}, {"text": "Op note", "coding": [{"display": "x"}]}, None]
    notes, _ = read(tmp_path, [document(type=one, masterIdentifier={"value": str(one)}) for one in types])
    assert [one.note.type for one in notes] == ["discharge summary", "Op note", ""]


def test_markup_becomes_lines(tmp_path: Path) -> None:
    """Blocks end lines, rows and items stay apart, what is never shown is not read."""
    page = (
        "<html><head><title>T</title><style>b{}</style><body><h1>Exam</h1>\n"
        "<p>ECOG&nbsp;1<br/>no\n pain</p><!-- x > y -->"
        "<ul><li>one</li><li>two</li></ul><table><tr><th>ER</th><td>90 &lt; 95%</td></tr><tr><td>PR</td><td>0</td></tr>"
        "</table><pre>a\n  b</pre><script>if (a<b) {}</script></body></html>"
    )
    (one,), _ = read(tmp_path, document(content=[attachment(page, "text/html; charset=utf-8")]))
    assert one.note.text == "Exam\n\nECOG 1\nno pain\n\n- one\n- two\n\nER\t90 < 95%\nPR\t0\n\na\n  b"


def test_a_character_set_is_taken_at_its_word(tmp_path: Path) -> None:
    """Without one it is UTF-8."""
    data = packed("café", "latin-1")
    good = {"attachment": {"contentType": 'text/plain; charset="ISO-8859-1"', "data": data}}
    (one,), _ = read(tmp_path, document(content=[good]))
    assert one.note.text == "café"
    faults = {"text/plain": "invalid_utf8", "text/plain;charset=klingon": "unknown_charset"}
    faults["text/plain;charset=ascii"] = "wrong_charset"
    for kind, fault in faults.items():
        assert codes(read(tmp_path, document(content=[{"attachment": {"contentType": kind, "data": data}}]))[1]) == [
            fault
        ]


FAULTS: dict[str, Any] = {
    "missing_text": [],
    "bad_attachment": [{"attachment": 7}],
    "bad_base64": [{"attachment": {"contentType": "text/plain", "data": "###"}}],
    "unreadable_format": [attachment("%PDF-1.7", "application/pdf")],
    "content_elsewhere": [{"attachment": {"contentType": "text/plain", "url": "https://ehr.example/Binary/7"}}],
    "empty_text": [attachment(" \n ")],
    "nul_bytes": [attachment("a\0b")],
}


@pytest.mark.parametrize(("expected", "content"), FAULTS.items(), ids=FAULTS.keys())
def test_a_document_without_a_readable_text_is_quarantined(tmp_path: Path, expected: str, content: Any) -> None:
    """It says where it stood and whose it is, the documents around it are read, and no data fills the quarantine."""
    notes, (bad,) = read(tmp_path, bundle(document(), document(content=content), document(id="d2")))
    assert len(notes) == 2
    assert (codes([bad]), bad.place, bad.patient_id, bad.doc_id) == ([expected], "entry 2", "P1", "doc-1")
    if expected == "unreadable_format":
        assert "(12 characters)" in bad.raw


@pytest.mark.parametrize("kind", ["application/pdf", "text/plain", ""])
def test_what_is_a_pdf_is_never_read_as_text(tmp_path: Path, kind: str) -> None:
    """Whatever its content type says; RTF likewise."""
    for text in ("%PDF-1.4 1 0 obj", "{\\rtf1 x}"):
        assert codes(read(tmp_path, document(content=[attachment(text, kind)]))[1]) == ["unreadable_format"]


def test_formats_of_one_text_are_one_note_and_parts_are_several(tmp_path: Path) -> None:
    """Nothing is lost: another text is a note of its own, and damage beside a text is still told."""
    content = [
        attachment("%PDF-1.7", "application/pdf"),
        attachment("ECOG 1.  No pain."),
        attachment("<p>ECOG 1.</p><p>No pain.</p>", "text/html"),
        attachment("Addendum: ECOG 2."),
        {"attachment": {"contentType": "text/plain", "data": "###"}},
    ]
    notes, bad = read(tmp_path, document(content=content))
    assert [(one.note.doc_id, one.note.text) for one in notes] == [
        ("doc-1", "ECOG 1.  No pain."),
        ("doc-1#4", "Addendum: ECOG 2."),
    ]
    assert codes(bad) == ["bad_base64"]


def test_a_url_leads_to_a_binary_of_the_bundle(tmp_path: Path) -> None:
    """By full URL, by type and id, or contained; nothing else is fetched."""
    binary = {"resourceType": "Binary", "id": "b1", "contentType": "text/plain", "data": packed("ECOG 1.")}
    for url in (UUID, "Binary/b1", "https://ehr.example/fhir/Binary/b1"):
        one = document(content=[{"attachment": {"url": url}}])
        (note,), bad = read(tmp_path, bundle(one, (UUID, binary)))
        assert (note.note.text, bad) == ("ECOG 1.", [])
    within = document(content=[{"attachment": {"url": "#b1"}}], contained=[binary])
    assert len(read(tmp_path, within)[0]) == 1


@pytest.mark.parametrize("changes", [{"status": "entered-in-error"}, {"docStatus": "entered-in-error"}])
def test_what_was_entered_in_error_takes_its_note_back(tmp_path: Path, changes: Any) -> None:
    """It is a retraction of the document, with or without its text, and of each further note of its attachments."""
    (one,), bad = read(tmp_path, document(**changes))
    assert (one.note.patient_id, one.note.doc_id, one.note.text, one.retraction) == ("P1", "doc-1", "", True)
    content = [attachment("ECOG 1."), attachment("%PDF-1.7", "application/pdf"), attachment("ECOG 2.")]
    before, _ = read(tmp_path, document(content=content))
    after, more = read(tmp_path, document(content=content, **changes))
    assert {one.note.doc_id for one in before} == {"doc-1", "doc-1#3"} < {one.note.doc_id for one in after}
    assert bad == more == []


def test_a_retraction_names_its_note(tmp_path: Path) -> None:
    """Without a document's id or a patient it is in quarantine."""
    void = {"status": "entered-in-error"}
    nameless = {name: value for name, value in document(**void).items() if name not in ("id", "masterIdentifier")}
    assert codes(read(tmp_path, nameless)[1]) == ["retraction_without_document"]
    assert codes(read(tmp_path, document(subject=None, **void))[1]) == ["missing_patient_id"]


REPORT: dict[str, Any] = {
    "resourceType": "DiagnosticReport",
    "id": "r1",
    "status": "final",
    "subject": {"reference": "Patient/P1"},
    "code": {"text": "Surgical pathology"},
    "effectiveDateTime": "2020-01-02",
    "presentedForm": [{"contentType": "text/plain", "data": packed("Invasive ductal carcinoma.")}],
}


def test_a_report_is_its_presented_form_or_its_conclusion(tmp_path: Path) -> None:
    """A report of numbers alone brings no note, and is none that is missing."""
    spoken = REPORT | {"id": "r2", "presentedForm": [], "conclusion": "ECOG 1."}
    numbers = {name: value for name, value in REPORT.items() if name != "presentedForm"} | {"id": "r3"}
    notes, bad = read(tmp_path, bundle(REPORT, spoken, numbers))
    assert [(one.note.doc_id, one.note.text) for one in notes] == [
        ("r1", "Invasive ductal carcinoma."),
        ("r2", "ECOG 1."),
    ]
    assert (notes[0].note.type, notes[0].note.date, bad) == ("Surgical pathology", datetime.date(2020, 1, 2), [])


def test_a_composition_is_its_sections_under_their_titles(tmp_path: Path) -> None:
    """Sections below sections too; without any, the narrative of the whole."""

    def section(title: str, text: str = "", *below: Any) -> dict[str, Any]:
        return {"title": title, "text": {"div": f"<div>{text}</div>"} if text else {}, "section": list(below)}

    composition: dict[str, Any] = {
        "resourceType": "Composition",
        "identifier": {"value": "c1"},
        "status": "final",
        "subject": {"reference": "Patient/P1"},
        "date": "2020-01-02",
        "title": "Visit",
        "section": [
            section("History", "", section("Family history", "Mother: <b>breast</b> cancer.")),
            section("Plan:", "x"),
        ],
        "text": {"div": "<div>whole</div>"},
    }
    (one,), _ = read(tmp_path, bundle(composition, kind="document"))
    assert one.note.text == "History:\n\nFamily history:\nMother: breast cancer.\n\nPlan:\nx"
    assert (one.note.doc_id, one.note.title) == ("c1", "Visit")
    for sections in ([], [section("Plan")]):
        assert read(tmp_path, composition | {"section": sections})[0][0].note.text == "whole"
    assert codes(read(tmp_path, composition | {"section": 7, "text": None})[1]) == ["missing_text"]


def test_a_history_is_read_from_its_oldest_version(tmp_path: Path) -> None:
    """Such a Bundle has the newest first, and the last version that comes is the one that stands."""
    versions = [document(content=[attachment(text)]) for text in ("new", "old")]
    notes, _ = read(tmp_path, bundle(*versions, kind="history"))
    assert [one.note.text for one in notes] == ["old", "new"]


def test_what_brings_no_note_is_passed_over_and_what_is_no_fhir_is_told(tmp_path: Path) -> None:
    """An export holds many kinds of resource; one that nobody knows is a record that went wrong."""
    others = [{"resourceType": "Observation"}, {"resourceType": "Klingon"}, {"id": "x"}, 7, document()]
    notes, bad = read(
        tmp_path, {"resourceType": "Bundle", "entry": [*bundle(*others)["entry"], {"fullUrl": UUID}, "x"]}
    )
    assert len(notes) == 1
    assert codes(bad) == ["unknown_resource", "no_resource", "not_an_object", "not_an_object"]
    assert read(tmp_path, {"resourceType": "Bundle"}) == ([], [])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"{", "malformed_json"),
        (b"[" * 100_000, "nested_too_deep"),
        (b'{"resourceType": ' + b"9" * 5000 + b"}", "number_too_long"),
        (b'"caf\xe9"', "invalid_utf8"),
        (b"\x00\x01\xff", "nul_bytes"),
        (b"7", "not_an_object"),
        (b"", "malformed_json"),
    ],
)
def test_a_file_that_is_none_is_one_record_in_quarantine(tmp_path: Path, data: bytes, expected: str) -> None:
    """Whatever it holds."""
    (tmp_path / "x.json").write_bytes(data)
    (bad,) = Sources([tmp_path])
    assert isinstance(bad, QuarantinedRecord)
    assert codes([bad]) == [expected]


def test_a_torn_packed_file_is_one_record_in_quarantine(tmp_path: Path) -> None:
    """A Bundle is read whole or not at all."""
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(json.dumps(document(note="x" * 5000)).encode())[:-20])
    (bad,) = Sources([tmp_path])
    assert isinstance(bad, QuarantinedRecord)
    assert codes([bad]) == ["damaged_file"]


def test_a_map_is_told_to_be_out_of_place(tmp_path: Path) -> None:
    """The fields of FHIR have their places."""
    (tmp_path / "x.json").write_text(json.dumps(document()))
    with pytest.raises(UsageError, match=r"x\.json: is FHIR.*leave out --map"):
        Sources([tmp_path], {"patient_id": "subject"})


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(sorted({*document(), *REPORT, "section", "text", "context", "contained", "docStatus", "entry"}))
KINDS = st.sampled_from(["DocumentReference", "DiagnosticReport", "Composition", "Bundle", "Patient", "Binary", "x"])


@st.composite
def resources(draw: st.DrawFn) -> Any:
    """A resource with some fields replaced by anything."""
    kind = draw(KINDS)
    base = {"DocumentReference": document(), "DiagnosticReport": dict(REPORT)}.get(kind, {})
    changed = (
        base | draw(st.dictionaries(NAMES, NESTED | st.lists(NESTED, max_size=2), max_size=4)) | {"resourceType": kind}
    )
    if kind == "Composition":
        changed["section"] = draw(st.lists(st.fixed_dictionaries({"title": NESTED, "text": NESTED, "section": NESTED})))
    if kind == "DocumentReference":
        attached = st.fixed_dictionaries({}, optional={"contentType": NESTED, "data": NESTED, "url": NESTED})
        changed["content"] = draw(st.lists(st.fixed_dictionaries({"attachment": attached}), max_size=3))
    return changed


@given(value=NESTED | resources() | st.lists(resources(), max_size=3).map(lambda held: bundle(*held)))
@settings(max_examples=examples(300), deadline=None)
def test_no_value_stops_the_reader(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    """Every JSON value is notes, quarantine, or nothing that should be a note; alone and as a line."""
    folder = tmp_path_factory.getbasetemp()
    for name in ("any.json", "any.ndjson"):
        text = json.dumps(value)
        (folder / name).write_text(text)
        for one in Sources([folder / name]):
            assert isinstance(one, Incoming | QuarantinedRecord)


@given(markup=st.text(st.sampled_from("<>/!-?&;ab \n\t=\"'"), max_size=60))
def test_any_markup_has_lines(markup: str) -> None:
    """No tag that is not closed, or never opened, stops it."""
    lines = lines_of_markup(markup)
    assert "\n\n\n" not in lines


@pytest.mark.parametrize("part", ["<", "<!--", "<a ", "<![CDATA[", "<li>", "<head>", "&amp", "<p", " \n", "<td>"])
def test_the_cost_of_markup_is_linear(part: str) -> None:
    """Five million characters of one unfinished thing are read in seconds."""
    lines_of_markup(part * (5_000_000 // len(part)))


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "base64", "hex", "zlib", "rot13", "unicode_escape", "utf-7", "../x"]
)
def test_what_is_no_character_set_that_is_read_is_not_even_tried(tmp_path: Path, charset: str) -> None:
    """Some take minutes for what others take a moment for; the reason lists those that are read."""
    one = document(content=[attachment("x" * 400_000, f"text/plain; charset={charset}")])
    begun = time.process_time()
    notes, (bad,) = read(tmp_path, one)
    assert (notes, codes([bad])) == ([], ["unknown_charset"])
    assert "utf-8, us-ascii" in bad.reason
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "charset", ["UTF8", "utf_8", "latin1", "ISO_8859-1", "cp1252", "windows-1252", "sjis", "EUC_JP", "ascii"]
)
def test_character_sets_are_known_under_all_their_names(tmp_path: Path, charset: str) -> None:
    """As people and programs write them."""
    data = base64.b64encode("No pain.".encode(charset)).decode()
    held = [{"attachment": {"contentType": f"text/plain; charset={charset}", "data": data}}]
    (note,), bad = read(tmp_path, document(content=held))
    assert (note.note.text, bad) == ("No pain.", [])


def test_every_character_set_that_is_read_is_read_in_linear_time() -> None:
    """Eight times the bytes take no thirty times the time, whatever they are."""
    for name in formats()["charset"]["read"]:
        for piece in (b"a-", b"\xff\xfe", b"\x1b$B!!", b"\x81\x30"):
            spent = []
            for size in (50_000, 400_000):
                begun = time.process_time()
                (piece * size).decode(name, "replace")
                spent.append(time.process_time() - begun)
            assert spent[1] < max(30 * spent[0], 0.5), (name, piece)
