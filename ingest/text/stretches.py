"""Dated stretches: how far what a date dates reaches beyond its clause.

A study with its date (``Brain MRI 11/12: …``) dates what is told of it, up to the next date or the end of its line; an
addendum what follows it; the field of a report for the day on which a specimen was taken dates what the report finds.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ...kb.kinds import CONDITIONS, FOUND, MOLECULAR, OPERATIONS, REPORTED, SEEN
from ...kb.note_classes import PATHOLOGY
from .dates.reader import DateMention
from .frame import Frame
from .shape import BLANK_LINE
from .word_classes import word_classes

_CLASSES: Final = word_classes("text", "stretches")

#: A study, and what may stand between it and its date on either side.
_STUDY: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:(?P<image>(?i:{image})|{image_short})|(?P<sample>(?i:{sample})|{sample_short})|(?P<stay>(?i:{stay})))"
    r"(?![^\W_])"
)
_BEFORE_DATE: Final = _CLASSES.compile(
    r"(?:[ ,]{1,2}(?!{not_its_date}\b)[^\s.;:!?]{1,24}){0,6}[\s,(\[\-–:]{1,3}(?:{on}\s)?(?:\()?", re.IGNORECASE
)
_BEHIND_DATE: Final = _CLASSES.compile(r"[\s,\-–:]{1,3}(?:{of_place}\s){0,2}", re.IGNORECASE)
#: So far before a date may its study stand, and so far behind (characters).
_REACH_BEFORE, _REACH_BEHIND = 64, 24
#: Before a date with which what was seen is only compared, or from which something began: it ends no stretch.
_OF_COMPARISON: Final = _CLASSES.compile(r"\b{compared_with}\s(?:\w+\s){0,3}[(\[]?\Z", re.IGNORECASE)
_REACH_OF_COMPARISON: Final = 40
#: Words with which something else begins than what a study found.
_SOMETHING_ELSE: Final = _CLASSES.compile(r"(?<![^\W_])(?:(?i:{other_topic})(?=[\s:/,])|{other_topic_short}\b)")
#: A study at the head of its lines: nothing but a colon stands behind its date.
_HEADS_LINES: Final = re.compile(r"[\s)\]]{0,3}(?:[:\-–][ \t]*)?\r?\n")
#: What is told of it follows: it was not only planned for that day.
_LEADS: Final = re.compile(r"[\s)\]]{0,3}:")
#: So far before a date may the bracket open that it stands in with its study (characters).
_IN_BRACKETS: Final = 80
#: No stretch of a study reaches further (characters).
_LONGEST: Final = 600
#: An addendum at the head of a line, up to its date.
_ADDENDUM: Final = _CLASSES.compile(r"^[ \t*#>\-=]{0,6}{addendum}\b[^\n]{0,60}", re.IGNORECASE | re.MULTILINE)
#: A field of a report, up to its date: when the specimen was taken or the patient examined, when it was reported.
_TAKEN: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:{taken_on}|{day_of}\sof\s{act}|{act}\s{day_of})\b(?:/\w+)?(?:\s\d{1,2}:\d\d)?[\s:.\-–]{1,12}"
    r"(?:{on}\s)?\Z",
    re.IGNORECASE,
)
#: When the specimen came to the laboratory: no earlier day is told.
_RECEIVED: Final = _CLASSES.compile(r"(?<![^\W_]){received}\b[\s:.\-–]{1,12}(?:{on}\s)?\Z", re.IGNORECASE)
#: In the head of a report: ``surgery 5/4/2021``, ``S19-44120 (8/19/19``.
_TAKEN_IN_HEAD: Final = _CLASSES.compile(
    r"(?:(?<![^\W_])(?:{act}|{sample})[\s:(]{1,3}|(?<![^\W_])[A-Z]{1,4}\d{0,2}[\-\s]\d{2,6}(?:-\d{1,6})?,?\s{0,2}\((?:\w{1,12}\s)?)\Z",
    re.IGNORECASE,
)
#: The same words behind their dates, and what ends a report that stands within another note.
_TAKEN_BEHIND: Final = _CLASSES.compile(r"\s?\(?{taken_on}\b", re.IGNORECASE)
_REPORTED_BEHIND: Final = _CLASSES.compile(r"\s?\(?{reported_on}\b", re.IGNORECASE)
_ENDS_REPORT: Final = re.compile(r"\n[ \t]*(?:\r?\n|[-=_*]{3,})")
#: A label of a specimen with what it is, and the same label at the head of what was found in it.
_LABEL_DEFINED: Final = re.compile(
    r"^[ \t]*(?:[\-*•][ \t]?)?(?P<label>[A-Z]{1,2}\d{0,2})[ \t]?[=:.)][ \t][^\n]*", re.MULTILINE
)
_LABEL_HEADS: Final = re.compile(r"^[ \t]*(?P<label>[A-Z]{1,2}\d{0,2})(?=[ \t]?[(:.)\-–]|[ \t]*$)", re.MULTILINE)
_FEWEST_LABELS: Final = 2
#: So long is the head of a report (characters).
_HEAD: Final = 300
_REPORTED: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:{reported_on}|{day_of}\sof\s{report}|{report}\s{day_of})\b[\s:.\-–]{1,12}(?:{on}\s)?\Z",
    re.IGNORECASE,
)
_REACH_OF_FIELD: Final = 36

#: Reports whose fields tell the day of what they find.
_WITH_FIELDS: Final = frozenset({PATHOLOGY, "molecular", "genetics", "imaging", "operative"})

#: The class of notes whose specimen tells of genes alone; the history in them has days of its own.
_OF_GENES: Final = "genetics"


class Of(enum.Enum):
    """Of what a date is."""

    IMAGE = enum.auto()
    STAY = enum.auto()
    SAMPLE = enum.auto()
    ADDENDUM = enum.auto()
    REPORT = enum.auto()
    #: A report of a test of genes, which finds nothing else.
    TEST = enum.auto()


#: By the groups of :data:`_STUDY`.
_OF: Final = {"image": Of.IMAGE, "sample": Of.SAMPLE, "stay": Of.STAY}
#: What the date of each is the date of; a report is also one of what was done.
_DATED: Final = {
    Of.IMAGE: SEEN,
    Of.STAY: CONDITIONS,
    Of.SAMPLE: REPORTED | SEEN | FOUND,
    Of.ADDENDUM: REPORTED | SEEN | FOUND,
    Of.REPORT: REPORTED | SEEN | FOUND | OPERATIONS,
    Of.TEST: MOLECULAR,
}


class Stretch(NamedTuple):
    """A stretch of text with the date of what is told in it."""

    start: int
    end: int
    date: DateMention
    of: Of
    #: It was written into its note later.
    added: bool = False


class DatedStretches:
    """The dated stretches of one note; ``taken`` and ``reported``: what the fields of a report say of its specimen."""

    __slots__ = ("_studies", "_whole", "reported", "taken")

    def __init__(self, frame: Frame, document_class: str) -> None:
        self.taken: DateMention | None = None
        self.reported: DateMention | None = None
        dates = frame.dates
        self._studies: list[Stretch] = []
        self._whole: list[Stretch] = []
        if not dates:
            return
        self._whole += _addenda(frame, dates)
        labelled: list[Stretch] = []
        if document_class in _WITH_FIELDS:
            self._read_fields(frame.text, dates, Of.TEST if document_class == _OF_GENES else Of.REPORT)
            if labelled := list(_labelled(frame.text, dates)):
                # No one day is that of the specimen.
                self.taken, self._whole = None, [one for one in self._whole if one.of is Of.ADDENDUM]
        else:
            self._whole += _embedded(frame.text, dates)
        self._studies += _studies(frame, dates)
        self._studies += labelled

    def _read_fields(self, text: str, dates: Sequence[DateMention], of: Of) -> None:
        received: DateMention | None = None
        for number, date in enumerate(dates):
            if date.precision != "day":
                continue
            low = max(0, date.start - _REACH_OF_FIELD)
            if self.reported is None and _REPORTED.search(text, low, date.start):
                self.reported = date
            elif self.taken is None and (
                _TAKEN.search(text, low, date.start)
                or (date.start < _HEAD and _is_of_specimen(text, date, dates[number - 1].end if number else 0))
            ):
                self.taken = date
            elif received is None and _RECEIVED.search(text, low, date.start):
                received = date
        self.taken = self.taken or received
        if self.taken is not None:
            self._whole.insert(0, Stretch(0, len(text), self.taken, of))

    def addendum_at(self, place: int) -> DateMention | None:
        """The date that stands at a place, if it is that of an addendum."""
        return next((one.date for one in self._whole if one.of is Of.ADDENDUM and one.date.start == place), None)

    def at(self, place: int, kind: str, *, current: bool) -> Stretch | None:
        """The stretch that dates what is told at a place, if one does; ``current``: it is told as of now."""
        for stretch in reversed(self._studies):
            if stretch.start <= place < stretch.end:
                if kind in _DATED[stretch.of]:
                    return stretch
                break
        if current:
            for stretch in reversed(self._whole):
                if stretch.start <= place < stretch.end and kind in _DATED[stretch.of]:
                    return stretch
        return None


def _is_of_specimen(text: str, date: DateMention, low: int) -> bool:
    """Whether the head of a report tells by a date when its specimen was taken."""
    if _TAKEN_IN_HEAD.search(text, max(low, date.start - _REACH_OF_FIELD), date.start):
        return True
    found = _study_of(text, date, low)
    return found is not None and found[1] is not Of.STAY


def _addenda(frame: Frame, dates: Sequence[DateMention]) -> Iterator[Stretch]:
    """What follows each dated addendum, up to the next."""
    text = frame.text
    heads = list(_ADDENDUM.finditer(text))
    for head, behind in itertools.zip_longest(heads, heads[1:]):
        _, line_end = frame.shape.line_at(head.start())
        date = next((one for one in dates if head.start() <= one.start < min(line_end, head.end() + 1)), None)
        if date is not None:
            yield Stretch(date.end, behind.start() if behind else len(text), date, Of.ADDENDUM, added=True)


def _embedded(text: str, dates: Sequence[DateMention]) -> Iterator[Stretch]:
    """What a report finds that stands within another note: from its two dates to a line or a blank one that ends it."""
    for taken, reported in itertools.pairwise(dates):
        if reported.start - taken.end > _REACH_BEFORE or {taken.precision, reported.precision} != {"day"}:
            continue
        low = max(0, taken.start - _REACH_OF_FIELD)
        is_taken = _TAKEN.search(text, low, taken.start) or _TAKEN_BEHIND.match(text, taken.end)
        between = text[taken.end : reported.start]
        is_reported = _REPORTED.search(between) or _REPORTED_BEHIND.match(text, reported.end)
        if is_taken and is_reported:
            ends = _ENDS_REPORT.search(text, reported.end)
            yield Stretch(taken.start, ends.start() if ends else len(text), taken, Of.REPORT)


def _labelled(text: str, dates: Sequence[DateMention]) -> Iterator[Stretch]:
    """What is told of each of several specimens, whose labels a list at the head gives with their dates.

    ``S1 = lobectomy, collected 30/10/2018`` dates what stands below a line that begins with ``S1``, to the next label.
    """
    defined: dict[str, DateMention] = {}
    ends = 0
    for label in _LABEL_DEFINED.finditer(text):
        taken = (date for date in dates if label.start() <= date.start < label.end() and date.precision == "day")
        found = next((date for date in taken if _TAKEN.search(text, label.start(), date.start)), None)
        if found is not None:
            defined[label["label"]], ends = found, label.end()
    if len({date.day for date in defined.values()}) < _FEWEST_LABELS:
        return
    heads = [head for head in _LABEL_HEADS.finditer(text, ends) if head["label"] in defined]
    for head, following in itertools.zip_longest(heads, heads[1:]):
        blank = BLANK_LINE.search(text, head.end())
        end = min(blank.start() if blank else len(text), following.start() if following else len(text))
        yield Stretch(head.start(), end, defined[head["label"]], Of.SAMPLE)


def _studies(frame: Frame, dates: Sequence[DateMention]) -> Iterator[Stretch]:
    """What is told of each dated study."""
    text = frame.text
    led: dict[int, tuple[int, Of]] = {}
    for number, date in enumerate(dates):
        found = _study_of(text, date, dates[number - 1].end if number else 0)
        if found is not None:
            led[number] = found
    for number, (start, of) in led.items():
        date = dates[number]
        added = _LEADS.match(text, date.end) is not None
        yield Stretch(start, _end_of(frame, dates, number, start), date, of, added)


def _study_of(text: str, date: DateMention, low: int) -> tuple[int, Of] | None:
    """From where a date dates what is told of the study beside it, and what that is; None for no study."""
    low = max(low, date.start - _REACH_BEFORE)
    for study in reversed(list(_STUDY.finditer(text, low, date.start))):
        if _BEFORE_DATE.fullmatch(text, study.end(), date.start) or text[study.end() : date.start] == " ":
            return date.end, _OF[str(study.lastgroup)]
        break
    if text[date.end : date.end + 1] == ":":
        return None
    behind = _BEHIND_DATE.match(text, date.end, date.end + _REACH_BEHIND)
    beside = _STUDY.match(text, behind.end()) if behind else None
    return (beside.end(), _OF[str(beside.lastgroup)]) if beside else None


def _end_of(frame: Frame, dates: Sequence[DateMention], number: int, start: int) -> int:
    """Where that which is told of a study ends: at the next date, unless of a comparison, or at its line's end."""
    text, date = frame.text, dates[number]
    heads = _HEADS_LINES.match(text, date.end)
    if heads:
        blank = BLANK_LINE.search(text, heads.end() - 1)
        end = blank.start() if blank else len(text)
    else:
        _, end = frame.shape.line_at(start)
        end = max(end, frame.sentence_span(start)[1])
    end = min(end, start + _LONGEST)
    opened = text.rfind("(", max(0, date.start - _IN_BRACKETS), date.start)
    if opened >= 0 and _STUDY.search(text, opened, start) and ")" not in text[opened : date.end]:
        # "(germline VUS, 2019 panel)": it dates what stands in the bracket with it.
        closed = text.find(")", date.end, end)
        # "Path (core 9/27/21): …" dates what follows.
        end = closed if closed >= 0 and text[closed + 1 : closed + 2] != ":" else end
    for later in dates[number + 1 :]:
        if later.start >= end:
            break
        if later.start < start or later.precision == "relative":
            continue
        if not _OF_COMPARISON.search(text, max(start, later.start - _REACH_OF_COMPARISON), later.start):
            end = _begins(frame, later.start, start)
            break
    other = _SOMETHING_ELSE.search(text, start, end)
    return other.start() if other else end


def _begins(frame: Frame, date: int, low: int) -> int:
    """Where that begins which the next date dates: at its sentence, or at the last comma or semicolon before it."""
    sentence = max(low, frame.sentence_span(date)[0])
    text = frame.text
    return max(sentence, text.rfind(", ", sentence, date), text.rfind("; ", sentence, date))
