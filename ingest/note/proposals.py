"""What a model may add to a note that rules have read: proposals beside the rules' spans, written by the same steps.

Rules win: nothing that they read is changed, and a proposal that overlaps a reading of theirs is dropped, unless it
holds the whole of it and was linked to a concept below it. Then it stands beside it.
"""

from __future__ import annotations

import bisect
import functools
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...kb.kinds import KINDS
from ...kb.model import OF_MODEL, Mention, Relation
from ...kb.ontology.concepts import ConceptTable
from ..binding.placing import Placement
from ..models.tagging.recognizer import PreparedRecognizer
from ..recognizers.abbreviations import share_places
from ..text.frame import Frame, Span, resolve_overlaps
from ..treatments.courses import with_courses
from ..treatments.harms import with_harms
from .mentions import MentionWriter

_EVENT_KINDS: Final = frozenset(KINDS)


@dataclass(frozen=True, slots=True)
class Probabilities:
    """``proposed``: below it a proposal is dropped. ``believed``: below it a fact that stands on proposals alone is
    uncertain."""

    proposed: float
    believed: float

    def __str__(self) -> str:
        return f"proposed {self.proposed:g}, believed {self.believed:g}"


@functools.cache
def probabilities() -> Probabilities:
    """Those of ``proposals.toml``."""
    table = tomllib.loads(Path(__file__).with_name("proposals.toml").read_text(encoding="utf-8"))
    return Probabilities(**table["probability"])


@dataclass(frozen=True, slots=True)
class RulesReading:
    """What the rules have read of a note: all their spans, those that became events, sites, and what was written."""

    spans: Sequence[Span]
    events: Sequence[Span]
    sites: list[Span]
    mentions: Sequence[Mention]
    document_class: str


class Proposals:
    """Adds to the mentions of notes what a recogniser proposes and the rules lack."""

    def __init__(
        self,
        recognizer: PreparedRecognizer,
        concepts: ConceptTable,
        placement: Placement,
        writer: MentionWriter,
        unspecific: frozenset[str] = frozenset(),
    ) -> None:
        """``unspecific``: concepts that are no reading, so that what holds their name may be proposed."""
        self.recognizer = recognizer
        self._concepts, self._placement, self._writer = concepts, placement, writer
        self._unspecific = unspecific

    def of(self, frame: Frame, rules: RulesReading) -> tuple[list[Mention], list[Relation]]:
        """The mentions of proposals, and the relations that they have."""
        proposed = self.admitted(self.recognizer.find(frame), rules)
        if not proposed:
            return [], []
        linked = [span for span in proposed if span.concept]
        diagnoses = [span for span in linked if span.kind == "diagnosis"]
        self._placement.diagnoses(frame, diagnoses, rules.sites, rules.document_class)
        share_places(diagnoses)
        self._placement.others(frame, linked, rules.sites)
        # Their sentences are read once more, with what the rules found there: cues are shared among all of it.
        sentences = {frame.sentence_span(span.start) for span in proposed}
        beside = [span for span in rules.events if frame.sentence_span(span.start) in sentences]
        written = with_courses(frame, self._writer.write(frame, [*beside, *proposed], rules.document_class))
        told, relations = with_harms(frame, written)
        mentions = {one.mention_id: one for one in told if one.source.startswith(OF_MODEL)}
        known = mentions.keys() | {one.mention_id for one in rules.mentions}
        own = [
            edge
            for edge in relations
            if {edge.head, edge.tail} <= known and not mentions.keys().isdisjoint((edge.head, edge.tail))
        ]
        return list(mentions.values()), own

    def admitted(self, proposed: Iterable[Span], rules: RulesReading) -> list[Span]:
        """The proposals that are probable enough and stand beside what the rules read, none overlapping another."""
        taken = sorted(
            [
                *((span.start, span.end, span.kind, span.concept) for span in rules.spans),
                *((one.start, one.end, one.kind, one.concept) for one in rules.mentions),
            ]
        )
        longest = max((end - start for start, end, _, _ in taken), default=0)
        starts = [start for start, _, _, _ in taken]
        found = []
        for span in proposed:
            if span.confidence < probabilities().proposed:
                continue
            low, high = bisect.bisect_left(starts, span.start - longest), bisect.bisect_left(starts, span.end)
            beneath = [one for one in taken[low:high] if one[1] > span.start]
            if self._beside(span, beneath):
                found.append(span)
        return resolve_overlaps(found)

    def _beside(self, span: Span, beneath: Sequence[tuple[int, int, str, str]]) -> bool:
        if any(start < span.start or end > span.end for start, end, _, _ in beneath):
            return False
        if any((start, end) == (span.start, span.end) for start, end, _, _ in beneath):
            return False
        readings = [
            concept for _, _, kind, concept in beneath if kind in _EVENT_KINDS and concept not in self._unspecific
        ]
        if not readings:
            return True  # Within it stand but places, sides or words too wide.
        return bool(span.concept) and any(
            concept in self._concepts and concept != span.concept and self._concepts.is_a(span.concept, concept)
            for concept in readings
        )
