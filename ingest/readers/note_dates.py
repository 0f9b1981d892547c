"""The date of a note as its source spells it: a cell of a table, a JSON value, the start of a file name."""

from __future__ import annotations

import datetime
import functools
import re
import tomllib
from pathlib import Path
from typing import Any, Final

_TIME: Final = (
    r"(?:(?:\s*,\s*|\s+|T)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
    r"\s*(?:[AaPp]\.?[Mm]\.?)?\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_WEEKDAY: Final = r"(?:[A-Za-z]{3,9}\.?,\s*)?"
#: Tried in this order. Groups: y(ear), m(onth), d(ay), w(ord for a month), or two numbers a and b in either order.
_SPELLINGS: Final = tuple(
    re.compile(pattern + _TIME)
    for pattern in (
        r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})",
        r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})",
        r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4}|\d{2})",
        r"(?P<a>\d{1,2})([-/])(?P<b>\d{1,2})\2(?P<y>\d{4}|\d{2})",
        _WEEKDAY + r"(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?[\s-]*(?P<w>[A-Za-z]{3,9})\.?[\s,-]*(?P<y>\d{4}|\d{2})",
        _WEEKDAY + r"(?P<w>[A-Za-z]{3,9})\.?[\s-]*(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:\s*,\s*|[\s-]+)(?P<y>\d{4})",
        r"(?P<y>\d{4})-(?P<w>[A-Za-z]{3,9})-(?P<d>\d{1,2})",
    )
)
#: A file name that starts with a date: separated numbers, or eight digits before an underscore (else it is an id).
_NAME_DATE: Final = re.compile(
    r"(?P<separated>\d{4}[-.]\d{1,2}[-.]\d{1,2}|\d{1,2}[-.]\d{1,2}[-.]\d{4})(?!\d)|(?P<bare>\d{8})_"
)


@functools.cache
def _spellings() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "dates.toml").read_text(encoding="utf-8"))


def note_date(value: object) -> datetime.date | None:
    """The day that a source gives for a note, times and zones dropped; None when it gives none.

    ``3/4/2019`` is the fourth of March, ``25/4/2019`` the 25th of April, ``3.4.2019`` the third of April.
    ValueError when it is no date or no such day exists.
    """
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, bool | float):
        if value != value:  # NaN, the missing value of tables
            return None
        raise ValueError("no date")
    text = str(value).strip()
    if text.casefold() in _spellings()["absent"]:
        return None
    if len(text) > 60:
        raise ValueError("no date")
    for spelling in _SPELLINGS:
        if found := spelling.fullmatch(text):
            return _day(found.groupdict())
    raise ValueError("no date")


def _day(parts: dict[str, str | None]) -> datetime.date:
    year = int(parts["y"] or "")
    if year < 100:
        year += 2000 if year < _spellings()["pivot"] else 1900
    if parts.get("a"):
        month, day = int(parts["a"] or ""), int(parts["b"] or "")
        if month > 12:
            month, day = day, month
    elif parts.get("w"):
        month, day = _month(parts["w"] or ""), int(parts["d"] or "")
    else:
        month, day = int(parts["m"] or ""), int(parts["d"] or "")
    return datetime.date(year, month, day)


def _month(word: str) -> int:
    found = {number for name, number in _spellings()["months"].items() if name.startswith(word.casefold())}
    if len(found) != 1:
        raise ValueError("no month")
    return int(found.pop())


def date_in_name(stem: str) -> str:
    """What a file name offers as its note's date (``2019-03-04_visit`` → ``2019-03-04``); empty when it offers none.

    Separated numbers are a date even when no such day exists, so that a slip is seen; eight digits that are no day
    are an id.
    """
    found = _NAME_DATE.match(stem)
    if found is None:
        return ""
    if found["separated"]:
        return found["separated"]
    try:
        note_date(found["bare"])
    except ValueError:
        return ""
    return found["bare"]
