"""Dates in text, of every kind, as day intervals: absolute, partial, relative to the note, de-identified."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ....kb.model import EARLIEST_DAY, LATEST_DAY, DayInterval
from ..gates import Places, places_of
from ..words import Words, words_of
from .intervals import full_year, half_hidden, month_span, narrowed, one_day, within_bounds, year_span
from .patterns import (
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
from .words import CONTEXT, NODES, date_words


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


_BETWEEN_MONTHS = tuple("-–—/oOhHuU")


def _month_number(name: str) -> int:
    return MONTHS[name[:3].casefold()]


class DateReader:
    """Reads the dates of one note; whether 3/4 is in March or April is decided once a note.

    The order is day–month where the note holds a date that only that order allows, month–day where it holds one that
    only that allows, else the order under which more dates fall near and not after the note date; else month–day.
    """

    def __init__(
        self,
        text: str,
        note_date: datetime.date | None,
        words: Words | None = None,
        places: Places | None = None,
    ) -> None:
        """``words`` and ``places``: the words of the text and where they open gates, if that is known."""
        self.text = text
        self.note_date = note_date
        self._words = words_of(text) if words is None else words
        self._places = places_of(self._words) if places is None else places
        self._masks = "[**" in text
        #: By its start, whether a date is a count: asked for the order of day and month, and again for itself.
        self._counts: dict[int, bool] = {}
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

    def _may_end(self, name: str, start: int) -> bool:
        """Whether the pattern of that name may match what stands before ``start``: the last word tells."""
        if self.text[start - 1 : start].isalnum():
            return True
        return self._is_known_beside(name, bisect_left(self._words.starts, start) - 1)

    def _may_begin(self, name: str, end: int) -> bool:
        """Whether the pattern of that name may match what stands behind ``end``: the next word tells."""
        if self.text[end : end + 1].isalnum():
            return True
        return self._is_known_beside(name, bisect_left(self._words.starts, end))

    def _is_known_beside(self, name: str, at: int) -> bool:
        """Whether the pattern of that name may match beside the word with this number; no word: it may not."""
        if not 0 <= at < len(self._words.written):
            return False
        word = self._words.written[at]
        return word.lower() in date_words().beside[name] or not (word.isascii() and word.isalnum())

    def _narrowed(self, start: int, day: DayInterval, precision: str) -> tuple[int, DayInterval] | None:
        linked = self.text[max(0, start - 6) : start].rstrip().lower().endswith(("of", "the"))
        return narrowed(self.text, start, day, precision) if linked or self._may_end("narrowed", start) else None

    def _is_birth(self, start: int) -> bool:
        return self._may_end("birth", start) and bool(date_words().birth.search(self.text, max(0, start - 24), start))

    def _is_quantity(self, end: int) -> bool:
        return self._may_begin("quantity", end) and bool(date_words().quantity.match(self.text, end))

    def _reads_day_first(self) -> bool:
        day_first = month_first = 0
        near_day_first = near_month_first = 0
        for match in self._matches:
            if match.lastgroup == "bare_second":
                # Weaker than a date with a year: a count that no word marks may look like one.
                first, second = int(match["bare_first"]), int(match["bare_second"])
                if max(first, second) > 12 >= min(first, second) and not self._is_count(match):
                    day_first += first > second
                    month_first += second > first
            if match.lastgroup != "number_year":
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
            interval, rule, precision = read
            if interval.low < EARLIEST_DAY or interval.high > LATEST_DAY:
                within = within_bounds(interval.low, interval.high)
                if within is None:
                    continue
                interval = within
            if rule == "month-year":
                opening = self._open_month(match, interval)
                if opening:
                    mentions.append(opening)
            end = match.end()
            if match["short_after"] and rule.endswith("without-year"):
                end = match.end("month_after")
            start, part = match.start(), interval
            if precision != "day" and (narrow := self._narrowed(start, interval, precision)):
                start, part = narrow
                if self._is_birth(start):
                    continue
            if match["span_year"]:
                end = match.end("span_year")
            mention = DateMention(start, end, part, rule, precision)
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
        # A dash, a stroke, "to" or "through" stands before it.
        if not self.text[max(0, match.start() - 3) : match.start()].rstrip().endswith(_BETWEEN_MONTHS):
            return None
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
        text, (start, end) = self.text, match.span()
        if self._is_birth(start):
            return True
        if self._masks and not match["masked"] and self._is_masked_number(start):
            return True
        # The group that closed last tells which form of a date it is.
        last = match.lastgroup
        if last == "number_year":
            return self._is_quantity(end)
        if last == "bare_second":
            return self._is_count(match)
        words = date_words()
        if last == "compact":
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
            return bool(number and self._is_quantity(end)) or (month == "may" and not has_year)
        year = match["year_only"] or match["span_year"] or match["decade"]
        if year:
            return bool(
                self._is_quantity(end)
                or words.year_before.search(text, max(0, start - 16), start)
                and not self._narrowed(start, year_span(int(year)), "year")
            ) or self._is_future_century(int(year))
        return False

    def _is_masked_number(self, start: int) -> bool:
        """Whether the number stands in a placeholder that is none of a date (``[**Hospital 12**]``)."""
        before = self.text[max(0, start - CONTEXT) : start]
        opened = before.rfind("[**")
        return opened > before.rfind("**]") and not MASKED_DATE.match(before, opened)

    def _is_count(self, match: re.Match[str]) -> bool:
        """Whether ``3/4`` is a count of nodes, a score, a strength, a part of something."""
        start = match.start()
        known = self._counts.get(start)
        if known is None:
            known = self._counts[start] = self._counts_something(match)
        return known

    def _counts_something(self, match: re.Match[str]) -> bool:
        text, (start, end) = self.text, match.span()
        words = date_words()
        if self._may_begin("fraction_behind", end) and words.fraction_behind.match(text, end):
            return True
        if match.group() == "24/7" or self._is_scored(start):
            return True
        low = max(0, start - CONTEXT)
        if self._may_end("date_before", start) and words.date_before.search(text, low, start):
            return False
        clause = max(low, *(text.rfind(stop, low, start) for stop in (". ", ";", "\n")))
        if NODES.stands_in(self._places, clause, start) and words.nodes.search(text, clause, start):
            return True
        # "pain 3/10, then 7/10": the second has the same whole and no word of its own.
        same = re.compile(rf"(?<![\d/])\d{{1,2}}/{match['bare_second']}(?!\d)")
        earlier = same.search(text, clause, start)
        return earlier is not None and self._is_scored(earlier.start())

    def _is_scored(self, start: int) -> bool:
        return self._may_end("fraction_before", start) and is_scored(self.text, start)

    def _read(self, match: re.Match[str]) -> tuple[DayInterval, str, str] | None:
        interval: DayInterval | None
        # The group that closed last tells which form of a date it is; the commonest first.
        last = match.lastgroup
        if last == "number_year":
            first, second, year = int(match["first"]), int(match["second"]), self._year(match["number_year"])
            orders = ((second, first), (first, second)) if self._day_first else ((first, second), (second, first))
            for month, day in orders:
                interval = one_day(year, month, day)
                if interval:
                    return interval, "day-month-year" if self._day_first else "month-day-year", "day"
            return None
        if last == "bare_second":
            first, second = int(match["bare_first"]), int(match["bare_second"])
            month, day = (second, first) if self._day_first else (first, second)
            return self._yearless(month, day)
        if last == "slash_year":
            return month_span(self._year(match["slash_year"]), int(match["slash_month"])), "month-year", "month"
        if last == "year_only" or last == "span_to":
            return year_span(int(match["year_only"] or match["span_year"])), "year", "year"
        if last == "iso_month":
            return month_span(int(match["iso_year"]), int(match["iso_month"])), "year-month", "month"
        if last == "iso_day":
            interval = one_day(int(match["iso_year"]), int(match["iso_month"]), int(match["iso_day"]))
            return (interval, "iso", "day") if interval else None
        if match["month_only"]:
            digits = match["month_year"] or match["month_short_year"]
            return month_span(self._year(digits), _month_number(match["month_only"])), "month-year", "month"
        if match["month_after"] or match["month_before"]:
            return self._of_named_month(match)
        return self._of_rare_form(match)

    def _of_rare_form(self, match: re.Match[str]) -> tuple[DayInterval, str, str] | None:
        """A date written without signs, with a part of it hidden or masked, or in another form that is seldom met."""
        got = match.groupdict()
        interval: DayInterval | None
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
        if got["cut_year"]:
            month = int(got["cut_month"] or got["cut_month_before"])
            return month_span(int(got["cut_year"]), month), "year-month", "month"
        if got["masked_month"]:
            return self._yearless(int(got["masked_month"]), int(got["masked_day"]))
        if got["month_hidden"]:
            month = _month_number(got["month_hidden"])
            return month_span(int(got["month_hidden_year"]), month), "half-hidden", "month"
        if got["month_joined"]:
            return self._named(got["month_joined"], int(got["day_joined"]), got["year_joined"])
        if got["decade"]:
            first = int(got["decade"])
            return DayInterval(year_span(first).low, year_span(first + 9).high), "decade", "year"
        return year_span(full_year(int(got["apostrophe_year"]), self.note_date)), "year", "year"

    def _of_named_month(self, match: re.Match[str]) -> tuple[DayInterval, str, str] | None:
        if match["month_after"]:
            short = match["short_after"]
            if short and self._is_quantity(match.end()):
                short = None
            digits = match["year_after"] or short
            return self._named(match["month_after"], int(match["day_first"]), digits, match["from_day"])
        name, day = match["month_before"], match["day_after"]
        year_of_day = match["year_of_day"] or match["short_of_day"]
        opened = not year_of_day and OPEN_MONTH.search(self.text, max(0, match.start() - 24), match.start())
        if opened and len(day) == 2:
            # "Oct - Nov 23": two months of a year, not one and a day.
            return month_span(self._year(day), _month_number(name)), "month-year", "month"
        if match["to_day"]:
            return self._named(name, int(match["to_day"]), year_of_day, day)
        return self._named(name, int(day), year_of_day)

    def _yearless(self, month: int, day: int) -> tuple[DayInterval, str, str] | None:
        interval = self._without_year(month, day)
        return (interval, "day-month-without-year", "day") if interval else None

    def _named(
        self, name: str, day: int, digits: str | None, first: str | None = None
    ) -> tuple[DayInterval, str, str] | None:
        """``first``: the day from which on, where two are named (``March 4-8, 2019``)."""
        month = _month_number(name)
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


def is_scored(text: str, start: int) -> bool:
    """Whether the words before ``start`` make two numbers and a slash a score or a dose ("Allred 7/8", "cycle 3/6")."""
    return bool(date_words().fraction_before.search(text, max(0, start - CONTEXT), start))
