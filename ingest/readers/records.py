"""The way from a raw record to a note, or to a quarantine row with its reason."""

from __future__ import annotations

import datetime
import functools
import json
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ...kb.files.limits import current_limits, limits_in_words
from ...kb.model import EARLIEST_DAY, LATEST_DAY, Note, content_id
from ...kb.storage.rows import QuarantinedRecord
from .mapping import ColumnMap
from .note_dates import NoteDates, OtherOrder

#: Longer notes go to quarantine (characters).
LONGEST_TEXT: Final = 20_000_000
LONGEST_PATIENT_ID: Final = 200
LONGEST_DOC_ID: Final = 1_000
#: A longer type or title is none (characters).
LONGEST_REMARK: Final = 10_000
#: Of a quarantined record, so much is kept (characters); source and place lead to the rest.
KEPT_OF_RAW: Final = 1_000_000

#: How the id of a document begins whose source gives it none.
UNNAMED: Final = "note-"
#: Of a float every whole number below is its own; of larger ones several are one.
_LARGEST_WHOLE_FLOAT: Final = 2**53

#: The status of a record that voids its note, where a reader of ours says so.
RETRACTED: Final = "retracted"
_LONGEST_STATUS: Final = 100
_ABSENT: Final = object()
_LARGEST_ID: Final = 10**30


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record as its source holds it. ``fault`` is a reason code when its fields could not be read, or not all.

    ``source`` is the file's name as people see it, ``place`` where in it (``line 7``, ``row 3``, ``file``), ``number``
    that place as a number. ``raw`` is the record's own text, needed only beside a ``fault``. ``patient_space`` and
    ``doc_space`` say whose ids those of its patient and document are (a server, a system of identifiers), where the
    source tells: equal ids of two spaces are two.
    """

    source: str
    place: str
    number: int
    fields: Mapping[str, object] = field(default_factory=dict)
    fault: str = ""
    raw: str = ""
    patient_space: str = ""
    doc_space: str = ""


@dataclass(frozen=True, slots=True)
class AsWritten:
    """What the source says of the ids of a note beyond them: ``patient`` and ``document`` as they are written, where
    that is with outer blanks, else empty; and the spaces that they are of (:class:`RawRecord`)."""

    patient: str = ""
    document: str = ""
    patient_space: str = ""
    doc_space: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A note that came in, and where it stood; or a ``retraction``: its note has the key of the one that is void, and
    nothing else.

    ``unnamed``: the source gives the document no id, so that its id is made of what it says (:func:`id_of_content`);
    equal ones of one ``reading``, the number of the file among those that are read, are several documents.
    """

    note: Note
    source: str
    place: str
    retraction: bool = False
    written: AsWritten = AsWritten()
    unnamed: bool = False
    reading: int = 0


class _Fault(Exception):
    """A reason code, on its way from a field to the quarantine."""


@functools.cache
def _reasons() -> Mapping[str, str]:
    text = (Path(__file__).parent / "reasons.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["reasons"])


def reason(code: str) -> str:
    """``code: plain words``. A code may carry a detail of ours after a colon (``reader_error:ValueError``)."""
    words = _reasons()[code.partition(":")[0]]
    # What a limit is, and which character sets are read, other files say.
    return f"{code}: {words.format_map({**limits_in_words(), **_other_words()}) if '{' in words else words}"


@functools.cache
def _other_words() -> Mapping[str, str]:
    formats = tomllib.loads((Path(__file__).parent / "fhir.toml").read_text(encoding="utf-8"))
    return {"charsets": ", ".join(formats["charset"]["read"])}


def read_records(
    records: Iterable[RawRecord], columns: ColumnMap, dates: NoteDates, reading: int = 0
) -> Iterator[Incoming | QuarantinedRecord]:
    """Every record of a file as a note or as a quarantine row: none is dropped. ``dates`` reads those of the notes,
    ``reading`` is the number of the file.

    Too many of the latter together end the file with one more: what is no file of notes shall not fill the quarantine.
    """
    most = current_limits().faults
    faults = 0
    for record in records:
        one = _judged(record, columns, dates, reading)
        yield one
        faults = faults + 1 if isinstance(one, QuarantinedRecord) else 0
        if faults > most:
            last = RawRecord(record.source, f"after {record.place}", record.number + 1, raw="(not read)")
            yield quarantined(last, "too_many_faults")
            return


def _judged(record: RawRecord, columns: ColumnMap, dates: NoteDates, reading: int) -> Incoming | QuarantinedRecord:
    take = functools.partial(_value, record.fields, columns)
    if record.fault:
        return quarantined(record, record.fault, _shown_id(take("patient_id")), _shown_id(take("doc_id")))
    retraction = is_retraction(take("status"))
    try:
        note = _key_alone(take) if retraction else _note(take, dates)
    except _Fault as fault:
        return quarantined(record, str(fault), _shown_id(take("patient_id")), _shown_id(take("doc_id")))
    written = AsWritten(
        _with_blanks(take("patient_id")), _with_blanks(take("doc_id")), record.patient_space, record.doc_space
    )
    unnamed = not note.doc_id
    if unnamed:
        note = replace(note, doc_id=id_of_content(note))
    return Incoming(note, record.source, record.place, retraction, written, unnamed, reading)


def id_of_content(note: Note) -> str:
    """The id of a document whose source gives it none: it depends on what the note says alone, not on where it stands,
    so that rows may move and files be called otherwise."""
    content = content_id("document", note.patient_id, note.date, note.type, note.title, note.text)
    return f"{UNNAMED}{content}"


def _with_blanks(value: object) -> str:
    """An id as it is written, if that is with outer blanks."""
    return value if isinstance(value, str) and value != value.strip() and value.strip() else ""


@functools.cache
def _retracted() -> frozenset[str]:
    text = (Path(__file__).parent / "status.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)["retracted"])


def is_retraction(status: object) -> bool:
    """Whether a record of this status voids its note, by the words of ``status.toml``."""
    if not isinstance(status, str) or len(status) > _LONGEST_STATUS:
        return False
    return " ".join(status.replace("_", " ").replace("-", " ").casefold().split()) in _retracted()


def quarantined(record: RawRecord, code: str, patient_id: str = "", doc_id: str = "") -> QuarantinedRecord:
    """The quarantine row of a record."""
    raw = record.raw or _as_json(record.fields)
    return QuarantinedRecord(record.source, record.place, reason(code), patient_id, doc_id, raw[:KEPT_OF_RAW])


def _as_json(fields: Mapping[str, object]) -> str:
    try:
        # Of a text without end only the beginning is kept, and a letter may take six in JSON.
        kept = {name: one[:KEPT_OF_RAW] if isinstance(one, str | bytes) else one for name, one in fields.items()}
        return json.dumps(kept, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "(nested too deep to show)"


def _value(fields: Mapping[str, object], columns: ColumnMap, name: str) -> object:
    return fields.get(columns.column(name), _ABSENT)


def _shown_id(value: object) -> str:
    if isinstance(value, str):
        return value[:LONGEST_PATIENT_ID]
    # Nothing else is an id; a list of lists, or a number without end, cannot even be written down.
    small = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST_ID
    return str(value) if small else ""


def _key_alone(take: Callable[[str], object]) -> Note:
    """Of a retraction: which note is void. Nothing else of the record is looked at."""
    patient_id, doc_id = _key(take)
    if not doc_id:
        raise _Fault("retraction_without_document")
    note = Note(patient_id, doc_id, "")
    _check_letters(note)
    return note


def _key(take: Callable[[str], object]) -> tuple[str, str]:
    patient_id = _identifier(take("patient_id"), "bad_patient_id", LONGEST_PATIENT_ID)
    if not patient_id:
        raise _Fault("missing_patient_id")
    return patient_id, _identifier(take("doc_id"), "bad_doc_id", LONGEST_DOC_ID)


def _note(take: Callable[[str], object], dates: NoteDates) -> Note:
    patient_id, doc_id = _key(take)
    text = _text(take("text"))
    date = _date(take("date"), dates)
    note = Note(patient_id, doc_id, text, date, _remark(take("type")), _remark(take("title")))
    _check_letters(note)
    return note


def _check_letters(note: Note) -> None:
    for part in (note.text, note.patient_id, note.doc_id, note.type, note.title):
        if "\0" in part:
            raise _Fault("nul_bytes")
        try:
            part.encode("utf-8")
        except UnicodeEncodeError as error:
            # Bytes that are no UTF-8 arrive as U+DC80 to U+DCFF (surrogateescape); JSON can write other halves too.
            escaped = all(0xDC80 <= ord(letter) <= 0xDCFF for letter in part[error.start : error.end])
            raise _Fault("invalid_utf8" if escaped else "invalid_unicode") from error


def _identifier(value: object, fault: str, longest: int) -> str:
    if value is _ABSENT or value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        # A table with gaps turns whole numbers into floats: 12.0 is patient 12.
        if abs(value) >= _LARGEST_WHOLE_FLOAT:
            raise _Fault(fault)
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value in (math.inf, -math.inf):
        raise _Fault(fault)
    try:
        text = str(value).strip()
    except ValueError as error:  # an integer of thousands of digits
        raise _Fault(fault) from error
    if len(text) > longest:
        raise _Fault(fault)
    return text


def _text(value: object) -> str:
    if value is _ABSENT:
        raise _Fault("missing_text")
    if value is None or value != value:
        raise _Fault("empty_text")
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "surrogateescape")
    if not isinstance(value, str):
        raise _Fault("bad_text")
    if len(value) > LONGEST_TEXT:
        raise _Fault("text_too_long")
    if not value.strip():
        raise _Fault("empty_text")
    return value


def _date(value: object, dates: NoteDates) -> datetime.date | None:
    try:
        date = None if value is _ABSENT else dates.day(value)
    except OtherOrder as error:
        raise _Fault("date_day_first" if dates.order == "month-first" else "date_month_first") from error
    except (ValueError, RecursionError) as error:
        raise _Fault("unparsable_date") from error
    if date is not None and not EARLIEST_DAY <= date.toordinal() <= LATEST_DAY:
        raise _Fault("date_out_of_range")
    return date


def _remark(value: object) -> str:
    """A type or title: text of any kind, outer blanks dropped; what is missing is empty."""
    if value is _ABSENT or value is None or value != value:
        return ""
    try:
        text = str(value).strip()
    except (RecursionError, ValueError) as error:  # lists without end, an integer of thousands of digits
        raise _Fault("nested_too_deep" if isinstance(error, RecursionError) else "number_too_long") from error
    if len(text) > LONGEST_REMARK:
        raise _Fault("remark_too_long")
    return text
