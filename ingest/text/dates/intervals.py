"""Days as intervals: of a day, a month, a year; of a part of one ("early 2019", "Q2 2020"); of a date half hidden."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ....kb.model import EARLIEST_DAY, LATEST_DAY, DayInterval
from ..cue_files import any_of, cue_file
from ..word_classes import word_classes

_CLASSES: Final = word_classes("text", "intervals")
#: So many years after a note is what it plans.
_PLANNED_AHEAD: Final = 5


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
    """The last year with these digits that is at most so many after the note as something may be planned ahead: of a
    patient who is nearly a hundred, more is lost by taking a coming year for a past one."""
    limit = max(note.year + _PLANNED_AHEAD if note else 2031, 1900)
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


#: No word that narrows a date begins further before it, in characters.
_REACH = 32


class _Parts(NamedTuple):
    """``cues/dates.toml``: words before a date, with the fraction of it or the months that they mean."""

    before: re.Pattern[str]
    fractions: Mapping[str, tuple[float, float]]
    months: Mapping[str, tuple[int, int]]


@lru_cache(maxsize=1)
def _parts() -> _Parts:
    table = cue_file("dates")
    fractions = {word: (entry["from"], entry["to"]) for entry in table["part"] for word in entry["words"]}
    months = {word: (entry["first"], entry["last"]) for entry in table["months_of"] for word in entry["words"]}
    words = any_of([*fractions, *months])
    # "She had a fall 2018" is no season.
    before = re.compile(
        rf"(?<![^\W_])(?<!\ba\s)(?:(?P<first>{words})(?:\s|\s?[\-–/]\s?)(?:(?:to|or)[\s\-])?)?(?P<word>{words})"
        r"(?:[\s\-/'’,]{0,2}(?:of\s)?(?:the\s)?)$",
        re.IGNORECASE,
    )
    return _Parts(before, fractions, months)


def narrowed(text: str, start: int, day: DayInterval, precision: str) -> tuple[int, DayInterval] | None:
    """The begin and the days of a month or a year (or of several) with the word before it that names a part of it.

    ``Mid-March 2020``, ``early 2019``, ``Q2 2020``, ``spring of 2018``; None if no such word stands there. Seasons are
    those of the north. What *early* or *late* means nobody knows exactly: neighbouring parts overlap.
    """
    if precision not in ("month", "year"):
        return None
    parts = _parts()
    low = max(0, start - _REACH)
    match = parts.before.search(text, low, start)
    if match is None:
        return None
    part = _part(match["word"].casefold(), day, precision)
    if part is not None and match["first"]:
        # "Late summer" is a part of the summer; "mid to late" and "summer/fall" reach from the one to the other.
        first = match["first"].casefold()
        nested = first in parts.fractions and match["word"].casefold() in parts.months
        other = _part(first, part if nested else day, precision)
        if other is not None:
            part = other if nested else DayInterval(min(part.low, other.low), max(part.high, other.high))
    return (match.start(), part) if part is not None else None


def _part(word: str, day: DayInterval, precision: str) -> DayInterval | None:
    """The part of a month or year that ``word`` names; None for a season of anything but one year."""
    parts = _parts()
    if word in parts.fractions:
        first, last = parts.fractions[word]
        length = day.high - day.low + 1
        return DayInterval(day.low + int(first * length), day.low + max(1, round(last * length)) - 1)
    if precision != "year" or day.high - day.low > 366:
        return None
    year = datetime.date.fromordinal(day.low).year
    first_month, last_month = parts.months[word]
    if last_month < first_month:
        # The winter of a year is the one that ends in it or the one that begins in it.
        return DayInterval(day.low, month_span(year + 1, last_month).high)
    return DayInterval(month_span(year, first_month).low, month_span(year, last_month).high)


def half_hidden(first: str, second: str, year: int, day_first: bool) -> tuple[DayInterval, str, str]:
    """What is left of a date in figures whose first or second part, or both, is no number: a month or the year."""
    month = second if day_first else first
    if month.isdigit() and 1 <= int(month) <= 12:
        return month_span(year, int(month)), "half-hidden", "month"
    return year_span(year), "half-hidden", "year"


#: A date that was taken out of the text, or left to be filled in, with nothing of it left.
_TAKEN_OUT = _CLASSES.compile(
    r"""\[\*\*[^\]\d]{0,40}(?:\(\s?\w{1,6}\s?\)\s?)?\d{0,6}\s?\*\*\]
      | [<\[{(]{1,2}\s?{taken_out}[\s_\-]{0,2}\d{0,4}\s?[>\]})]{1,2}
      | \*\*{starred_out}\b | (?<![^\W_])_{2,}(?![^\W_]) | (?<!\w)(?:xx?|__?|\?\?|mm|dd)[/\-]
        (?:xx?|__?|\?\?|mm|dd)[/\-]
    """,
    re.VERBOSE | re.IGNORECASE,
)


def hides_a_date(text: str, before_date: bool) -> bool:
    """Whether a placeholder without a number stands in ``text``: what is beside it has a day of its own.

    ``before_date``: a date follows the text; what stands right before it is its own mark (``<DATE>3/4/2019``).

    >>> hides_a_date("on [DATE], CT on ", True), hides_a_date("then CT on <DATE>", True)
    (True, False)
    """
    match = _TAKEN_OUT.search(text)
    return match is not None and not (before_date and len(text.rstrip(" [<(:")) <= match.end())
