"""How dates are written: the patterns that :mod:`dates` reads, and the numbers behind the words of relative ones."""

from __future__ import annotations

import re
from typing import Final

from ..gates import Gate, Gated
from ..word_classes import word_classes

_CLASSES: Final = word_classes("text", "patterns")

MONTHS = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}
_WEEKDAYS = _CLASSES.pattern(r"{weekday}day")
_MONTH_NAME = _CLASSES.pattern(r"{month}")
_MONTH = rf"(?P<{{0}}>{_MONTH_NAME})(?![a-z])\.?"
_ANY_MONTH = "|".join(MONTHS)
_YEAR = r"(?:19|20|21)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
#: What stands where a part of a date was taken out or is still to be filled in.
_HIDDEN = r"(?:xx?|__?|\*\*|\?\??|mm|dd)"
COUNTS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "couple of": 2, "couple": 2, "few": 3, "several": 5}
VAGUE = frozenset({"few", "several"})
_COUNT = r"\d{1,3}|" + "|".join(sorted((word.replace(" ", r"\ ") for word in COUNTS), key=len, reverse=True))
UNIT_DAYS = {
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
      (?P<hidden_day_year>{_YEAR})(?P<iso_separator>[/\-])
        (?:(?P<hidden_day_month>1[0-2]|0?[1-9])|{_HIDDEN})(?P=iso_separator){_HIDDEN}(?!\w)
    | (?P<iso_year>{_YEAR})[-/](?P<iso_month>1[0-2]|0?[1-9])(?!\d)(?:[-/](?P<iso_day>{_DAY}))?(?![\d/])
    | (?P<named_year>{_YEAR})[\-/\s]?{_MONTH.format("month_named")}(?:[\-/]|\s?(?=\d))(?P<day_named>{_DAY})(?![\d/%])
    | (?P<compact>(?:19|20)\d\d(?:1[0-2]|0[1-9])(?:3[01]|[12]\d|0[1-9]))(?![\w/%]|-\w|\.\d)
    | (?P<shown_first>\d\d?)?(?(shown_first)|{_HIDDEN})(?P<hidden_separator>[/.\-])
        (?:{_HIDDEN}|(?(shown_first)(?!)|(?P<shown_second>\d\d?)))(?P=hidden_separator)
      (?P<hidden_year>{_YEAR}|(?<=/)\d\d)(?![\d/%]|\.\d)
    | {_HIDDEN}/(?P<hidden_month_year>{_YEAR})(?![\d/%])
    | (?P<first>{_DAY})(?P<separator>[/.\-])(?P<second>{_DAY})(?P=separator)(?P<number_year>{_YEAR}|\d\d)(?![\d/%]|\.\d)
    | (?P<slash_month>1[0-2]|0?[1-9])/(?P<slash_year>{_YEAR}|00|3[2-9]|[4-9]\d)(?![\d/%])
    | (?P<bare_first>{_DAY})/(?P<bare_second>{_DAY})(?![\d/%+]|\.\d|-\d\d\d)
    | (?(masked)
        (?:-(?P<cut_month>1[0-2]|0?[1-9])|(?P<cut_month_before>1[0-2]|0?[1-9])-)/(?P<cut_year>{_YEAR})(?=\s?\*\*)|(?!))
    | (?(masked)(?P<masked_month>1[0-2]|0?[1-9])-(?P<masked_day>{_DAY})(?=\s?\*\*)|(?!))
    | (?:(?P<from_day>{_DAY})(?:st|nd|rd|th)?\s?[\-–]\s?
        (?={_DAY}(?:st|nd|rd|th)?\s{{1,3}}[A-Za-z.]{{3,10}},?\s{{1,3}}{_YEAR}(?!\d)))?
      (?P<day_first>{_DAY})(?:st|nd|rd|th)?[\s\-]{{0,3}}(?:of\s)?{_MONTH.format("month_after")}
      (?:[\s,\-]{{0,3}}(?:(?P<year_after>{_YEAR})(?!\d)|['’]?(?P<short_after>\d\d)(?![\d/%]|[:.]\d)))?
    | {_MONTH.format("month_hidden")}[\s\-/]{{1,3}}{_HIDDEN}[\s,\-/]{{1,3}}(?P<month_hidden_year>{_YEAR})(?!\d)
    | {_MONTH.format("month_joined")}(?P<joint>[\-/])(?P<day_joined>{_DAY})(?P=joint)
        (?P<year_joined>{_YEAR}|\d\d)(?![\d/%])
    | {_MONTH.format("month_before")}\s{{1,3}}(?P<day_after>{_DAY})(?:st|nd|rd|th)?(?![\d/%]|:\d)
      (?:\s?(?:-|–|to|through|and|&)\s?(?P<to_day>{_DAY})(?:st|nd|rd|th)?(?=,?\s{{1,3}}{_YEAR}(?!\d)))?
      (?:,?\s{{1,3}}(?:(?P<year_of_day>{_YEAR})(?!\d)|['’](?P<short_of_day>\d\d)(?!\w)))?
    | {_MONTH.format("month_only")}[\s,'’\-/]{{0,3}}(?:of\s)?(?:(?P<month_year>{_YEAR})
            |['’]?(?P<month_short_year>\d\d))(?![\d/%]|:\d)
    | (?P<decade>(?:19|20)\d0)['’]?s\b
    | (?P<span_year>{_YEAR})[\-–](?P<span_to>1[3-9]|[2-9]\d)(?![\w\-–/%]|\.\d)
    | (?P<year_only>{_YEAR})(?![\d/%+]|:\d|-(?!{_YEAR}(?![\d\-]))|\.\d)
    | ['’](?P<apostrophe_year>\d\d)(?![\ds\w'’"])
    )(?:\s?\*\*\])?"""
# The first look-ahead only spares the engine most positions of a text: a number of one or two figures begins a date
# only where a sign, a day with its month, or a second day follows.
DATE = re.compile(
    rf"""(?=[\['’jfmasondx_*?]|{_YEAR}|\d\d?(?:/|\.(?:\d\d?\.|[x_*?md])
            |(?:st|nd|rd|th)?(?:\s?[\-–]|[\s\-]{{0,3}}(?:of\s)?(?=[jfmasond])(?:{_ANY_MONTH}))))
        (?:(?<![\w./])(?<!\d[\-–])|(?<=q\d[\-/])|(?<=[a-z]/)(?={_MONTH.format("month_behind")})){_BODY}""",
    re.VERBOSE | re.IGNORECASE,
)
#: A date begins with a day, a year, a month, with what hides a part of it, or with one of these signs.
DATE_WORDS = Gate(
    begins=rf"(?i:\d\d?(?:\Z|st|nd|rd|th|of\Z|{_ANY_MONTH})|{_YEAR}(?:\d{{4}})?(?!\d)|(?:{_MONTH_NAME})(?![a-z])"
    r"|xx?\Z|mm\Z|dd\Z)"
)
DATE_SIGNS = re.compile(r"[\[_*?'’](?:(?<=\[)(?=\*\*)|(?<=[_*?])(?=[_*?]?[/.\-])|(?<=['’])(?=\d\d))")
SECOND_DATE = re.compile(_BODY, re.VERBOSE | re.IGNORECASE)
DASH = re.compile(r"\s?[-–—]\s?")
BETWEEN_RANGE = _CLASSES.compile(r"\s{0,2}(?:[-–—]|{up_to})\s{0,2}", re.IGNORECASE)
OPEN_MONTH = _CLASSES.compile(rf"(?<![^\W_]){_MONTH.format('month')}\s?(?:[-–—/]|{{open_to}})\s?$", re.IGNORECASE)
AGO = _CLASSES.compile(
    rf"""(?=[\dafonetswc~])(?<!\w)(?:(?P<about>{{roughly}})\s{{0,2}})?
        (?:(?P<from>{_COUNT})\s?(?:-|–|to|or)\s?)?(?:a\s)?(?P<count>{_COUNT})(?:(?<=\d)|(?=[\s\-]))[\s\-]{{0,2}}
        (?P<unit>{{unit}})s?\.?\s{{1,3}}
        {{ago}}\b""",
    re.VERBOSE | re.IGNORECASE,
)
#: What may stand in a placeholder before the date that it shows.
MASKED_DATE = re.compile(
    r"\[\*\*\s?(?:dates?\b[^\d*\]]{0,20}(?:\(\w{1,4}\)\s?)?|[\d/.\-\s]{1,24}(?:-|to)\s?)?$", re.IGNORECASE
)
#: What every such mention ends with, where a word opens it, and the unit before that; the long pattern is tried only
#: before the two.
AGO_END = Gated(
    _CLASSES.compile(r"(?<![^\W_]){ago}\b", re.I),
    begins=_CLASSES.pattern(r"(?i:{ago_begins})\b"),
)
UNIT_BEFORE = _CLASSES.compile(r"{unit}s?\.?\s{1,3}\Z", re.IGNORECASE)
LONGEST_UNIT = 12
LONGEST_COUNT = 60
_LAST = _CLASSES.compile(
    rf"""(?=[letys])(?<!\w)(?:(?P<which>{{which}})\s+(?P<unit>{{stretch}}|{_WEEKDAYS})
        |(?P<day>{{near_day}}|this\s+{{part_of_day}}))\b""",
    re.IGNORECASE | re.VERBOSE,
)
LAST = Gated(_LAST, begins=_CLASSES.pattern(r"(?i:{which_begins}|{near_day})\b"))
_POSTOPERATIVE_DAY = _CLASSES.compile(r"\b{postoperative_day}\s{0,2}\#?\s{0,2}(?P<count>\d{1,3})\b", re.VERBOSE)
POSTOPERATIVE_DAY = Gated(_POSTOPERATIVE_DAY, begins=r"POD|[Pp]ost")
