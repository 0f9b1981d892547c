"""From spans to mentions: the context of each, its day, and what its sentence says of the whole.

The day of a fact is a date in its clause, else its line's leading date, else that of the study, addendum or specimen
that it is told of, else the note's.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.deadline import check
from ...kb.kinds import (
    CONDITIONS,
    CORRECTABLE,
    COURSES,
    DESCRIBING_TUMORS,
    DRUGS,
    KIND_TABLE,
    LISTED,
    MEASURED,
    MOLECULAR,
    OF_ONE_PERSON,
    READING_CONTEXT,
    REPORTED,
    SPREAD,
    TREATMENTS,
)
from ...kb.model import EARLIEST_DAY, LATEST_DAY, Context, Cue, DayInterval, Experiencer, Mention, Polarity, Temporality
from ...kb.ontology.concepts import ConceptTable
from ..context.cues import CueKind, CueTable, cue_table, sentence_cues
from ..context.sentence import Reading, SentenceContext, Target
from ..text.dates.intervals import days_text, hides_a_date
from ..text.dates.reader import DateMention
from ..text.frame import Frame, Span
from ..text.shape import BLANK_LINE, Section, bracket_around
from ..text.specimens import is_told_before_operation
from ..text.statements import needs, said_in, statement, unsayable
from ..text.stretches import DatedStretches
from ..text.word_classes import word_classes
from ..text.zones import Zone, zones_of

_CLASSES: Final = word_classes("context", "mentions")

#: What parts a date from a fact: another cell, another sentence, the next step of a course ("x3 -> IDS 6/18/19").
_NEW_STEP = re.compile(r"[;|→⇒]|[-=]>|\.\s")
#: So near to the head of its line a date leads it, of its sentence (characters).
_LEADS_LINE, _LEADS_SENTENCE = 9, 6
_REACH = 80
#: What may stand between an item of a list and its date, and what ends the item.
_ENDS_ITEM: Final = re.compile(r"\s?(?:[.;)\n]|\Z)")
_TOLD_OF_IT: Final = _CLASSES.compile(r",?\s?(?:{told_of_it})\b", re.IGNORECASE)
#: So many days after its note may a thing have happened that the note tells; and one that was added to it later.
_AHEAD, _ADDED = 7, 400
#: Before a date with which a course ended: it is that of nothing else.
_ENDED: Final = _CLASSES.compile(r"\b{course_ended}\s\Z", re.IGNORECASE)

#: A report follows its specimen within so many days; another is one of old tissue.
_SOON: Final = 100
#: A date so far (characters) within a bracket is that of what the bracket tells.
_ASIDE: Final = 20

#: Where the date stands that a day was read from, with the rule that read it; None: no date was.
Anchor = tuple[int, int, str] | None


class _Reported(NamedTuple):
    """What a report says of the days of a finding: when its specimen was taken and it was reported, as attributes; the
    day of the finding; where the dates stand."""

    told: Mapping[str, str]
    day: DayInterval
    anchors: Sequence[tuple[int, int, str]]


class FactDays:
    """The days of the facts of one note."""

    def __init__(self, frame: Frame, document_class: str = "clinical") -> None:
        self._frame = frame
        self._text = frame.text
        self.stretches = DatedStretches(frame, document_class)
        self._note_day = frame.note.date.toordinal() if frame.note.date else None
        self._of_images = document_class == "imaging"
        #: The dates that lead each line, by where it begins.
        self._leading: dict[int, list[DateMention]] = {}
        for date in frame.dates:
            line = self._text.rfind("\n", 0, date.start) + 1
            # "POD 40" says when an operation was, and nothing of what else is told on its line.
            if date.start < line + _LEADS_LINE and date.precision != "relative":
                self._leading.setdefault(line, []).append(date)

    def day_of(self, span: Span, sentence: tuple[int, int], context: Context) -> tuple[DayInterval, Anchor]:
        """The day of the fact that ``span`` is, and what it was read from."""
        return self.among(self._frame.dates_in(*sentence), span, sentence[0], context)

    def among(
        self, dates: Sequence[DateMention], span: Span, start: int, context: Context
    ) -> tuple[DayInterval, Anchor]:
        """As :meth:`day_of`, of a sentence that begins at ``start`` and holds these dates."""
        text, note_day = self._text, self._note_day
        best: tuple[int, DateMention] | None = None
        for date in dates:
            if date.start < span.end and date.end > span.start:
                if span.kind in SPREAD:
                    # "Relapse June 2022: right adrenal".
                    best = (-1, date)
                continue
            ahead = date.end <= span.start
            gap = span.start - date.end if ahead else date.start - span.end
            if gap > _REACH and date.start - start > _LEADS_SENTENCE:
                continue
            between = text[date.end : span.start] if ahead else text[span.end : date.start]
            if span.kind in LISTED and "," in between and not self._is_its_own(between, date, ahead):
                continue  # "HTN, BPH, Mohs 2016": the date is that of its own item.
            if _NEW_STEP.search(between) or hides_a_date(between, not ahead):
                continue
            if note_day is not None and date.day.low > note_day + _AHEAD and context.really_happened:
                continue
            if _is_aside(text, date, span) and self._reaching(span, context) is not None:
                continue
            if ahead and span.kind not in COURSES and _ENDED.search(text, max(0, date.start - 24), date.start):
                continue
            rank = gap + (0 if ahead else 4) + 20 * between.count(",")
            if best is None or rank < best[0]:
                best = rank, date
        if best is None and self._leading:
            for date in self._leading.get(text.rfind("\n", 0, span.start) + 1, ()):
                if date.end <= span.start:
                    best = (0, date)
        dated = best[1] if best is not None else self._reaching(span, context)
        if dated is not None:
            high = min(dated.day.high, max(dated.day.low, note_day)) if note_day is not None else dated.day.high
            return _days(dated.day.low, high), (dated.start, dated.end, dated.rule)
        if note_day is None:
            return _days(EARLIEST_DAY, LATEST_DAY), None
        return _days(EARLIEST_DAY if context.temporality is Temporality.HISTORICAL else note_day, note_day), None

    def _is_its_own(self, between: str, date: DateMention, ahead: bool) -> bool:
        """Whether a date behind a comma is that of the item before it, and not of the next one."""
        if _TOLD_OF_IT.match(between):
            return True
        return not ahead and between.strip() == "," and _ENDS_ITEM.match(self._text, date.end) is not None

    def of_report(self, dated: tuple[DayInterval, Anchor]) -> _Reported | None:
        """What a report that tells when its specimen was taken says of the days of what it finds; None for no such
        report, and for what it dates otherwise.

        Some date a result by its specimen and some by its report: the day is one from the one to the other, but that
        of the report where they lie far apart, as with tests of old tissue. An image shows what is there on its day.
        """
        (day, anchor), taken, written = dated, self.stretches.taken, self.stretches.reported
        if taken is None or anchor is None:
            return None
        added = self.stretches.addendum_at(anchor[0])
        if added is not None:
            written = added
        elif anchor[0] != taken.start:
            return None
        reported = day if added is not None else None if written is None else written.day
        if reported is None and self._note_day is not None:
            reported = _days(self._note_day, self._note_day)
        if reported is None or reported.high < taken.day.low:
            return None
        told = {"collected": days_text(taken.day), "reported": days_text(reported)}
        anchors = [(one.start, one.end, one.rule) for one in (taken, written) if one is not None]
        if self._of_images:
            reported = taken.day
        elif reported.high - taken.day.low <= _SOON:
            reported = _days(taken.day.low, reported.high)
        return _Reported(told, reported, anchors)

    def _reaching(self, span: Span, context: Context) -> DateMention | None:
        """The date of a study or report that reaches as far as to what is told here."""
        stretch = self.stretches.at(span.start, span.kind, current=context.temporality is Temporality.CURRENT)
        if stretch is None:
            return None
        ahead = 0 if self._note_day is None else stretch.date.day.low - self._note_day
        return stretch.date if ahead <= (_ADDED if stretch.added else _AHEAD) else None


def _is_aside(text: str, date: DateMention, span: Span) -> bool:
    """Whether a date stands far within a bracket in which the span does not: it dates what the bracket tells."""
    around = bracket_around(text, date.start, date.end, _REACH)
    if around is None or date.start - around[0] < _ASIDE:
        return False
    return not around[0] < span.start < around[1]


@lru_cache(maxsize=4096)
def _days(low: int, high: int) -> DayInterval:
    """Most mentions of a note share its day."""
    return DayInterval(low, high)


#: What is read of a span: start, end, kind, and where its own results stand.
Named = tuple[int, int, str, tuple[tuple[int, int], ...]]

#: Label of CORAL's Table S1 for each kind of span.
LABELS: Final[Mapping[str, str]] = {
    **{kind.name: kind.coral_label for kind in KIND_TABLE.values() if kind.coral_label},
    "site": "Site",
    "laterality": "Laterality",
}
#: Sources of spans that count wherever they stand: what was asked for, changes as they are written, allergies.
_WHEREVER: Final = ("target", "notation:", "allergy:")
_FIRST_ITEM = re.compile(r":\s*\(?[a1i][.)]\s")
#: No further than so many characters does a heading hold that calls its lines superseded.
_REACH_OF_HEADING = 800
#: A dose of radiation, which somebody has had or is to have.
_OF_A_DOSE: Final = "pattern:dose"
#: A letter that speaks to the patient says *you* at least so often.
_OFTEN = 6
#: So far behind a treatment may it stand that it was never taken (characters).
_REACH_OF_NEVER = 260
#: Marks of quotation.
_QUOTATION = '"“'
#: A quotation of so many characters is found again where it stands in the note itself.
_LEAST_QUOTED = 15
_BULLET = re.compile(r"[ \t]*(?:[\-*\u2022+>]|\(?[0-9a-zA-Z]{1,2}[.)])\s")
_DOSE = _CLASSES.compile(
    r"[\s,(:\-]{0,3}(?:\w+\s){0,2}?(?P<dose>\d+(?:[.,]\d+)?\s?{dose_unit}(?:/m2|/kg|/m²)?|AUC\s?\d"
    r"|{how_often}\b)"
)
_CLINICALLY = _CLASSES.compile(r"\bclinical(?:ly)?\W{1,3}(?:{staging}\W{1,3})?$", re.IGNORECASE)
#: Kinds of which a value is said, which is never absent.
_VALUED = READING_CONTEXT - {"node", "variant"}
#: Those of which a value is denied by words; what is measured is told by its figure.
_DENIABLE = _VALUED - MEASURED | {"biomarker"}
#: A result so near behind its marker is denied with it (characters).
_REACH_OF_RESULT = 3
#: So far before a result do the words stand that deny it (characters).
_REACH_OF_DENIAL = 24
#: What an image may be asked for; complaints are none of it.
_ASKED = CONDITIONS - {"symptom"}
#: So far before a condition do the words stand that call it known (characters).
_REACH_OF_KNOWN = 40
#: Kinds that a report, filed to another's chart, may be about.
_OF_A_REPORT = MOLECULAR | DRUGS | {"diagnosis"}
#: Kinds of which some values are those of one tumor alone.
_OF_ONE_TUMOR = frozenset({"state", "grade"})
#: What parts a patient's own variant from a gene that a sentence about medicine at large names.
_PARTICULAR = frozenset({"protein", "cdna", "percent", "exon", "partner", "codon", "significance", "origin"})


#: What the rule of a cue begins with that tells the zone of a sentence; its name follows.
ZONE: Final = "zone:"
#: What a sentence speaks of in which nothing is said of this patient.
_OF_CRITERIA: Final = ("criteria", "general", "trial")
#: The rule of a cue that says whose the result is: another patient's.
ANOTHER_PATIENT: Final = "another_patient"
#: How far behind a result the words that its report is another patient's may stand, in characters.
_REACH_OF_MISFILING = 160


#: What a table of stages is of.
_OF_STAGES: Final = frozenset({"tnm", "stage"})
#: What stands between a change and the drug that a list gives it.
_THEN_DRUG: Final = _CLASSES.compile(r"\s?:\s(?=[a-z]{3,}{drug_ending}\b)")
#: So many lines that begin with a relative are a pedigree, and so many changes with their drugs a list of therapies.
_FEWEST_LISTED: Final = 3


class _Kin:
    """The sentences about a relative: in a letter to the patient (*you*) those that go on about one who was named
    before them, and in a pedigree all of a line that begins with one."""

    __slots__ = ("_about", "_is_letter", "_items", "_next", "_text")

    def __init__(self, text: str, may_list: bool) -> None:
        """``may_list``: whether words for relatives stand in the text."""
        found = statement("to_you").finditer(text)
        self._is_letter = sum(1 for _ in itertools.islice(found, _OFTEN)) == _OFTEN
        self._text = text
        items = [match.span() for match in statement("heads_kin").finditer(text)] if may_list else []
        self._items = items if len(items) >= _FEWEST_LISTED else []
        if may_list:
            self._items += [match.span() for match in statement("letter_of_kin").finditer(text)]
        #: Whether this sentence is about a relative; whether the next may be.
        self._about = self._next = False

    def pass_on(self, start: int, end: int) -> None:
        """Go on to the next sentence."""
        if not self._is_letter:
            return
        goes_on = statement("of_another_than_you").match(self._text, start, end) is not None
        self._about = self._next and goes_on
        self._next = self._about or statement("names_kin").search(self._text, start, end) is not None

    def is_told_of(self, start: int, end: int) -> bool:
        """Whether the sentence says nothing of *you*, and goes on about a relative."""
        return self._about and statement("to_you").search(self._text, start, end) is None

    def holds(self, place: int) -> bool:
        """Whether a place is in an item of a pedigree, or in a letter about a relative."""
        return any(low <= place < high for low, high in self._items)


def _of_kin(mention: Mention) -> Mention:
    if mention.context.experiencer is not Experiencer.PATIENT:
        return mention
    return replace(mention, context=replace(mention.context, experiencer=Experiencer.FAMILY))


def _unverified(mention: Mention) -> Mention:
    """What an unverified list says may be so."""
    if not mention.context.really_happened:
        return mention
    return replace(mention, context=replace(mention.context, polarity=Polarity.UNCERTAIN))


class MentionWriter:
    """Writes the mentions of one note from its placed spans."""

    def __init__(
        self,
        concepts: ConceptTable,
        tumor_of: Mapping[str, str],
        cues: CueTable | None = None,
        asked_of_images: frozenset[str] = frozenset(),
    ) -> None:
        """``tumor_of``: states that only one tumor has, and scales that only one is graded by, with that tumor.
        ``cues`` of the context: the shipped ones. ``asked_of_images``: what an image can find."""
        self._cues = cue_table() if cues is None else cues
        self._concepts = concepts
        self._tumor_of = tumor_of
        self._asked_of_images = asked_of_images

    def write(self, frame: Frame, events: list[Span], document_class: str) -> list[Mention]:
        if not events:
            return []
        ordered = sorted(events, key=lambda span: (span.start, span.end, span.kind, span.concept))
        note = _NoteInHand(frame, self._cues, document_class)
        text = frame.text
        mentions: list[Mention] = []
        lead: tuple[CueKind, ...] = ()
        lead_end = 0
        superseded_to = unverified_to = -1
        criteria = False
        kin = _Kin(text, note.may_state("heads_kin"))
        zones = zones_of(frame)
        for sentence, here in frame.by_sentence(ordered):
            start, end, closed_by = sentence
            zone = zones.get(start)
            if here:
                check()
            if lead and (start - lead_end > 1500 or not _in_list(text, start, lead_end)):
                lead = ()
            opens = text.find(":", start, end + 1) >= 0 and (
                frame.ends_in_colon(sentence) or _FIRST_ITEM.search(text, start, end) is not None
            )
            kin.pass_on(start, end)
            if note.states("unverified_lines", start, end):
                blank = BLANK_LINE.search(text, end, end + _REACH_OF_HEADING)
                unverified_to = blank.start() if blank else end + _REACH_OF_HEADING
            if here or opens:
                section = frame.shape.section_at(start)
                context, targets = note.context((start, end), map(_named, here))
                criteria = criteria or note.states("criteria", start, end)
                if criteria or (zone is not None and zone.name == "nobody" and not zone.learned):
                    context.speaks_of.update(_OF_CRITERIA)
                if here:
                    read = self._read_sentence(
                        note, _SentenceInHand((start, end), section, here, context, targets), lead
                    )
                    if zone is not None:
                        read = [_in_zone(mention, zone) for mention in read]
                    of_kin = kin.is_told_of(start, end)
                    read = [_of_kin(one) if of_kin or kin.holds(one.start) else one for one in read]
                    if start < unverified_to:
                        read = list(map(_unverified, read))
                    mentions += map(_taken_back, read) if start < superseded_to else read
                if opens:
                    lead, lead_end = context.leads(), end
                    if note.states("superseded_lines", start, end):
                        # It holds for the lines below, to the next blank one.
                        blank = BLANK_LINE.search(text, end, end + _REACH_OF_HEADING)
                        superseded_to = blank.start() if blank else end + _REACH_OF_HEADING
                    elif start < superseded_to:
                        superseded_to = start  # The next heading ends it.
            criteria = criteria and closed_by == "semi"
        return _without_anothers(note, mentions)

    def _read_sentence(self, note: _NoteInHand, sentence: _SentenceInHand, lead: tuple[CueKind, ...]) -> list[Mention]:
        """The mentions of a sentence; ``lead``: the cues that the head of its list hands on."""
        frame, (start, end), opening, spans = note.frame, sentence.span, sentence.section, sentence.spans
        skipped = opening.effect == "skip"
        kinds = {span.kind for span in spans}
        refused = not kinds.isdisjoint(TREATMENTS) and note.is_followed("declined_next", end)
        not_given = not kinds.isdisjoint(TREATMENTS) and note.is_followed("not_given_next", end)
        never = not kinds.isdisjoint(TREATMENTS) and note.is_followed("never_taken_next", end, _REACH_OF_NEVER)
        taken_back = not kinds.isdisjoint(CORRECTABLE) and note.is_followed("taken_back", end)
        at_large_all = bool(sentence.context.speaks_of)
        stages = None if kinds.isdisjoint(_OF_STAGES) else statement("stage_table").search(frame.text, start, end)
        dates = frame.dates_in(start, end)
        read: list[Mention] = []
        for span, target in zip(spans, sentence.targets, strict=True):
            if skipped and not span.source.startswith(_WHEREVER):
                continue
            kind = span.kind
            section = opening if span.start < opening.end else frame.shape.section_at(span.start)
            reading = sentence.context.read(target, section)
            if lead:
                reading = _led(reading, lead, kind)
            if skipped and reading.context.temporality is Temporality.HYPOTHETICAL and kind == "allergy":
                # "Bactrim, which causes nausea": a list of allergies tells of the patient.
                reading = reading.but(temporality=Temporality.CURRENT)
            if section.name == "indication" and self._is_asked(note, span, reading):
                asked = Cue(section.start, section.heading_end, "asked by heading")
                reading = replace(reading.but(Polarity.UNCERTAIN), cues=(*reading.cues, asked))
            if kind in READING_CONTEXT or span.decided:
                at_large = at_large_all or sentence.context.is_about_people(span.start)
                reading = self._with_decided(span, reading, at_large, _is_denied_value(sentence, span, target, reading))
            if kind == "variant" and self._is_no_finding(span, spans, note, skipped, sentence.context):
                reading = reading.but(temporality=Temporality.HYPOTHETICAL)
            if kind in _OF_STAGES and stages is not None:
                reading = reading.but(temporality=Temporality.HYPOTHETICAL)
            is_part = kind == "diagnosis" and note.states("component", start, end)
            if is_part and _is_component(frame.text, span, start, end):
                reading = self._as_component(span, reading)
            if kind in CORRECTABLE:
                reading = _corrected(note, sentence, span, reading, taken_back)
            if note.may_be_misfiled and kind in _OF_A_REPORT and reading.context.reason == "none":
                reading = self._unless_misfiled(frame, kind, sentence.span, reading)
            if refused and reading.status in ("planned", "hypothetical", "mentioned", "") and kind in TREATMENTS:
                reading = reading.but(Polarity.ABSENT, Temporality.CURRENT, reason="declined", status="declined")
            elif kind in TREATMENTS and (
                (never and reading.status != "given") or (not_given and reading.status in ("planned", "hypothetical"))
            ):
                reading = reading.but(
                    Polarity.ABSENT, Temporality.CURRENT, reason="never_started", status="never_started"
                )
            if reading.status:
                reading = _unless_not_started(note, sentence.span, reading)
            # What is told of now beside what it was has its day from the recogniser.
            dated = (span.day, None) if span.day else note.days.among(dates, span, start, reading.context)
            read.append(_mention(note, sentence, span, reading, dated))
            if kind in _OF_ONE_TUMOR and reading.context.really_happened:
                tumor = self._implied_tumor(span)
                if tumor is not None:
                    read.append(_mention(note, sentence, tumor, reading, dated))
        return read

    def _is_asked(self, note: _NoteInHand, span: Span, reading: Reading) -> bool:
        """Whether the reason for a study names what the study is to find or exclude: that is no finding yet.

        Complaints are the patient's own, and what is called past or known is told.
        """
        return (
            note.document_class == "imaging"
            and span.kind in _ASKED
            and span.concept in self._asked_of_images
            and reading.context.polarity is Polarity.PRESENT
            and reading.context.temporality is Temporality.CURRENT
            and not statement("known_before").search(note.frame.text, max(0, span.start - _REACH_OF_KNOWN), span.start)
        )

    def _implied_tumor(self, span: Span) -> Span | None:
        """The tumor that a state or a grade is of, where only one has such."""
        name = span.concept if span.kind == "state" else span.attributes.get("scale")
        tumor = self._tumor_of.get(str(name)) if name else None
        if not tumor:
            return None
        return Span(span.start, span.end, "diagnosis", tumor, span.source, {"site": self._concepts.get(tumor).site})

    def _is_no_finding(
        self,
        span: Span,
        spans: Sequence[Span],
        note: _NoteInHand,
        skipped: bool,
        context: SentenceContext,
    ) -> bool:
        """Whether a change of a gene is spoken of and was not found: one that a method looks for, a drug's target."""
        if skipped or self._is_label(span, spans, note):
            return True
        _, sentence_end = note.frame.sentence_span(span.start)
        if statement("not_in_this").search(note.frame.text, span.end, sentence_end):
            return True
        return bool({"general", "handed"} & context.speaks_of) and not _PARTICULAR & span.attributes.keys()

    def _unless_misfiled(self, frame: Frame, kind: str, sentence: tuple[int, int], reading: Reading) -> Reading:
        """What is another patient's is taken back, with the words that say so."""
        misfiled = self._misfiled(frame, kind, *sentence)
        if misfiled is None:
            return reading
        retracted = reading.but(Polarity.ABSENT, reason="retracted")
        return replace(retracted, cues=(*retracted.cues, Cue(*misfiled.span(), ANOTHER_PATIENT)))

    def _misfiled(self, frame: Frame, kind: str, start: int, end: int) -> re.Match[str] | None:
        """The words that a result is another patient's."""
        result = kind != "diagnosis"
        found = said_in("another_patient", frame, start, self._misfiled_to(frame, end) if result else end)
        if found or needs("report_of_another").isdisjoint(frame.vocabulary):
            return found
        return said_in("report_of_another", frame, start, min(len(frame.text), end + _REACH_OF_MISFILING * result))

    @staticmethod
    def _misfiled_to(frame: Frame, end: int) -> int:
        """How far the words that a result is another patient's stand: in the next sentence, if that speaks of it."""
        index = frame.shape.sentence_index_at(end) + 1
        if index >= len(frame.shape.sentences):
            return end
        following = frame.shape.sentences[index]
        return following.end if statement("speaks_of_it").match(frame.text, following.start, following.end) else end

    @staticmethod
    def _is_label(span: Span, spans: Sequence[Span], note: _NoteInHand) -> bool:
        """A gene in brackets behind a drug, or before a colon and one, where therapies are listed: what it is for."""
        if span.kind != "variant" or note.document_class not in ("molecular", "pathology", "clinical"):
            return False
        if note.lists_therapies() and _THEN_DRUG.match(
            note.frame.text, max([span.end, *(end for _, end, _ in span.helpers)])
        ):
            return True
        if {"protein", "cdna", "percent"} & span.attributes.keys():
            return False
        drugs = (other for other in spans if other.kind == "medication" and 0 <= span.start - other.end <= 12)
        return any(note.frame.text[drug.end : span.start].lstrip().startswith("(") for drug in drugs)

    def _as_component(self, span: Span, reading: Reading) -> Reading:
        """An invasive histology that is only a component does not name the tumor (an in-situ one stands for itself)."""
        if not self._concepts.is_a(span.concept, "carcinoma") or self._concepts.is_a(span.concept, "in_situ_neoplasm"):
            return reading
        if reading.context.polarity is not Polarity.PRESENT:
            return reading
        return reading.but(Polarity.UNCERTAIN)

    @staticmethod
    def _with_decided(span: Span, reading: Reading, general: bool, denied: bool) -> Reading:
        """What the recogniser read itself (a result word) is no cue as well; ``denied``: the value itself is denied."""
        context = reading.context
        if span.kind == "performance" and context.temporality is Temporality.HYPOTHETICAL and not general:
            # "I would call her ECOG 2" is a score; only the criteria of a trial are none.
            reading = reading.but(temporality=Temporality.CURRENT)
        if denied:
            return reading.but(Polarity.ABSENT)
        if span.kind in _VALUED and context.polarity is Polarity.ABSENT and context.reason == "none":
            return reading.but(Polarity.PRESENT)
        if span.kind == "node" and "positive" in span.attributes:
            return reading.but(Polarity.PRESENT)
        if span.decided == "retracted":
            return reading.but(Polarity.ABSENT, reason="retracted")
        written_out = span.kind == "variant" and {"protein", "cdna"} & span.attributes.keys()
        if written_out and context.reason in ("pending", "not_tested"):
            # A change that is written out was found, whatever is not done with it ("not reported clinically").
            return reading.but(Polarity.PRESENT, reason="none")
        if not span.decided:
            return reading
        if context.reason in ("pending", "not_tested", "retracted") and (
            span.decided == "present" or context.reason == "retracted"
        ):
            polarity = Polarity.ABSENT if context.reason == "retracted" else Polarity.PRESENT
            reason = context.reason if context.reason == "retracted" else "none"
            return reading.but(polarity, reason=reason)
        polarity = {"present": Polarity.PRESENT, "absent": Polarity.ABSENT, "uncertain": Polarity.UNCERTAIN}[
            span.decided
        ]
        # "HER2 equivocal": the word is the result itself.
        said = any(
            start < cue.end and cue.start < end
            for cue in reading.cues
            if cue.rule.startswith("uncertainty")
            for start, end, _ in span.helpers
        )
        doubted = context.polarity is Polarity.UNCERTAIN and context.reason == "none" and not said
        # What was measured is known, whatever its sentence doubts.
        doubted = doubted and span.kind not in MEASURED
        if span.decided == "present" and doubted:
            polarity = Polarity.UNCERTAIN
        return reading.but(polarity, reason="none")


class _NoteInHand:
    """What is asked once of the note whose mentions are written."""

    __slots__ = ("_cues", "_unsaid", "days", "document_class", "frame", "may_be_misfiled", "therapies")

    def __init__(self, frame: Frame, cues: CueTable, document_class: str) -> None:
        self.frame = frame
        self.document_class = document_class
        self.days = FactDays(frame, document_class)
        self._cues = cues
        #: The statements of which no word stands in the note: no sentence is asked for them.
        self._unsaid = unsayable(frame.places)
        # Nor can the report be another patient's where nothing is.
        self.may_be_misfiled = "another_patient" not in self._unsaid
        #: How many items of a list of therapies it has; None until somebody asks.
        self.therapies: int | None = None

    def lists_therapies(self) -> bool:
        """Whether it tells what drugs are for (``BRAF V600E: dabrafenib. RET: selpercatinib. …``)."""
        if self.therapies is None:
            self.therapies = len(statement("therapy_listed").findall(self.frame.text))
        return self.therapies >= _FEWEST_LISTED

    def may_state(self, name: str) -> bool:
        """Whether words of such a statement stand in the note."""
        return name not in self._unsaid

    def states(self, name: str, start: int, end: int) -> bool:
        """Whether a stretch of it makes such a statement."""
        return name not in self._unsaid and said_in(name, self.frame, start, end) is not None

    def is_followed(self, name: str, end: int, reach: int = 80) -> bool:
        """Whether such a statement stands right behind the sentence that ends there."""
        text = self.frame.text
        return name not in self._unsaid and statement(name).match(text, end, min(len(text), end + reach)) is not None

    def context(self, sentence: tuple[int, int], named: Iterable[Named]) -> tuple[SentenceContext, list[Target]]:
        """As :func:`sentence_context`."""
        return sentence_context(self.frame, sentence, named, self._cues)


class _SentenceInHand(NamedTuple):
    """A sentence with what stands in it, and the section in which it begins."""

    span: tuple[int, int]
    section: Section
    spans: list[Span]
    context: SentenceContext
    targets: list[Target]


def _named(span: Span) -> Named:
    results = tuple((helper[0], helper[1]) for helper in span.helpers) if span.kind in MOLECULAR else ()
    return span.start, span.end, span.kind, results


def _is_component(text: str, span: Span, start: int, end: int) -> bool:
    """Whether a tumor of the sentence that begins and ends there is told as a component of another."""
    if statement("as_component").match(text, span.end, end):
        return True
    return statement("component_of").search(text, start, span.start) is not None


def _mention(
    note: _NoteInHand, sentence: _SentenceInHand, span: Span, reading: Reading, dated: tuple[DayInterval, Anchor]
) -> Mention:
    """``dated``: the day of the fact, and what it was read from."""
    text, start, end, kind = note.frame.text, span.start, span.end, span.kind
    attributes = dict(span.attributes)
    if kind in DRUGS:
        dose = _DOSE.match(text, end)
        if dose:
            attributes["dose"] = dose["dose"].strip()
    if reading.status:
        attributes["status"] = reading.status
    if kind == "tnm" and "prefix" not in attributes and note.document_class == "pathology":
        clinical = _CLINICALLY.search(text, max(0, start - 30), start) or is_told_before_operation(text, start)
        attributes["prefix"] = "c" if clinical else "p"
    (day, anchor), cues = dated, reading.cues
    if span.helpers:
        cues += tuple(Cue(low, note.frame.ends.get(high, high), rule) for low, high, rule in span.helpers)
    anchors: Sequence[tuple[int, int, str]] = [anchor] if anchor else []
    if kind in REPORTED and reading.context.temporality is Temporality.CURRENT:
        reported = note.days.of_report(dated)
        if reported is not None:
            attributes |= reported.told
            day, anchors = reported.day, reported.anchors
    if anchors:
        cues += tuple(Cue(low, high, f"date:{rule}") for low, high, rule in anchors)
    return Mention(
        note.frame.note_id,
        start,
        written_end := note.frame.ends.get(end, end),
        note.frame.note.text[start:written_end],
        kind,
        LABELS.get(kind, ""),
        span.concept,
        attributes,
        reading.context,
        day,
        span.source,
        sentence.section.name,
        sentence.span,
        cues,
        span.confidence,
    )


def settled_mention(frame: Frame, span: Span, label: str = "") -> Mention:
    """The mention of what is settled by its words: no cue bears on it, and no day but one that it tells itself."""
    sentence = frame.shape.sentences[frame.shape.sentence_index_at(span.start)]
    return Mention(
        note_id=frame.note.note_id,
        start=span.start,
        end=span.end,
        text=frame.note.text[span.start : span.end],
        kind=span.kind,
        label=label or LABELS.get(span.kind, ""),
        concept=span.concept,
        attributes=span.attributes,
        day=DayInterval() if span.day is None else span.day,
        source=span.source,
        section=frame.shape.section_at(span.start).name,
        sentence=(sentence.start, max(sentence.end, span.end)),
    )


def sentence_context(
    frame: Frame, sentence: tuple[int, int], named: Iterable[Named], table: CueTable
) -> tuple[SentenceContext, list[Target]]:
    """The cues of a sentence, and its targets."""
    starts = frame.words.starts
    first, last = frame.token_range(*sentence)
    targets = []
    for start, end, kind, results in named:
        low = bisect_left(starts, start)
        high = bisect_left(starts, end, low)
        targets.append(Target(low, high if high > low else low + 1, start, end, kind, results))
    cues = sentence_cues(table, frame, sentence, first, last)
    return SentenceContext(frame.text, sentence, targets, cues), targets


def _is_denied_value(sentence: _SentenceInHand, span: Span, target: Target, reading: Reading) -> bool:
    """Whether the value or the result of a span is denied (``no stage IV disease``, ``ER is not positive``): that says
    that it is not this one, and not which other it is."""
    if span.kind not in _DENIABLE or span.decided == "retracted":
        return False
    text, low = sentence.context.text, sentence.span[0]
    # "Not ER positive", "ER is not positive"; "negative for ER" is a result.
    denied = statement("denied_result")
    for start, _, _ in span.helpers:
        begins = span.start if start >= span.end and start - span.end < _REACH_OF_RESULT else start
        if any(denied.search(text, max(low, at - _REACH_OF_DENIAL), at) for at in {start, begins}):
            return True
    if span.kind in MOLECULAR:
        return False
    if reading.context.polarity is not Polarity.ABSENT or reading.context.reason != "none":
        return False
    return sentence.context.denies_value(target, reading)


def _is_described(spans: Sequence[Span]) -> bool:
    """Whether the sentence says something of its tumor: it is that which was wrong ("MSI-high ovarian carcinoma")."""
    return any(span.kind in DESCRIBING_TUMORS for span in spans)


def _without_anothers(note: _NoteInHand, mentions: list[Mention]) -> list[Mention]:
    """What is quoted beside the words that it is another patient's is that patient's, also where it stands itself."""
    frame, text = note.frame, note.frame.text
    if not note.may_be_misfiled or not any(mark in text for mark in _QUOTATION):
        return mentions
    of_another: list[tuple[int, int]] = []
    for match in (*statement("quoted_of_another").finditer(text), *statement("of_another_quoted").finditer(text)):
        of_another.append(match.span("quoted"))
        quoted = match["quoted"].strip(" .,;\r\n")
        # A few words may be quoted of a longer passage above: then all of their sentence is meant.
        place = text.find(quoted)
        while place >= 0 and len(quoted) >= _LEAST_QUOTED:
            of_another.append(frame.sentence_span(place))
            place = text.find(quoted, place + len(quoted))
    if not of_another:
        return mentions
    return [
        replace(one, context=replace(one.context, experiencer=Experiencer.OTHER))
        if any(first <= one.start < last for first, last in of_another)
        else one
        for one in mentions
    ]


def _corrected(note: _NoteInHand, sentence: _SentenceInHand, span: Span, reading: Reading, taken_back: bool) -> Reading:
    """What its sentence takes back, or the next one (``taken_back``), is no finding; nor what a correction denies."""
    start, end = sentence.span
    text = note.frame.text
    undone = taken_back or (
        note.states("taken_back_within", start, end) and statement("taken_back_within").search(text, span.end, end)
    )
    if undone and not (span.kind == "diagnosis" and _is_described(sentence.spans)):
        reading = reading.but(Polarity.ABSENT, reason="retracted")
    if (
        reading.context.polarity is Polarity.ABSENT
        and reading.context.reason == "none"
        and note.states("correction", start, min(len(text), end + 60))
    ):
        reading = reading.but(reason="retracted")
    return reading


def _unless_not_started(note: _NoteInHand, sentence: tuple[int, int], reading: Reading) -> Reading:
    """A treatment that is said not to be so, or to have fallen through, was never started."""
    not_so = reading.status in ("given", "mentioned") and note.states("not_so", *sentence)
    if not_so or (reading.status in ("given", "mentioned", "planned") and note.states("fell_through", *sentence)):
        when = reading.context.temporality
        when = Temporality.CURRENT if when is Temporality.PLANNED else when
        reading = reading.but(Polarity.ABSENT, when, reason="never_started", status="never_started")
    return reading


def _in_zone(mention: Mention, zone: Zone) -> Mention:
    """A mention in a stretch that is not about this patient, with what tells so.

    What only learned words tell is a doubt, and leaves a denial as it is.
    """
    if zone.learned:
        of_one = mention.kind in OF_ONE_PERSON or mention.source == _OF_A_DOSE
        if mention.context.polarity is not Polarity.PRESENT or of_one:
            return mention
        cues = (*mention.cues, Cue(zone.start, zone.end, ZONE + zone.why))
        return replace(mention, context=replace(mention.context, polarity=Polarity.UNCERTAIN), cues=cues)
    cues = (*mention.cues, Cue(zone.start, zone.end, ZONE + zone.name))
    if zone.name == "another":
        return replace(mention, context=replace(mention.context, experiencer=Experiencer.OTHER), cues=cues)
    return replace(mention, cues=cues)


def _taken_back(mention: Mention) -> Mention:
    """What stands below a heading that calls it superseded is no finding any more."""
    if mention.kind not in CORRECTABLE:
        return mention
    return replace(mention, context=replace(mention.context, polarity=Polarity.ABSENT, reason="retracted"))


def _in_list(text: str, start: int, lead_end: int) -> bool:
    """Whether the sentence at ``start`` begins with a bullet or number, no blank line behind the list's lead."""
    line = text.rfind("\n", 0, start) + 1
    return bool(_BULLET.match(text, line) or _BULLET.match(text, start)) and "\n\n" not in text[lead_end:start]


def _led(reading: Reading, lead: tuple[CueKind, ...], kind: str) -> Reading:
    """A list's lead ("differential:", "declined:") holds for its items where they say nothing else themselves."""
    if not lead:
        return reading
    context, status = reading.context, reading.status
    for cue in lead:
        if cue.kinds and kind not in cue.kinds:
            continue
        if "experiencer" in cue.sets and context.experiencer is Experiencer.PATIENT:
            context = replace(context, experiencer=Experiencer(cue.sets["experiencer"]))
        elif "status" in cue.sets and not status:
            status = cue.sets["status"]
            if status == "planned":
                context = replace(context, temporality=Temporality.PLANNED)
            else:
                context = replace(context, polarity=Polarity.ABSENT, reason=cue.sets.get("reason", "none"))
        elif (
            "polarity" in cue.sets
            and "status" not in cue.sets
            and context.polarity is Polarity.PRESENT
            and not reading.cues
        ):
            context = replace(context, polarity=Polarity(cue.sets["polarity"]))
        elif cue.name in ("hypothetical", "condition") and not reading.cues and not status:
            context = replace(context, temporality=Temporality.HYPOTHETICAL)
    return replace(reading, context=context, status=status)
