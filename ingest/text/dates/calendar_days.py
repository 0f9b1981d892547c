"""Days of the calendar as intervals: of a day, a month, a year, cut to the days that the model knows."""

from __future__ import annotations

import calendar
import datetime

from ....kb.model import EARLIEST_DAY, LATEST_DAY, DayInterval


def month_span(year: int, month: int) -> DayInterval:
    """All days of a month."""
    first = datetime.date(year, month, 1).toordinal()
    return DayInterval(first, first + calendar.monthrange(year, month)[1] - 1)


def year_span(year: int) -> DayInterval:
    """All days of a year."""
    return DayInterval(datetime.date(year, 1, 1).toordinal(), datetime.date(year, 12, 31).toordinal())


def one_day(year: int, month: int, day: int) -> DayInterval | None:
    """One day; None if the calendar has no such day."""
    try:
        ordinal = datetime.date(year, month, day).toordinal()
    except ValueError:
        return None
    return DayInterval(ordinal, ordinal)


def full_year(two_digits: int, note: datetime.date | None) -> int:
    """The last year with these digits that is not more than one after the note."""
    limit = max(note.year if note else 2030, 1900) + 1
    return limit - (limit - two_digits) % 100


def within_bounds(low: int, high: int) -> DayInterval | None:
    """The interval cut to the days that the model knows; None when nothing is left."""
    low, high = max(low, EARLIEST_DAY), min(high, LATEST_DAY)
    return DayInterval(low, high) if low <= high else None


def days_text(day: DayInterval) -> str:
    """``2019-03-04``, or ``2019-03-01/2019-03-31`` for an interval."""
    low, high = (datetime.date.fromordinal(one).isoformat() for one in (day.low, day.high))
    return low if low == high else f"{low}/{high}"


def days_of(text: str) -> DayInterval:
    """The interval that :func:`days_text` wrote."""
    low, _, high = text.partition("/")
    first = datetime.date.fromisoformat(low).toordinal()
    return DayInterval(first, datetime.date.fromisoformat(high).toordinal() if high else first)
