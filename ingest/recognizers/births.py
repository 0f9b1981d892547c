"""Birth, as a note tells it: by an age on the note's own day, or by a date of birth. Read as the days it can be."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...kb.model import EARLIEST_DAY, DayInterval, Value
from ..text.cue_files import any_of, cue_file
from ..text.dates.intervals import month_span, one_day, year_span
from ..text.dates.patterns import MONTHS
from ..text.frame import BIRTHS, Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("recognizers", "births")

#: Nobody is older, in years.
OLDEST: Final = 115
#: So far before and behind an age lie the words that tell whose it is, in characters.
_NEAR: Final = 48
#: The source of a birth that an age tells.
_BY_AGE: Final = "pattern:age"
#: Ages, labelled ages and dates of birth, each with the look of the word that it begins at.
_AGES: Final = Gated(
    _CLASSES.compile(
        r"(?<![\w./-])(?P<years>\d{1,3})(?:\s?-?\s?{years}\s?-?\s?{old}|\s?-?\s?y(?:r|ear)?s?[./ ]?\s?o(?:ld"
        r"|\.)?)(?![^\W_])",
        re.IGNORECASE,
    ),
    # A number is sought before the word for years: most numbers are no ages.
    r"(?i:\d{1,3}y|y(?:\Z|[ros]|ear))",
    before=6,
    lead="0123456789",
)
_LABELLED: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_]){age_label}{sex_behind}?\s?[:=]\s?(?P<years>\d{1,3})(?![\d.]|/\d)"),
    _CLASSES.pattern(r"\A{age_label}"),
)


def _dates_of_birth() -> Gated:
    words = cue_file("births")["birth"]["words"]
    date = (
        r"(?:(?P<year>(?:19|20)\d\d)-(?P<month>\d\d?)-(?P<day>\d\d?)"
        r"|(?P<first>\d\d?)[/.](?P<second>\d\d?)[/.](?P<last>(?:19|20)\d\d)"
        r"|(?:(?P<before>\d\d?)\s)?(?P<name>[A-Z][a-z]{2,8})\.?\s(?:(?P<behind>\d\d?)(?:st|nd|rd|th)?,?\s)?"
        r"(?P<named>(?:19|20)\d\d)|(?P<only>(?:19|20)\d\d)(?![/\-\d]))"
    )
    # What a sign or blank parts from the rest is a word by itself: the D of D.O.B. opens no other word.
    first = any_of({word for word in words if word.isalnum()})
    parted = any_of({_FIRST_WORD.split(word)[0] for word in words if not word.isalnum()})
    stated = rf"(?<![^\W_]){any_of(words)}[\s:]{{0,3}}{date}(?!\d)"
    return Gated(re.compile(stated, re.IGNORECASE), rf"(?i:{first}|{parted}\Z)")


_FIRST_WORD: Final = re.compile(r"[^A-Za-z0-9]")
_DATES_OF_BIRTH: Final = _dates_of_birth()


def _others() -> Gated:
    words = cue_file("births")["other"]["words"]
    first = any_of({_FIRST_WORD.split(word)[0] for word in words})
    return Gated(re.compile(rf"(?<![^\W_]){any_of(words)}(?![^\W_])", re.IGNORECASE), rf"(?i:{first})")


#: Words that make an age, or a day of birth, somebody else's.
_OTHERS: Final = _others()


@dataclass(frozen=True, slots=True)
class _Patterns:
    person: re.Pattern[str]
    subject: re.Pattern[str]
    sexes: Mapping[str, re.Pattern[str]]


#: Behind an age: up to three words, and one that tells the sex.
_SEXED: Final = r"[\s,()\[\]/-]{0,3}(?:[\w/-]{1,16}[\s,]{1,2}){0,3}%s(?![^\W_])"


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    table = cue_file("births")
    words = {name: any_of(entry["words"]) for name, entry in table.items()}
    return _Patterns(
        re.compile(
            rf"[\s,()\[\]/-]{{0,3}}(?:[\w/-]{{1,16}}[\s,]{{1,2}}){{0,3}}{words['person']}(?![^\W_])", re.IGNORECASE
        ),
        re.compile(rf"(?<![^\W_]){words['subject']}[\s:]{{0,3}}$", re.IGNORECASE),
        {sex: re.compile(_SEXED % words[sex], re.IGNORECASE) for sex in ("female", "male")},
    )


class BirthRecognizer(Recognizer):
    """Births; the ``day`` of a span is the interval in which the patient was born."""

    name = "births"
    gates = (_AGES, _LABELLED, _DATES_OF_BIRTH)
    layer = BIRTHS

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``birth``."""
        date, text, places = frame.note.date, frame.text, frame.places
        for gated in (_AGES, _LABELLED):
            for match in gated.find(places, text):
                years = int(match["years"])
                if years <= OLDEST and _is_patients(frame, match, labelled=gated is _LABELLED):
                    sex = _sex_behind(text, match.end())
                    attributes: dict[str, Value] = {"sex": sex} if sex else {}
                    yield Span(*match.span(), "birth", "", _BY_AGE, attributes, day=born_of(years, date))
        for match in _DATES_OF_BIRTH.find(places, text):
            days = _date_of(match)
            if days is not None and (date is None or days.low <= date.toordinal()) and not _of_other(frame, match):
                yield Span(*match.span(), "birth", "", "pattern:date-of-birth", day=days)


def label_of(birth: Span) -> str:
    """The label of its mention: what was told is an age, or a date."""
    return "Age" if birth.source == _BY_AGE else "Datetime"


def born_of(years: int, date: datetime.date | None) -> DayInterval:
    """The days of birth of somebody who is so many completed years old on ``date``; any day where that is not known."""
    if date is None:
        return DayInterval()
    low, high = _years_before(date, years + 1) + 1, _years_before(date, years)
    return DayInterval(max(EARLIEST_DAY, low), max(EARLIEST_DAY, high))


def _years_before(date: datetime.date, years: int) -> int:
    year = max(1, date.year - years)
    return date.replace(year=year, day=min(date.day, calendar.monthrange(year, date.month)[1])).toordinal()


def _is_patients(frame: Frame, match: re.Match[str], *, labelled: bool) -> bool:
    words, text = _patterns(), frame.text
    return (
        labelled
        or words.person.match(text, match.end(), match.end() + _NEAR) is not None
        or words.subject.search(text, max(0, match.start() - _NEAR), match.start()) is not None
    ) and not _of_other(frame, match)


def _sex_behind(text: str, end: int) -> str:
    """The sex that the words behind an age tell (``67-year-old postmenopausal woman``); empty for none, or for both."""
    found = [sex for sex, pattern in _patterns().sexes.items() if pattern.match(text, end, end + _NEAR)]
    return found[0] if len(found) == 1 else ""


def _of_other(frame: Frame, match: re.Match[str]) -> bool:
    section = frame.shape.section_at(match.start())
    if section.effect in ("family", "boilerplate", "criteria"):
        return True
    sentence = frame.shape.sentences[frame.shape.sentence_index_at(match.start())]
    return bool(_OTHERS.find_in(frame.places, frame.text, sentence.start, match.start()))


def _date_of(match: re.Match[str]) -> DayInterval | None:
    """The day, or the days where the order of day and month is open or only the year is told."""
    if match["year"]:
        return one_day(int(match["year"]), int(match["month"]), int(match["day"]))
    if match["first"]:
        return _either_order(int(match["last"]), int(match["first"]), int(match["second"]))
    if match["only"]:
        return year_span(int(match["only"]))
    month, day = MONTHS.get(match["name"][:3].lower()), match["before"] or match["behind"]
    if month is None:
        return None
    year = int(match["named"])
    return one_day(year, month, int(day)) if day else month_span(year, month)


def _either_order(year: int, first: int, second: int) -> DayInterval | None:
    """The day, or both of 3/4 and what lies between; None where an order that could be meant gives no day."""
    read = [one_day(year, month, day) for month, day in ((first, second), (second, first)) if month <= 12]
    days = [day for day in read if day is not None]
    if not days or len(days) < len(read):
        return None
    return DayInterval(min(day.low for day in days), max(day.high for day in days))
