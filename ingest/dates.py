"""Dates in text, of every kind, as day intervals: absolute, partial, relative to the note, de-identified."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..kb.model import DayInterval
from .calendar_days import full_year, month_span, one_day, within_bounds, year_span
from .cue_files import any_of, cue_file
from .date_parts import half_hidden, narrowed
from .date_patterns import (
    AGO,
    AGO_END,
    BETWEEN_RANGE,
    COUNTS,
    DASH,
    DATE,
    DATE_SIGNS,
    DATE_WORDS,
    LAST,
    LONGEST_COUNT,
    LONGEST_UNIT,
    MASKED_DATE,
    MONTHS,
    OPEN_MONTH,
    POSTOPERATIVE_DAY,
    SECOND_DATE,
    UNIT_BEFORE,
    UNIT_DAYS,
    VAGUE,
)
from .gates import Places, places_of
from .tokens import words_of

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
    number_before: re.Pattern[str]
    quantity: re.Pattern[str]
    birth: re.Pattern[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    table = cue_file("dates")

    def any_word(name: str) -> str:
        return any_of(table[name]["words"])

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return _Words(
        compiled(
            rf"(?<![^\W_]){any_word('fraction_before')}(?:[\s:=(,]{{1,3}}(?:was|is|of|in|at|score|now|then"
            rf"|about))*[\s:=(\-#]{{0,3}}$"
        ),
        compiled(rf"\)?[\s\-]{{0,2}}{any_word('fraction_behind')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_word('nodes')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_word('date_before')}[\s:(]{{1,3}}$"),
        compiled(rf"(?:(?<![^\W_]){any_word('year_before')}[.:\s#]{{0,3}}|\d\sof\s|\d\s|#\s?)$"),
        compiled(rf"(?<![^\W_]){any_word('number_before')}[.:\s#(]{{0,3}}$"),
        compiled(rf"[\s\-]{{0,2}}{any_word('quantity')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_word('birth')}\W{{0,4}}$"),
    )


def is_scored(text: str, start: int) -> bool:
    """Whether the words before ``start`` make two numbers and a slash a score or a dose ("Allred 7/8", "cycle 3/6")."""
    return bool(_words().fraction_before.search(text, max(0, start - _CONTEXT), start))


class DateReader:
    """Reads the dates of one note; whether 3/4 is in March or April is decided once a note.

    The order is day–month where the note holds a date that only that order allows, month–day where it holds one that
    only that allows, else the order under which more dates fall near and not after the note date; else month–day.
    """

    def __init__(self, text: str, note_date: datetime.date | None, places: Places | None = None) -> None:
        """``places``: where the words of the text open gates, if that is known."""
        self.text = text
        self.note_date = note_date
        self._places = places_of(words_of(text)) if places is None else places
        self._matches = list(self._find())
        self._day_first = self._reads_day_first()

    def _find(self) -> Iterator[re.Match[str]]:
        """The dates as written; a dash leads from one to the next only where both sides are dates."""
        position = 0
        for start in self._starts():
            match = DATE.match(self.text, start) if start >= position else None
            if match is None:
                continue
            yield match
            position = match.end()
            while (dash := DASH.match(self.text, position)) and (match := SECOND_DATE.match(self.text, dash.end())):
                yield match
                position = match.end()

    def _starts(self) -> Sequence[int]:
        """Where a date may begin, in order."""
        words = self._places[DATE_WORDS.number]
        signs = [match.start() for match in DATE_SIGNS.finditer(self.text)]
        return sorted({*words, *signs}) if signs else words

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
                readings = (True, one_day(year, second, first)), (False, one_day(year, first, second))
                for is_day_first, interval in readings:
                    gap = self.note_date.toordinal() - interval.low if interval else -1
                    if 0 <= gap <= 45:
                        near_day_first += is_day_first
                        near_month_first += not is_day_first
        if day_first != month_first:
            return day_first > month_first
        return near_day_first > near_month_first

    def _year(self, digits: str) -> int:
        return int(digits) if len(digits) == 4 else full_year(int(digits), self.note_date)

    def _is_future_century(self, year: int) -> bool:
        """Years from 2100 on are those of shifted dates: read as such only where the note itself has one."""
        return year >= 2100 and (self.note_date is None or self.note_date.year < 2090)

    def _without_year(self, month: int, day: int) -> DayInterval | None:
        """The last such day not more than a month after the note."""
        if self.note_date is None:
            return None
        for year in (self.note_date.year + 1, self.note_date.year, self.note_date.year - 1):
            found = one_day(year, month, day)
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
            interval = within_bounds(read[0].low, read[0].high)
            if interval is None:
                continue
            if match["month_only"] or read[1] == "month-year":
                opening = self._open_month(match, interval)
                if opening:
                    mentions.append(opening)
            end = match.end()
            if match["short_after"] and read[1].endswith("without-year"):
                end = match.end("month_after")
            start, part = narrowed(self.text, match.start(), interval, read[2]) or (match.start(), interval)
            if start < match.start() and _words().birth.search(self.text, max(0, start - 24), start):
                continue
            if match["span_year"]:
                end = match.end("span_year")
            mention = DateMention(start, end, part, read[1], read[2])
            if mentions and mentions[-1].rule.endswith("without-year"):
                mentions[-1] = self._of_range(mentions[-1], mention)
            mentions.append(mention)
            if match["span_year"] and (last := self._last_of_span(match)):
                mentions.append(last)
        return mentions

    @staticmethod
    def _last_of_span(match: re.Match[str]) -> DateMention | None:
        """``18`` of ``2015-18``: the year in which it ended."""
        first = int(match["span_year"])
        last = first - first % 100 + int(match["span_to"])
        if last <= first:
            return None
        return DateMention(match.start("span_to"), match.end("span_to"), year_span(last), "year", "year")

    def _open_month(self, match: re.Match[str], last: DayInterval) -> DateMention | None:
        """``Jan`` of ``Jan-Mar 2019``: its year is that of the end, or the one before when it would come later."""
        before = OPEN_MONTH.search(self.text, max(0, match.start() - 24), match.start())
        month = MONTHS.get(before["month"][:3].casefold()) if before else None
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
        if not BETWEEN_RANGE.fullmatch(self.text, first.end, second.start):
            return first
        day = datetime.date.fromordinal(first.day.low)
        last = datetime.date.fromordinal(second.day.low)
        for year in (last.year, last.year - 1):
            found = one_day(year, day.month, day.day)
            if found and found.low <= second.day.low and within_bounds(found.low, found.high):
                return replace(first, day=found, rule=first.rule.removesuffix("-without-year"))
        return first

    def _is_no_date(self, match: re.Match[str]) -> bool:
        """Whether the words around tell that this is another kind of number."""
        text, start, end = self.text, match.start(), match.end()
        words = _words()
        if words.birth.search(text, max(0, start - 24), start):
            return True
        if not match["masked"] and self._is_masked_number(start):
            return True
        if match["compact"]:
            return bool(
                words.year_before.search(text, max(0, start - 16), start)
                or words.number_before.search(text, max(0, start - 16), start)
            ) or self._is_future_century(int(match["compact"][:4]))
        month = match["month_after"] or match["month_before"] or match["month_only"]
        if month:
            # A day or year of two figures may be the number of something ("4 March 15 mg" keeps its day: see _read).
            year_of_day = match["year_of_day"] or match["short_of_day"]
            number = match["day_after"] and not year_of_day or match["month_short_year"]
            has_year = match["year_after"] or year_of_day or match["month_year"]
            return bool(number and words.quantity.match(text, end)) or (month == "may" and not has_year)
        if match["bare_first"]:
            return self._is_count(match)
        year = match["year_only"] or match["span_year"] or match["decade"]
        if year:
            return bool(
                words.quantity.match(text, end)
                or words.year_before.search(text, max(0, start - 16), start)
                and not narrowed(text, start, year_span(int(year)), "year")
            ) or self._is_future_century(int(year))
        return bool(match["first"] and words.quantity.match(text, end))

    def _is_masked_number(self, start: int) -> bool:
        """Whether the number stands in a placeholder that is none of a date (``[**Hospital 12**]``)."""
        before = self.text[max(0, start - _CONTEXT) : start]
        opened = before.rfind("[**")
        return opened > before.rfind("**]") and not MASKED_DATE.match(before, opened)

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
            interval = one_day(year, month, int(got["iso_day"]))
            return (interval, "iso", "day") if interval else None
        if got["hidden_day_year"]:
            return half_hidden(got["hidden_day_month"] or "", "", int(got["hidden_day_year"]), day_first=False)
        if got["named_year"]:
            return self._named(got["month_named"], int(got["day_named"]), got["named_year"])
        if got["compact"]:
            compact = got["compact"]
            interval = one_day(int(compact[:4]), int(compact[4:6]), int(compact[6:]))
            return (interval, "compact", "day") if interval else None
        if got["hidden_year"]:
            year = self._year(got["hidden_year"])
            return half_hidden(got["shown_first"] or "", got["shown_second"] or "", year, self._day_first)
        if got["hidden_month_year"]:
            return year_span(int(got["hidden_month_year"])), "half-hidden", "year"
        if got["first"]:
            first, second, year = int(got["first"]), int(got["second"]), self._year(got["number_year"])
            orders = ((second, first), (first, second)) if self._day_first else ((first, second), (second, first))
            for month, day in orders:
                interval = one_day(year, month, day)
                if interval:
                    return interval, "day-month-year" if self._day_first else "month-day-year", "day"
            return None
        if got["slash_month"]:
            return month_span(self._year(got["slash_year"]), int(got["slash_month"])), "month-year", "month"
        if got["bare_first"]:
            first, second = int(got["bare_first"]), int(got["bare_second"])
            month, day = (second, first) if self._day_first else (first, second)
            return self._yearless(month, day)
        if got["cut_year"]:
            month = int(got["cut_month"] or got["cut_month_before"])
            return month_span(int(got["cut_year"]), month), "year-month", "month"
        if got["masked_month"]:
            return self._yearless(int(got["masked_month"]), int(got["masked_day"]))
        if got["month_after"]:
            short = got["short_after"]
            if short and _words().quantity.match(self.text, match.end()):
                short = None
            return self._named(got["month_after"], int(got["day_first"]), got["year_after"] or short, got["from_day"])
        if got["month_hidden"]:
            month = MONTHS[got["month_hidden"][:3].casefold()]
            return month_span(int(got["month_hidden_year"]), month), "half-hidden", "month"
        if got["month_joined"]:
            return self._named(got["month_joined"], int(got["day_joined"]), got["year_joined"])
        if got["month_before"]:
            year_of_day = got["year_of_day"] or got["short_of_day"]
            opened = not year_of_day and OPEN_MONTH.search(self.text, max(0, match.start() - 24), match.start())
            if opened and len(got["day_after"]) == 2:
                # "Oct - Nov 23": two months of a year, not one and a day.
                return (
                    month_span(self._year(got["day_after"]), MONTHS[got["month_before"][:3].casefold()]),
                    "month-year",
                    "month",
                )
            if got["to_day"]:
                return self._named(got["month_before"], int(got["to_day"]), year_of_day, got["day_after"])
            return self._named(got["month_before"], int(got["day_after"]), year_of_day)
        if got["month_only"]:
            digits = got["month_year"] or got["month_short_year"]
            return month_span(self._year(digits), MONTHS[got["month_only"][:3].casefold()]), "month-year", "month"
        if got["decade"]:
            first = int(got["decade"])
            return DayInterval(year_span(first).low, year_span(first + 9).high), "decade", "year"
        if got["span_year"]:
            return year_span(int(got["span_year"])), "year", "year"
        if got["year_only"]:
            return year_span(int(got["year_only"])), "year", "year"
        return year_span(full_year(int(got["apostrophe_year"]), self.note_date)), "year", "year"

    def _yearless(self, month: int, day: int) -> tuple[DayInterval, str, str] | None:
        interval = self._without_year(month, day)
        return (interval, "day-month-without-year", "day") if interval else None

    def _named(
        self, name: str, day: int, digits: str | None, first: str | None = None
    ) -> tuple[DayInterval, str, str] | None:
        """``first``: the day from which on, where two are named (``March 4-8, 2019``)."""
        month = MONTHS[name[:3].casefold()]
        interval = one_day(self._year(digits), month, day) if digits else self._without_year(month, day)
        if interval and first and digits and (begin := one_day(self._year(digits), month, int(first))):
            interval = DayInterval(min(begin.low, interval.low), max(begin.high, interval.high))
        rule = "named-month" if digits else "named-month-without-year"
        return (interval, rule, "day") if interval else None

    def _relative(self) -> Iterator[DateMention]:
        if self.note_date is None:
            return
        today = self.note_date.toordinal()
        position = 0
        for tail in AGO_END.find(self._places, self.text):
            unit = UNIT_BEFORE.search(self.text, max(0, tail.start() - LONGEST_UNIT), tail.start())
            if unit is None:
                continue
            match = AGO.search(self.text, max(position, unit.start() - LONGEST_COUNT), tail.end())
            interval = self._ago(match, today) if match else None
            if match and interval:
                position = match.end()
                yield DateMention(match.start(), match.end(), interval, f"ago:{match.group()}", "relative")
        for match in POSTOPERATIVE_DAY.find(self._places, self.text):
            day = within_bounds(today - int(match["count"]), today - int(match["count"]))
            if day:
                yield DateMention(match.start(), match.end(), day, "postoperative-day", "relative")
        for match in LAST.find(self._places, self.text):
            low, high = self._last(match, today)
            interval = within_bounds(low, high)
            if interval:
                yield DateMention(match.start(), match.end(), interval, "relative-word", "relative")

    @staticmethod
    def _ago(match: re.Match[str], today: int) -> DayInterval | None:
        unit = UNIT_DAYS.get(match["unit"].casefold())
        counts = []
        for text in (match["from"], match["count"]):
            if text:
                count = int(text) if text.isdigit() else COUNTS.get(text.casefold())
                if count is None:
                    return None
                counts.append(count)
        if unit is None:
            return None
        # "three weeks ago" is right to about half a unit either way; a vague count to a whole one.
        spread = round(unit * (1.0 if match["about"] or match["count"].casefold() in VAGUE else 0.5))
        low, high = today - round(max(counts) * unit) - spread, today - round(min(counts) * unit) + spread
        return within_bounds(low, min(today, high))

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
