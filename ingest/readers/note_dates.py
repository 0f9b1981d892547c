"""The date of a note as its source spells it: a cell of a table, a JSON value, the start of a file name."""

from __future__ import annotations

import datetime
import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...kb.errors import UsageError

#: The orders in which dates of two numbers (``5/2/2023``) are read, the usual one first.
ORDERS: Final = ("month-first", "day-first")

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


class OtherOrder(ValueError):
    """A date that exists in the other order alone: it shows that its source does not write the order in force."""


@dataclass(slots=True)
class NoteDates:
    """The reading of the dates of a run in one ``order``; ``either`` counts those that have another day in the other.

    One order holds for all: a source that writes ``13/02/2023`` means the fifth of February by ``05/02/2023``.
    UsageError for an order that is none.
    """

    order: str = ORDERS[0]
    either: int = 0

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"{self.order!r} is no order of dates (--dates). Hint: it is {' or '.join(ORDERS)}")

    def day(self, value: object) -> datetime.date | None:
        """As :func:`note_date`, in this order, and counted."""
        found = _parts(value)
        if not isinstance(found, dict):
            return found
        day = _day(found, self.order)
        if found.get("a") and day.month != day.day and day.day <= 12:
            self.either += 1
        return day

    def as_dict(self) -> dict[str, Any]:
        """For the report and its JSON; empty where every date has one reading."""
        return {"order": self.order, "either": self.either} if self.either else {}


def note_date(value: object, order: str = ORDERS[0]) -> datetime.date | None:
    """The day that a source gives for a note, times and zones dropped; None when it gives none.

    ``3/4/2019`` is the fourth of March, or with the order ``day-first`` the third of April, which ``3.4.2019`` always
    is. ValueError when it is no date or no such day exists, OtherOrder when it exists in the other order.
    """
    return NoteDates(order).day(value)


def _parts(value: object) -> datetime.date | dict[str, str | None] | None:
    """A date as it is, or the named parts of one that is written."""
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
            return found.groupdict()
    raise ValueError("no date")


def _day(parts: dict[str, str | None], order: str) -> datetime.date:
    year = int(parts["y"] or "")
    if year < 100:
        year += 2000 if year < _spellings()["pivot"] else 1900
    if parts.get("a"):
        month, day = int(parts["a"] or ""), int(parts["b"] or "")
        if order == "day-first":
            month, day = day, month
        if month > 12 >= day:
            datetime.date(year, day, month)
            raise OtherOrder("the date is in the other order")
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
