"""Courses of treatment in one note: cycles, lines, intents, dates, reasons and doses go to what they are said of.

A mark is a stretch that says something of a course (words in ``cues/courses.toml``; the patterns here read only numbers
and what stands beside them). Treatments that a sentence names together (``carbo/pem + pembro``) are one group. A mark
belongs to the group before or behind it that is nearer, a new step of the sentence (*then*, ``;``, ``->``) being far.
What a sentence without a treatment opens with (*Stopped 3/4/19 for rash.*) is said of the last one of the sentence
before.
"""

from __future__ import annotations

import datetime
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from ...kb.kinds import CONDITIONS, COURSES, DRUGS, KIND_TABLE, OPERATIONS
from ...kb.model import Cue, DayInterval, Mention, Polarity, Temporality, Value
from ..text.cue_files import any_of, cue_file
from ..text.dates.intervals import days_text, month_span
from ..text.dates.reader import DateMention
from ..text.frame import Frame
from ..text.gates import Gate, Gated, Places, any_gate, places_of
from ..text.word_classes import word_classes
from ..text.words import PhraseTrie, words_of

_CLASSES: Final = word_classes("treatments", "courses")

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
_OF_CYCLES = _CLASSES.pattern(r"{counted_in}")
# The look-aheads only spare the engine most places of a text.
#: ``C4D1``, ``C4 D15``, ``C1-4``; a bare ``C4`` is a cycle only right beside a drug, which the binding sees to.
_SHORT_CYCLE = re.compile(
    r"(?=C)(?<![\w.\-/])C\s?(?P<first>\d{1,2})(?:\s?[-–]\s?C?(?P<last>\d{1,2})(?![\w/]))?(?P<day>[\s,]?\s?[Dd](?:ay)?\s?\d{1,2})?(?![\w%]|\.\d|[/-]\d)"
)
_NUMBERED_CYCLE = _CLASSES.compile(
    rf"(?=c)\b{{cycle}}\s?{{number_sign}}?\s?(?P<count>{_COUNT})\b(?:\s?{{to_last}}\s?"
    r"(?P<last>\d{1,2})\b)?",
    re.IGNORECASE,
)
_COUNTED_CYCLES = _CLASSES.compile(
    rf"(?=[\dotfsen])(?<![\w.,/\-])(?P<count>{_COUNT})(?:\s|-)?(?:{{how_counted}}\s){{0,2}}"
    rf"(?:{_OF_CYCLES}\b|(?<=\d)c\b)",
    re.IGNORECASE,
)
_TIMES = _CLASSES.compile(
    rf"(?=[cdix×])(?<![\w])(?:{{times_of}}\s?)?[x×]\s?(?P<count>\d{{1,2}})(?:\s?{_OF_CYCLES}\b)?(?![\w/%#]"
    r"|\.\d|\s?{other_unit})",
    re.IGNORECASE,
)
_SHORT_LINE = re.compile(r"(?=[1-8])(?<![\w.\-])(?P<number>[1-8])\s?L(?:\+)?(?![\w%/]|\.\d)")
_LINE_NUMBER = _CLASSES.compile(r"\bline\s?{number_sign}?\s?(?P<number>[1-8])(?!\w|\.\d)", re.IGNORECASE)
_GRAY = _CLASSES.compile(
    r"(?=[=\d])(?<![\w.])(?P<total>=\s?)?(?P<dose>\d{1,4}(?:\.\d{1,2})?)\s?(?P<unit>{gray})"
    r"(?:\s?\(?RBE\)?)?(?![a-z])",
)
_FRACTIONS = _CLASSES.compile(
    r"\s?(?:,|in|over|/|[x×]|\(|{given_in})?\s?(?:in\s)?(?P<count>\d{1,2}|{number_of_fractions})\s?"
    r"(?P<unit>{a_day}?{fraction})?(?!\w|\.\d|[%/]|\s?{no_fraction})",
    re.IGNORECASE,
)
_BARE_FRACTIONS = _CLASSES.compile(r"(?=\d)(?<![\w./])(?P<count>\d{1,2})\s?{fraction_short}(?!\w)", re.IGNORECASE)
#: ``RT 40/15``: dose and fractions without a unit, right behind the word for radiation.
_BARE_DOSE = re.compile(r"\s?:?\s?(?P<dose>\d{2}(?:\.\d{1,2})?)\s?/\s?(?P<count>\d{1,2})(?:#|fx)?(?![\w/%]|\.\d)")
_BOOST = re.compile(r"\bboost\b[^.;]{0,12}$", re.IGNORECASE)
_PER_FRACTION = _CLASSES.compile(r"\s?(?:/|{per}){per_fraction}", re.IGNORECASE)


#: "…, PD 10/2021": progression as the end of what was given, in short.
_THEN_PROGRESSION = _CLASSES.compile(r"(?:[,(→]|->)\s?{progression}\b(?!\s?:|\s{on_or_through}\b)")


# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_COUNT_OPENS: Final = r"(?i:\d{1,2}(?!\d)|" + "|".join(_NUMBER_WORDS) + ")"
_COUNTED: Final = Gated(_COUNTED_CYCLES, _COUNT_OPENS)
_NUMBERED: Final = Gated(_NUMBERED_CYCLE, "(?i:cyc)")
_SHORT: Final = Gated(_SHORT_CYCLE, r"C(?:\Z|\d)")
_TIMED: Final = Gated(_TIMES, _CLASSES.pattern(r"(?i:{times_of}?(?:\Z|x))|\d{1,2}(?!\d)"), before=2, lead="×")
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
_DATE_BEHIND = _CLASSES.compile(r"\s?[:(]?\s?{began}?\d{1,4}[/-]\d{1,2}")


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
    #: Of a cycle: the day of it is given, or it is one that stands for the whole count.
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


#: Where a sentence begins and ends.
Span = tuple[int, int]

#: Treatments that have a course in words.
TREATED: Final = frozenset(kind.name for kind in KIND_TABLE.values() if kind.of_course)
_OF_AN_OPERATION: Final = frozenset({"palliative", "curative", "prophylactic", "salvage"})
#: Between two treatments that are given together: signs, links, doses and how often.
_TOGETHER = _CLASSES.compile(
    r"(?:[\s,/&+()\-–]|\b{together}\b|\d+(?:[.,]\d+)?\s?{dose_unit}?(?:/m2|/m²|/kg)?){0,24}",
    re.IGNORECASE,
)
_LONGEST_GAP = 48
_STEP = re.compile(r"[;|→⇒]|[-=]>|\.\s|\n")
_NEXT_STEP = _CLASSES.compile(r"{next_step}|[-=]>|[→⇒]", re.IGNORECASE)
_RANGE = _CLASSES.compile(r"\s{0,2}(?:[-–—→]|-+>|{up_to})\s{0,2}", re.IGNORECASE)
_TO_PRESENT = _CLASSES.compile(r"\s?(?:[-–—]|{to_present})\s?{present}\b", re.IGNORECASE)
_RIGHT_BEFORE_DATE = _CLASSES.compile(r"\s{0,2}{roughly}?\s{0,2}", re.IGNORECASE)
_MONTH_AND_YEAR = re.compile(r"(?P<month>\d{1,2})/(?P<year>\d\d)")
#: Opens a sentence about the treatment of the sentence before.
_STILL_OF_IT = _CLASSES.compile(
    r"[\s\-(]{0,4}(?:{still}\s(?:{still_was}\s){0,3})?",
    re.IGNORECASE,
)
_HANDS_OVER = _CLASSES.compile(r"{switched}\s+to", re.IGNORECASE)
#: Between a date and the word of starting or stopping behind it.
_LEADS_CLAUSE = _CLASSES.compile(r"[\s:,\-–)]{0,4}(?:{leads_clause}\s){0,3}", re.IGNORECASE)
#: A link that leads to the treatment behind it ("progressed on", "intolerant of").
_LEADS_ON = _CLASSES.compile(r"\b{leads_on}$", re.IGNORECASE)
_OPENS_REASON = re.compile(r"[(:\-–,]\s?(?:\w+\s){0,2}$")
#: No further than so many weighted characters does a mark belong to a treatment; a bare ``C4`` stands right beside it.
_REACH, _REACH_OF_WEAK = 80, 14
_REACH_OF_REASON = 90
#: A last dose so many days before the note is the end; a later one is only the latest.
_LONG_PAST = 60
_REACH_OF_DATE = 42
_ENDS: Final = frozenset({"stopped", "completed", "failed", "intolerant"})
#: What these words say of the course, and why it ended.
_MEANS: Final = {
    "failed": ("stopped", "progression"),
    "intolerant": ("stopped", "toxicity"),
    "resumed": ("ongoing", ""),
}


@dataclass(slots=True)
class Group:
    """Treatments named together, with what is said of their course."""

    members: list[Mention]
    start: int
    end: int
    marks: list[Mark] = field(default_factory=list)
    stated: dict[str, Value] = field(default_factory=dict)
    cues: list[Cue] = field(default_factory=list)
    ended: DayInterval | None = None
    began: DayInterval | None = None
    #: Stretches of days in its sentence that are another treatment's, by their last day.
    of_others: dict[DayInterval, DayInterval] = field(default_factory=dict)

    @property
    def has_anything(self) -> bool:
        """Whether anything is said of it."""
        return bool(self.stated or self.began or self.ended or self.of_others)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its members."""
        return frozenset(member.kind for member in self.members)

    def state(self, name: str, value: Value, mark: Mark, rule: str) -> None:
        """What a mark says; what was said before stays."""
        if name not in self.stated:
            self.stated[name] = value
            self.cues.append(Cue(mark.start, mark.end, f"course:{rule}"))


#: A mark with the treatments that it is said of.
Owned = tuple[Mark, Group]


def with_courses(frame: Frame, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions of a note, those of treatments with what is said of their courses.

    Attributes line and cycles (numbers), intent, change, reason, standing (started, ongoing, held, stopped, completed),
    began and ended (days as :func:`days_text` writes them); of radiation dose (Gy) and fractions.
    """
    treated: dict[Span, list[Mention]] = defaultdict(list)
    harms: dict[Span, list[Mention]] = defaultdict(list)
    for mention in mentions:
        if mention.kind in TREATED:
            treated[mention.sentence].append(mention)
        elif mention.kind in CONDITIONS and mention.context.polarity is not Polarity.ABSENT:
            harms[mention.sentence].append(mention)
    if not treated:
        return list(mentions)
    written: dict[int, Mention] = {}
    for span, members in treated.items():
        groups = _groups(frame.text, members)
        _read_sentence(frame, span, groups, harms.get(span, ()))
        for group in groups:
            _write(group, written)
        _read_on(frame, groups[-1], span, treated, harms, written)
    return [written.get(id(mention), mention) for mention in mentions] if written else list(mentions)


def _read_on(
    frame: Frame,
    last: Group,
    span: Span,
    treated: Mapping[Span, list[Mention]],
    harms: Mapping[Span, list[Mention]],
    written: dict[int, Mention],
) -> None:
    """Sentences without a treatment behind the one at ``span``, while they go on about its last one."""
    sentences = frame.shape.sentences
    reached = span[1]
    for following in itertools.islice(sentences, frame.shape.sentence_index_at(span[0]) + 1, None):
        span = (following.start, following.end)
        if span in treated or span[0] - reached > 3 or not _goes_on(frame, last, span):
            return
        _read_sentence(frame, span, [last], harms.get(span, ()))
        _write(last, written)
        reached = span[1]


def _write(group: Group, written: dict[int, Mention]) -> None:
    if group.has_anything:
        written.update((id(member), _written(member, group)) for member in group.members)


def _groups(text: str, mentions: Iterable[Mention]) -> list[Group]:
    """The treatments of a sentence, those that are given together as one group."""
    groups: list[Group] = []
    for mention in sorted(mentions, key=lambda one: (one.start, one.end)):
        if groups:
            ahead = groups[-1]
            gap = text[ahead.end : mention.start]
            joined = len(gap) <= _LONGEST_GAP and _TOGETHER.fullmatch(gap) is not None
            alike = mention.kind in DRUGS and ahead.kinds <= DRUGS or {mention.kind} == ahead.kinds
            if mention.start < ahead.end or joined and alike:
                ahead.members.append(mention)
                ahead.end = max(ahead.end, mention.end)
                continue
        groups.append(Group([mention], mention.start, mention.end))
    return groups


def _goes_on(frame: Frame, last: Group, span: Span) -> bool:
    """Whether a sentence without a treatment opens with what became of the last one."""
    text, (start, end) = frame.text, span
    if last.kinds - COURSES:
        return False
    opening = _STILL_OF_IT.match(text, start, end)
    at = opening.end() if opening else start
    return may_open(frame, at) and any(
        mark.start - at <= 1 and mark.kind in ("standing", "cycles") for mark in marks_in(frame, at, min(end, at + 40))
    )


def _read_sentence(frame: Frame, span: Span, groups: list[Group], harms: Sequence[Mention]) -> None:
    """Give each mark of the sentence to a group, then dates and reasons to the marks."""
    text, (start, end) = frame.text, span
    marks = marks_in(frame, start, end)
    here = [group for group in groups if start <= group.start < end]
    dates = frame.dates_in(start, end)
    held_here: list[Owned] = []
    for mark in marks:
        group = _owner(text, mark, here) if here else groups[-1]
        if group is not None:
            held_here.append((mark, group))
    if held_here:
        _read_marks(text, held_here, here)
    if held_here or dates:
        _read_dates(frame, span, held_here, here or groups, dates)
    if held_here:
        _read_reasons(frame, span, held_here, harms, marks)
    for group in here:
        if group.kinds == {"radiation"} and "dose" not in group.stated:
            found = dose_right_behind(text, group.end, end)
            if found:
                mark = Mark(group.end, found[0], "dose", found[1])
                group.state("dose", found[1], mark, "dose")
                group.state("fractions", found[2], mark, "fractions")


@lru_cache(maxsize=1)
def _apart() -> re.Pattern[str]:
    return re.compile(rf"\b{any_of(course_words().apart)}\b", re.IGNORECASE)


def _distance(text: str, low: int, high: int) -> int:
    """Characters between a mark and a group, a comma and a new step of the sentence being far."""
    gap = text[low:high]
    words = len(_apart().findall(gap)) if len(gap) > 3 else 0
    return len(gap) + 12 * gap.count(",") + 60 * len(_STEP.findall(gap)) + 25 * words


def _owner(text: str, mark: Mark, groups: Sequence[Group]) -> Group | None:
    """The group that a mark belongs to, if one is near enough and takes such a mark."""
    fitting = [group for group in groups if any(mark.kind in _marks_of(kind) for kind in group.kinds)]
    blocking = fitting if mark.kind in ("dose", "fractions", "cycles", "line") else groups
    within = next((group for group in groups if group.start < mark.end and mark.start < group.end), None)
    if within is not None:
        return within if within in fitting else None
    ahead = [group for group in blocking if group.end <= mark.start]
    behind = [group for group in blocking if group.start >= mark.end]
    words = text[mark.start : mark.end].lower()
    best, nearest = None, (_REACH_OF_WEAK if mark.weak else _REACH) + 1
    for group, low, high, is_behind in (
        *((group, mark.end, group.start, True) for group in behind[:1]),
        *((group, group.end, mark.start, False) for group in ahead[-1:]),
    ):
        # "Pembrolizumab 200 mg q3w, C12": doses between do not part a cycle from its drug.
        beside = mark.weak and high - low <= _LONGEST_GAP and _TOGETHER.fullmatch(text, low, high)
        cost = 1 if beside else _distance(text, low, high)
        if is_behind and (words.lstrip()[:1] in "x×" and mark.kind == "cycles" or mark.kind in ("since", "until")):
            cost += 60
        if mark.kind == "standing" and _LEADS_ON.search(words) and not is_behind:
            cost += 40
        if mark.value == "failed" and not _LEADS_ON.search(words) and is_behind:
            cost += 40
        if cost < nearest:
            best, nearest = group, cost
    return best if best in fitting else None


def _marks_of(kind: str) -> frozenset[str]:
    takes = KIND_TABLE[kind].of_course
    return takes | {"since", "until", "last"} if "began" in takes else takes


def _read_marks(text: str, owned: Sequence[Owned], groups: Sequence[Group]) -> None:
    """Counts, lines, intents, changes, doses; and where the course stands by the last word of it."""
    for mark, group in owned:
        if mark.kind in ("line", "change", "fractions"):
            group.state(mark.kind, mark.value, mark, mark.kind)
        elif mark.kind == "intent":
            if group.kinds <= OPERATIONS and mark.value not in _OF_AN_OPERATION:
                continue
            group.state("intent", mark.value, mark, "intent")
        elif mark.kind == "dose":
            if mark.numbered:
                group.stated.pop("dose", None)
                group.stated.pop("fractions", None)
            group.state("dose", mark.value, mark, "dose")
        elif mark.kind == "cycles":
            count = max(float(mark.value), float(group.stated.get("cycles", 0)))
            group.stated["cycles"] = count
            group.cues.append(Cue(mark.start, mark.end, "course:cycles"))
        elif mark.kind == "standing":
            standing, why = _MEANS.get(str(mark.value), (str(mark.value), ""))
            if standing != "started" or "standing" not in group.stated:
                group.stated["standing"] = standing
                group.cues.append(Cue(mark.start, mark.end, f"course:{standing}"))
            if why:
                group.stated["reason"] = why
    for mark, group in owned:
        if mark.kind == "cycles" and mark.numbered and "standing" not in group.stated:
            # "C5D1 today": the number of a cycle is said of what goes on, a count of them of what was given.
            group.stated["standing"] = "ongoing"
    for ahead, following in itertools.pairwise(groups):
        # "Neoadjuvant AC x4 then paclitaxel": what is given next, without an operation between, has the same intent.
        between = text[ahead.end : following.start]
        carried = ahead.stated.get("intent") in ("neoadjuvant", "adjuvant") and len(between) <= 60
        drugs = following.kinds <= DRUGS and ahead.kinds <= DRUGS and "intent" not in following.stated
        if carried and drugs and _NEXT_STEP.search(between) and not re.search(r"[.;\n]", between):
            following.stated["intent"] = ahead.stated["intent"]


def _read_dates(
    frame: Frame, span: Span, owned: Sequence[Owned], groups: Sequence[Group], dates: Sequence[DateMention]
) -> None:
    """Ranges first, then the date nearest to each word of starting and ending, each date once."""
    text = frame.text
    used = _read_ranges(text, span[0], groups, dates)
    for (mark, group), date in _nearest(text, owned, [date for date in dates if date.start not in used]):
        used.add(date.start)
        if mark.kind == "last":
            if frame.note.date is None or date.day.high + _LONG_PAST <= frame.note.date.toordinal():
                _end(group, date)
        elif mark.value in _ENDS or mark.kind == "until" or mark.kind == "since" and _is_off(mark, group, owned):
            _end(group, date)
        elif mark.value == "started" or mark.kind in ("since", "cycles"):
            _begin(group, date)
            if mark.value == "started" and _HANDS_OVER.match(text, mark.start):
                ahead = [other for other in groups if other.end <= mark.start]
                if ahead:
                    _end(ahead[-1], date)
    for date in dates:
        if date.start not in used and _TO_PRESENT.match(text, date.end):
            timed = _near(text, Mark(date.start, date.end, "began", ""), groups)
            if timed is not None:
                _begin(timed, date)
    for mark, _ in owned:
        if mark.kind == "standing" and _HANDS_OVER.match(text, mark.start):
            left = [other for other in groups if other.end <= mark.start]
            if left and _distance(text, left[-1].end, mark.start) <= _REACH and left[-1].kinds <= DRUGS:
                left[-1].stated["standing"] = "stopped"


def _read_ranges(text: str, start: int, groups: Sequence[Group], dates: Sequence[DateMention]) -> set[int]:
    """Give each range of days to its treatment, and take it from the others; where the dates of ranges begin."""
    used: set[int] = set()
    for first, second in itertools.pairwise(dates):
        if first.start in used or not _RANGE.fullmatch(text, first.end, second.start):
            continue
        if first.day.low > second.day.high:
            continue
        used |= {first.start, second.start}
        group = _near(text, Mark(first.start, second.end, "began", ""), groups)
        if group is not None and not _is_pause(text, start, first.start):
            _begin(group, first)
            _end(group, second, _month_of_year(text, first, second))
            for other in groups:
                if other is not group and first.day.low <= second.day.high:
                    other.of_others[second.day] = DayInterval(first.day.low, second.day.high)
    return used


def _nearest(text: str, owned: Sequence[Owned], dates: Sequence[DateMention]) -> Iterator[tuple[Owned, DateMention]]:
    """Words of starting and ending, each with a date near it: the nearest pairs first, each word and date once."""
    offers = []
    for number, (mark, group) in enumerate(owned):
        limit = _reach_of_date(mark)
        if limit is None:
            continue
        for date in dates:
            if date.rule == "masked":
                continue
            cost = _date_cost(text, mark, group, date, limit, owned)
            if cost is not None:
                offers.append((cost, number, date))
    taken: set[int] = set()
    used: set[int] = set()
    for _, number, date in sorted(offers, key=lambda offer: (offer[0], offer[1])):
        if number not in taken and date.start not in used:
            taken.add(number)
            used.add(date.start)
            yield owned[number], date


def _reach_of_date(mark: Mark) -> int | None:
    """How far from a mark its date may stand (0: right behind it); None where the mark has none."""
    if mark.kind in ("since", "until"):
        return 0
    if mark.kind == "last" or mark.kind == "standing" and mark.value not in ("ongoing", "resumed"):
        return _REACH_OF_DATE
    return 12 if mark.kind == "cycles" and mark.numbered and mark.value == 1.0 else None


def _near(text: str, stretch: Mark, groups: Sequence[Group]) -> Group | None:
    """The treatment that a stretch of days is of: a drug or a course of radiation, the nearer one."""
    timed = [group for group in groups if group.kinds <= COURSES]
    return _owner(text, stretch, timed) if timed else None


def _month_of_year(text: str, first: DateMention, second: DateMention) -> DayInterval | None:
    """``11/22`` as November 2022 where it ends a stretch that begins with a date of a year ("1/20/22 - 11/22")."""
    match = _MONTH_AND_YEAR.fullmatch(text, second.start, second.end)
    if not match or first.rule.endswith("without-year") or not 1 <= int(match["month"]) <= 12:
        return None
    begun = datetime.date.fromordinal(first.day.low)
    year = begun.year // 100 * 100 + int(match["year"])
    day = month_span(year, int(match["month"]))
    return day if begun.year <= year <= begun.year + 3 and day.high >= first.day.low else None


_PAUSED = _CLASSES.compile(r"\b{paused}\W+(?:\w+\W+)?$", re.IGNORECASE)


def _is_pause(text: str, start: int, at: int) -> bool:
    """Whether words of holding stand right before a stretch of days."""
    return _PAUSED.search(text[max(start, at - 24) : at]) is not None


def _is_off(since: Mark, group: Group, owned: Sequence[Owned]) -> bool:
    """Whether the words before *since* say that the treatment has ended ("off tamoxifen since 3/2018")."""
    before = [mark for mark, other in owned if other is group and mark.kind == "standing" and mark.end <= since.start]
    return bool(before) and before[-1].value in _ENDS


def _date_cost(
    text: str, mark: Mark, group: Group, date: DateMention, limit: int, owned: Sequence[Owned]
) -> int | None:
    """How far a date is from a word of starting or ending; None where it is of something else."""
    if date.start < mark.end and mark.start < date.end:
        return 0 if mark.kind == "standing" else None
    if date.start >= mark.end:
        if limit == 0:
            return 0 if _RIGHT_BEFORE_DATE.fullmatch(text, mark.end, date.start) else None
        low, high = mark.end, date.start
    else:
        if limit == 0:
            return None
        low, high = date.end, mark.start
    gap = text[low:high]
    if date.end <= mark.start and (mark.value == "failed" or not _LEADS_CLAUSE.fullmatch(gap)):
        return None
    if date.end <= mark.start and group.end <= date.start and mark.value in _ENDS:
        # "X 3/25/21 (9 doses), stopped": the day right behind a treatment is when it was given.
        return None
    between = any(low <= other.start < high and other.kind == "standing" for other, _ in owned if other is not mark)
    if len(gap) > limit or between or _STEP.search(gap):
        return None
    # Words before a date point to it more often than words behind.
    ahead = 6 if date.end <= mark.start else 0
    return len(gap) + 10 * gap.count(",") + ahead


def _begin(group: Group, date: DateMention) -> None:
    if group.began is None:
        group.began = date.day
        group.cues.append(Cue(date.start, date.end, f"date:{date.rule}"))


def _end(group: Group, date: DateMention, day: DayInterval | None = None) -> None:
    if group.ended is not None:
        return
    group.ended = day or date.day
    group.cues.append(Cue(date.start, date.end, f"date:{date.rule}"))


def _read_reasons(
    frame: Frame,
    span: tuple[int, int],
    owned: Sequence[Owned],
    harms: Sequence[Mention],
    marks: Sequence[Mark],
) -> None:
    """Why a course was stopped, held or changed: a class of reasons, or a toxicity that is named."""
    text, words = frame.text, course_words()
    standings = [mark for mark in marks if mark.kind == "standing" or mark.kind == "change"]
    for mark, group in owned:
        has_reason = mark.kind == "change" or mark.kind == "standing" and mark.value in ("stopped", "held")
        if not has_reason or "reason" in group.stated or _HANDS_OVER.match(text, mark.start):
            continue
        following = [other.start for other in standings if other.start > mark.start]
        high = min([span[1], mark.end + _REACH_OF_REASON, *following])
        first, last = frame.token_range(mark.end, high)
        reasons = frame.phrases(words.reasons, first, last)
        found = [(match.start, match.end, match.payloads[0]) for match in reasons]
        found += [(harm.start, harm.end, "toxicity") for harm in harms if mark.end <= harm.start < high]
        for low, end, why in sorted(found):
            if _is_linked(frame, mark.end, low) and not _STEP.search(text, mark.end, low):
                if mark.kind == "standing":
                    group.stated["reason"] = why
                group.cues.append(Cue(low, end, f"course:reason:{why}"))
                break


def _is_linked(frame: Frame, low: int, high: int) -> bool:
    """Whether the words between a stop and a reason say that the one is because of the other."""
    if high - low <= 2 or _OPENS_REASON.search(frame.text, max(low, high - 24), high):
        return True
    first, last = frame.token_range(low, high)
    return bool(frame.phrases(course_words().because, first, last))


def _written(mention: Mention, group: Group) -> Mention:
    """A member of a group with what its kind takes; what is no fact of the patient has neither days nor standing."""
    takes = KIND_TABLE[mention.kind].of_course
    stated = {name: value for name, value in group.stated.items() if name in takes}
    day = mention.day
    happened = mention.context.temporality in (Temporality.CURRENT, Temporality.HISTORICAL)
    if happened and mention.context.polarity is not Polarity.ABSENT:
        # Its day is the end of a stretch that is another's: it was given somewhere in it.
        day = group.of_others.get(day, day) if mention.kind in DRUGS else day
        if "began" in takes and group.began is not None:
            stated["began"] = days_text(group.began)
            day = group.began
        if "ended" in takes and group.ended is not None:
            stated["ended"] = days_text(group.ended)
    else:
        stated = {name: value for name, value in stated.items() if name not in ("standing", "reason")}
    if not stated and day == mention.day:
        return mention
    cues = tuple(dict.fromkeys((*mention.cues, *group.cues)))
    return replace(mention, attributes={**mention.attributes, **stated}, day=day, cues=cues)
