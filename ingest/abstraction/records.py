"""The file format of abstractions: JSONL, one patient a line, each with the facts that somebody wrote down."""

from __future__ import annotations

import calendar
import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...kb.errors import UsageError
from ...kb.files.bounded import lines_of
from ...kb.files.json_lines import json_object, patient_of
from ...kb.files.limits import LimitReached, current_limits
from ...kb.model import EARLIEST_DAY, LATEST_DAY, DayInterval
from ..readers.records import KEPT_OF_RAW, reason
from .structure import ASSERTIONS, KINDS, means_death

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T.*)?")
_FIRST_YEAR: Final = datetime.date.fromordinal(EARLIEST_DAY).year
_LAST_YEAR: Final = datetime.date.fromordinal(LATEST_DAY).year


@dataclass(frozen=True, slots=True)
class AbstractedFact:
    """One fact as it was written. ``number`` counts from 1 within the patient; ``day`` and ``end`` are None where no
    date is given; ``attributes`` are texts or numbers by key."""

    number: int
    kind: str
    concept: str
    value: str
    assertion: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    day: DayInterval | None = None
    end: DayInterval | None = None
    docs: tuple[str, ...] = ()
    evidence: str = ""

    @property
    def text(self) -> str:
        """The fact as one line: ``concept: value``."""
        return f"{self.concept}: {self.value}" if self.concept and self.value else self.concept or self.value


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A line or fact that cannot be used: where it stood, and why. ``raw`` is the record itself, for the quarantine."""

    place: str
    reason: str
    patient_id: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """What was written down about one patient. ``dead``: the vital status says so; ``death`` is the day, if any."""

    patient_id: str
    facts: tuple[AbstractedFact, ...]
    dead: bool = False
    death: DayInterval | None = None


def read_abstractions(path: Path) -> Iterator[Abstraction | BadRecord]:
    """The patients of a file, and what in it cannot be used. UsageError if there is no such file."""
    limits = current_limits()
    try:
        stream = path.open("rb")
    except OSError as error:
        raise UsageError(f"the abstraction cannot be read from {path}: {error.strerror}") from error
    seen: set[str] = set()
    number = bad = 0
    with stream:
        try:
            for number, line in lines_of(stream, limits):
                for one in _of_line(f"line {number}", line, seen):
                    bad = bad + 1 if isinstance(one, BadRecord) else 0
                    yield one
                    if bad > limits.faults:
                        raise LimitReached("too_many_faults")
        except (LimitReached, OSError) as error:
            code = error.code if isinstance(error, LimitReached) else "damaged_file"
            yield BadRecord(f"after line {number}", reason(code))


def _of_line(place: str, line: bytes | None, seen: set[str]) -> Iterator[Abstraction | BadRecord]:
    """The patient of a line and what of it cannot be used; the patient is added to those who were ``seen``."""
    if line is None:
        yield BadRecord(place, reason("line_too_long"), raw="(too long to keep)")
        return
    try:
        entry = json_object(line, '"patient_id" and "facts"')
        patient = _patient(entry)
        if patient in seen:
            raise ValueError(f"patient {patient} has a line before this one")
    except ValueError as error:
        yield BadRecord(place, str(error), raw=line[:KEPT_OF_RAW].decode("utf-8", "backslashreplace").rstrip("\r\n"))
        return
    seen.add(patient)
    facts: list[AbstractedFact] = []
    for position, written in enumerate(entry["facts"], 1):
        try:
            facts.append(_fact(position, written))
        except (ValueError, RecursionError) as error:
            yield BadRecord(f"{place}, fact {position}", _words_of(error), patient, _as_json(written))
    try:
        death = day_of(entry.get("death_date"))
    except (ValueError, RecursionError) as error:
        yield BadRecord(f"{place}, death_date", _words_of(error), patient, _as_json(entry.get("death_date")))
        death = None
    status = entry.get("vital_status")
    dead = death is not None or means_death(status if isinstance(status, str) else "")
    yield Abstraction(patient, tuple(facts), dead, death)


def _words_of(error: ValueError | RecursionError) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error)


def _as_json(written: object) -> str:
    """What was written, for the quarantine, as much of it as is kept."""
    try:
        return json.dumps(written, default=str)[:KEPT_OF_RAW]
    except (RecursionError, ValueError):
        return "(nested too deep to show)"


def _patient(entry: dict[str, Any]) -> str:
    patient = patient_of(entry)
    _text(patient)
    if not isinstance(entry.get("facts"), list):
        raise ValueError('"facts" is missing or not a list')
    return patient


def _fact(number: int, written: object) -> AbstractedFact:
    if not isinstance(written, dict):
        raise ValueError("a fact is an object")
    kind = _text(written.get("kind"))
    if kind not in KINDS:
        raise ValueError(f"kind is not one of {', '.join(KINDS)}")
    assertion = _text(written.get("assertion")) or "present"
    if assertion not in ASSERTIONS:
        raise ValueError(f"assertion is not one of {', '.join(ASSERTIONS)}")
    attributes = written.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise ValueError('"attributes" is not an object')
    docs = written.get("docs") or ()
    day, end = day_of(written.get("date")), day_of(written.get("end_date"))
    if day is not None and end is not None and end.high < day.low:
        raise ValueError("it ends before it begins")
    return AbstractedFact(
        number,
        kind,
        _text(written.get("concept")),
        _text(written.get("value")),
        assertion,
        {_text(name): text for name, value in attributes.items() if (text := _text(value))},
        day,
        end,
        tuple(map(_text, docs if isinstance(docs, Sequence) and not isinstance(docs, str) else (docs,))),
        _text(written.get("evidence")),
    )


def _text(value: object) -> str:
    """Text, a number or a list of them as one line; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    text = " ".join(str(value).split())
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("a text holds half a character (a lone surrogate)")
    return text


def day_of(written: object) -> DayInterval | None:
    """The days that ``2019``, ``2019-03`` or ``2019-03-04`` may mean; None for none. ValueError for anything else."""
    text = _text(written)
    if not text:
        return None
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError("a date is not YYYY, YYYY-MM or YYYY-MM-DD")
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None  # the pattern has it
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        raise ValueError(f"a date is not between {_FIRST_YEAR} and {_LAST_YEAR}")
    try:
        if month is None:
            return DayInterval(datetime.date(year, 1, 1).toordinal(), datetime.date(year, 12, 31).toordinal())
        if day is None:
            last = calendar.monthrange(year, month)[1]
            return DayInterval(datetime.date(year, month, 1).toordinal(), datetime.date(year, month, last).toordinal())
        exact = datetime.date(year, month, day).toordinal()
    except (ValueError, calendar.IllegalMonthError) as error:
        raise ValueError("there is no such date as one that is told") from error
    return DayInterval(exact, exact)
