"""Dates in text, of every kind, as day intervals: absolute, partial, relative to the note, de-identified."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..kb.model import EARLIEST_DAY, DayInterval

_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?:19|20)\d\d"
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "couple of": 2, "few": 3, "several": 5}
_UNIT_DAYS = {"day": 1.0, "d": 1.0, "week": 7.0, "wk": 7.0, "month": 30.4375, "mo": 30.4375, "mos": 30.4375, "year": 365.25, "yr": 365.25}

_DATE = re.compile(
    rf"""(?<![\w./\-])(?:\[\*\*\s*)?(?:
      (?P<iso_year>{_YEAR})[-/](?P<iso_month>1[0-2]|0?[1-9])(?:[-/](?P<iso_day>3[01]|[12]\d|0?[1-9]))?(?![\d/])
    | (?P<first>3[01]|[12]\d|0?[1-9])(?P<separator>[/.\-])(?P<second>3[01]|[12]\d|0?[1-9])(?P=separator)(?P<number_year>{_YEAR}|\d\d)(?![\d/%])
    | (?P<slash_month>1[0-2]|0?[1-9])/(?P<slash_year>{_YEAR})(?![\d/])
    | (?P<bare_first>3[01]|[12]\d|0?[1-9])/(?P<bare_second>3[01]|[12]\d|0?[1-9])(?![\d/%.]|\s*(?:nodes?|LN|positive|pos|lymph|cores?|HPF|hpf|pts?|10\b))
    | (?P<day_first>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?[\s\-]*(?:of\s+)?{_MONTH.format("month_after")}[\s,\-]*(?:(?P<year_after>{_YEAR})|['’]?(?P<short_after>\d\d)(?![\d:/]))?
    | {_MONTH.format("month_before")}\s+(?P<day_after>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\d:/])(?:,?\s+(?P<year_of_day>{_YEAR}))?
    | {_MONTH.format("month_only")}[\s,'’\-]*(?:(?P<month_year>{_YEAR})|['’]?(?P<month_short_year>\d\d)(?![\d:/%]))
    | (?P<year_only>{_YEAR})(?![\d/\-:]|\s*(?:mg|mcg|ml|cc|kcal|g|copies|units|IU|cGy|cells)\b)
    | ['’](?P<apostrophe_year>\d\d)(?!\d)
    )(?:\s*\*\*\])?""",
    re.VERBOSE | re.IGNORECASE,
)
_AGO = re.compile(
    r"""(?<!\w)(?:(?P<about>about|approximately|approx\.?|some|~|almost|nearly|over)\s*)?
        (?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|couple\ of|few|several)[\s\-]*
        (?P<unit>day|week|wk|month|mo|year|yr|d)s?\.?\s+
        (?P<direction>ago|prior|previously|earlier|back|out|s/p|post|status\ post|after\ surgery|from\ surgery)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_LAST = re.compile(
    r"(?<!\w)(?P<which>last|this|earlier\s+this)\s+(?P<unit>week|month|year|spring|summer|autumn|fall|winter)\b|"
    r"(?<!\w)(?P<day>yesterday|today|tonight|this\s+(?:morning|afternoon|evening))\b",
    re.IGNORECASE,
)
_POSTOPERATIVE_DAY = re.compile(r"\bPOD\s*#?\s*(?P<count>\d{1,3})\b")
#: Days that are no dates of events: birth dates, phone calls.
_NOT_AN_EVENT = re.compile(r"(?:\bDOB|date of birth|\bborn|\bD\.O\.B)\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text: character span, the day interval it stands for, and the rule that read it.

    ``precision`` is day, month, year or relative.
    """

    start: int
    end: int
    day: DayInterval
    rule: str
    precision: str


def month_span(year: int, month: int) -> DayInterval:
    """All days of a month."""
    first = datetime.date(year, month, 1).toordinal()
    return DayInterval(first, first + calendar.monthrange(year, month)[1] - 1)


def year_span(year: int) -> DayInterval:
    """All days of a year."""
    return DayInterval(datetime.date(year, 1, 1).toordinal(), datetime.date(year, 12, 31).toordinal())


def _day(year: int, month: int, day: int) -> DayInterval | None:
    try:
        ordinal = datetime.date(year, month, day).toordinal()
    except ValueError:
        return None
    return DayInterval(ordinal, ordinal)


def _full_year(two_digits: int, note: datetime.date | None) -> int:
    """The century that puts a two-digit year closest before the note (years that lie ahead by > 1 are past)."""
    pivot = (note.year if note else 2030) + 1
    year = 2000 + two_digits
    return year if year <= pivot else year - 100


class DateReader:
    """Reads the dates of one note; whether 3/4 is in March or April is decided once a note.

    The order is day–month where the note holds a date that only that order allows, month–day where it holds one that
    only that allows, else the order under which more dates fall near and not after the note date; else month–day.
    """

    def __init__(self, text: str, note_date: datetime.date | None) -> None:
        self.text = text
        self.note_date = note_date
        self._day_first = self._reads_day_first()

    def _reads_day_first(self) -> bool:
        day_first = month_first = 0
        near_day_first = near_month_first = 0
        for match in _DATE.finditer(self.text):
            if match["first"] is None:
                continue
            first, second = int(match["first"]), int(match["second"])
            if match["separator"] == ".":
                day_first += 1
            if first > 12 >= second:
                day_first += 2
            elif second > 12 >= first:
                month_first += 2
            elif self.note_date and first != second:
                year = self._year(match["number_year"])
                for is_day_first, interval in ((True, _day(year, second, first)), (False, _day(year, first, second))):
                    gap = self.note_date.toordinal() - interval.low if interval else -1
                    if 0 <= gap <= 45:
                        near_day_first += is_day_first
                        near_month_first += not is_day_first
        if day_first != month_first:
            return day_first > month_first
        return near_day_first > near_month_first

    def _year(self, digits: str) -> int:
        return int(digits) if len(digits) == 4 else _full_year(int(digits), self.note_date)

    def _without_year(self, month: int, day: int) -> DayInterval | None:
        """The last such day not more than a month after the note."""
        if self.note_date is None:
            return None
        for year in (self.note_date.year + 1, self.note_date.year, self.note_date.year - 1):
            found = _day(year, month, day)
            if found and found.low <= self.note_date.toordinal() + 31:
                return found
        return None

    def __iter__(self) -> Iterator[DateMention]:
        yield from sorted(self._absolute(), key=lambda mention: mention.start)
        yield from self._relative()

    def _absolute(self) -> Iterator[DateMention]:
        for match in _DATE.finditer(self.text):
            if _NOT_AN_EVENT.search(self.text, max(0, match.start() - 20), match.start()):
                continue
            read = self._read(match)
            if read is not None:
                interval, rule, precision = read
                yield DateMention(match.start(), match.end(), interval, rule, precision)

    def _read(self, match: re.Match[str]) -> tuple[DayInterval, str, str] | None:
        got = match.groupdict()
        interval: DayInterval | None
        if got["iso_year"]:
            year, month = int(got["iso_year"]), int(got["iso_month"])
            if got["iso_day"] is None:
                return month_span(year, month), "year-month", "month"
            interval = _day(year, month, int(got["iso_day"]))
            return (interval, "iso", "day") if interval else None
        if got["first"]:
            first, second, year = int(got["first"]), int(got["second"]), self._year(got["number_year"])
            orders = ((second, first), (first, second)) if self._day_first else ((first, second), (second, first))
            for month, day in orders:
                interval = _day(year, month, day)
                if interval:
                    return interval, "day-month-year" if self._day_first else "month-day-year", "day"
            return None
        if got["slash_month"]:
            return month_span(int(got["slash_year"]), int(got["slash_month"])), "month-year", "month"
        if got["bare_first"]:
            first, second = int(got["bare_first"]), int(got["bare_second"])
            month, day = (second, first) if self._day_first else (first, second)
            interval = self._without_year(month, day)
            return (interval, "day-month", "day") if interval else None
        if got["month_after"]:
            return self._named(got["month_after"], int(got["day_first"]), got["year_after"] or got["short_after"])
        if got["month_before"]:
            return self._named(got["month_before"], int(got["day_after"]), got["year_of_day"])
        if got["month_only"]:
            digits = got["month_year"] or got["month_short_year"]
            return month_span(self._year(digits), _MONTHS[got["month_only"][:3].lower()]), "month-year", "month"
        if got["year_only"]:
            return year_span(int(got["year_only"])), "year", "year"
        return year_span(_full_year(int(got["apostrophe_year"]), self.note_date)), "year", "year"

    def _named(self, name: str, day: int, digits: str | None) -> tuple[DayInterval, str, str] | None:
        month = _MONTHS[name[:3].lower()]
        interval = _day(self._year(digits), month, day) if digits else self._without_year(month, day)
        return (interval, "named-month", "day") if interval else None

    def _relative(self) -> Iterator[DateMention]:
        if self.note_date is None:
            return
        today = self.note_date.toordinal()
        for match in _AGO.finditer(self.text):
            count_text = match["count"].lower()
            count = int(count_text) if count_text.isdigit() else _NUMBER_WORDS[count_text]
            unit = _UNIT_DAYS[match["unit"].lower()]
            middle = today - round(count * unit)
            # "three weeks ago" is right to about half a unit either way; a vague count to a whole one.
            spread = round(unit * (1.0 if match["about"] or count_text in ("few", "several") else 0.5))
            interval = DayInterval(max(EARLIEST_DAY, middle - spread), min(today, middle + spread))
            yield DateMention(match.start(), match.end(), interval, f"ago:{match.group()}", "relative")
        for match in _POSTOPERATIVE_DAY.finditer(self.text):
            day = today - int(match["count"])
            yield DateMention(match.start(), match.end(), DayInterval(day, day), "postoperative-day", "relative")
        for match in _LAST.finditer(self.text):
            yield self._last(match, today)

    def _last(self, match: re.Match[str], today: int) -> DateMention:
        if match["day"]:
            day = today - 1 if match["day"].lower() == "yesterday" else today
            interval = DayInterval(day, day)
        else:
            reach = {"week": 7, "month": 31, "year": 366}.get(match["unit"].lower(), 270)
            this = match["which"].lower() != "last"
            interval = DayInterval(today - reach * (1 if this else 2) + (0 if this else 1), today)
        return DateMention(match.start(), match.end(), interval, "relative-word", "relative")
