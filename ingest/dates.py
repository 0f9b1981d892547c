"""Dates in text, of every kind, as day intervals: absolute, partial, relative to the note, de-identified."""

from __future__ import annotations

import calendar
import datetime
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

from ..kb.model import EARLIEST_DAY, LATEST_DAY, DayInterval

_MONTHS = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}
_WEEKDAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_YEAR = r"(?:19|20|21)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
_COUNTS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "couple of": 2, "couple": 2, "few": 3, "several": 5}
_VAGUE = frozenset({"few", "several"})
_COUNT = r"\d{1,3}|" + "|".join(sorted((word.replace(" ", r"\ ") for word in _COUNTS), key=len, reverse=True))
_UNIT_DAYS = {
    "day": 1.0,
    "d": 1.0,
    "week": 7.0,
    "wk": 7.0,
    "month": 30.4375,
    "mo": 30.4375,
    "year": 365.25,
    "yr": 365.25,
}

_BODY = rf"""(?P<masked>\[\*\*\s?)?(?:
      (?P<iso_year>{_YEAR})[-/](?P<iso_month>1[0-2]|0?[1-9])(?!\d)(?:[-/](?P<iso_day>{_DAY}))?(?![\d/])
    | (?P<first>{_DAY})(?P<separator>[/.\-])(?P<second>{_DAY})(?P=separator)(?P<number_year>{_YEAR}|\d\d)(?![\d/%]|\.\d)
    | (?P<slash_month>1[0-2]|0?[1-9])/(?P<slash_year>{_YEAR}|00|3[2-9]|[4-9]\d)(?![\d/%])
    | (?P<bare_first>{_DAY})/(?P<bare_second>{_DAY})(?![\d/%+]|\.\d|-\d\d\d)
    | (?(masked)(?P<masked_month>1[0-2]|0?[1-9])-(?P<masked_day>{_DAY})(?=\s?\*\*)|(?!))
    | (?P<day_first>{_DAY})(?:st|nd|rd|th)?[\s\-]{{0,3}}(?:of\s)?{_MONTH.format("month_after")}
      (?:[\s,\-]{{0,3}}(?:(?P<year_after>{_YEAR})(?!\d)|['’]?(?P<short_after>\d\d)(?![\d/%]|[:.]\d)))?
    | {_MONTH.format("month_before")}\s{{1,3}}(?P<day_after>{_DAY})(?:st|nd|rd|th)?(?![\d/%]
            |:\d)(?:,?\s{{1,3}}(?P<year_of_day>{_YEAR})(?!\d))?
    | {_MONTH.format("month_only")}[\s,'’\-]{{0,3}}(?:of\s)?(?:(?P<month_year>{_YEAR})
            |['’]?(?P<month_short_year>\d\d))(?![\d/%]|:\d)
    | (?P<year_only>{_YEAR})(?![\d/%+]|:\d|-(?!{_YEAR}(?![\d\-]))|\.\d)
    | ['’](?P<apostrophe_year>\d\d)(?![\ds\w'’"])
    )(?:\s?\*\*\])?"""
# The first look-ahead only spares the engine most positions of a text.
_DATE = re.compile(rf"(?=[\d\['’jfmasond])(?<![\w./])(?<!\d[\-–]){_BODY}", re.VERBOSE | re.IGNORECASE)
_SECOND_DATE = re.compile(_BODY, re.VERBOSE | re.IGNORECASE)
_DASH = re.compile(r"\s?[-–—]\s?")
_BETWEEN_RANGE = re.compile(r"\s{0,2}(?:[-–—]|to|through|thru|until|till)\s{0,2}", re.IGNORECASE)
_OPEN_MONTH = re.compile(rf"(?<![^\W_]){_MONTH.format('month')}\s?(?:[-–—/]|to|through|thru)\s?$", re.IGNORECASE)
_AGO = re.compile(
    rf"""(?=[\dafonetswc~])(?<!\w)(?:(?P<about>about|approximately|approx\.?|some|~|almost|nearly|over)\s{{0,2}})?
        (?:(?P<from>{_COUNT})\s?(?:-|–|to|or)\s?)?(?:a\s)?(?P<count>{_COUNT})[\s\-]{{0,2}}
        (?P<unit>day|week|wk|month|mo|year|yr|d)s?\.?\s{{1,3}}
        (?:ago|prior|previously|earlier|back|out|s/p|post|status\ post|after\ surgery|from\ surgery)\b""",
    re.VERBOSE | re.IGNORECASE,
)
#: What every such mention ends with; the long pattern is tried only before one.
_AGO_END = re.compile(
    r"(?=[dwmy])"
    r"(?:day|week|wk|month|mo|year|yr|d)s?\.?\s{1,3}(?:ago|prior|previously|earlier|back|out|s/p|post|status post"
    r"|after surgery|from surgery)\b",
    re.IGNORECASE,
)
_LONGEST_COUNT = 60
_LAST = re.compile(
    rf"""(?=[letys])(?<!\w)(?:(?P<which>last|this|earlier\s+this)\s+(?P<unit>week|month|year|spring|summer|autumn|fall|winter|{_WEEKDAYS})
        |(?P<day>yesterday|today|tonight|this\s+(?:morning|afternoon|evening)))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_POSTOPERATIVE_DAY = re.compile(
    r"\b(?:POD|[Pp]ost[\s\-]?op(?:erative)?\s[Dd]ay)\s{0,2}\#?\s{0,2}(?P<count>\d{1,3})\b", re.VERBOSE
)
_CONTEXT = 60


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


@dataclass(frozen=True, slots=True)
class _Words:
    """``cues/dates.toml`` as patterns that are matched directly before or behind a number."""

    fraction_before: re.Pattern[str]
    fraction_behind: re.Pattern[str]
    nodes: re.Pattern[str]
    date_before: re.Pattern[str]
    year_before: re.Pattern[str]
    quantity: re.Pattern[str]
    birth: re.Pattern[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    table = tomllib.loads(resources.files(__package__).joinpath("cues/dates.toml").read_text("utf-8"))

    def any_of(name: str) -> str:
        words = sorted(table[name]["words"], key=len, reverse=True)
        return "(?:" + "|".join(re.escape(word) for word in words) + ")"

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return _Words(
        compiled(
            rf"(?<![^\W_]){any_of('fraction_before')}(?:[\s:=(,]{{1,3}}(?:was|is|of|in|at|score|now|then"
            rf"|about))*[\s:=(\-#]{{0,3}}$"
        ),
        compiled(rf"\)?[\s\-]{{0,2}}{any_of('fraction_behind')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_of('nodes')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_of('date_before')}[\s:(]{{1,3}}$"),
        compiled(rf"(?:(?<![^\W_]){any_of('year_before')}[.:\s#]{{0,3}}|\d\sof\s|\d\s|#\s?)$"),
        compiled(rf"[\s\-]{{0,2}}{any_of('quantity')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_of('birth')}\W{{0,4}}$"),
    )


def is_scored(text: str, start: int) -> bool:
    """Whether the words before ``start`` make two numbers and a slash a score or a dose ("Allred 7/8", "cycle 3/6")."""
    return bool(_words().fraction_before.search(text, max(0, start - _CONTEXT), start))


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
    """The last year with these digits that is not more than one after the note."""
    limit = max(note.year if note else 2030, 1900) + 1
    return limit - (limit - two_digits) % 100


def _within_bounds(low: int, high: int) -> DayInterval | None:
    """The interval cut to the days that the model knows; None when nothing is left."""
    low, high = max(low, EARLIEST_DAY), min(high, LATEST_DAY)
    return DayInterval(low, high) if low <= high else None


class DateReader:
    """Reads the dates of one note; whether 3/4 is in March or April is decided once a note.

    The order is day–month where the note holds a date that only that order allows, month–day where it holds one that
    only that allows, else the order under which more dates fall near and not after the note date; else month–day.
    """

    def __init__(self, text: str, note_date: datetime.date | None) -> None:
        self.text = text
        self.note_date = note_date
        self._matches = list(self._find())
        self._day_first = self._reads_day_first()

    def _find(self) -> Iterator[re.Match[str]]:
        """The dates as written; a dash leads from one to the next only where both sides are dates."""
        position = 0
        while match := _DATE.search(self.text, position):
            yield match
            position = match.end()
            while (dash := _DASH.match(self.text, position)) and (match := _SECOND_DATE.match(self.text, dash.end())):
                yield match
                position = match.end()

    def _reads_day_first(self) -> bool:
        day_first = month_first = 0
        near_day_first = near_month_first = 0
        for match in self._matches:
            if match["bare_first"] is not None:
                # Weaker than a date with a year: a count that no word marks may look like one.
                first, second = int(match["bare_first"]), int(match["bare_second"])
                if max(first, second) > 12 >= min(first, second) and not self._is_count(match):
                    day_first += first > second
                    month_first += second > first
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

    def _is_future_century(self, year: int) -> bool:
        """Years from 2100 on are those of shifted dates: read as such only where the note itself has one."""
        return year >= 2100 and (self.note_date is None or self.note_date.year < 2090)

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
        """Absolute dates in text order, then relative ones."""
        yield from self._absolute()
        yield from self._relative()

    def _absolute(self) -> list[DateMention]:
        mentions: list[DateMention] = []
        for match in self._matches:
            read = None if self._is_no_date(match) else self._read(match)
            if read is None:
                continue
            interval = _within_bounds(read[0].low, read[0].high)
            if interval is None:
                continue
            if match["month_only"] or read[1] == "month-year":
                opening = self._open_month(match, interval)
                if opening:
                    mentions.append(opening)
            end = match.end()
            if match["short_after"] and read[1].endswith("without-year"):
                end = match.end("month_after")
            mention = DateMention(match.start(), end, interval, read[1], read[2])
            if mentions and mentions[-1].rule.endswith("without-year"):
                mentions[-1] = self._of_range(mentions[-1], mention)
            mentions.append(mention)
        return mentions

    def _open_month(self, match: re.Match[str], last: DayInterval) -> DateMention | None:
        """``Jan`` of ``Jan-Mar 2019``: its year is that of the end, or the one before when it would come later."""
        before = _OPEN_MONTH.search(self.text, max(0, match.start() - 24), match.start())
        month = _MONTHS.get(before["month"][:3].casefold()) if before else None
        if before is None or month is None:
            return None
        year = datetime.date.fromordinal(last.low).year
        interval = month_span(year, month)
        if interval.low > last.low:
            interval = month_span(year - 1, month)
        return DateMention(before.start(), before.end("month"), interval, "month-year", "month")

    def _of_range(self, first: DateMention, second: DateMention) -> DateMention:
        """``first`` with the year that a range gives it (``11/20 to 1/5/2019``)."""
        if second.precision != "day" or second.rule.endswith("without-year"):
            return first
        if not _BETWEEN_RANGE.fullmatch(self.text, first.end, second.start):
            return first
        day = datetime.date.fromordinal(first.day.low)
        last = datetime.date.fromordinal(second.day.low)
        for year in (last.year, last.year - 1):
            found = _day(year, day.month, day.day)
            if found and found.low <= second.day.low and _within_bounds(found.low, found.high):
                return replace(first, day=found, rule=first.rule.removesuffix("-without-year"))
        return first

    def _is_no_date(self, match: re.Match[str]) -> bool:
        """Whether the words around tell that this is another kind of number."""
        text, start, end = self.text, match.start(), match.end()
        words = _words()
        if words.birth.search(text, max(0, start - 24), start):
            return True
        month = match["month_after"] or match["month_before"] or match["month_only"]
        if month:
            # A day or year of two figures may be the number of something ("4 March 15 mg" keeps its day: see _read).
            number = match["day_after"] and not match["year_of_day"] or match["month_short_year"]
            has_year = match["year_after"] or match["year_of_day"] or match["month_year"]
            return bool(number and words.quantity.match(text, end)) or (month == "may" and not has_year)
        if match["bare_first"]:
            return self._is_count(match)
        if match["year_only"]:
            return bool(
                words.quantity.match(text, end) or words.year_before.search(text, max(0, start - 16), start)
            ) or self._is_future_century(int(match["year_only"]))
        return bool(match["first"] and words.quantity.match(text, end))

    def _is_count(self, match: re.Match[str]) -> bool:
        """Whether ``3/4`` is a count of nodes, a score, a strength, a part of something."""
        text, start, end = self.text, match.start(), match.end()
        words = _words()
        if words.fraction_behind.match(text, end) or match.group() == "24/7":
            return True
        low = max(0, start - _CONTEXT)
        if words.fraction_before.search(text, low, start):
            return True
        if words.date_before.search(text, low, start):
            return False
        clause = max(low, *(text.rfind(stop, low, start) for stop in (". ", ";", "\n")))
        if words.nodes.search(text, clause, start):
            return True
        # "pain 3/10, then 7/10": the second has the same whole and no word of its own.
        same = re.compile(rf"(?<![\d/])\d{{1,2}}/{match['bare_second']}(?!\d)")
        earlier = same.search(text, clause, start)
        return bool(earlier and words.fraction_before.search(text, max(0, earlier.start() - _CONTEXT), earlier.start()))

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
            return month_span(self._year(got["slash_year"]), int(got["slash_month"])), "month-year", "month"
        if got["bare_first"]:
            first, second = int(got["bare_first"]), int(got["bare_second"])
            month, day = (second, first) if self._day_first else (first, second)
            return self._yearless(month, day)
        if got["masked_month"]:
            return self._yearless(int(got["masked_month"]), int(got["masked_day"]))
        if got["month_after"]:
            short = got["short_after"]
            if short and _words().quantity.match(self.text, match.end()):
                short = None
            return self._named(got["month_after"], int(got["day_first"]), got["year_after"] or short)
        if got["month_before"]:
            opened = not got["year_of_day"] and _OPEN_MONTH.search(self.text, max(0, match.start() - 24), match.start())
            if opened and len(got["day_after"]) == 2:
                # "Oct - Nov 23": two months of a year, not one and a day.
                return (
                    month_span(self._year(got["day_after"]), _MONTHS[got["month_before"][:3].casefold()]),
                    "month-year",
                    "month",
                )
            return self._named(got["month_before"], int(got["day_after"]), got["year_of_day"])
        if got["month_only"]:
            digits = got["month_year"] or got["month_short_year"]
            return month_span(self._year(digits), _MONTHS[got["month_only"][:3].casefold()]), "month-year", "month"
        if got["year_only"]:
            return year_span(int(got["year_only"])), "year", "year"
        return year_span(_full_year(int(got["apostrophe_year"]), self.note_date)), "year", "year"

    def _yearless(self, month: int, day: int) -> tuple[DayInterval, str, str] | None:
        interval = self._without_year(month, day)
        return (interval, "day-month-without-year", "day") if interval else None

    def _named(self, name: str, day: int, digits: str | None) -> tuple[DayInterval, str, str] | None:
        month = _MONTHS[name[:3].casefold()]
        interval = _day(self._year(digits), month, day) if digits else self._without_year(month, day)
        rule = "named-month" if digits else "named-month-without-year"
        return (interval, rule, "day") if interval else None

    def _relative(self) -> Iterator[DateMention]:
        if self.note_date is None:
            return
        today = self.note_date.toordinal()
        position = 0
        for tail in _AGO_END.finditer(self.text):
            match = _AGO.search(self.text, max(position, tail.start() - _LONGEST_COUNT), tail.end())
            interval = self._ago(match, today) if match else None
            if match and interval:
                position = match.end()
                yield DateMention(match.start(), match.end(), interval, f"ago:{match.group()}", "relative")
        for match in _POSTOPERATIVE_DAY.finditer(self.text):
            day = _within_bounds(today - int(match["count"]), today - int(match["count"]))
            if day:
                yield DateMention(match.start(), match.end(), day, "postoperative-day", "relative")
        for match in _LAST.finditer(self.text):
            low, high = self._last(match, today)
            interval = _within_bounds(low, high)
            if interval:
                yield DateMention(match.start(), match.end(), interval, "relative-word", "relative")

    @staticmethod
    def _ago(match: re.Match[str], today: int) -> DayInterval | None:
        unit = _UNIT_DAYS.get(match["unit"].casefold())
        counts = []
        for text in (match["from"], match["count"]):
            if text:
                count = int(text) if text.isdigit() else _COUNTS.get(text.casefold())
                if count is None:
                    return None
                counts.append(count)
        if unit is None:
            return None
        # "three weeks ago" is right to about half a unit either way; a vague count to a whole one.
        spread = round(unit * (1.0 if match["about"] or match["count"].casefold() in _VAGUE else 0.5))
        low, high = today - round(max(counts) * unit) - spread, today - round(min(counts) * unit) + spread
        return _within_bounds(low, min(today, high))

    @staticmethod
    def _last(match: re.Match[str], today: int) -> tuple[int, int]:
        if match["day"]:
            day = today - 1 if match["day"].casefold() == "yesterday" else today
            return day, day
        unit = match["unit"].casefold()
        if unit.endswith("day"):
            return today - 7, today - 1
        reach = {"week": 7, "month": 31, "year": 366}.get(unit, 270)
        this = match["which"].casefold() != "last"
        return today - reach * (1 if this else 2) + (0 if this else 1), today
