"""Marks of courses of treatment in a sentence: cycles, lines, intent, starts and stops, reasons, doses of radiation.

A mark says nothing by itself; ``ingest.courses`` gives each to the treatment that it belongs to. Words are in
``cues/courses.toml``; the patterns here read only numbers and what stands beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...kb.model import Value
from ..text.cue_files import any_of, cue_file
from ..text.frame import Frame
from ..text.gates import Gate, Gated, Places, any_gate, places_of
from ..text.phrases import PhraseTrie
from ..text.tokens import words_of

#: No count of cycles is higher: what is, counts something else (a dose in milligrams, a year).
_MOST_CYCLES = 60
#: Totals above this are of a dose written twice over ("50 Gy x 25 fx" is not 1,250 Gy).
_MOST_GRAY = 100.0
#: Words of standing that say something only together with a date.
_BY_DATE: Final = frozenset({"since", "until", "last"})
_NUMBER_WORDS: Final = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
}
_COUNT = r"(?:\d{1,2}|" + "|".join(_NUMBER_WORDS) + r")"
_OF_CYCLES = r"(?:cycles?|cyc|courses?|doses?|infusions?|injections?|rounds?)"
# The look-aheads only spare the engine most places of a text.
#: ``C4D1``, ``C4 D15``, ``C1-4``; a bare ``C4`` is a cycle only right beside a drug, which the binding sees to.
_SHORT_CYCLE = re.compile(
    r"(?=C)(?<![\w.\-/])C\s?(?P<first>\d{1,2})(?:\s?[-–]\s?C?(?P<last>\d{1,2})(?![\w/]))?(?P<day>[\s,]?\s?[Dd](?:ay)?\s?\d{1,2})?(?![\w%]|\.\d|[/-]\d)"
)
_NUMBERED_CYCLE = re.compile(
    rf"(?=c)\b(?:cycles?|cyc)\s?(?:#|no\.?|number)?\s?(?P<count>{_COUNT})\b(?:\s?(?:-|–|to|through)\s?(?P<last>\d{{1,2}})\b)?",
    re.IGNORECASE,
)
_COUNTED_CYCLES = re.compile(
    rf"(?=[\dotfsen])(?<![\w.,/\-])(?P<count>{_COUNT})(?:\s|-)?(?:(?:full|total|planned|weekly|monthly|q3w|biweekly|of\s\d{{1,2}})\s){{0,2}}"
    rf"(?:{_OF_CYCLES}\b|(?<=\d)c\b)",
    re.IGNORECASE,
)
_TIMES = re.compile(
    rf"(?=[cdix×])(?<![\w])(?:(?:cycles?|doses?|infusions?)\s?)?[x×]\s?(?P<count>\d{{1,2}})(?:\s?{_OF_CYCLES}\b)?"
    r"(?![\w/%#]|\.\d|\s?(?:mg|g\b|days?|d\b|weeks?|wks?|months?|mos?\b|years?|yrs?|hours?|hrs?|cm|mm|lesions?|nodes?|fx|fractions?))",
    re.IGNORECASE,
)
_SHORT_LINE = re.compile(r"(?=[1-8])(?<![\w.\-])(?P<number>[1-8])\s?L(?:\+)?(?![\w%/]|\.\d)")
_LINE_NUMBER = re.compile(r"\bline\s?(?:#|no\.?|number)?\s?(?P<number>[1-8])(?!\w|\.\d)", re.IGNORECASE)
_GRAY = re.compile(
    r"(?=[=\d])(?<![\w.])(?P<total>=\s?)?(?P<dose>\d{1,4}(?:\.\d{1,2})?)\s?(?P<unit>cGy|Gy|GyE|CGE|[Gg]rays?|CcGE)"
    r"(?:\s?\(?RBE\)?)?(?![a-z])",
)
_FRACTIONS = re.compile(
    r"\s?(?:,|in|over|/|[x×]|\(|given in|delivered in)?\s?(?:in\s)?(?P<count>\d{1,2}|single|one|five|three)\s?"
    r"(?P<unit>(?:daily\s|once daily\s)?(?:fx'?s?|fxs|fractions?|frac\w{0,4}|f(?![a-z])|#|treatments|sessions))?"
    r"(?!\w|\.\d|[%/]|\s?(?:mg|cm|mm|weeks?|months?|lesions?|Gy))",
    re.IGNORECASE,
)
_BARE_FRACTIONS = re.compile(r"(?=\d)(?<![\w./])(?P<count>\d{1,2})\s?(?:fx'?s?|fractions?|#)(?!\w)", re.IGNORECASE)
#: ``RT 40/15``: dose and fractions without a unit, right behind the word for radiation.
_BARE_DOSE = re.compile(r"\s?:?\s?(?P<dose>\d{2}(?:\.\d{1,2})?)\s?/\s?(?P<count>\d{1,2})(?:#|fx)?(?![\w/%]|\.\d)")
_BOOST = re.compile(r"\bboost\b[^.;]{0,12}$", re.IGNORECASE)
_PER_FRACTION = re.compile(r"\s?(?:/|per\s|a\s|each\s)(?:fx|fraction|#|day)", re.IGNORECASE)


#: "…, PD 10/2021": progression as the end of what was given, in short.
_THEN_PROGRESSION = re.compile(r"(?:[,(→]|->)\s?(?:PD|POD|[Pp]rogress(?:ed|ion))\b(?!\s?:|\s(?:on|through)\b)")


# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_COUNT_OPENS: Final = r"(?i:\d{1,2}(?!\d)|" + "|".join(_NUMBER_WORDS) + ")"
_COUNTED: Final = Gated(_COUNTED_CYCLES, _COUNT_OPENS)
_NUMBERED: Final = Gated(_NUMBERED_CYCLE, "(?i:cyc)")
_SHORT: Final = Gated(_SHORT_CYCLE, r"C(?:\Z|\d)")
_TIMED: Final = Gated(_TIMES, r"(?i:(?:cycles?|doses?|infusions?)?(?:\Z|x))|\d{1,2}(?!\d)", before=2, lead="×")
_SHORT_LINES: Final = Gated(_SHORT_LINE, r"[1-8](?:\Z|L)")
_LINE_NUMBERS: Final = Gated(_LINE_NUMBER, "(?i:line)")
_GRAYS: Final = Gated(_GRAY, r"\d", before=2, lead="=")
_UNITS: Final = Gate(within="cGy|Gy|CGE|[Gg]ray|CcGE")
_FRACTIONED: Final = Gated(_BARE_FRACTIONS, r"\d{1,2}(?:\Z|(?i:f))")
_PROGRESSED: Final = Gated(_THEN_PROGRESSION, "PD|POD|[Pp]rogress", before=3, lead=",(→-")
#: No pattern begins further before the word that opens it, in characters.
_MOST_AHEAD: Final = 3
#: The words that open any of the patterns that may open a sentence about a course, and any at all.
_MARKED: Final = any_gate(
    _PROGRESSED, _COUNTED, _NUMBERED, _SHORT, _TIMED, _SHORT_LINES, _LINE_NUMBERS, _GRAYS, _FRACTIONED
)
_OPENING: Final = any_gate(_COUNTED, _NUMBERED, _SHORT, _TIMED, _PROGRESSED)
_DATE_BEHIND = re.compile(r"\s?[:(]?\s?(?:on\s|started\s)?\d{1,4}[/-]\d{1,2}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text that says something of a course. ``kind``: cycles, line, intent, standing, change, dose,
    fractions, since, until or last; ``value`` what it says."""

    start: int
    end: int
    kind: str
    value: Value
    #: A cycle in short form (C4), which only counts right beside a drug.
    weak: bool = False
    #: Of a cycle: the day of it is told, or it is one that stands for the whole count.
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class CourseWords:
    """``cues/courses.toml`` as tries."""

    marks: PhraseTrie[tuple[str, Value]]
    reasons: PhraseTrie[str]
    because: PhraseTrie[str]
    apart: tuple[str, ...]
    to_come: re.Pattern[str]
    denied: re.Pattern[str]
    litres: re.Pattern[str]


@lru_cache(maxsize=1)
def course_words() -> CourseWords:
    """The shipped words, read once a process."""
    table = cue_file("courses")
    marks: PhraseTrie[tuple[str, Value]] = PhraseTrie()
    for number, ordinals in table["ordinals"].items():
        for ordinal in ordinals:
            for words in table["line"]["behind_ordinal"]:
                marks.add(f"{ordinal} {words}", ("line", float(number)))
    for phrase in table["line"]["one_word"]:
        marks.add(phrase, ("line", 1.0))
    for kind in ("intent", "standing", "change"):
        for value, phrases in table[kind].items():
            for phrase in phrases:
                marks.add(phrase, (value, value) if value in _BY_DATE else (kind, value))
    reasons = PhraseTrie((phrase, name) for name, phrases in table["reason"].items() for phrase in phrases)

    def behind(name: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![^\W_]){any_of(table[name]['words'])}\b[^.;,:]{{0,18}}$", re.IGNORECASE)

    return CourseWords(
        marks,
        reasons,
        PhraseTrie((phrase, phrase) for phrase in table["because"]["words"]),
        tuple(table["apart"]["words"]),
        behind("to_come"),
        behind("denied"),
        re.compile(rf"\s?/?\s?{any_of(table['line']['litres'])}\b", re.IGNORECASE),
    )


def marks_in(frame: Frame, start: int, end: int) -> list[Mark]:
    """The marks of the sentence between ``start`` and ``end``, in text order."""
    text, places = frame.text, frame.places
    phrases = frame.phrases(course_words().marks, *frame.token_range(start, end))
    found = [
        Mark(match.start, match.end, *match.payloads[0])
        for match in phrases
        if match.payloads[0][0] != "standing" or not _is_denied(text, start, match.start)
    ]
    if _MARKED.stands_in(places, start, end + _MOST_AHEAD):
        found += [
            Mark(match.start(), match.end(), "standing", "failed")
            for match in _PROGRESSED.find_in(places, text, start, end)
        ]
        found += _cycles(text, places, start, end)
        found += _lines(text, places, start, end)
        found += _doses(text, places, start, end)
    return sorted(found, key=lambda mark: (mark.start, mark.end)) if len(found) > 1 else found


def may_open(frame: Frame, start: int) -> bool:
    """Whether a word of standing or a count of cycles may stand at ``start`` or one character behind it."""
    if _OPENING.stands_in(frame.places, start, start + 2 + _MOST_AHEAD):
        return True
    return bool(frame.beginnings(course_words().marks, *frame.token_range(start, start + 2)))


def _is_denied(text: str, start: int, at: int) -> bool:
    return course_words().denied.search(text, max(start, at - 24), at) is not None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBER_WORDS.get(word.lower(), 1)


def _cycles(text: str, places: Places, start: int, end: int) -> Iterator[Mark]:
    """Counts and numbers of cycles; one that is still to come is none."""
    to_come = course_words().to_come
    taken: list[tuple[int, int]] = []
    for gated in (_COUNTED, _NUMBERED, _SHORT, _TIMED):
        for match in gated.find_in(places, text, start, end):
            if any(match.start() < last and first < match.end() for first, last in taken):
                continue
            taken.append(match.span())
            if gated is _SHORT:
                count = int(match["last"] or match["first"])
            else:
                last = match.groupdict().get("last")
                count = int(last) if last else _number(match["count"])
            if not 0 < count <= _MOST_CYCLES or to_come.search(text, max(start, match.start() - 30), match.start()):
                continue
            dated = count == 1 and _DATE_BEHIND.match(text, match.end())
            weak = gated is _SHORT and not match["day"] and not dated
            numbered = gated in (_SHORT, _NUMBERED)
            yield Mark(match.start(), match.end(), "cycles", float(count), weak, numbered)


def _lines(text: str, places: Places, start: int, end: int) -> Iterator[Mark]:
    litres = course_words().litres
    for match in _SHORT_LINES.find_in(places, text, start, end):
        if not litres.match(text, match.end()):
            yield Mark(match.start(), match.end(), "line", float(match["number"]))
    for match in _LINE_NUMBERS.find_in(places, text, start, end):
        yield Mark(match.start(), match.end(), "line", float(match["number"]))


def _doses(text: str, places: Places, start: int, end: int) -> Iterator[Mark]:
    """Doses of radiation in Gy, and fractions; a boost is no dose of the whole."""
    behind = start
    for match in _GRAYS.find_in(places, text, start, end) if _UNITS.stands_in(places, start, end) else ():
        dose = float(match["dose"]) / (100 if match["unit"].startswith("cG") else 1)
        if not dose > 0 or _PER_FRACTION.match(text, match.end()):
            continue
        fractions = _FRACTIONS.match(text, match.end(), end)
        count = None
        if fractions and (fractions["unit"] or fractions.group().lstrip()[:1] in ("/", "x", "×")):
            count = _number(fractions["count"])
            # "8 Gy x 1", "2 Gy x 25 fx": the dose is that of one fraction.
            if fractions.group().lstrip()[:1] in ("x", "×") and 0 < dose * count <= _MOST_GRAY:
                dose *= count
        if _BOOST.search(text, behind, match.start()) or text[match.end() : match.end() + 7].lower() == " boost":
            continue
        if dose > _MOST_GRAY:
            continue
        last = fractions.end() if fractions and count is not None else match.end()
        behind = last
        yield Mark(match.start(), last, "dose", round(dose, 2), numbered=match["total"] is not None)
        if count is not None and 0 < count <= _MOST_CYCLES:
            yield Mark(match.start(), last, "fractions", float(count), numbered=match["total"] is not None)
    for match in _FRACTIONED.find_in(places, text, start, end):
        yield Mark(match.start(), match.end(), "fractions", float(match["count"]), weak=True)


def reason_in(text: str) -> str:
    """The class of the first reason that a short text names; empty for none."""
    found = next(course_words().reasons.find(text, words_of(text)), None)
    return found.payloads[0] if found else ""


def dose_right_behind(text: str, at: int, end: int) -> tuple[int, float, float] | None:
    """Where ``40/15`` ends that stands right behind a word for radiation, with its dose in Gy and its fractions."""
    match = _BARE_DOSE.match(text, at, end)
    if not match:
        return None
    dose, count = float(match["dose"]), float(match["count"])
    # One fraction has between 1 and 25 Gy: what has not is a day of a year, or a count of something else.
    return (match.end(), dose, count) if count and 1 <= dose / count <= 25 and dose >= 8 else None


def dose_of(text: str) -> tuple[float | None, float | None]:
    """Dose in Gy and fractions that a short text states (``40 Gy/15#``); None for what it does not."""
    marks = list(_doses(text, places_of(words_of(text)), 0, len(text)))
    bare = dose_right_behind(text, 0, len(text))
    doses = [float(mark.value) for mark in marks if mark.kind == "dose"]
    fractions = [float(mark.value) for mark in marks if mark.kind == "fractions"]
    return (
        doses[0] if doses else bare[1] if bare else None,
        fractions[0] if fractions else bare[2] if bare else None,
    )
