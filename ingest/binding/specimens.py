"""The organ and side of a tumor by the specimen that it lies in, where its own sentence names none.

``Lung, right upper lobe, lobectomy: … Histologic type: squamous cell carcinoma`` is one tumor told in several
statements. A statement's specimen is the last headed before it; where that has no organ in which such a tumor begins
(nodes, a margin), it is the organ that most specimens of the report are of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import any_of, cue_file
from ..text.frame import Frame, Span, starting
from ..text.specimens import (
    Heading,
    beside_organ,
    is_of_frozen_section,
    is_told_before_operation,
    one_side,
    side_in,
    specimens_in,
    told_side,
)
from .placing import SiteReader, TumorComposer

_CUES: Final = cue_file("specimens")
_LINING: Final[dict[str, str]] = _CUES["lining"]
_PAIRED: Final[tuple[str, ...]] = tuple(_CUES["paired"]["organs"])
_PART_OF: Final[dict[str, str]] = _CUES["part_of"]
_WHOLE_BOWEL: Final = "large_bowel"
_BOWEL: Final = frozenset({_WHOLE_BOWEL, "colon"})
_ELSEWHERE: Final[dict[str, dict[str, str]]] = _CUES["elsewhere"]
#: Right behind an article a kind of tumor is talked about (*a serous carcinoma was considered*).
_ARTICLE: Final = re.compile(r"(?<![A-Za-z])(?:[Aa]n?|[Aa]ny)\s\Z")
_REACH_OF_ARTICLE: Final = 5
_REACHES: Final = re.compile(rf"[\s,.\-]{{1,3}}{any_of(_CUES['words']['reaches'])}\b", re.IGNORECASE)
#: So far behind the heading of a specimen is what it holds told (characters).
_REACH_OF_HEADING: Final = 600
_DENIED: Final = re.compile(rf"\b{any_of(_CUES['words']['denied'])}\s(?:[\w\-]+\s){{0,4}}\Z", re.IGNORECASE)
_REACH_OF_DENIAL: Final = 50
#: A part of a mixed tumor is no tumor of its own.
_SHARE: Final = re.compile(rf"\d\s?%\s{any_of(_CUES['words']['share'])}\s[^.;:]{{0,40}}\Z")
_REACH_OF_SHARE: Final = 60
#: So many of the organs that a report is most about may give a name its meaning.
_FIRST: Final = 3
_MALIGNANT: Final = "malignant_neoplasm"
#: Words for any cancer: of which organ it is they leave to others.
_ANY_CANCER: Final = frozenset({_MALIGNANT, "carcinoma", "solid_tumor", "sarcoma", "lymphoma"})


@dataclass(frozen=True, slots=True)
class Specimen:
    """A specimen with the organs that its heading names, the likeliest first."""

    start: int
    end: int
    organs: tuple[str, ...]
    side: str
    weight: int
    #: Whether the operation names the first organ, and whether the heading names it, or a part of it, as well.
    operated: bool
    named: bool


class SpecimenPlacer:
    """Gives the tumors of one report the organs and sides of its specimens."""

    def __init__(self, concepts: ConceptTable, sites: SiteReader, composer: TumorComposer) -> None:
        self._concepts = concepts
        self._sites = sites
        self._composer = composer
        self.narrowed = lru_cache(maxsize=4_000)(self._narrowed)

    def place(self, frame: Frame, diagnoses: Sequence[Span], sites: Sequence[Span], by_line: Sequence[Span]) -> None:
        """Complete site, concept and side of the malignant diagnoses. ``sites`` are in text order; ``by_line``: those
        whose site is only the first that a line above them names."""
        tumors = [one for one in diagnoses if self._is_cancer(one.concept)]
        if not tumors:
            return
        specimens = [self._specimen(heading, sites) for heading in specimens_in(frame.text)]
        tumors = [
            one for one in tumors if "spread_site" not in one.attributes or self._is_headed(one, specimens, sites)
        ]
        ends = {
            one.start: min(following, one.end + _REACH_OF_HEADING)
            for one, following in zip(specimens, [*(one.start for one in specimens), len(frame.text)][1:], strict=True)
        }
        specimens = [one for one in specimens if one.organs or one.side]
        weights: Counter[str] = Counter()
        for one in specimens:
            for organ in one.organs[:3]:
                weights[organ] += one.weight
        ranked = [organ for organ, _ in weights.most_common(6)]
        # Of organs that were taken out together, the one in which a tumor is said to be by its name goes first.
        said_by_name = {
            self._concepts.get(one.concept).site for one in tumors if "morphology" not in one.attributes
        } - {""}
        ranked.sort(key=lambda organ: not any(self._is_part(place, organ) for place in said_by_name))
        for span in tumors:
            is_share = _SHARE.search(frame.text, max(0, span.start - _REACH_OF_SHARE), span.start)
            if is_share or is_of_frozen_section(frame.text, span.start):
                continue
            own = next((one for one in reversed(specimens) if one.start <= span.start), None)
            if own is not None and own.operated:
                if (
                    any(span is one for one in by_line)
                    or self._is_led(span, own, sites)
                    or _REACHES.match(frame.text, span.end)
                ):
                    self._correct_organ(span, own.organs[0])
            elif own is not None and len(own.organs) > 1:
                by_rank = [organ for organ in ranked if organ in own.organs]
                own = replace(own, organs=tuple(dict.fromkeys((*by_rank, *own.organs))))
            if not _ARTICLE.search(frame.text, max(0, span.start - _REACH_OF_ARTICLE), span.start):
                self._give_organ(span, own, ranked)
            self._give_bowel(frame.text, span)
        self._doubt_earlier(frame.text, tumors)
        said = told_side(frame.text)
        held = [
            one
            for one in specimens
            if any(
                one.start <= span.start < ends[one.start] and not self._is_denied(frame.text, span) for span in tumors
            )
        ]
        for span in tumors:
            if "laterality" not in span.attributes and "spread" not in span.attributes:
                self._give_side(frame, span, (held, specimens), sites, said)

    @staticmethod
    def _is_headed(span: Span, specimens: Sequence[Specimen], sites: Sequence[Span]) -> bool:
        """Whether a tumor whose place is nodes stands under a heading that names an organ first (*kidney, adrenal and
        lymph nodes:*), and no other place stands between: then it is a tumor of the organ."""
        own = next((one for one in reversed(specimens) if one.start <= span.start), None)
        if own is None or not own.organs or "spread" in span.attributes or starting(sites, own.end, span.start):
            return False
        del span.attributes["spread_site"]
        return True

    @staticmethod
    def _is_led(span: Span, own: Specimen, sites: Sequence[Span]) -> bool:
        """Whether a tumor has its place only from the heading, where another organ than that of the operation leads
        (*ileum and cecum, right colectomy*)."""
        return own.named and span.attributes.get("site") in own.organs[1:] and not starting(sites, own.end, span.start)

    def _give_bowel(self, text: str, span: Span) -> None:
        """A tumor somewhere in the large bowel is of the part into whose fat it grows."""
        place = str(span.attributes.get("site", ""))
        if place not in _BOWEL or "spread_site" in span.attributes:
            return
        organ = beside_organ(text)
        if organ and organ != place:
            morphology = str(span.attributes.get("morphology", span.concept))
            if self._concepts.get(morphology).site:
                found = self.narrowed(morphology, organ)
            else:
                found = self._composer.compose(morphology, organ)
            if found != morphology:
                span.concept, span.attributes["site"] = found, organ

    @staticmethod
    def _is_denied(text: str, span: Span) -> bool:
        return _DENIED.search(text, max(0, span.start - _REACH_OF_DENIAL), span.start) is not None

    def _doubt_earlier(self, text: str, tumors: Sequence[Span]) -> None:
        """What a tumor was taken for before the operation is a doubt where the report names another one there."""
        is_a, get = self._concepts.is_a, self._concepts.get
        earlier = [one for one in tumors if is_told_before_operation(text, one.start)]
        if not earlier:
            return
        found = {
            one.concept
            for one in tumors
            if not any(one is other for other in earlier)
            and not {"spread", "spread_site"} & one.attributes.keys()
            and get(one.concept).site
            and not self._is_denied(text, one)
        }
        for span in earlier:
            place = get(span.concept).site
            # A word for any cancer of the organ contradicts none.
            there = [
                one
                for one in found
                if place
                and (is_a(get(one).site, place) or is_a(place, get(one).site))
                and (one == span.concept or not is_a(span.concept, one))
            ]
            if there and not any(is_a(one, span.concept) for one in there):
                span.decided = "uncertain"

    def _is_cancer(self, concept: str) -> bool:
        return concept in self._concepts and self._concepts.is_a(concept, _MALIGNANT)

    def _specimen(self, heading: Heading, sites: Sequence[Span]) -> Specimen:
        within = [one for one in starting(sites, *heading.names) if self._sites.primary_site(one.concept)]
        named = [_LINING.get(one.concept, one.concept) for one in within]
        # "LLL" names its side as well.
        side = heading.side or side_in(" ".join(self._concepts.get(one.concept).name for one in within))
        part = next((one for one in named if _PART_OF.get(one) in named), "") if len(named) == 2 else ""
        if not part and len(named) == 2 and _WHOLE_BOWEL in named:
            # "Large bowel (sigmoid)".
            part = next((one for one in named if one != _WHOLE_BOWEL and self._is_part(one, _WHOLE_BOWEL)), "")
        if part:
            named = [part]
        parts = [one for one in named if heading.organ and self._is_part(one, heading.organ)]
        # The cecum in a colectomy; the pancreas before the stomach in a Whipple operation.
        organs = (parts or [heading.organ]) + named
        weight = 3 if heading.organ else 2 if heading.field else 1
        organs = list(dict.fromkeys(filter(None, organs)))
        # A list of specimens names the only one that the label stands for, as an operation does.
        is_listed = heading.named_at is not None and len(organs) == 1
        return Specimen(
            heading.start,
            heading.end,
            tuple(organs),
            side,
            weight,
            bool(heading.organ or part) or is_listed,
            bool(parts),
        )

    def _correct_organ(self, span: Span, organ: str) -> None:
        """A tumor in *stomach, duodenum and pancreas, Whipple* is of the organ that the operation is on."""
        if self._is_part(str(span.attributes.get("site", "")), _WHOLE_BOWEL) and self._is_part(organ, _WHOLE_BOWEL):
            return  # A part of the bowel that is named beside another is none of its operation.
        morphology = str(span.attributes.get("morphology", span.concept))
        found = self._composer.compose(morphology, organ)
        if found != morphology and not self._is_part(self._concepts.get(span.concept).site or organ, organ):
            span.attributes.update(site=organ, morphology=morphology)
            span.concept = found

    def _give_organ(self, span: Span, own: Specimen | None, ranked: Sequence[str]) -> None:
        if span.concept in _ANY_CANCER:
            return
        meant = _ELSEWHERE.get(span.concept, {})
        if meant and not any(self._is_part(organ, self._concepts.get(span.concept).site) for organ in ranked):
            for organ in ranked[:_FIRST]:
                if organ in meant:
                    span.attributes.update(site=organ, morphology=span.concept)
                    span.concept = meant[organ]
                    return
        for organ in [*(own.organs if own else ()), *ranked]:
            if self._concepts.get(span.concept).site:
                found = self.narrowed(span.concept, organ)
            else:
                found = self._composer.compose(span.concept, organ)
            if found != span.concept:
                # A tumor in the organ that was operated on is one of that organ, and no mere morphology found there.
                if own is None or not own.operated or organ != own.organs[0]:
                    span.attributes.setdefault("morphology", span.concept)
                span.attributes["site"] = organ
                span.concept = found
                return

    def _narrowed(self, concept: str, organ: str) -> str:
        """The concept below one that already has a place, at the part of it that the specimen is of."""
        concepts = self._concepts
        place = concepts.get(concept).site
        if organ == place or organ not in concepts or not concepts.is_a(organ, place):
            return concept
        above = concepts.above(organ)
        fitting = [
            row
            for row in map(concepts.get, concepts.below(concept))
            if row.id != concept and row.site in above and row.site != place and concept in row.parents
        ]
        return fitting[0].id if len(fitting) == 1 else concept

    def _give_side(
        self,
        frame: Frame,
        span: Span,
        specimens: tuple[Sequence[Specimen], Sequence[Specimen]],
        sites: Sequence[Span],
        said: str,
    ) -> None:
        """``specimens``: those in which a tumor lies, and all."""
        place = str(span.attributes.get("site", "")) or self._concepts.get(span.concept).site
        organ = next((one for one in _PAIRED if place and self._is_part(place, one)), "")
        if not organ:
            return
        of_organ: list[Specimen] = []
        for among in specimens:
            of_organ = [one for one in among if one.side and any(self._is_part(part, organ) for part in one.organs)]
            if of_organ:
                break
        sides = {one.side for one in of_organ}
        if len(sides) > 1:
            before = [one.side for one in of_organ if one.start <= span.start]
            sides = set(before[-1:])
        elif not sides:
            named = {self._side_of(frame, one) for one in sites if self._is_part(one.concept, organ)} - {""}
            sides = {said} if said else named or {one_side(frame.text)} - {""}
        if len(sides) == 1 and sides <= {"left", "right"}:
            span.attributes["laterality"] = sides.pop()

    def _is_part(self, place: str, organ: str) -> bool:
        return place in self._concepts and self._concepts.is_a(place, organ)

    def _side_of(self, frame: Frame, site: Span) -> str:
        low, high = frame.sentence_span(site.start)
        return self._sites.side_in(frame, site.start, site.end, max(0, low), high)
