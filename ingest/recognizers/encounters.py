"""Encounters: visits, admissions, stays in intensive care, emergency visits, by the kind of a note and by its words.

What a note is written of (a discharge summary of a stay, a clinic note of a visit) is told by its type and title, and
stands at its first line. What it tells besides is read by patterns. A stay has its end from its field, or from the
sentence that tells both days; what is told of one without a date, in a note of another day, lies somewhere before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.model import EARLIEST_DAY, Context, Cue, DayInterval, Mention, Polarity, Temporality, Value
from ..text.cue_files import any_of, cue_file
from ..text.dates.intervals import days_of, days_text
from ..text.dates.reader import DateMention
from ..text.frame import ENCOUNTERS, Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("recognizers", "encounters")

KIND: Final = "encounter"
ADMISSION, EMERGENCY, ICU, VISIT = "admission", "emergency_visit", "icu_stay", "visit"
_READMISSION, _UNPLANNED, _ELECTIVE = "readmission", "unplanned_admission", "elective_admission"
_REMOTE: Final = "telehealth_visit"
#: Those that last: a note may be part of one.
STAYS: Final = frozenset({ADMISSION, ICU, _READMISSION, _UNPLANNED, _ELECTIVE})
#: What the words of a note tell, and what its kind tells.
BY_WORDS: Final = "pattern:encounter"
BY_NOTE: Final = "pattern:kind of note"
#: The attribute of a mention that tells when a stay ended, and what the rule of its cue begins with.
ENDED: Final = "ended"
#: So far (characters) behind the word for a stay may its end stand, and a date beside the word of a visit.
_REACH_OF_END, _BESIDE = 160, 14
#: So far (characters) into its line stands a date that goes on with the line before it.
_INTO_LINE: Final = 16
#: The first line of a note stands for the note, up to so many characters; its fields stand in so many.
_LONGEST_LINE, _FIELDS = 80, 1_200
#: Nobody stays longer, in days: a later date ends something else.
_LONGEST_STAY: Final = 400

_PLACE: Final = r"(?:(?i:{article})\s)?(?:(?i:{of_hospital})\s){0,3}"
_TO: Final = _CLASSES.compile(r"\s{1,2}(?:{way}\s)?(?:in)?to\b", re.IGNORECASE)
_TO_PLACE: Final = _CLASSES.compile(
    rf"\s{{1,2}}(?:{{way}}\s)?(?:in)?to\s{_PLACE}"
    r"(?:(?P<icu>{icu})\b|(?i:{place})\b|(?:[A-Z][\w'.&-]*\s){0,4}{ends_name}\b|Dr\b"
    r"|(?!{no_place}\b){letters}\b)"
)
_OWNED_UP: Final = _CLASSES.compile(r"\s{1,2}{owned_up}\b", re.IGNORECASE)
_FROM_ED: Final = _CLASSES.compile(r"\s(?:\w+\s){0,3}?(?i:{through})\s(?:(?i:{article})\s)?(?:{ed})\b")
_HOW_BEFORE: Final = _CLASSES.compile(
    r"\b(?:(?P<unplanned>{unplanned})|(?P<elective>{elective}))\s(?:{of_stay}\s|re-?)?\Z", re.IGNORECASE
)
_HOW_BEHIND: Final = _CLASSES.compile(r"\s(?:(?P<unplanned>{unplanned})|(?P<elective>{elective}))\b", re.IGNORECASE)
_AT_LARGE_BEFORE: Final = _CLASSES.compile(r"\b{at_large_before}\s(?:{any_stay}\s)?\Z", re.IGNORECASE)
_AT_LARGE_BEHIND: Final = _CLASSES.compile(r"[\s-]{1,2}{at_large_behind}\b", re.IGNORECASE)
_BEFORE_STAY: Final = _CLASSES.compile(r"\b{before_stay}\s{1,2}(?:[\w-]{3,16}\s)?\Z", re.IGNORECASE)
_UNIT_BEFORE: Final = _CLASSES.compile(r"\b{icu}\s{1,2}\Z")
_BEHIND_STAY: Final = _CLASSES.compile(r"\s{1,2}{behind_stay}\b", re.IGNORECASE)
_TO_DATE: Final = _CLASSES.compile(r"[\s,:(@]{0,2}(?:{to_date}\s){0,2}\(?", re.IGNORECASE)
_UP_TO: Final = _CLASSES.compile(r"\s?(?:-|–|—|→|->|\b{up_to}\b|and)\s?(?:the\s)?", re.IGNORECASE)
_DISCHARGED: Final = _CLASSES.compile(r"\b{discharged}\b[^.;\n\d]{0,40}\Z", re.IGNORECASE)
#: What is to come, may come, or was refused: a pattern of what stands before the word, and of what stands behind.
_OPEN: Final = tuple(
    (
        rule,
        _CLASSES.compile(rf"\b{{{name}_before}}\s(?:[\w,/-]{{1,14}}\s){{0,2}}\Z", re.IGNORECASE),
        _CLASSES.compile(rf"\s{{{name}}}\b", re.IGNORECASE),
    )
    for rule, name in (("refused", "refused"), ("planned", "planned"), ("maybe", "maybe"))
)
_REACH_OF_OPEN: Final = 56
_TODAY: Final = _CLASSES.compile(r"\b{today}\b", re.IGNORECASE)

_ADMITTED: Final = Gated(re.compile(r"(?<![^\W_])(?:(?P<again>re)-?)?admitted\b", re.IGNORECASE), r"(?i:re|admi)")
_HOSPITALIZED: Final = Gated(
    re.compile(r"(?<![^\W_])(?:(?P<again>re)-?)?hospitali[sz](?:ed|ations?)\b", re.IGNORECASE), r"(?i:re|hospitali)"
)
_STAY: Final = Gated(
    re.compile(
        r"(?<![^\W_])(?:(?P<again>re)-?admissions?|admissions?|(?:hospital|inpatient)\sstays?)\b", re.IGNORECASE
    ),
    r"(?i:re|admission|hospital|inpatient)",
)
#: ``ADMIT 5/14/21``: a verb in a telegram, or the field of a note, with its date behind it.
_ADMIT: Final = Gated(re.compile(r"(?<![^\W_])(?:admit|adm)\b(?=:?\s{1,6}\S{0,2}\d)", re.IGNORECASE), r"(?i:adm)")
_DISPOSITION: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_])dispo(?:sition)?:?\s{1,3}(?:to\s)?admit(?:ted)?\b(?!\s{or_not}\b)", re.IGNORECASE),
    r"(?i:dispo)",
)
_UNIT_NOUN: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_]){icu}\s{1,2}(?i:{unit_noun})\b"), _CLASSES.pattern(r"{icu_begins}")
)
_TO_UNIT: Final = Gated(
    _CLASSES.compile(rf"(?<![^\W_])(?i:{{to_unit}})\s(?:(?i:{{way}})\s)?(?i:in)?(?i:to)\s{_PLACE}{{icu}}\b"),
    _CLASSES.pattern(r"(?i:{to_unit})\Z"),
)
_UNIT_NEEDED: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_])(?i:{needed_unit})\s(?:(?i:{article})\s)?{icu}(?:\s(?i:{unit_care}))?\b"),
    _CLASSES.pattern(r"(?i:{needed_unit})\Z"),
)
_IN_UNIT: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_])(?i:{in_unit})\s(?i:in)\s(?:(?i:{article})\s)?(?:(?i:{of_hospital})\s)?{icu}\b"),
    _CLASSES.pattern(r"(?i:{in_unit_begins})"),
)
_TO_ICU: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_])(?i:to)\s(?:(?i:{article})\s)?{icu}\b(?!\s(?i:{if_needed}))"), r"(?i:to\Z)"
)
_TO_ED: Final = Gated(
    _CLASSES.compile(
        r"(?<![^\W_])(?i:{went})\s(?:[\w,/-]{1,14}\s){0,5}?(?i:{towards})\s"
        rf"{_PLACE}(?P<ed>(?:[A-Z][\w'.&-]*\s){{0,3}}{{ed}})(?![\w/])"
    ),
    _CLASSES.pattern(r"(?i:{went_begins})"),
)
_ED_NOUN: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_])(?:{ed}|(?i:emergency))\s{1,2}(?i:{ed_noun})\b"), _CLASSES.pattern(r"{ed_begins}")
)
_IN_ED: Final = Gated(
    _CLASSES.compile(
        r"(?<![^\W_])(?:(?i:in|at)\s(?i:the)\s|(?:In|At)\s|(?:in|at)\s(?={ed},?\s(?:[A-Z][a-z]{2,8}\b|\d))){ed}"
        r"(?=[\s,:.;)])(?!\s(?i:{of_no_visit}))"
    ),
    r"(?i:in\Z|at\Z)",
)
_VISIT_NOUN: Final = Gated(
    _CLASSES.compile(
        r"(?<![^\W_])(?:(?:(?P<remote>{remote})|{of_visit})[\s-])?(?:visits?|televisits?)\b", re.IGNORECASE
    ),
    _CLASSES.pattern(r"(?i:{visit_begins})"),
)
_SEEN: Final = Gated(
    _CLASSES.compile(
        r"(?<![^\W_]){seen_by}\s(?:[\w,/-]{1,14}\s){0,3}?(?:in|at|by)\s(?:{article}\s)?(?:[\w&/-]{1,16}\s){0,3}?{clinic}\b",
        re.IGNORECASE,
    ),
    _CLASSES.pattern(r"(?i:{seen_by_begins})"),
)
_BEGIN: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_]){field_of_begin}\b[\s:]{1,12}(?:\[\*\*)?(?=\S)", re.IGNORECASE),
    _CLASSES.pattern(r"(?i:{field_of_begin_begins})"),
)
_END: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_]){field_of_end}\b[\s:]{1,12}(?:\[\*\*)?(?=\S)", re.IGNORECASE),
    _CLASSES.pattern(r"(?i:{field_of_end_begins})"),
)


class EncounterRecognizer(Recognizer):
    """Encounters that words tell; what the kind of the note tells is :func:`encounters_of_note`."""

    name = "encounters"
    gates = (
        _ADMITTED, _HOSPITALIZED, _STAY, _ADMIT, _DISPOSITION, _UNIT_NOUN, _TO_UNIT, _UNIT_NEEDED, _IN_UNIT, _TO_ICU,
        _TO_ED, _ED_NOUN, _IN_ED, _VISIT_NOUN, _SEEN,
    )  # fmt: skip
    layer = ENCOUNTERS

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``encounter``; of those of one sort over each other the first alone."""
        behind: dict[str, int] = {}
        found = [*_stays(frame), *_units(frame), *_emergencies(frame), *_visits(frame)]
        for start, end, concept in sorted(found):
            sort = ADMISSION if concept in STAYS and concept != ICU else concept
            if start >= behind.get(sort, 0):
                behind[sort] = end
                yield Span(start, end, KIND, concept, BY_WORDS)


_Found = tuple[int, int, str]


def _stays(frame: Frame) -> Iterator[_Found]:
    text, places = frame.text, frame.places
    line = _first_line(text) or (0, 0)
    if _note_words().hospice.search(f"{frame.note.type} {frame.note.title} {text[slice(*line)]}") is not None:
        return  # An admission is one to the hospice there.
    for match in _DISPOSITION.find(places, text):
        yield *match.span(), ADMISSION
    for match in _ADMITTED.find(places, text):
        start, end = match.span()
        to_place = _TO_PLACE.match(text, end)
        if (_TO.match(text, end) and to_place is None) or _OWNED_UP.match(text, end):
            continue
        if to_place is None or to_place["icu"] is None:  # That to a unit is read as such.
            yield start, end, _sort_of_stay(text, start, end, again=match["again"] is not None)
    for match in _HOSPITALIZED.find(places, text):
        start, end = match.span()
        if not _is_at_large(text, start, end):
            yield start, end, _sort_of_stay(text, start, end, again=match["again"] is not None)
    for match in _STAY.find(places, text):
        start, end = match.span()
        before = _BEFORE_STAY.search(text, max(0, start - 24), start)
        behind = _BEHIND_STAY.match(text, end) or _date_beside(frame, start, end, before=False)
        if not (before or behind or match["again"]) or _is_at_large(text, start, end):
            continue
        if _UNIT_BEFORE.search(text, max(0, start - 24), start):
            continue
        if _TO.match(text, end) and (to_place := _TO_PLACE.match(text, end)) and to_place["icu"] is not None:
            continue
        yield start, end, _sort_of_stay(text, start, end, again=match["again"] is not None)
    for match in _ADMIT.find(places, text):
        if _date_beside(frame, *match.span(), before=False):
            yield *match.span(), ADMISSION


def _sort_of_stay(text: str, start: int, end: int, *, again: bool) -> str:
    if again:
        return _READMISSION
    how = _HOW_BEFORE.search(text, max(0, start - 32), start) or _HOW_BEHIND.match(text, end)
    if how is not None:
        return _UNPLANNED if how["unplanned"] else _ELECTIVE
    return _UNPLANNED if _FROM_ED.match(text, end) else ADMISSION


def _is_at_large(text: str, start: int, end: int) -> bool:
    """Whether the word for a stay speaks of stays at large, or stands in the name of something else."""
    before = _AT_LARGE_BEFORE.search(text, max(0, start - 28), start)
    return before is not None or _AT_LARGE_BEHIND.match(text, end) is not None


def _units(frame: Frame) -> Iterator[_Found]:
    for gated in (_UNIT_NOUN, _TO_UNIT, _UNIT_NEEDED, _IN_UNIT, _TO_ICU):
        for match in gated.find(frame.places, frame.text):
            yield *match.span(), ICU


def _emergencies(frame: Frame) -> Iterator[_Found]:
    text = frame.text
    for match in _TO_ED.find(frame.places, text):
        yield match.start(), match.end(), EMERGENCY
    for gated in (_ED_NOUN, _IN_ED):
        for match in gated.find(frame.places, text):
            if not _is_at_large(text, *match.span()):
                yield *match.span(), EMERGENCY


def _visits(frame: Frame) -> Iterator[_Found]:
    """Visits with their day: without one, most are those of the note or of no day that anybody could name."""
    for gated in (_VISIT_NOUN, _SEEN):
        for match in gated.find(frame.places, frame.text):
            date = _date_beside(frame, *match.span())
            if date is not None and date.precision in ("day", "relative") and not _is_ahead(frame, date):
                yield *match.span(), _REMOTE if "remote" in match.groupdict() and match["remote"] else VISIT


def _is_ahead(frame: Frame, date: DateMention) -> bool:
    return frame.note.date is not None and date.day.high > frame.note.date.toordinal()


def _date_beside(frame: Frame, start: int, end: int, *, before: bool = True) -> DateMention | None:
    """The date right behind these words, or right before them."""
    for date in frame.dates_in(end, end + _BESIDE + 8):
        if _TO_DATE.fullmatch(frame.text, end, date.start):
            return date
    if before:
        for date in frame.dates_in(max(0, start - 32), start):
            if frame.text[date.end : start] in (" ", ": ", " - "):
                return date
    return None


# --- the note itself --------------------------------------------------------------------------------------------------


class _Told(NamedTuple):
    concept: str
    words: re.Pattern[str]
    unless: re.Pattern[str] | None
    stay: bool


@dataclass(frozen=True, slots=True)
class _NoteWords:
    told: tuple[_Told, ...]
    no_meeting: re.Pattern[str]
    reports: re.Pattern[str]
    hospice: re.Pattern[str]


def _standing(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the words, as words of their own."""
    return re.compile(rf"(?<![^\W_]){any_of(words)}(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=1)
def _note_words() -> _NoteWords:
    table = cue_file("encounters")
    told = tuple(
        _Told(
            entry["concept"],
            _standing(entry["words"]),
            _standing(entry["unless"]) if "unless" in entry else None,
            entry.get("stay", False),
        )
        for entry in table["told_by_note"]
    )
    return _NoteWords(told, *(_standing(table[name]["words"]) for name in ("no_meeting", "reports", "hospice")))


@lru_cache(maxsize=4096)
def told_by_note(type_: str, title: str) -> tuple[str, ...]:
    """The encounters that a note with this type and title is written of."""
    words, name = _note_words(), f"{type_} {title}"
    stays = _fitting(name, stay=True)
    if stays or words.no_meeting.search(name) or words.reports.search(type_):
        return stays
    by_type = _fitting(type_, stay=False)
    if not by_type and words.reports.search(title):
        return ()
    # The title tells more than "clinic letter" does.
    return _fitting(name, stay=False)[:1]


def _fitting(name: str, *, stay: bool) -> tuple[str, ...]:
    return tuple(
        one.concept
        for one in _note_words().told
        if one.stay is stay and one.words.search(name) and not (one.unless is not None and one.unless.search(name))
    )


def encounters_of_note(frame: Frame) -> list[Mention]:
    """The mentions at the first line of the note that stand for what it is written of."""
    note, text = frame.note, frame.text
    line = _first_line(text)
    if line is None:
        return []
    type_, title = (" ".join(one.split()) for one in (note.type, note.title))
    if not type_ and not title and _is_heading(frame, line):
        title = " ".join(text[slice(*line)].split())
    concepts = told_by_note(type_, title)
    begin, end = _fields(frame)
    if begin is not None and end is not None and ADMISSION not in concepts:
        # The fields of a stay stand in notes of any name.
        concepts = (*concepts, ADMISSION)
    return [_of_note(frame, line, concept, begin, end) for concept in concepts]


def _first_line(text: str) -> tuple[int, int] | None:
    start = len(text) - len(text.lstrip())
    if start == len(text):
        return None
    end = text.find("\n", start)
    end = min(len(text) if end < 0 else end, start + _LONGEST_LINE)
    return start, start + len(text[start:end].rstrip())


def _is_heading(frame: Frame, line: tuple[int, int]) -> bool:
    """Whether the first line of a note without type and title may be its title: no sentence, and lines stand below."""
    start, end = line
    words = [word for word in frame.text[start:end].split() if word[:1].isalpha()]
    large = sum(1 for word in words if word[0].isupper())
    return frame.text[end - 1] not in ".,;" and "\n" in frame.text[end:] and 2 * large > len(words)


def _of_note(
    frame: Frame, line: tuple[int, int], concept: str, begin: DateMention | None, end: DateMention | None
) -> Mention:
    note, (first, last) = frame.note, line
    written = None if note.date is None else note.date.toordinal()
    day = DayInterval() if written is None else DayInterval(written, written)
    attributes: dict[str, Value] = {}
    cues: tuple[Cue, ...] = ()
    if concept == ADMISSION and begin is not None:
        day, cues = begin.day, (_cue(begin),)
        if end is not None and day.low <= end.day.low <= day.low + _LONGEST_STAY:
            attributes[ENDED] = days_text(end.day)
            cues += (Cue(end.start, end.end, f"{ENDED}:{end.rule}"),)
    sentence = frame.shape.sentences[frame.shape.sentence_index_at(first)]
    return Mention(
        note.note_id,
        first,
        last,
        note.text[first:last],
        KIND,
        "",
        concept,
        attributes,
        Context(),
        day,
        BY_NOTE,
        frame.shape.section_at(first).name,
        (min(first, sentence.start), max(last, sentence.end)),
        cues,
    )


def _cue(date: DateMention) -> Cue:
    return Cue(date.start, date.end, f"date:{date.rule}")


def _fields(frame: Frame) -> tuple[DateMention | None, DateMention | None]:
    """The dates in the fields of a stay, near the head of the note."""
    begin = _field(frame, _BEGIN, 0)
    return begin, None if begin is None else _field(frame, _END, begin.end)


def _field(frame: Frame, gated: Gated, start: int) -> DateMention | None:
    for match in gated.find_in(frame.places, frame.text, start, min(len(frame.text), start + _FIELDS)):
        for date in frame.dates_in(match.end() - 3, match.end() + 1):
            if date.precision == "day" and not _is_ahead(frame, date):
                return date
    return None


# --- days -------------------------------------------------------------------------------------------------------------


def with_days(frame: Frame, mentions: Sequence[Mention], of_note: Sequence[Mention]) -> list[Mention]:
    """The mentions that words tell, each with its days; ``of_note``: those that the note itself is."""
    stay = next((one for one in of_note if one.concept == ADMISSION), None)
    own = {one.concept for one in of_note}
    return [_dated(frame, mention, stay, own) for mention in mentions]


def _dated(frame: Frame, mention: Mention, stay: Mention | None, own: set[str]) -> Mention:
    mention = _unless_open(frame, mention)
    cue = next((one for one in mention.cues if one.rule.startswith("date:")), None)
    if not mention.context.really_happened:
        return mention
    if cue is not None and _is_of_next_line(frame, mention, cue):
        other = replace(mention, cues=tuple(one for one in mention.cues if one is not cue))
        return _before(frame, other)
    if cue is not None and _is_end(frame, mention, cue):
        # "Admitted with fever, discharged 3/9": the date is that of the end.
        ended = Cue(cue.start, cue.end, cue.rule.replace("date", ENDED, 1))
        other = replace(
            mention,
            attributes={**mention.attributes, ENDED: days_text(mention.day)},
            cues=(*(one for one in mention.cues if one is not cue), ended),
        )
        return _before(frame, other)
    if cue is not None:
        return _with_end(frame, mention, cue)
    if mention.context.temporality is Temporality.HISTORICAL:
        return mention
    if stay is not None and mention.concept == ICU and ENDED in stay.attributes:
        # On one of the days of the stay.
        end = stay.cues[1]
        within = DayInterval(stay.day.low, days_of(str(stay.attributes[ENDED])).high)
        cues = (stay.cues[0], Cue(end.start, end.end, end.rule.replace(ENDED, "date", 1)))
        return replace(mention, day=within, cues=mention.cues + cues)
    if stay is not None and mention.concept not in (ICU, VISIT):
        # What a summary of a stay tells without a date belongs to it.
        return replace(mention, day=stay.day, cues=mention.cues + stay.cues[:1])
    is_own = mention.concept in own or (mention.concept in STAYS and EMERGENCY in own)
    if is_own or _TODAY.search(frame.text, *mention.sentence):
        return mention
    return _before(frame, mention)


def _is_of_next_line(frame: Frame, mention: Mention, cue: Cue) -> bool:
    """Whether a date stands within another line than the word, as in lists."""
    line = frame.text.find("\n", mention.end, cue.start)
    return line >= 0 and cue.start - line > _INTO_LINE


def _unless_open(frame: Frame, mention: Mention) -> Mention:
    """What is planned, only spoken of, or was refused, with the words that say so."""
    if not mention.context.really_happened:
        return mention
    text, (first, last) = frame.text, mention.sentence
    for rule, before, behind in _OPEN:
        match = before.search(text, max(first, mention.start - _REACH_OF_OPEN), mention.start) or behind.match(
            text, mention.end, max(last, mention.end)
        )
        if match is None:
            continue
        context = mention.context
        if rule == "refused":
            context = replace(context, polarity=Polarity.ABSENT, reason="declined")
        else:
            when = Temporality.PLANNED if rule == "planned" else Temporality.HYPOTHETICAL
            context = replace(context, temporality=when)
        return replace(mention, context=context, cues=(*mention.cues, Cue(*match.span(), f"{KIND}:{rule}")))
    return mention


def _before(frame: Frame, mention: Mention) -> Mention:
    """It happened on some day up to that of the note."""
    if frame.note.date is None:
        return replace(mention, day=DayInterval())
    context = replace(mention.context, temporality=Temporality.HISTORICAL)
    return replace(mention, context=context, day=DayInterval(EARLIEST_DAY, frame.note.date.toordinal()))


def _is_end(frame: Frame, mention: Mention, cue: Cue) -> bool:
    if mention.concept not in STAYS or cue.start < mention.end:
        return False
    return _DISCHARGED.search(frame.text, mention.end, cue.start) is not None


def _with_end(frame: Frame, mention: Mention, cue: Cue) -> Mention:
    """A stay with the day on which it ended: the other end of a range, or the date of the discharge behind it."""
    if mention.concept not in STAYS:
        return mention
    text, dates = frame.text, frame.dates
    at = next((number for number, date in enumerate(dates) if date.start == cue.start), None)
    if at is None:
        return mention
    if at and _UP_TO.fullmatch(text, dates[at - 1].end, cue.start) and dates[at - 1].day.low <= dates[at].day.low:
        # The date nearest to the word was the second of a range.
        at -= 1
        first = dates[at]
        mention = replace(
            mention, day=first.day, cues=tuple(_cue(first) if one is cue else one for one in mention.cues)
        )
    begin = dates[at]
    for end in dates[at + 1 : at + 4]:
        if end.start - max(mention.end, begin.end) > _REACH_OF_END or "\n\n" in text[begin.end : end.start]:
            break
        is_end = (
            _UP_TO.fullmatch(text, begin.end, end.start)
            or _DISCHARGED.search(text, max(begin.end, mention.end), end.start)
        )  # fmt: skip
        if is_end and end.precision == "day" and begin.day.low <= end.day.low <= begin.day.low + _LONGEST_STAY:
            attributes = {**mention.attributes, ENDED: days_text(end.day)}
            return replace(
                mention, attributes=attributes, cues=(*mention.cues, Cue(end.start, end.end, f"{ENDED}:{end.rule}"))
            )
    return mention
