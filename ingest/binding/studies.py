"""By which study spread and nodes were seen: that of a report of imaging, or the one that the sentence names.

``Bone scan: new rib metastases`` and ``liver metastases on PSMA PET`` tell it; what a report says of an older study is
told of the older one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import BETWEEN_VALUES, SHOWN
from ...kb.model import Experiencer, Mention, Temporality
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import any_of, cue_file
from ..text.frame import Frame, Span

_WORDS: Final = cue_file("studies")["studies"]
_PARTS: Final = re.compile("|".join(_WORDS["parts"]), re.IGNORECASE)
_SHOWS: Final = re.compile("|".join(_WORDS["shows"]), re.IGNORECASE)
_LED: Final = re.compile(
    rf"(?<![a-z]){any_of(_WORDS['leads'])}\s+(?:(?:{'|'.join(_WORDS['which'])})\s+)?\Z",
    re.IGNORECASE,
)
_EARLIER: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS['earlier'])})\W+(?:\w+\W+){{0,2}}\Z", re.IGNORECASE)
_GUIDES: Final = re.compile(r"[\s-]?guid", re.IGNORECASE)
#: Reports of what was taken out: they see it themselves.
_OF_TISSUE: Final = frozenset({"pathology", "molecular"})
_AND: Final = re.compile(r"\s*(?:/|,|and|&|\+)\s*(?:the\s)?\Z", re.IGNORECASE)
#: So far from a study may stand what it shows; in a report, its own name (characters).
_REACH, _REACH_BEHIND, _HEAD = 200, 60, 250
_EARLIER_REACH: Final = 30


class StudyReader:
    """Tells of spread by which study it was seen."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._studies = frozenset().union(*[concepts.at_or_below(one) for one in _WORDS["concepts"]])

    def is_study(self, concept: str) -> bool:
        """Whether a procedure is one that shows where a tumor is."""
        return concept in self._studies

    def tell(
        self,
        frame: Frame,
        document_class: str,
        mentions: Sequence[Mention],
        spans: Sequence[Span],
        title: Sequence[str],
    ) -> list[Mention]:
        """The mentions, those of spread with the study. ``spans``: what is named in the note, in text order; ``title``:
        the procedures that its title names."""
        if all(one.kind not in SHOWN for one in mentions):
            return list(mentions)
        studies = [
            one
            for one in spans
            if one.kind == "procedure" and self.is_study(one.concept) and not _GUIDES.match(frame.text, one.end)
        ]
        whole = self._of_report(studies, title) if document_class == "imaging" else ""
        told = []
        for mention in mentions:
            found = ""
            if mention.kind in SHOWN and mention.context.experiencer is Experiencer.PATIENT:
                found = whole if mention.context.temporality is Temporality.CURRENT else ""
                if not found and document_class not in _OF_TISSUE:
                    found = self._in_sentence(frame, mention, studies)
            told.append(replace(mention, attributes={**mention.attributes, "found_by": found}) if found else mention)
        return told

    def _of_report(self, studies: Sequence[Span], title: Sequence[str]) -> str:
        """The study that a report is of: its title's, else the first that its head names; of several only one that is
        a kind of the others."""
        named = [one for one in title if self.is_study(one)] or [one.concept for one in studies if one.start < _HEAD][
            :1
        ]
        lowest = [one for one in dict.fromkeys(named) if all(self._concepts.is_a(one, other) for other in named)]
        return lowest[0] if lowest and lowest[0] != "imaging" else ""

    def _in_sentence(self, frame: Frame, mention: Mention, studies: Sequence[Span]) -> str:
        low, high = mention.sentence
        text = frame.text
        here = [
            one
            for one in studies
            if low <= one.start < high and not _EARLIER.search(text, max(low, one.start - _EARLIER_REACH), one.start)
        ]
        behind = [one for one in here if mention.end <= one.start <= mention.end + _REACH_BEHIND]
        if behind:
            between = text[mention.end : behind[0].start]
            if _LED.search(between) and not _PARTS.search(between):
                return self._with_joined(text, behind, backwards=False)
        before = [one for one in here if one.end <= mention.start]
        if not before:
            return ""
        between = text[before[-1].end : mention.start]
        if len(between) > _REACH or _PARTS.search(between) or not _SHOWS.search(between[:60]):
            return ""
        return self._with_joined(text, before[::-1], backwards=True)

    def _with_joined(self, text: str, studies: Sequence[Span], *, backwards: bool) -> str:
        """The first of the studies, with those that are coordinated with it (``CT and bone scan``)."""
        chosen = [studies[0]]
        for one in studies[1:]:
            first, second = (one, chosen[-1]) if backwards else (chosen[-1], one)
            if not _AND.match(text, first.end, second.start):
                break
            chosen.append(one)
        found = [one.concept for one in chosen if one.concept != "imaging"]
        return BETWEEN_VALUES.join(sorted(set(found)))
