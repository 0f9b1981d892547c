"""The context of the annotations that the layer adds: the same cues as for every mention, read in the same way."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ...kb.model import Temporality
from ..context.cues import cue_table
from ..context.sentence import SentenceContext, Target
from ..coral_schema.types import schema
from ..note.mentions import FactDays, sentence_context
from ..text.frame import Span
from ..text.word_classes import word_classes
from .annotation import Annotation, Page

_CLASSES: Final = word_classes("coral", "contexts")

#: Types that say of themselves what they say: a result "negative" is not denied.
_GROUPS: Final = ("problem", "sdoh", "test", "treatment_name")
_OTHERS: Final = frozenset(
    """PatientCharacteristics ProcedureName ClinicalTrial DiseaseState LocalInvasion Metastasis LymphNodeInvolvement
    Histology TumorCharacteristics""".split()
)
_TAKES_PART = _CLASSES.compile(
    r"(?:^|\W){takes_part}\s(?:\w+\s){0,3}$",
    re.IGNORECASE,
)

#: Words behind a test or treatment that tell of it as done.
_REPORTED = _CLASSES.compile(
    r"\s{0,3}(?:[^\s.;]+\s){0,4}?{reported}\b",
    re.IGNORECASE,
)


def has_context(label: str) -> bool:
    """Whether an annotation of this type may be denied, planned, a relative's."""
    return label in _OTHERS or any(label in schema().groups[name] for name in _GROUPS)


def read_contexts(page: Page) -> None:
    """Give each new annotation the context that its sentence says, and its day."""
    frame = page.frame
    days = FactDays(frame)
    for sentence, here in page.by_sentence():
        for one in here:
            if not one.origin and one.label != "Datetime":
                _date(one, days, (sentence.start, sentence.end))
        new = [one for one in here if not one.origin and has_context(one.label)]
        if not new:
            continue
        known = [one for one in here if one.origin or has_context(one.label)]
        named = [(one.start, one.end, one.kind, ()) for one in known]
        context, targets = sentence_context(frame, (sentence.start, sentence.end), named, cue_table())
        for one, target in zip(known, targets, strict=True):
            if not one.origin and has_context(one.label):
                _give(one, context, target, page)


def _date(one: Annotation, days: FactDays, sentence: tuple[int, int]) -> None:
    day, _ = days.day_of(Span(one.start, one.end, one.kind), sentence, one.mention.context)
    one.mention = replace(one.mention, day=day)


def _give(one: Annotation, context: SentenceContext, target: Target, page: Page) -> None:
    reading = context.read(target, page.frame.shape.section_at(one.start))
    if one.label == "ClinicalTrial" and _TAKES_PART.search(page.frame.text, max(0, one.start - 40), one.start):
        # A sentence about a trial speaks of medicine at large, but not where the patient is in it.
        reading = replace(reading, context=replace(reading.context, temporality=Temporality.CURRENT))
    if (
        reading.context.temporality is Temporality.PLANNED
        and not reading.cues
        and _REPORTED.match(page.frame.text, one.end)
    ):
        # A section of plans also tells what was found.
        reading = replace(reading, context=replace(reading.context, temporality=Temporality.CURRENT))
    attributes = {"status": reading.status} if reading.status else {}
    one.mention = replace(one.mention, context=reading.context, cues=reading.cues, attributes=attributes)
