"""Date arithmetic of the verifier: what days a date in a note stands for, computed apart from the reader.

A written date is read by its own short patterns; one that could mean either of two days (3/4, a year of two figures)
admits both readings, for the order was decided by the whole note.
"""

from __future__ import annotations

import calendar
import datetime
import functools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ....kb.model import EARLIEST_DAY, LATEST_DAY, DayInterval

#: ``days.toml``: the words by which the verifier knows a date.
_DATA: Final = tomllib.loads(Path(__file__).with_name("days.toml").read_text(encoding="utf-8"))
_MONTHS: Final = {name: number for number, name in enumerate(_DATA["months"], start=1)}
_NUMBER: Final = re.compile(r"\d+")
_NAME: Final = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*", re.IGNORECASE)
_NUMBERS: Final[dict[str, int]] = _DATA["numbers"]
_UNIT: Final = re.compile(rf"\b(\d{{1,3}}|[a-z]+)?[\s\-]{{0,3}}({'|'.join(_DATA['units'])})s?\b", re.IGNORECASE)
_UNIT_DAYS: Final = {"d": 1.0, "day": 1.0, "w": 7.0, "m": 30.4375, "y": 365.25}
#: So many days after the note a date without a year may lie; and a date of a fact that happened.
_AHEAD: Final = 31
#: A year of two digits lies at most so many years after its note: what is planned, or dated wrongly.
_YEARS_AHEAD: Final = 5


def admits(rule: str, text: str, note: datetime.date | None, day: DayInterval) -> bool:
    """Whether the words ``text``, read as a date by ``rule`` in a note of that date, can stand for ``day``.

    A part of a month or year (*early 2019*) lies inside it, and what lies behind the note's own date is cut off.
    """
    return any(
        possible.low <= day.low and day.high <= possible.high and (day.high - day.low <= 366 * 10)
        for possible in _possible(rule, text, note)
    )


def written(attribute: str) -> DayInterval | None:
    """The days that an attribute holds: ``2019-03-04``, or two of them with a slash between; None for other text."""
    try:
        first, last = (datetime.date.fromisoformat(one).toordinal() for one in (attribute.split("/") * 2)[:2])
    except ValueError:
        return None
    return DayInterval(first, last) if first <= last else None


def is_born_on(text: str, note: datetime.date | None, day: DayInterval) -> bool:
    """Whether an age told on the note's day, or a date of birth, gives these days: any, for an age on no known day."""
    low, high = DayInterval(day.low, day.low), DayInterval(day.high, day.high)
    written = list(_written(text, note))
    if day in written or (low in written and high in written):
        return True
    numbers = [int(number) for number in _NUMBER.findall(text)]
    if note is None or not numbers:
        return len(numbers) == 1 and day == DayInterval()
    return day == _span(_before(note, numbers[0] + 1) + 1, _before(note, numbers[0]))


def _before(note: datetime.date, years: int) -> int:
    """The same day so many years before."""
    year = max(1, note.year - years)
    return note.replace(year=year, day=min(note.day, calendar.monthrange(year, note.month)[1])).toordinal()


def ends_with(rule: str, text: str, note: datetime.date | None, day: DayInterval) -> bool:
    """Whether the words, read so, can be the last day of ``day``: a course that began before it."""
    return any(possible.high == day.high or possible.low == day.low for possible in _possible(rule, text, note))


@functools.cache
def _relative() -> tuple[tuple[re.Pattern[str], int], ...]:
    """``days.toml``: words relative to the note, and how many days back they reach at most."""
    return tuple((re.compile(words, re.IGNORECASE), reach) for words, reach in _DATA["relative"].items())


def _possible(rule: str, text: str, note: datetime.date | None) -> Iterator[DayInterval]:
    if rule.startswith("ago:"):
        yield from _ago(text, note)
    elif rule == "postoperative-day":
        numbers = _NUMBER.findall(text)
        if note is not None and numbers:
            yield _span(note.toordinal() - int(numbers[-1]), note.toordinal() - int(numbers[-1]))
    elif rule == "relative-word":
        if note is not None:
            for words, reach in _relative():
                if words.search(text):
                    yield _span(note.toordinal() - reach, note.toordinal())
                    break
    else:
        yield from _written(text, note)


def _written(text: str, note: datetime.date | None) -> Iterator[DayInterval]:
    """Every reading of the figures and the name of a month: days, months and years that they may be."""
    numbers = [int(number) for number in _NUMBER.findall(text)]
    if len(numbers) == 1 and numbers[0] > 9999:
        compact = str(numbers[0])
        numbers = [int(compact[:4]), int(compact[4:6]), int(compact[6:])] if len(compact) == 8 else numbers
    named = [_MONTHS[name.lower()] for name in _NAME.findall(text)]
    years = [year for number in numbers for year in _years(number, note)]
    # A year that the figures do not give is that of the note or of one beside it, or the end of a range gives it.
    beside = [] if note is None else [note.year - 1, note.year, note.year + 1]
    for year in years:
        yield _year(year)
        if year % 10 == 0 and re.search(r"\ds\b", text):
            yield _span(_year(year).low, _year(year + 9).high)
        if _DATA["ends_next_year"] in text.lower():
            yield _span(_year(year).low, _month(year + 1, 3).high)
    for year in (*years, *beside):
        for month in (*named, *(number for number in numbers if 1 <= number <= 12)):
            exact = [_day(year, month, number) for number in numbers]
            days = [day for day in exact if day is not None]
            if year in years or named and not years:
                yield _month(year, month)
            if year in years and named and len(days) > 1:
                yield _span(min(day.low for day in days), max(day.high for day in days))
            for day in days:
                if year in years or note is not None and day.low <= note.toordinal() + _AHEAD:
                    yield day


def _years(number: int, note: datetime.date | None) -> list[int]:
    if number > 31 or number > 99:
        if 1900 <= number <= 2199:
            return [number]
        if number > 99:
            return []
    limit = max(note.year + _YEARS_AHEAD if note else 2031, 1900)
    return [limit - (limit - number) % 100] if number <= 99 else []


def _ago(text: str, note: datetime.date | None) -> Iterator[DayInterval]:
    if note is None:
        return
    numbers = [
        _NUMBERS.get(word, int(word) if word.isdigit() else -1) for word in re.findall(r"\d+|[a-z]+", text.lower())
    ]
    counts = [number for number in numbers if number >= 0]
    unit = next((_UNIT_DAYS[match[2].lower()[0]] for match in _UNIT.finditer(text)), None)
    if unit is None or not counts:
        return
    today = note.toordinal()
    spread = round(unit)
    yield _span(today - round(max(counts) * unit) - spread, min(today, today - round(min(counts) * unit) + spread))


def _span(low: int, high: int) -> DayInterval:
    low, high = max(low, EARLIEST_DAY), min(high, LATEST_DAY)
    return DayInterval(low, max(low, high))


def _year(year: int) -> DayInterval:
    return _span(datetime.date(year, 1, 1).toordinal(), datetime.date(year, 12, 31).toordinal())


def _month(year: int, month: int) -> DayInterval:
    first = datetime.date(year, month, 1).toordinal()
    return _span(first, first + calendar.monthrange(year, month)[1] - 1)


def _day(year: int, month: int, day: int) -> DayInterval | None:
    try:
        ordinal = datetime.date(year, month, day).toordinal()
    except ValueError:
        return None
    return _span(ordinal, ordinal)
