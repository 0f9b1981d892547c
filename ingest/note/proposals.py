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
from ...kb.model import OF_MODEL
from ...kb.ontology.concepts import ConceptTable
from ..models.tagging.recognizer import PreparedRecognizer
from ..text.frame import SPREAD, Span, resolve_overlaps
from .steps import Page, chosen, run

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


#: What is done with a proposal before it is written, and how it is written: steps of the rules, in their order.
_PLACE: Final = chosen("place diagnoses", "share places of short forms", "place findings")
_WRITE: Final = chosen("write mentions", "read courses", "tie harms")


class Proposals:
    """Adds to the mentions of notes what a recogniser proposes and the rules lack."""

    def __init__(
        self, recognizer: PreparedRecognizer, concepts: ConceptTable, unspecific: frozenset[str] = frozenset()
    ) -> None:
        """``unspecific``: concepts that are no reading, so that what holds their name may be proposed."""
        self.recognizer = recognizer
        self._concepts = concepts
        self._unspecific = unspecific

    def add(self, page: Page) -> None:
        """Add the mentions of proposals, and the relations that they have."""
        frame = page.frame
        proposed = self.admitted(self.recognizer.find(frame), page)
        if not proposed:
            return
        linked = [span for span in proposed if span.concept]
        beside = Page(page.tools, frame, document_class=page.document_class, sites=page.sites, events=linked)
        run(beside, _PLACE)
        # Their sentences are read once more, with what the rules found there: cues are shared among all of it.
        sentences = {frame.sentence_span(span.start) for span in proposed}
        beside.events = [span for span in page.events if frame.sentence_span(span.start) in sentences] + proposed
        run(beside, _WRITE)
        mentions = {one.mention_id: one for one in beside.mentions if one.source.startswith(OF_MODEL)}
        written = {one.mention_id: one for one in page.mentions} | mentions
        page.relations += [
            edge
            for edge in beside.relations
            if {edge.head, edge.tail} <= written.keys() and not mentions.keys().isdisjoint((edge.head, edge.tail))
        ]
        page.mentions = list(written.values())

    def admitted(self, proposed: Iterable[Span], page: Page) -> list[Span]:
        """The proposals that are probable enough and stand beside what the rules read, none overlapping another."""
        taken = sorted(
            [
                *((span.start, span.end, span.kind, span.concept) for span in page.spans),
                *((span.start, span.end, span.kind, span.concept) for span in page.apart.get(SPREAD, ())),
                *((one.start, one.end, one.kind, one.concept) for one in page.mentions),
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
