"""From spans to mentions: the context of each, its day, and what its sentence says of the whole."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ..kb.concepts import ConceptTable
from ..kb.model import EARLIEST_DAY, LATEST_DAY, Context, Cue, DayInterval, Experiencer, Mention, Polarity, Temporality
from .context import TREATMENT_KINDS, Reading, SentenceContext, Target
from .cue_table import CueKind, CueTable, cue_table
from .date_parts import hides_a_date
from .dates import DateMention
from .frame import Frame, Span
from .shape import Section
from .statements import holder, needs, said_in, statement

#: Reads the context of a target again: frame, sentence, its context, the target, its section, what the rules read.
SecondReader = Callable[[Frame, tuple[int, int], SentenceContext, Target, Section, Reading], Reading]

#: Label of CORAL's Table S1 for each kind of span.
LABELS: Final[Mapping[str, str]] = {
    "diagnosis": "Histology",
    "stage": "Stage",
    "tnm": "TNM",
    "grade": "Grade",
    "metastasis": "Metastasis",
    "node": "LymphNodeInvolvement",
    "biomarker": "BiomarkerName",
    "variant": "GenomicTestResult",
    "medication": "MedicationName",
    "regimen": "MedicationRegimen",
    "radiation": "RadiationTherapyName",
    "surgery": "ProcedureName",
    "procedure": "ProcedureName",
    "performance": "PerformanceStatus",
    "state": "DiseaseState",
    "symptom": "Symptom",
    "adverse_event": "ClinicalCondition",
    "comorbidity": "ClinicalCondition",
    "social": "Tobacco",
    "lab": "LabTestResult",
    "trial": "ClinicalTrial",
    "death": "DiseaseState",
    "site": "Site",
    "laterality": "Laterality",
}
#: Sources of spans that are told wherever they stand: what was asked for, and changes as they are written.
_WHEREVER: Final = ("target", "notation:")
_FIRST_ITEM = re.compile(r":\s*\(?[a1i][.)]\s")
#: No further than so many characters does a heading hold that calls its lines superseded.
_REACH_OF_HEADING = 800
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_BULLET = re.compile(r"[ \t]*(?:[\-*\u2022+>]|\(?[0-9a-zA-Z]{1,2}[.)])\s")
#: What parts a date from a fact: another cell, another sentence, the next step of a course ("x3 -> IDS 6/18/19").
_NEW_STEP = re.compile(r"[;|→⇒]|[-=]>|\.\s")
_DOSE = re.compile(
    r"[\s,(:\-]{0,3}(?:\w+\s){0,2}?(?P<dose>\d+(?:[.,]\d+)?\s?(?:mg|mcg|g|units?|IU|AUC|mL|ml|%)"
    r"(?:/m2|/kg|/m²)?|AUC\s?\d|(?:daily|bid|BID|tid|TID|qd|QD|od|OD|qhs|qHS|prn|PRN|weekly|monthly|q\d\s?w(?:k"
    r"|eeks?)?)\b|[x×]\s?\d+\b|C\d+(?:D\d+)?\b|#\s?\d)"
)
_CLINICALLY = re.compile(r"\bclinical(?:ly)?\W{1,3}(?:(?:stage|staging|TNM)\W{1,3})?$", re.IGNORECASE)
#: Kinds of finding that a later note may take back.
_CORRECTABLE = frozenset({"diagnosis", "variant", "biomarker", "metastasis", "state", "stage"})
_RESULTS = frozenset({"variant", "biomarker"})
#: Kinds of which the recogniser's own reading bears on the context; so does any span that is ``decided``.
_DECIDED = frozenset({"performance", "tnm", "stage", "node", "variant"})
_OF_A_REPORT = frozenset({"variant", "biomarker", "diagnosis", "medication", "regimen"})
#: What tells a patient's own variant from a gene that a sentence about medicine at large names.
_PARTICULAR = frozenset({"protein", "cdna", "percent", "exon", "partner", "codon", "significance", "origin"})


#: The rule of a cue that says whose the result is: another patient's.
ANOTHER_PATIENT: Final = "another_patient"
#: How far behind a result the words that its report is another patient's may stand, in characters.
_REACH_OF_MISFILING = 160


class MentionWriter:
    """Writes the mentions of one note from its placed spans."""

    def __init__(
        self,
        concepts: ConceptTable,
        state_of: Mapping[str, str],
        cues: CueTable | None = None,
        second: SecondReader | None = None,
    ) -> None:
        """``state_of``: states that only one tumor has, with that tumor. ``cues`` of the context: the shipped ones.
        ``second``: who reads each context again; nobody."""
        self._cues = cue_table() if cues is None else cues
        self._second = second
        self._concepts = concepts
        self._state_of = state_of

    def write(self, frame: Frame, events: list[Span], document_class: str) -> list[Mention]:
        if not events:
            return []
        ordered = sorted(events, key=lambda span: (span.start, span.end, span.kind, span.concept))
        text, section_at = frame.text, frame.shape.section_at
        mentions: list[Mention] = []
        lead: tuple[CueKind, ...] = ()
        lead_end = 0
        superseded_to = -1
        criteria = False
        may_list_criteria = not needs("criteria").isdisjoint(frame.vocabulary)
        for sentence, here in frame.by_sentence(ordered):
            start, end = sentence.start, sentence.end
            if lead and (start - lead_end > 1500 or not _in_list(text, start, lead_end)):
                lead = ()
            opens = text.find(":", start, end + 1) >= 0 and (
                frame.ends_in_colon(sentence) or _FIRST_ITEM.search(text, start, end) is not None
            )
            if here or opens:
                context = self._context(frame, start, end, here)
                criteria = criteria or (may_list_criteria and said_in("criteria", frame, start, end) is not None)
                if criteria or section_at(start).effect == "criteria":
                    context[0].speaks_of.update(("criteria", "general", "trial"))
                read = self._read_sentence(frame, start, end, here, context, lead, document_class)
                mentions.extend(map(_taken_back, read) if start < superseded_to else read)
                if opens:
                    lead, lead_end = context[0].leads(), end
                    if said_in("superseded_lines", frame, start, end):
                        # It holds for the lines below, to the next blank one.
                        blank = _BLANK_LINE.search(text, end, end + _REACH_OF_HEADING)
                        superseded_to = blank.start() if blank else end + _REACH_OF_HEADING
                    elif start < superseded_to:
                        superseded_to = start  # The next heading ends it.
            criteria = criteria and sentence.closed_by == "semi"
        return mentions

    def _context(
        self, frame: Frame, start: int, end: int, spans: Sequence[Span]
    ) -> tuple[SentenceContext, list[Target]]:
        named = [
            (
                span.start,
                span.end,
                span.kind,
                tuple((helper[0], helper[1]) for helper in span.helpers) if span.kind in _RESULTS else (),
            )
            for span in spans
        ]
        return sentence_context(frame, (start, end), named, self._cues)

    def _read_sentence(
        self,
        frame: Frame,
        start: int,
        end: int,
        spans: list[Span],
        read: tuple[SentenceContext, list[Target]],
        lead: tuple[CueKind, ...],
        document_class: str,
    ) -> Iterable[Mention]:
        if not spans:
            return
        text, section_at = frame.text, frame.shape.section_at
        section = section_at(start)
        skipped = section.effect in ("skip", "boilerplate")
        context, targets = read
        behind = min(len(text), end + 80)
        kinds = {span.kind for span in spans}
        refused = not kinds.isdisjoint(TREATMENT_KINDS) and bool(statement("declined_next").match(text, end, behind))
        taken_back = not kinds.isdisjoint(_CORRECTABLE) and bool(statement("taken_back").match(text, end, behind))
        at_large_all = bool(context.speaks_of)
        dates = frame.dates_in(start, end)
        for span, target in zip(spans, targets, strict=True):
            if skipped and not span.source.startswith(_WHEREVER):
                continue
            kind = span.kind
            reading = context.read(target, section if span.start < section.end else section_at(span.start))
            if lead:
                reading = _led(reading, lead, kind)
            if self._second is not None:
                reading = self._second(frame, (start, end), context, target, section, reading)
            if kind in _DECIDED or span.decided:
                at_large = at_large_all or context.tells_of_people(span.start)
                reading = self._with_decided(span, reading, at_large)
            if kind == "variant" and self._is_no_finding(span, spans, frame, document_class, skipped, context):
                reading = replace(reading, context=replace(reading.context, temporality=Temporality.HYPOTHETICAL))
            if kind == "diagnosis" and said_in("component", frame, start, end):
                reading = self._as_component(span, reading)
            if kind in _CORRECTABLE:
                undone = taken_back or (
                    said_in("taken_back_within", frame, start, end)
                    and statement("taken_back_within").search(text, span.end, end)
                )
                if undone and not (kind == "diagnosis" and _says_more(spans)):
                    reading = replace(
                        reading, context=replace(reading.context, polarity=Polarity.ABSENT, reason="retracted")
                    )
                if (
                    reading.context.polarity is Polarity.ABSENT
                    and reading.context.reason == "none"
                    and said_in("correction", frame, start, min(len(text), end + 60))
                ):
                    reading = replace(reading, context=replace(reading.context, reason="retracted"))
            if kind in _OF_A_REPORT and reading.context.reason == "none":
                misfiled = self._misfiled(frame, kind, start, end)
                if misfiled:
                    reading = replace(
                        reading,
                        context=replace(reading.context, polarity=Polarity.ABSENT, reason="retracted"),
                        cues=(*reading.cues, Cue(*misfiled.span(), ANOTHER_PATIENT)),
                    )
            if refused and reading.status in ("planned", "hypothetical", "mentioned", "") and kind in TREATMENT_KINDS:
                reading = Reading(
                    replace(
                        reading.context, polarity=Polarity.ABSENT, temporality=Temporality.CURRENT, reason="declined"
                    ),
                    "declined",
                    reading.cues,
                )
            if reading.status in ("given", "mentioned") and said_in("not_so", frame, start, end):
                reading = Reading(
                    replace(reading.context, polarity=Polarity.ABSENT, reason="never_started"),
                    "never_started",
                    reading.cues,
                )
            day, anchor = _day_of(frame, span, start, dates, reading.context)
            yield self._mention(frame, span, reading, day, anchor, section.name, (start, end), document_class)
            implied = self._state_of.get(span.concept) if kind == "state" else None
            if implied and reading.context.really_happened:
                tumor = Span(
                    span.start, span.end, "diagnosis", implied, span.source, {"site": self._concepts.get(implied).site}
                )
                yield self._mention(frame, tumor, reading, day, anchor, section.name, (start, end), document_class)

    def _is_no_finding(
        self,
        span: Span,
        spans: Sequence[Span],
        frame: Frame,
        document_class: str,
        skipped: bool,
        context: SentenceContext,
    ) -> bool:
        """Whether a change of a gene is spoken of and was not found: one that a method looks for, a drug's target."""
        if skipped or self._is_label(span, spans, frame, document_class):
            return True
        return bool({"general", "handed"} & context.speaks_of) and not _PARTICULAR & span.attributes.keys()

    def _misfiled(self, frame: Frame, kind: str, start: int, end: int) -> re.Match[str] | None:
        """The words that a result is another patient's."""
        if not frame.places[holder("another_patient").number]:
            return None  # Nor can its report be.
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
    def _is_label(span: Span, spans: Sequence[Span], frame: Frame, document_class: str) -> bool:
        """A gene in brackets behind a drug, in a report that lists therapies: what the drug is for, not a finding."""
        if span.kind != "variant" or document_class not in ("molecular", "pathology", "clinical"):
            return False
        if {"protein", "cdna", "percent"} & span.attributes.keys():
            return False
        drugs = (other for other in spans if other.kind == "medication" and 0 <= span.start - other.end <= 12)
        return any(frame.text[drug.end : span.start].lstrip().startswith("(") for drug in drugs)

    def _as_component(self, span: Span, reading: Reading) -> Reading:
        """An invasive histology that is only a component does not name the tumor (an in-situ one stands for itself)."""
        if not self._concepts.is_a(span.concept, "carcinoma") or self._concepts.is_a(span.concept, "in_situ_neoplasm"):
            return reading
        if reading.context.polarity is not Polarity.PRESENT:
            return reading
        return replace(reading, context=replace(reading.context, polarity=Polarity.UNCERTAIN))

    @staticmethod
    def _with_decided(span: Span, reading: Reading, general: bool) -> Reading:
        """What the recogniser read itself (a result word) is not read again as a cue."""
        context = reading.context
        if span.kind == "performance" and context.temporality is Temporality.HYPOTHETICAL and not general:
            # "I would call her ECOG 2" is a score; only the criteria of a trial are none.
            context = replace(context, temporality=Temporality.CURRENT)
            reading = replace(reading, context=context)
        if (
            span.kind in ("performance", "tnm", "stage")
            and context.polarity is Polarity.ABSENT
            and context.reason == "none"
        ):
            return replace(reading, context=replace(context, polarity=Polarity.PRESENT))
        if span.kind == "node" and "positive" in span.attributes:
            return replace(reading, context=replace(context, polarity=Polarity.PRESENT))
        if span.decided == "retracted":
            return replace(reading, context=replace(context, polarity=Polarity.ABSENT, reason="retracted"))
        told = span.kind == "variant" and {"protein", "cdna"} & span.attributes.keys()
        if told and context.reason in ("pending", "not_tested"):
            # A change that is written out was found, whatever is not done with it ("not reported clinically").
            return replace(reading, context=replace(context, polarity=Polarity.PRESENT, reason="none"))
        if not span.decided:
            return reading
        if context.reason in ("pending", "not_tested", "retracted") and (
            span.decided == "present" or context.reason == "retracted"
        ):
            polarity = Polarity.ABSENT if context.reason == "retracted" else Polarity.PRESENT
            reason = context.reason if context.reason == "retracted" else "none"
            return replace(reading, context=replace(context, polarity=polarity, reason=reason))
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
        if span.decided == "present" and doubted:
            polarity = Polarity.UNCERTAIN
        return replace(reading, context=replace(context, polarity=polarity, reason="none"))

    @staticmethod
    def day_of(
        frame: Frame, span: Span, sentence: tuple[int, int], context: Context
    ) -> tuple[DayInterval, tuple[int, int, str] | None]:
        """The day of the fact: a date in its clause, else its line's leading date, else the note's."""
        return _day_of(frame, span, sentence[0], frame.dates_in(*sentence), context)

    @staticmethod
    def _mention(
        frame: Frame,
        span: Span,
        reading: Reading,
        day: DayInterval,
        anchor: tuple[int, int, str] | None,
        section: str,
        sentence: tuple[int, int],
        document_class: str,
    ) -> Mention:
        attributes = dict(span.attributes)
        kind = span.kind
        if kind == "medication" or kind == "regimen":
            dose = _DOSE.match(frame.text, span.end)
            if dose:
                attributes["dose"] = dose["dose"].strip()
        if reading.status:
            attributes["status"] = reading.status
        if kind == "tnm" and "prefix" not in attributes and document_class == "pathology":
            clinical = _CLINICALLY.search(frame.text, max(0, span.start - 30), span.start)
            attributes["prefix"] = "c" if clinical else "p"
        cues = reading.cues
        if span.helpers:
            cues = (*cues, *(Cue(start, end, rule) for start, end, rule in span.helpers))
        if anchor:
            cues = (*cues, Cue(anchor[0], anchor[1], f"date:{anchor[2]}"))
        return Mention(
            frame.note_id,
            span.start,
            span.end,
            frame.note.text[span.start : span.end],
            kind,
            LABELS.get(kind, ""),
            span.concept,
            attributes,
            reading.context,
            day,
            span.source,
            section,
            sentence,
            cues,
            span.confidence,
        )


def _day_of(
    frame: Frame, span: Span, start: int, dates: Sequence[DateMention], context: Context
) -> tuple[DayInterval, tuple[int, int, str] | None]:
    """As :meth:`MentionWriter.day_of`, in a sentence that begins at ``start`` and holds these dates."""
    note_day = frame.note.date.toordinal() if frame.note.date else None
    best: tuple[int, DateMention] | None = None
    for date in dates:
        if date.start < span.end and date.end > span.start:
            continue
        ahead = date.end <= span.start
        gap = span.start - date.end if ahead else date.start - span.end
        leading = date.start - start <= 6
        if gap > 80 and not leading:
            continue
        between = frame.text[date.end : span.start] if ahead else frame.text[span.end : date.start]
        if _NEW_STEP.search(between) or hides_a_date(between, not ahead):
            continue
        if note_day is not None and date.day.low > note_day + 7 and context.really_happened:
            continue
        rank = gap + (0 if ahead else 4) + 20 * between.count(",")
        if best is None or rank < best[0]:
            best = rank, date
    if best is None and frame.dates:
        line = frame.text.rfind("\n", 0, span.start) + 1
        for date in frame.dates_in(line, line + 9):
            if date.end <= span.start:
                best = (0, date)
    if best is not None:
        date = best[1]
        high = min(date.day.high, max(date.day.low, note_day)) if note_day is not None else date.day.high
        return _days(date.day.low, high), (date.start, date.end, date.rule)
    if note_day is None:
        return _days(EARLIEST_DAY, LATEST_DAY), None
    if context.temporality is Temporality.HISTORICAL:
        return _days(EARLIEST_DAY, note_day), None
    return _days(note_day, note_day), None


@lru_cache(maxsize=4096)
def _days(low: int, high: int) -> DayInterval:
    """Most mentions of a note share its day."""
    return DayInterval(low, high)


def sentence_context(
    frame: Frame,
    sentence: tuple[int, int],
    named: Iterable[tuple[int, int, str, tuple[tuple[int, int], ...]]],
    cues: CueTable | None = None,
) -> tuple[SentenceContext, list[Target]]:
    """The cues of a sentence, and its targets: of each start, end, kind, and where its own results stand."""
    starts = frame.words.starts
    first, last = frame.token_range(*sentence)
    targets = []
    for start, end, kind, results in named:
        low = bisect_left(starts, start)
        high = max(bisect_left(starts, end, low), low + 1)
        targets.append(Target(low - first, high - first, start, end, kind, results))
    return SentenceContext(frame.text, frame.tokens[first:last], sentence, targets, cues), targets


def _says_more(spans: Sequence[Span]) -> bool:
    """Whether the sentence says something of its tumor: it is that which was wrong ("MSI-high ovarian carcinoma")."""
    return any(span.kind in ("biomarker", "variant", "stage", "tnm", "grade") for span in spans)


def _taken_back(mention: Mention) -> Mention:
    """What stands below a heading that calls it superseded is no finding any more."""
    if mention.kind not in _CORRECTABLE:
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
