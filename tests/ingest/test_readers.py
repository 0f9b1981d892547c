"""Readers: every source becomes notes, and every record that cannot is in quarantine with its reason."""

from __future__ import annotations

import datetime
import gzip
import json
from pathlib import Path

import duckdb
import pytest

from cohortium.ingest.readers.note_dates import ORDERS, OtherOrder, date_in_name, note_date
from cohortium.ingest.readers.records import LONGEST_TEXT, Incoming, id_of_content
from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import UsageError
from cohortium.kb.storage.rows import QuarantinedRecord

GOOD = '{"patient_id": "P1", "doc_id": "a", "date": "2020-01-02", "text": "ECOG 1."}'


def read(*sources: Path, **mapping: str) -> tuple[list[Incoming], list[QuarantinedRecord]]:
    """Notes and quarantine of some sources."""
    found = list(Sources(sources, mapping))
    return (
        [one for one in found if isinstance(one, Incoming)],
        [one for one in found if isinstance(one, QuarantinedRecord)],
    )


def code(record: QuarantinedRecord) -> str:
    """The reason's code; words follow it."""
    name, colon, words = record.reason.partition(": ")
    assert colon
    assert len(words.split()) > 2
    return name


BAD_LINES = {
    "malformed_json": b'{"patient_id": "P2", "text": ',
    "not_an_object": b"[1, 2]",
    "duplicate_key": b'{"patient_id": "P2", "text": "x", "patient_id": "P3"}',
    "not_a_number": b'{"patient_id": "P2", "text": "x", "age": NaN}',
    "number_too_long": b'{"patient_id": "P2", "text": "x", "age": ' + b"9" * 5000 + b"}",
    "nested_too_deep": b'{"patient_id": "P2", "text": "x", "age": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "remark_too_long": b'{"patient_id": "P2", "text": "x", "title": "' + b"x" * 10_001 + b'"}',
    "invalid_utf8": b'{"patient_id": "P2", "text": "caf\xe9"}',
    "invalid_unicode": b'{"patient_id": "P2", "text": "half \\ud83d"}',
    "nul_bytes": b'{"patient_id": "P2", "text": "a\\u0000b"}',
    "missing_patient_id": b'{"doc_id": "b", "text": "x"}',
    "bad_patient_id": b'{"patient_id": ["P2"], "text": "x"}',
    "bad_doc_id": b'{"patient_id": "P2", "doc_id": {}, "text": "x"}',
    "missing_text": b'{"patient_id": "P2"}',
    "bad_text": b'{"patient_id": "P2", "text": 7}',
    "empty_text": b'{"patient_id": "P2", "text": " \\n\\t"}',
    "unparsable_date": b'{"patient_id": "P2", "text": "x", "date": "the third of Maj"}',
    "date_out_of_range": b'{"patient_id": "P2", "text": "x", "date": "1742-01-01"}',
}


@pytest.mark.parametrize(
    "line",
    [
        b'{"patient_id": "P2", "text": "x", "a": {"b": 1, "b": 1}}',
        b'{"patient_id": "P2", "text": "x", "a": [[{"": 1, "": 2}]]}',
        b'{"patient_id": "P2", "patient\\u005fid": "P3", "text": "x"}',
        b'{"text": "x", "patient_id": "P2", "text": "x"}',
    ],
)
def test_a_key_that_stands_twice_is_none_wherever_it_stands(tmp_path: Path, line: bytes) -> None:
    """Deep inside, empty, spelled in two ways, with equal values: nothing is stored."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(line)
    notes, (bad,) = read(path)
    assert (notes, code(bad)) == ([], "duplicate_key")


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_without_end_is_no_patient(tmp_path: Path, number: str) -> None:
    """JSON can write one that is larger than any."""
    path = tmp_path / "notes.jsonl"
    path.write_text(f'{{"patient_id": {number}, "text": "x"}}')
    notes, (bad,) = read(path)
    assert (notes, code(bad)) == ([], "bad_patient_id")


STATUSES = {
    "retracted": True,
    "entered-in-error": True,
    "Entered in error": True,
    "ENTERED_IN_ERROR": True,
    " cancelled ": True,
    "deleted": True,
    "final": False,
    "amended": False,
    "superseded": False,
    "not deleted": False,
    "": False,
}


@pytest.mark.parametrize(("status", "expected"), STATUSES.items(), ids=STATUSES.keys())
def test_a_status_may_take_a_note_back(tmp_path: Path, status: str, expected: bool) -> None:
    """Then its key is all that is looked at: no text is needed, and no date is read. Any other status is a note's."""
    path = tmp_path / "notes.jsonl"
    record = (
        {"patient_id": "P1", "doc_id": "a", "status": status, "date": "1742", "text": None}
        if expected
        else {**json.loads(GOOD), "status": status}
    )
    path.write_text(json.dumps(record))
    ((one,), bad) = read(path)
    assert (one.retraction, one.note.patient_id, one.note.doc_id, bad) == (expected, "P1", "a", [])
    assert one.note.text == ("" if expected else "ECOG 1.")


def test_a_status_is_mapped_like_any_field(tmp_path: Path) -> None:
    """A table of retractions alone has no text; one without any status needs it. Which note is void must be told."""
    table = tmp_path / "void.csv"
    table.write_text("subject,document,state\n7,11,deleted\n7,,deleted\n")
    ((one,), (bad,)) = read(table, patient_id="subject", doc_id="document", status="state")
    assert (one.retraction, one.note.patient_id, one.note.doc_id) == (True, "7", "11")
    assert (code(bad), bad.patient_id) == ("retraction_without_document", "7")
    with pytest.raises(UsageError, match="no column 'text'"):
        Sources([table], {"patient_id": "subject", "doc_id": "document"})


@pytest.mark.parametrize("status", [7, True, None, ["retracted"], {"code": "retracted"}, "retracted " * 100])
def test_what_is_no_word_is_no_status(tmp_path: Path, status: object) -> None:
    """The note stands."""
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({**json.loads(GOOD), "status": status}))
    ((one,), _) = read(path)
    assert not one.retraction


@pytest.mark.parametrize(("expected", "line"), BAD_LINES.items(), ids=BAD_LINES.keys())
def test_a_bad_line_is_quarantined_with_its_reason(tmp_path: Path, expected: str, line: bytes) -> None:
    """The notes around it are read, and the record says where it stood."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"\n".join([GOOD.encode(), line, GOOD.encode()]))
    notes, (bad,) = read(path)
    assert [one.place for one in notes] == ["line 1", "line 3"]
    assert (code(bad), bad.source, bad.place) == (expected, "notes.jsonl", "line 2")
    assert bad.raw


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"\x00\x00", b"\xff\xfe{\x00"])
def test_no_line_stops_the_run(tmp_path: Path, line: bytes) -> None:
    """Nesting without end, numbers without end and binary rubbish are one bad line each."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(line + b"\n" + GOOD.encode())
    notes, bad = read(path)
    assert (len(notes), len(bad)) == (1, 1)


def test_blank_lines_and_a_byte_order_mark_are_no_records(tmp_path: Path) -> None:
    """They are what editors leave behind."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n\r\n  \n")
    notes, bad = read(path)
    assert (len(notes), len(bad)) == (1, 0)


def test_a_long_note_is_read_and_an_endless_one_is_not(tmp_path: Path) -> None:
    """Five million characters are a note; more than the documented limit are not."""
    path = tmp_path / "notes.jsonl"
    lines = ['{"patient_id": "P1", "text": "' + "x " * (size // 2) + '"}' for size in (5_000_000, LONGEST_TEXT + 2)]
    path.write_text("\n".join(lines))
    (long,), (endless,) = read(path)
    assert len(long.note.text) == 5_000_000
    assert code(endless) == "text_too_long"
    assert len(endless.raw) <= 1_000_000


def test_without_a_doc_id_it_is_made_of_what_the_note_says(tmp_path: Path) -> None:
    """Wherever it stands, also when rows before it are bad."""
    path = tmp_path / "notes.csv"
    path.write_text("patient_id,text\nA,one\nB\nC,three\n")
    notes, bad = read(path)
    assert [one.note.doc_id for one in notes] == [id_of_content(one.note) for one in notes]
    assert len({one.note.doc_id for one in notes}) == 2
    assert all(one.unnamed for one in notes)
    assert [(code(one), one.place) for one in bad] == [("wrong_number_of_fields", "row 2")]


def test_numbers_are_ids_as_people_write_them(tmp_path: Path) -> None:
    """A whole number that a table with gaps has turned into a float is that whole number."""
    path = tmp_path / "notes.jsonl"
    path.write_text('{"patient_id": 12, "doc_id": 7.0, "text": "x"}\n{"patient_id": " 12 ", "text": "x"}\n')
    notes, _ = read(path)
    assert [(one.note.patient_id, one.unnamed) for one in notes] == [("12", False), ("12", True)]
    assert notes[0].note.doc_id == "7"


def test_a_packed_file_is_read_and_a_torn_one_up_to_the_tear(tmp_path: Path) -> None:
    """What stood before the damage is notes, the damage is one record in quarantine."""
    packed = gzip.compress("\n".join(GOOD.replace('"a"', f'"{n}"') for n in range(5000)).encode())
    path = tmp_path / "notes.jsonl.gz"
    path.write_bytes(packed)
    assert len(read(path)[0]) == 5000
    path.write_bytes(packed[: len(packed) // 2])
    notes, (torn,) = read(path)
    assert 0 < len(notes) < 5000
    assert code(torn) == "damaged_file"


def test_csv_fields_hold_line_ends_quotes_and_other_delimiters(tmp_path: Path) -> None:
    """The text of a note is what the quotes enclose, to the letter."""
    text = 'a, "b"\r\nc;d\n'
    path = tmp_path / "notes.csv"
    quoted = text.replace('"', '""')
    path.write_bytes(f'patient_id;text;date\r\nA;"{quoted}";2020-01-02\r\nB;x;\r\n'.encode())
    notes, bad = read(path)
    assert [one.note.text for one in notes] == [text, "x"]
    assert not bad


def test_a_csv_row_that_is_no_utf8_is_one_bad_row(tmp_path: Path) -> None:
    """The others are read."""
    path = tmp_path / "notes.csv"
    path.write_bytes(b"patient_id,text\nA,caf\xe9\nB,caf\xc3\xa9\n")
    (good,), (bad,) = read(path)
    assert good.note.text == "café"
    assert code(bad) == "invalid_utf8"


def test_after_broken_quoting_nothing_is_stored_for_a_wrong_patient(tmp_path: Path) -> None:
    """A line of a note that looks like a row must not become a note of a patient who is none."""
    path = tmp_path / "notes.csv"
    path.write_text('patient_id,text\nA,one\nB,"two" and\nC,never a row\nD,"\n')
    (good,), (bad,) = read(path)
    assert good.note.patient_id == "A"
    assert code(bad) == "broken_quoting"


def test_parquet_is_read_with_its_own_types(tmp_path: Path) -> None:
    """Days and moments are dates, missing cells are missing; a path with pattern letters is a path."""
    path = tmp_path / "notes[1]*.parquet"
    with duckdb.connect() as database:
        table = database.sql(
            "SELECT * FROM (VALUES (1, DATE '2020-01-02', 'one'), (2, NULL, 'two'), (3, DATE '2020-01-03', NULL)) "
            "AS t(subject_id, charttime, text)"
        )
        table.write_parquet(str(tmp_path / "notes.parquet"))
    (tmp_path / "notes.parquet").rename(path)
    (tmp_path / "notes1x.parquet").write_bytes(b"another file, which the pattern would find")
    notes, (bad,) = read(path, patient_id="subject_id", date="charttime")
    assert [(one.note.patient_id, one.note.date) for one in notes] == [("1", datetime.date(2020, 1, 2)), ("2", None)]
    assert code(bad) == "empty_text"


def test_text_folders_give_patient_date_and_document(tmp_path: Path) -> None:
    """``<patient>/<date>_<anything>.txt``; other files and hidden ones are passed over."""
    folder = tmp_path / "src" / "P7"
    (folder / "old").mkdir(parents=True)
    (folder / "2020-01-02_visit.txt").write_bytes(b"ECOG 1.\r\n")
    (folder / "old" / "remark.txt").write_text("x")
    (folder / "remark.ann").write_text("T1")
    (folder / ".remark.txt").write_text("x")
    (folder / "2020-02-31_visit.txt").write_text("x")
    (folder / "zz_latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "src" / "stray.txt").write_text("x")
    notes, bad = read(tmp_path / "src")
    assert [(one.note.patient_id, one.note.doc_id, one.note.date, one.note.text) for one in notes] == [
        ("P7", "2020-01-02_visit", datetime.date(2020, 1, 2), "ECOG 1.\r\n"),
        ("P7", "old/remark", None, "x"),
    ]
    assert [code(one) for one in bad] == ["unparsable_date", "invalid_utf8", "missing_patient_id"]


def test_every_file_can_be_its_own_patient(tmp_path: Path) -> None:
    """With ``patient_id=file``; eight digits alone are an id and no date."""
    for name in ("20101112.txt", "15939911.txt"):
        (tmp_path / name).write_text("x")
    notes, _ = read(tmp_path, patient_id="file")
    assert [(one.note.patient_id, one.note.date) for one in notes] == [("15939911", None), ("20101112", None)]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Their records would otherwise replace each other as versions."""
    for folder in ("x/a", "y/a"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "n.jsonl").write_text('{"patient_id": "P", "text": "' + folder + '"}')
    notes, _ = read(tmp_path / "x/a/n.jsonl", tmp_path / "y/a/n.jsonl")
    assert [one.source for one in notes] == ["x/a/n.jsonl", "y/a/n.jsonl"]


def test_a_missing_column_is_told_with_the_nearest(tmp_path: Path) -> None:
    """Before anything is read."""
    path = tmp_path / "notes.csv"
    path.write_text("subject_id,body\nA,x\n")
    with pytest.raises(UsageError, match=r"no column 'subjectid' for patient_id.*did you mean 'subject_id'"):
        Sources([path], {"patient_id": "subjectid", "text": "body"})
    with pytest.raises(UsageError, match=r"no column 'text'.*subject_id, body.*--map text=COLUMN"):
        Sources([path], {"patient_id": "subject_id"})
    with pytest.raises(UsageError, match=r"'patient' is no field of a note.*'patient_id'"):
        Sources([path], {"patient": "subject_id"})


def test_a_mapped_field_that_no_json_line_has_is_told(tmp_path: Path) -> None:
    """One that only a late line has is fine."""
    path = tmp_path / "notes.jsonl"
    path.write_text('{"id": "A", "text": "x"}\n' * 300 + '{"id": "A", "text": "x", "day": "2020-01-02"}\n')
    assert read(path, patient_id="id", date="day")[0][-1].note.date == datetime.date(2020, 1, 2)
    with pytest.raises(UsageError, match=r"no column 'days' for date.*did you mean 'day'"):
        Sources([path], {"patient_id": "id", "date": "days"})


def test_a_table_without_header_does_not_show_its_first_note(tmp_path: Path) -> None:
    """Error messages never quote notes."""
    path = tmp_path / "notes.csv"
    path.write_text('P1,"The patient, a Zanzibarine sailor, was seen today in good spirits"\n')
    with pytest.raises(UsageError) as error:
        Sources([path])
    assert "Zanzibarine" not in str(error.value)


def test_sources_that_are_none_are_told(tmp_path: Path) -> None:
    """A missing path, an unknown kind, an empty folder, a Parquet file that is none."""
    (tmp_path / "notes.docx").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.parquet").write_bytes(b"PK")
    for source, told in (
        ("nowhere.jsonl", "no such file"),
        ("notes.docx", "unknown kind"),
        ("empty", "no notes in"),
        ("x.parquet", "Parquet"),
    ):
        with pytest.raises(UsageError, match=told):
            Sources([tmp_path / source])


DATES = {
    "2019-03-04": (2019, 3, 4),
    "2019-03-04T23:59:59Z": (2019, 3, 4),
    "2019-03-04 12:00:00.000+02:00": (2019, 3, 4),
    "2019/3/4": (2019, 3, 4),
    "20190304": (2019, 3, 4),
    "3/4/2019": (2019, 3, 4),
    "3/4/19 8:30 AM": (2019, 3, 4),
    "4.3.2019": (2019, 3, 4),
    "4 March 2019": (2019, 3, 4),
    "04-Mar-2019": (2019, 3, 4),
    "04MAR2019": (2019, 3, 4),
    "March 4th, 2019": (2019, 3, 4),
    "Mon, Mar 4, 2019": (2019, 3, 4),
    "Sept. 4, 2019": (2019, 9, 4),
}


@pytest.mark.parametrize(("text", "day"), DATES.items())
def test_dates_are_read_in_their_common_spellings(text: str, day: tuple[int, int, int]) -> None:
    """Times and zones are dropped."""
    assert note_date(text) == datetime.date(*day)


@pytest.mark.parametrize("written", ["{}/{}/2019", "{}-{}-2019", "{:02}/{:02}/19 8:30 AM", "{}-{}-2019T08:30"])
def test_two_numbers_are_read_in_one_order(written: str) -> None:
    """The usual one, or the one told; a date that exists in the other order alone is not turned round."""
    text, turned = written.format(3, 4), written.format(25, 4)
    assert [note_date(text, order) for order in ORDERS] == [datetime.date(2019, 3, 4), datetime.date(2019, 4, 3)]
    assert note_date(turned, "day-first") == note_date(written.format(4, 25)) == datetime.date(2019, 4, 25)
    with pytest.raises(OtherOrder):
        note_date(turned)
    with pytest.raises(OtherOrder):
        note_date(written.format(4, 25), "day-first")
    with pytest.raises(ValueError) as error:
        note_date(written.format(31, 2))
    assert not isinstance(error.value, OtherOrder)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", [text for text in DATES if not text.startswith("3/4/")])
def test_other_spellings_have_one_order(text: str, order: str) -> None:
    """The year or a word stands first, or dots are between the numbers."""
    assert note_date(text, order) == datetime.date(*DATES[text])


def test_one_order_holds_for_all_sources(tmp_path: Path) -> None:
    """Rows, names of files and headers of reports alike: what contradicts it is in quarantine, what has two readings
    is counted."""
    dates = ("05/02/2023", "13/02/2023", "02/14/2023", "6/6/2023", "2023-02-05", "5.2.2023")
    table = tmp_path / "a.csv"
    table.write_text("patient_id,text,date\n" + "".join(f"P,x,{day}\n" for day in dates))
    (tmp_path / "P").mkdir()
    for name, text in (("13-02-2023_x", "x"), ("y", "Principal Date: 14/02/2023\n\nx"), ("05-02-2023_z", "x")):
        (tmp_path / "P" / f"{name}.txt").write_text(text)
    fifth, may = datetime.date(2023, 2, 5), datetime.date(2023, 5, 2)
    sixth, rest = datetime.date(2023, 6, 6), [datetime.date(2023, 2, 13), datetime.date(2023, 2, 14)]
    for order, days, codes in (
        ("month-first", [may, may, rest[1], sixth, fifth, fifth], ["date_day_first"] * 3),
        ("day-first", [fifth, fifth, *rest, rest[0], sixth, fifth, fifth], ["date_month_first"]),
    ):
        sources = Sources([tmp_path], dates=order)
        found = list(sources)
        read_days = [one.note.date for one in found if isinstance(one, Incoming)]
        assert sorted(map(str, read_days)) == sorted(map(str, days))
        bad = [one for one in found if isinstance(one, QuarantinedRecord)]
        assert [code(one) for one in bad] == codes
        assert all(f"--dates {other}" in one.reason for one in bad for other in ORDERS if other != order)
        assert sources.dates.as_dict() == {"order": order, "either": 2}


def test_an_order_that_is_none_is_told(tmp_path: Path) -> None:
    """Before anything is read; and where every date has one reading, nothing is told of orders."""
    (tmp_path / "a.jsonl").write_text(GOOD)
    with pytest.raises(UsageError, match="month-first or day-first"):
        Sources([tmp_path], dates="dayfirst")
    sources = Sources([tmp_path])
    assert [len(list(sources)), sources.dates.as_dict()] == [1, {}]


@pytest.mark.parametrize("text", ["2019-02-30", "2019-03", "2019", "soon", "13/13/2019", "4 Ma 2019", "1e5", True, 3.5])
def test_what_is_no_day_is_no_date(text: object) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError):
        note_date(text)


@pytest.mark.parametrize("text", ["", " ", None, float("nan"), "NULL", "n/a"])
def test_a_missing_date_is_none(text: object) -> None:
    """A note need not have one."""
    assert note_date(text) is None


def test_dates_in_file_names() -> None:
    """Separated numbers, or eight digits that are a day before an underscore."""
    found = {
        name: date_in_name(name) for name in ("2019-03-04_x", "20190304_x", "20190304", "99999999_x", "x_2019-03-04")
    }
    assert list(found.values()) == ["2019-03-04", "20190304", "", "", ""]


def test_a_folder_called_as_a_column_is_none(tmp_path: Path) -> None:
    """What a folder above a table is called stands in the place of nothing that the table says."""
    folder = tmp_path / "patient_id=EVIL" / "text=other" / "status=deleted"
    folder.mkdir(parents=True)
    with duckdb.connect() as database:
        row = "SELECT 'P1' AS patient_id, 'd1' AS doc_id, DATE '2020-01-01' AS date, 'Lung adenocarcinoma.' AS text"
        database.sql(row).write_parquet(str(folder / "n.parquet"))
    for source in (folder / "n.parquet", tmp_path):
        (one,), bad = read(source)
        assert bad == []
        assert (one.note.patient_id, one.note.text) == ("P1", "Lung adenocarcinoma.")
