"""Vital signs, laboratory values, scores: names with the value or the result beside them, in any layout.

A name alone says nothing. A number is the value of a name if the unit behind it can be one of that name's, and the
number, in the usual unit, lies where such values lie (``kb/ontology/usual_units.tsv``); so dates, doses, ages and
counts stay out.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...kb.model import EARLIEST_DAY, DayInterval, Mention, Value
from ...kb.units import (
    COUNTS,
    NO_UNITS,
    Usual,
    amount_of,
    bare_units,
    in_usual_unit,
    likely_units,
    plain_number,
    unit_named,
    unit_pattern,
    usual_units,
)
from ..text.frame import MEASURES, Frame, Recognizer, Span
from ..text.word_classes import word_classes
from .lexicon import Lexicon

_CLASSES: Final = word_classes("recognizers", "measurements")

#: No value stands further behind its name (characters), nor behind more than so many words.
_REACH: Final = 90
_MOST_STEPS: Final = 16
#: So far before a name are the words looked for that make its value a wish, or deny what is said of it.
_REACH_BEFORE: Final = 60
_MOST_VALUES: Final = 8
#: Behind so many words a name still heads an item of a plan.
_MOST_BEFORE_ITEM: Final = 4

#: The source of what another name beside it makes of a name.
BESIDE: Final = "pattern:measured"
_INTERPRETATIONS: Final = ("normal", "high", "low", "abnormal", "positive", "negative", "trace", "equivocal")
_JOIN: Final = re.compile(r"(?:[ \t]{0,2}(?:,|/|&|\band\b|,[ \t]?and\b|\bor\b)[ \t]{0,2}|[ \t]?-[ \t]?)\Z")
_RESULT: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:" + "|".join(f"(?P<{name}>{{{name}}})" for name in _INTERPRETATIONS) + r")(?![^\W_])"
)
_BEFORE: Final = ("high", "low", "normal", "abnormal", "positive", "negative")
#: What is looked at or tried at the bedside is called by more words than these.
_RESULT_OF_EXAMINATION: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:(?P<normal>{normal_of_examination}|{normal})|(?P<abnormal>{abnormal_of_examination}|{abnormal})"
    r"|(?P<high>{high})|(?P<low>{low})|(?P<positive>{positive})|(?P<negative>{negative})|(?P<equivocal>{equivocal}))"
    r"(?![^\W_])"
)
_EXAMINED_BEFORE: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:(?P<normal>{normal_of_examination_before})|(?P<abnormal>{abnormal_of_examination_before}))"
    r"\s{1,2}(?:{measured_before}\s{1,2}){0,2}\Z",
    re.IGNORECASE,
)
#: How strong a pulse or reflex is.
_GRADED: Final = re.compile(r"\d(?:\+|/4)?")
_SAYS_NORMAL: Final = _CLASSES.compile(r"{says_normal}", re.IGNORECASE)
_RESULT_BEFORE: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:"
    + "|".join(f"(?P<{name}>{{{name}_before}})" for name in _BEFORE)
    + r")\s{1,2}(?:{measured_before}\s{1,2}){0,2}\Z",
    re.IGNORECASE,
)
_DENIED_BEFORE: Final = _CLASSES.compile(r"(?<![^\W_]){denied_before}\s{1,2}(?:\w+\s{1,2}){0,2}\Z", re.IGNORECASE)
_EXCEPT: Final = _CLASSES.compile(r"[\s,(]{0,3}{exception}(?![^\W_])", re.IGNORECASE)
_CHANGED: Final = re.compile(r"\s{1,2}(?:to|from|by)(?![^\W_])")
#: Signs and words that say nothing themselves; a reference range in brackets.
_SKIP: Final = _CLASSES.compile(
    r"[\s:=~\-–—,*_|'’]+|\.{2,60}|[(\[](?=[^)\]]{0,40}[)\]])|[)\]]"
    r"|(?<![^\W_])(?:{filler})(?![^\W_])",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"[(\[]\s?(?:\w{3,9}:?\s)?\d{1,5}(?:\.\d+)?\s?[-–]\s?\d{1,5}(?:\.\d+)?[^)\]]{0,20}[)\]]")
#: With a point, thousands parted by commas, or the comma of other countries before one or two decimals (*2,9*).
_NUMBER_TEXT: Final = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d{1,3})?|\d{1,3},\d{1,2}(?!\d|,\d)|\d{1,7}(?:\.\d{1,4})?|\.\d{1,4})"
_NUMBER: Final = _CLASSES.compile(
    rf"(?:(?P<sign>{{below}}|{{above}})\s?)?(?<![\d.])(?P<number>-?{_NUMBER_TEXT})(?![\d]|\.\d|,\d{{3}}(?!\d))",
)
_BARE: Final = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_RANGE: Final = re.compile(rf"\s?(?:-|–|to)\s?(?P<high>{_NUMBER_TEXT})(?![\d\w]|\.\d)")
_PAIR: Final = re.compile(r"(?P<first>\d{2,3})\s?(?:/|\sover\s|\\)\s?(?P<second>\d{2,3}|palp\w*|P)(?![\d/]|\.\d)")
_OF: Final = re.compile(r"\s?(?:/|out\sof|of)\s?(?P<whole>\d{1,3})(?![\d/]|\.\d)")
_UNIT: Final = re.compile(rf"\s{{0,2}}-?(?P<unit>{unit_pattern()})(?!\w)", re.IGNORECASE)
#: "9.1 in March" is no inch.
_IN_A_MONTH: Final = _CLASSES.compile(
    r"in\s(?:(?:early|mid|late)[\s-])?(?:{month}|(?:19|20)\d\d)(?![^\W_])", re.IGNORECASE
)
_COUNTS: Final = {
    unit: re.compile(r"\s?(?:" + "|".join(map(re.escape, spelled)) + r")(?![\w/])", re.IGNORECASE)
    for unit, spelled in COUNTS.items()
}
_NO_UNIT: Final = re.compile(r"[\s\-]{0,2}(?:" + "|".join(NO_UNITS) + r")(?!\w)|\s?[/:]\s?\w|\+|\w|-\d", re.IGNORECASE)
_DEGREES: Final = re.compile(r"\s{0,2}(?:degrees?(?!\w)|deg(?!\w)\.?|°|º)(?!\s?[CFcf]\b)")
_FLAG: Final = re.compile(
    r"\s{0,2}(?:[(\[]\s?(?P<word>HH?|LL?|[Hh]igh|[Ll]ow|[Ee]levated|[Nn]ormal|[Aa]bnormal|A|WNL|[Cc]ritical)\s?[)\]]"
    r"|(?P<letter>[HL])(?![\w/]))"
)
_FLAGS: Final = {"h": "high", "e": "high", "l": "low", "n": "normal", "w": "normal", "a": "abnormal", "c": "abnormal"}
_ARROW: Final = re.compile(r"\s{0,2}(?:-{1,2}>|=>|→|⇒|,?\s?then\s|,?\s(?:and\s)?(?:to|down\sto|up\sto)\s)\s{0,2}")
_NEXT: Final = re.compile(r"\s?(?:,\s?and\s|,|/|;|\sand\s|-)\s{0,2}")
_FEET: Final = re.compile(
    r"(?P<feet>\d)\s?(?:feet|foot|ft\.?|['’′])\s?(?:,\s?|and\s)?"
    r"(?:(?P<inches>\d{1,2}(?:\.\d{1,2})?)(?:[\s\-](?:1/2|½))?\s?(?:inches|inch|in\.?|[\"”″]|['’]{2})?)?(?!\w)",
    re.IGNORECASE,
)
_POUNDS: Final = re.compile(
    r"(?P<pounds>\d{1,2})\s?(?:pounds?|lbs?\.?)\s?(?:,\s?|and\s)?(?P<ounces>\d{1,2}(?:\.\d)?)\s?(?:ounces?|oz\.?)(?!\w)",
    re.IGNORECASE,
)
_ROMAN: Final = re.compile(r"(?P<low>IV|I{1,3}|VI?)(?:\s?[-/]\s?(?P<high>IV|I{1,3}|VI?))?(?![\w])")
_LETTER: Final = re.compile(r"(?P<letter>[ABC])(?:\s?\(?(?P<points>1[0-5]|[5-9])\)?)?(?![\w])")
_ROMANS: Final = {"I": 1.0, "II": 2.0, "III": 3.0, "IV": 4.0, "V": 5.0, "VI": 6.0}
_WISHED: Final = _CLASSES.compile(r"(?<![^\W_]){wished}(?![^\W_])[^.;]{0,40}\Z", re.IGNORECASE)
_BEHIND_NAME: Final = _CLASSES.compile(r"[\s\-]{1,2}{no_value_behind}(?![^\W_])", re.IGNORECASE)
_NO_VALUE_BEFORE: Final = _CLASSES.compile(r"(?<![^\W_]){no_value_before}[\s/]{1,2}\Z", re.IGNORECASE)
_AMOUNT_BEFORE: Final = _CLASSES.compile(r"(?<![^\W_]){amount}\s{1,2}(?:\w+\s)?\Z", re.IGNORECASE)
_ORDERED_BEFORE: Final = _CLASSES.compile(r"(?<![^\W_]){ordered}(?![^\W_])[^.;]{0,40}\Z", re.IGNORECASE)
_TO_BE_BEFORE: Final = _CLASSES.compile(r"(?<![^\W_]){to_be}(?![^\W_])[^.;]{0,40}\Z", re.IGNORECASE)
_ORDERED_BEHIND: Final = _CLASSES.compile(r"[\s,:(]{0,3}(?:\w+\s){0,3}?{ordered_behind}(?![^\W_])", re.IGNORECASE)
_IS_SAID_OF: Final = _CLASSES.compile(r"\s{1,2}(?:is|was|are|were|has|had)\s(?!(?:{ordered_behind})(?![^\W_]))")
#: Where a test was made of, when, and helping words may stand between its name and what is said of it.
_BETWEEN: Final = (
    r"(?:\s{0,2}(?:\([^)]{0,30}\)|,[^,.;]{0,40},))?"
    r"(?:\s{1,2}(?!{not_said_yet}(?!\w))"
    r"[\w/\-']{1,20}){0,8}?"
)
_SHOWN_BEHIND: Final = _CLASSES.compile(
    rf"{_BETWEEN}\s{{1,2}}(?:has\s|have\s|had\s|also\s|which\s)?{{shown}}(?![^\W_])|[ ]?:\s{{1,3}}(?=\w)", re.IGNORECASE
)
_CALLED: Final = _CLASSES.compile(
    rf"{_BETWEEN}\s{{1,2}}(?:is|was|were|are|been|remains?|also|entirely|completely|essentially|again|came\sback)?\s?"
    + r"(?:"
    + "|".join(f"(?P<{name}>{{{name}}})" for name in ("normal", "abnormal", "positive", "negative"))
    + r")(?![^\W_])"
)
_SYSTOLIC: Final = re.compile(r"\s?(?:mm\s?Hg\s)?(?:systolic|(?:/|over\s)palp\w*)", re.IGNORECASE)
_LEADS_ON: Final = re.compile(r"[ \t]{0,3}(?:\w+[ \t])?")
#: Shares of the white cells have their number before them.
_COUNTED_BEFORE: Final = frozenset(
    f"{one}_percentage" for one in ("neutrophil", "band", "lymphocyte", "monocyte", "eosinophil", "basophil")
)
_COUNT_BEFORE: Final = re.compile(r"(?<![\w.,/])(?P<number>\d{1,2}(?:\.\d)?)\s?%?\s{1,2}\Z")
_PLURAL: Final = re.compile(r"s\Z|readings|values")
_BOTH: Final = re.compile(r"H(?:\W{1,5}| and )H\Z")
_YEAR: Final = re.compile(r"(?:19|20)\d\d\Z")
#: In a urinalysis these are those of the urine.
_IN_URINE: Final = {
    "white_blood_cell_count": "urine_white_blood_cells",
    "red_blood_cell_count": "urine_red_blood_cells",
    "glucose": "urine_glucose",
    "urine_protein": "urine_protein",
    "total_protein": "urine_protein",
}
_URINE: Final = "urine_"
#: Scores whose value is a Roman number, a letter; what is told of a whole, and pairs.
_ROMAN_VALUES: Final = frozenset({"nyha_class", "ccs_angina_class", "killip_class", "asa_class"})
_LETTER_VALUES: Final = frozenset({"child_pugh_score"})
_WITH_WHOLE: Final = frozenset({"muscle_strength"})
_IN_PAIRS: Final = frozenset({"apgar_score"})
_PRESSURE: Final = "blood_pressure"
_SYSTOLIC_ID, _DIASTOLIC_ID = "systolic_blood_pressure", "diastolic_blood_pressure"
#: What is looked at or tried at the bedside.
EXAMINATION: Final = "bedside_examination"
_HEIGHTS: Final = frozenset({"body_height"})
_WEIGHTS: Final = frozenset({"body_weight", "birth_weight"})


#: Between a value and another of the same test: "1.8 last year, now 0.9", "1.8 a year ago and is now 0.9".
_ANOTHER: Final = _CLASSES.compile(
    r"(?:\s{1,2}\(?{time_behind}(?![^\W_])\)?)?(?:\s?[,;(]\s?|\s)(?:{and_then}\s)?(?:{value_is}\s){0,2}"
    r"(?:(?:(?P<now>{now})|{earlier})\s(?:{value_is}\s){0,3})?",
    re.IGNORECASE,
)
#: What a value is of, right behind it; and that it is of now, before it.
_OF_TIME: Final = _CLASSES.compile(r"\s{1,2}\(?(?:(?P<now>{now})|{time_behind})(?![^\W_])", re.IGNORECASE)
_TIME_LEADS: Final = _CLASSES.compile(r"(?<![^\W_])(?:{now}|{earlier})\s", re.IGNORECASE)
_NOW_BEFORE: Final = _CLASSES.compile(r"(?<![^\W_]){now}(?![^\W_])", re.IGNORECASE)
#: More values than these are no sentence of what a test was and is.
_MOST_IN_TIME: Final = 4


class _InTime(NamedTuple):
    """A value of a test of which several are told, each of its own time; ``is_now``: of the note's day."""

    number: _Number
    is_now: bool
    #: It was before, nobody says when ("40 (previously 120)").
    is_past: bool = False


@dataclass(slots=True)
class _Told:
    """What stands beside a name: values with their place, or how it is called as a whole."""

    values: list[_Number] = field(default_factory=list)
    interpretation: str = ""
    #: Where the words of it stand.
    start: int = 0
    end: int = 0
    #: The values follow each other in time.
    in_time: bool = False


class _Number(NamedTuple):
    """A number as it stands in the text, with the unit behind it, and what flags it."""

    text: str
    value: float | None
    unit: str
    start: int
    end: int
    flag: str = ""
    #: The number it is out of.
    whole: float | None = None


class MeasurementRecognizer(Recognizer):
    """Spans of the measured kinds; attributes value (in the usual unit), unit, written, interpretation."""

    name = "measurements"
    layer = MEASURES

    def __init__(self, names: Lexicon) -> None:
        """``names``: those of what is measured."""
        self._names = names
        self._examinations = names.concepts.at_or_below(EXAMINATION)
        self._usual = usual_units()

    def find(self, frame: Frame) -> Iterator[Span]:
        """What is told with a value or a result, and, without either, names that may be ordered."""
        return iter(_in_units_of_note(list(self._measured(frame))))

    def _measured(self, frame: Frame) -> Iterator[Span]:
        """As :meth:`find`; numbers that may be in several units have no value yet."""
        names = list(self._names.find(frame))
        text = frame.text
        groups = _groups(
            text, [span for span in names if not _NO_VALUE_BEFORE.search(text, max(0, span.start - 24), span.start)]
        )
        for at, group in enumerate(groups):
            last = group[-1]
            low, high = frame.sentence_span(last.start)
            following = groups[at + 1][0] if at + 1 < len(groups) and groups[at + 1][0].start < high else None
            if following is not None:
                high = following.start
            concepts = [self._in_context(text, span, low, names) for span in group]
            if _BOTH.search(text, last.start, last.end) and last.concept == "hemoglobin":
                group, concepts = [*group, last], [*concepts, "hematocrit"]
            yield from self._told(frame, group, concepts, (low, min(high, last.end + 3 * _REACH)), following)

    def _told(
        self,
        frame: Frame,
        group: list[Span],
        concepts: list[str],
        bounds: tuple[int, int],
        following: Span | None,
    ) -> Iterator[Span]:
        """What is told of the names of a group between ``bounds``; ``following``: the name behind it."""
        text, first, last, (low, high) = frame.text, group[0], group[-1], bounds
        if (share := self._share(text, first, concepts[0], low)) is not None:
            yield share
            return
        results = _RESULT_OF_EXAMINATION if concepts[-1] in self._examinations else _RESULT
        beside = _Beside(frame, self._usual.get(concepts[-1]), concepts[-1], high, following is not None, results)
        said = beside.read(last, len(group))
        if said.values and following is not None and following.concept in _COUNTED_BEFORE:
            # "with 80 monos, 17 eos": the number is that of the name behind it.
            said.values = [one for one in said.values if not _LEADS_ON.fullmatch(text, one.end, following.start)]
        if said.values:
            wished = _WISHED.search(text, max(low, first.start - _REACH_BEFORE), first.start)
            found = [] if wished else list(self._with_values(group, concepts, said))
            if len(found) == 1 and len(said.values) == 1:
                found += self._in_time(frame, found[0], said.values[0], beside)
            yield from found
            told = {(span.start, span.concept) for span in found}
            rest = [(span, concept) for span, concept in zip(group, concepts, strict=True) if span is not last]
            rest = [(span, concept) for span, concept in rest if (span.start, concept) not in told]
            if wished or (found and not rest):
                return
            if found:
                group, concepts = [span for span, _ in rest], [concept for _, concept in rest]
                first, said = group[0], _Told()
        interpretation, start, end = said.interpretation, said.start, said.end
        if not interpretation and _SAYS_NORMAL.fullmatch(text, first.start, last.end):
            interpretation, start, end = "normal", first.start, last.end
        if not interpretation:
            before = _EXAMINED_BEFORE if concepts[0] in self._examinations else _RESULT_BEFORE
            interpretation, start, end = self._before(text, first, concepts[0], low, last.end, before)
        for span, concept in zip(group, concepts, strict=True):
            attributes: dict[str, Value] = {"interpretation": interpretation} if interpretation else {}
            if interpretation and concept in self._examinations and _GRADED.fullmatch(text, start, end):
                attributes["written"] = text[start:end]
            helpers = [(start, end, "interpretation")] if interpretation else []
            yield _span(span, span.end, concept, attributes, helpers)

    def _share(self, text: str, name: Span, concept: str, low: int) -> Span | None:
        """The share of the white cells that stands before a name of such cells (``89% segments``)."""
        if concept not in _COUNTED_BEFORE:
            return None
        match = _COUNT_BEFORE.search(text, max(low, name.start - 12), name.start)
        if match is None:
            return None
        start, end = match.span("number")
        attributes = self._valued(concept, _Number(match["number"], float(match["number"]), "%", start, end), "")
        return None if attributes is None else _span(name, name.end, concept, attributes, [(start, end, "value")])

    def _with_values(self, group: list[Span], concepts: list[str], said: _Told) -> Iterator[Span]:
        numbers = said.values
        last = group[-1]
        if len(group) > 1 and len(numbers) == len(group):
            pairs = list(zip(group, concepts, numbers, strict=True))
        elif concepts[-1] == _PRESSURE or (len(numbers) == 2 and numbers[0].unit == numbers[1].unit == "mmHg"):
            pairs = [(last, _pressure(concepts[-1], at), number) for at, number in enumerate(numbers[:2])]
        else:
            # Of values that follow each other in time ("1.4 → 1.1") the last is the note's.
            pairs = [(last, concepts[-1], number) for number in (numbers[-1:] if said.in_time else numbers)]
        one_name = len({id(span) for span, _, _ in pairs}) == 1
        for span, concept, number in pairs:
            attributes = self._valued(concept, number, said.interpretation, span.source)
            if attributes is None:
                continue
            end = number.end if one_name else span.end
            found = _span(span, end, concept, attributes, [(number.start, number.end, "value")])
            yield found

    def _in_time(self, frame: Frame, first: Span, number: _Number, beside: _Beside) -> Iterator[Span]:
        """The other values of a test, each of its own time (``1.8 last year, now 0.9``)."""
        today = frame.note.date.toordinal() if frame.note.date else None
        of_now = None if today is None else DayInterval(today, today)
        told = beside.in_time(number)
        for index, (another, is_now, is_past) in enumerate(told):
            if index == 0:
                if is_now and len(told) > 1:
                    first.day = of_now
                continue
            attributes = self._valued(first.concept, another, "", first.source)
            if attributes is None:
                return
            helpers = [(another.start, another.end, "value")]
            day = of_now if is_now else None
            if is_past and of_now is not None:
                day = DayInterval(EARLIEST_DAY, of_now.high)
            yield Span(
                another.start,
                another.end,
                first.kind,
                first.concept,
                BESIDE,
                attributes,
                0,
                helpers,
                (),
                "present",
                day=day,
            )

    def _valued(self, concept: str, number: _Number, interpretation: str, name: str = "") -> dict[str, Value] | None:
        """The attributes that a number gives the concept, as it is called here; None if it is no value of it."""
        usual = self._usual.get(concept)
        if usual is None:
            return None
        found: dict[str, Value] = {}
        if said := number.flag or interpretation:
            found["interpretation"] = said
        if number.value is None:
            return {**found, "written": number.text}
        if number.whole is not None and number.whole != usual.highest:
            return None
        if concept in _WITH_WHOLE and number.whole is None:
            return None
        if number.unit:
            value = in_usual_unit(concept, number.value, number.unit)
            if value is None or not usual.holds(value):
                return None
        else:
            likely = likely_units(concept, number.value, number.text, name)
            if likely and len(likely) > 1:
                return {**found, "written": number.text}
            value = next(
                (
                    told
                    for unit in ((likely[0].unit,) if likely else usual.bare)
                    if (told := in_usual_unit(concept, number.value, unit) if unit else number.value) is not None
                    and usual.holds(told)
                ),
                None,
            )
            if value is None:
                # In which unit it is nobody knows.
                return None if usual.bare else {**found, "written": number.text}
        found["value"] = float(value)
        if usual.unit:
            found["unit"] = usual.unit
        if number.unit not in ("", usual.unit) or value != number.value:
            found["written"] = number.text
        return found

    @staticmethod
    def _in_context(text: str, span: Span, low: int, names: Sequence[Span]) -> str:
        """The concept, which in a urinalysis may be that of the urine."""
        urine = _IN_URINE.get(span.concept)
        if urine and any(low <= other.start < span.start and other.concept == "urinalysis" for other in names):
            return urine
        return span.concept

    @staticmethod
    def _before(
        text: str, first: Span, concept: str, low: int, end: int, results: re.Pattern[str]
    ) -> tuple[str, int, int]:
        """How it is called by the words before its name; all empty if it is not."""
        at = max(low, first.start - _REACH_BEFORE)
        if _BEHIND_NAME.match(text, end):
            return "", 0, 0
        if concept.startswith(_URINE) and (amount := _AMOUNT_BEFORE.search(text, at, first.start)):
            return "positive", amount.start(), first.start
        match = results.search(text, at, first.start)
        if match is None or match.lastgroup is None or _DENIED_BEFORE.search(text, at, match.start()):
            return "", 0, 0
        return match.lastgroup, match.start(), first.start


class _Beside:
    """What stands behind a name, read step by step up to its value or result."""

    __slots__ = ("_concept", "_frame", "_high", "_is_led_to", "_results", "_text", "_usual")

    def __init__(
        self,
        frame: Frame,
        usual: Usual | None,
        concept: str,
        high: int,
        is_led_to: bool,
        results: re.Pattern[str],
    ) -> None:
        """``high``: to there it may stand; ``is_led_to``: another name begins there; ``results``: what it is called."""
        self._results = results
        self._is_led_to = is_led_to
        self._frame = frame
        self._text = frame.text
        self._usual = usual
        self._concept = concept
        self._high = high

    def read(self, name: Span, names: int) -> _Told:
        """``names``: of so many names the values stand here."""
        told = _Told()
        text, at = self._text, name.end
        high = min(self._high, at + _REACH)
        if _BEHIND_NAME.match(text, at):
            return told
        for _ in range(_MOST_STEPS):
            if at >= high:
                break
            if reference := _REFERENCE.match(text, at, high):
                at = reference.end()
                continue
            if (date := self._date_at(at)) is not None:
                at = date
                continue
            if numbers := self._numbers(at, name, names):
                told.values = numbers
                told.in_time = self._is_series(numbers) or "from" in text[name.end : at].split()
                break
            result = None if told.interpretation else self._results.match(text, at, self._high)
            if result is not None and result.lastgroup and not _CHANGED.match(text, result.end()):
                leads_on = self._is_led_to and _LEADS_ON.fullmatch(text, result.end(), self._high)
                if leads_on or _EXCEPT.match(text, result.end()) or "not" in text[name.end : at].split():
                    break
                told.interpretation, told.start, told.end = result.lastgroup, result.start(), result.end()
                at = result.end()
                continue
            if (skip := _SKIP.match(text, at, high)) is None:
                break
            if told.interpretation and skip.group().strip() not in (
                "",
                ",",
                ":",
                "at",
                "of",
                "(",
                ")",
                "-",
                "is",
                "was",
            ):
                break
            at = skip.end()
        return told

    def in_time(self, first: _Number) -> list[_InTime]:
        """The value with those that follow in its sentence, each with words of its own time; alone if none does."""
        text, high = self._text, self._high
        is_now = _NOW_BEFORE.search(text, max(0, first.start - 24), first.start) is not None
        found = [self._of_its_time(first, is_now)]
        at = first.end
        while len(found) < _MOST_IN_TIME:
            dated = self._date_at(at + (text[at : at + 1] == " "))
            gap = _ANOTHER.match(text, dated or at, high)
            number = self._number(gap.end(), False) if gap else None
            if gap is None or number is None or number.value is None:
                break
            behind = _OF_TIME.match(text, number.end) or self._date_at(number.end + 1)
            if gap.end() == gap.start() + 1 or not (behind or _TIME_LEADS.search(text, gap.start(), gap.end())):
                break
            past = not behind and gap["now"] is None
            found.append(self._of_its_time(number, gap["now"] is not None)._replace(is_past=past))
            at = number.end
        return found

    def _of_its_time(self, number: _Number, is_now: bool) -> _InTime:
        behind = _OF_TIME.match(self._text, number.end)
        return _InTime(number, is_now or (behind is not None and behind["now"] is not None))

    def _date_at(self, at: int) -> int | None:
        """Where the date ends that stands there."""
        text = self._text
        for date in self._frame.dates_in(at, min(len(text), at + 4)):
            if date.start <= at + (3 if text.startswith(("in ", "on "), at) else 0) and date.end - date.start > 5:
                return date.end
        return None

    def _is_series(self, numbers: Sequence[_Number]) -> bool:
        return len(numbers) > 1 and all(
            _ARROW.fullmatch(self._text, one.end, other.start) for one, other in itertools.pairwise(numbers)
        )

    def _numbers(self, at: int, name: Span, names: int) -> list[_Number]:
        """The values that begin there."""
        text, high, concept = self._text, self._high, self._concept
        if concept in _HEIGHTS and (feet := _FEET.match(text, at, high)):
            inches = 12 * float(feet["feet"]) + float(feet["inches"] or 0)
            return [_Number(feet.group().strip(), inches, "inch", feet.start(), feet.end())]
        if concept in _WEIGHTS and (pounds := _POUNDS.match(text, at, high)):
            ounces = 16 * float(pounds["pounds"]) + float(pounds["ounces"])
            return [_Number(pounds.group(), ounces, "oz", pounds.start(), pounds.end())]
        if concept in _ROMAN_VALUES and (roman := _ROMAN.match(text, at, high)):
            value = None if roman["high"] else _ROMANS[roman["low"]]
            return [_Number(roman.group(), value, "", roman.start(), roman.end())]
        if concept in _LETTER_VALUES and (letter := _LETTER.match(text, at, high)):
            points = float(letter["points"]) if letter["points"] else None
            return [_Number(letter.group(), points, "", letter.start(), letter.end())]
        if concept == _PRESSURE and (pair := _PAIR.match(text, at, high)):
            return self._pressures(pair)
        if self._usual is None:
            return []
        found: list[_Number] = []
        while len(found) < _MOST_VALUES:
            several = names > len(found) + 1 or concept in _IN_PAIRS or _PLURAL.search(text, name.start, name.end)
            number = self._number(at, bool(several))
            if number is None:
                break
            found.append(number)
            gap = _ARROW.match(text, number.end, high) or (_NEXT.match(text, number.end, high) if several else None)
            if gap is None:
                break
            at = gap.end()
        if concept == _PRESSURE and not (found and _SYSTOLIC.match(text, found[0].end)):
            return []
        return found

    def _pressures(self, pair: re.Match[str]) -> list[_Number]:
        """A systolic pressure and, where it is a number, the diastolic one."""
        first = _Number(pair.group(), float(pair["first"]), "mmHg", pair.start(), pair.end())
        if not pair["second"].isdigit():
            return [first]
        second = first._replace(value=float(pair["second"]))
        unit = _UNIT.match(self._text, pair.end(), self._high)
        if unit is None and _NO_UNIT.match(self._text, pair.end(), self._high):
            return []
        if first.value is not None and second.value is not None and first.value <= second.value:
            return []
        return [first, second]

    def _number(self, at: int, more: bool) -> _Number | None:
        """The number there with its unit; None if it is none, or what stands behind makes it no value. ``more``: it may
        be the first of several."""
        text, high, usual = self._text, self._high, self._usual
        match = _NUMBER.match(text, at, high)
        if match is None or usual is None or (match.end() < len(text) and text[match.end()] == "'"):
            return None
        raw, sign = match["number"], match["sign"]
        if _YEAR.match(raw) and not usual.holds(float(raw)):
            return None
        end = match.end()
        value: float | None = amount_of(raw)
        whole: float | None = None
        out_of = None if self._unit(end)[0] else _OF.match(text, end, high)
        if out_of is not None and not (more and float(out_of["whole"]) != usual.highest):
            whole, end = float(out_of["whole"]), out_of.end()
        ranged = None if whole is not None else _RANGE.match(text, end, high)
        if ranged is not None and not _ARROW.match(text, ranged.end()):
            end, value = ranged.end(), None
        if degrees := _DEGREES.match(text, end, high):
            end = degrees.end()
        unit, behind = ("", end) if whole is not None else self._unit(end)
        if not unit and _NO_UNIT.match(text, behind, high) and not (more and text[behind] in "/-"):
            return None
        if unit and not more and in_usual_unit(self._concept, 1.0, unit) is None:
            return None
        if sign or value is None:
            if sign and self._wished(at):
                return None
            low = amount_of(raw)
            told = in_usual_unit(self._concept, low, unit) if unit else low
            if told is None or not (usual.holds(told) or (sign and told >= 0)):
                return None
            value = None
        flag = _FLAG.match(text, behind, high)
        said = ""
        end = behind
        if flag is not None and not (flag["letter"] and usual.unit.startswith("L")):
            said = _FLAGS[(flag["word"] or flag["letter"])[0].lower()]
            end = flag.end()
        return _Number(text[match.start() : behind].strip(), value, unit, match.start(), end, said, whole)

    def _wished(self, at: int) -> bool:
        """Whether a bound is one from which on something is done; of vital signs all are."""
        return self._usual is not None and self._concept in _VITAL_BOUNDS

    def _unit(self, at: int) -> tuple[str, int]:
        """The unit there and its end; empty and the place itself if there is none."""
        usual = self._usual
        if usual is None:
            return "", at
        # Blood cells are counted in thousands without a word of what they are counted in.
        match = _UNIT.match(self._text, at, self._high)
        if match is not None and _IN_A_MONTH.match(self._text, match.start("unit")):
            return "", at
        if match is not None and (unit := unit_named(match["unit"])) is not None:
            return unit, match.end()
        counts = _COUNTS.get(usual.unit)
        if counts is not None and (thousands := counts.match(self._text, at, self._high)):
            return usual.unit, thousands.end()
        return "", at


_VITAL_BOUNDS: Final = frozenset(
    {
        _SYSTOLIC_ID,
        _DIASTOLIC_ID,
        "mean_arterial_pressure",
        "heart_rate",
        "respiratory_rate",
        "body_temperature",
        "oxygen_saturation",
        "pain_score",
    }
)


def is_ordered(frame: Frame, mention: Mention) -> bool:
    """Whether the words before a name, or the section that it stands in, order what it names."""
    if _IS_SAID_OF.match(frame.text, mention.end):
        return False
    section = frame.shape.section_at(mention.start)
    if section.effect == "plan" and len(frame.text[mention.sentence[0] : mention.start].split()) <= _MOST_BEFORE_ITEM:
        return True
    low = max(mention.sentence[0], mention.start - _REACH_BEFORE)
    return (
        _ORDERED_BEFORE.search(frame.text, low, mention.start) is not None
        or _ORDERED_BEHIND.match(frame.text, mention.end) is not None
    )


def is_made(frame: Frame, mention: Mention) -> bool:
    """Whether the words behind the name of a test say what it showed, or that it was made."""
    low = max(mention.sentence[0], mention.start - _REACH_BEFORE)
    if _TO_BE_BEFORE.search(frame.text, low, mention.start):
        return False
    return _SHOWN_BEHIND.match(frame.text, mention.end, min(mention.sentence[1], mention.end + _REACH)) is not None


def how_it_was(frame: Frame, mention: Mention) -> str:
    """What a test is called as a whole by the words behind its name: ``normal``, ``negative`` …; empty if by none."""
    high = min(mention.sentence[1], mention.end + _REACH)
    match = _CALLED.match(frame.text, mention.end, high)
    if match is None or match.lastgroup is None or _EXCEPT.match(frame.text, match.end()):
        return ""
    return match.lastgroup


def _in_units_of_note(spans: list[Span]) -> list[Span]:
    """Numbers that may be in several units, in that of the system in which most values of the note are told."""
    open_ones = [span for span in spans if "written" in span.attributes and "value" not in span.attributes]
    if not open_ones:
        return spans
    votes: Counter[str] = Counter()
    for span in spans:
        if "value" in span.attributes and (units := bare_units().get(span.concept)):
            # What was written in another unit than the usual one keeps how it was written.
            is_usual = "written" not in span.attributes
            votes.update({one.system for one in units if (one.unit == span.attributes.get("unit")) is is_usual})
    system = "us" if votes["us"] > votes["si"] else "si" if votes["si"] > votes["us"] else ""
    for span in open_ones if system else ():
        number = plain_number(str(span.attributes["written"]))
        if not _BARE.fullmatch(number):
            continue
        likely = likely_units(span.concept, float(number), number, span.source) or ()
        unit = next((one.unit for one in likely if one.system == system), "")
        value = in_usual_unit(span.concept, float(number), unit) if unit else None
        if value is None:
            continue
        usual = usual_units()[span.concept].unit
        if unit == usual:
            del span.attributes["written"]
        span.attributes |= {"value": float(value), "unit": usual}
    return spans


def _pressure(concept: str, at: int) -> str:
    return concept if concept != _PRESSURE else (_SYSTOLIC_ID, _DIASTOLIC_ID)[at]


def _span(
    name: Span, end: int, concept: str, attributes: dict[str, Value], helpers: list[tuple[int, int, str]]
) -> Span:
    """The name up to ``end``, with what is told of it."""
    decided = "present" if attributes else ""
    stretch = name.start, max(end, name.end)
    is_named = concept == name.concept or concept in (_SYSTOLIC_ID, _DIASTOLIC_ID)
    # The hematocrit of "H&H", the white cells of a urinalysis.
    source = name.source if is_named else BESIDE
    return Span(*stretch, name.kind, concept, source, attributes, helpers=helpers, decided=decided)


def _groups(text: str, names: Sequence[Span]) -> list[list[Span]]:
    """Names that are told together (``BUN and creatinine``), each other alone."""
    groups: list[list[Span]] = []
    for span in names:
        if groups and span.start - groups[-1][-1].end <= 8 and _JOIN.match(text, groups[-1][-1].end, span.start):
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups
