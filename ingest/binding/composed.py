"""The place in the body that a complaint or finding is said of: *chest pain*, *swelling of the left knee and ankle*.

A name for each pair of a complaint and a place would never end. So the complaint keeps its concept, and the place
beside it becomes its attributes ``site`` and ``laterality``; a pair that has a concept of its own below the complaint
(a row with that site) gets that concept. Only what stands right beside it is its place: *pain, worse with chest
expansion* is nowhere.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import CONDITIONS, OPERATIONS
from ..text.frame import THING, TOLD, Frame, Span, starting
from ..text.word_classes import word_classes
from .placing import SiteReader, TumorComposer
from .regions import Regions, local_findings

_CLASSES: Final = word_classes("binding", "composed")
_IGNORE: Final = re.IGNORECASE

#: From a place to the complaint behind it: ``abdominal cramping pain``, ``chest-wall tenderness``.
_AHEAD: Final = _CLASSES.compile(r"[\s\-]{1,3}(?:{quality}[\s\-]{1,3}){0,2}", _IGNORE)
#: From a complaint to the place behind it: ``pain in the left chest``, ``swelling of both``.
_BEHIND: Final = _CLASSES.compile(r"\s{1,3}(?:{extent}\s)?{at}\s{1,3}(?:{owner}\s{1,3}){0,4}", _IGNORE)
#: Between places, and between complaints, that are named together.
_JOINED: Final = _CLASSES.compile(
    r"\s{0,3}(?:[,/&+]|{joint})\s{0,3}(?:{joint}\s{1,3})?(?:{owner}\s{1,3}){0,3}", _IGNORE
)
#: Between complaints that share a place. An article opens a thing of its own: *pain and a lesion of the liver*.
_TOGETHER: Final = re.compile(rf"(?!.*\ban?\s){_JOINED.pattern}", _IGNORE | re.DOTALL)
#: Complaints and illnesses, and what is done or looked at in a part of the body.
_SAID_OF_PLACES: Final = CONDITIONS | OPERATIONS
#: From an examination to the part of the body that follows its name at once (``CT chest``), and from an adjective to
#: that which it is said of: ``fractured left ankle``.
_AT_ONCE: Final = _CLASSES.compile(r"[ \t]{1,3}(?:{owner}[ \t]{1,3}){0,2}", _IGNORE)
_ADJECTIVE: Final = _CLASSES.compile(r"{adjective}", _IGNORE)
_AT_MOST_A_WORD: Final = 3
_TOLD_BESIDE_ALL: Final = frozenset({"pain", "chest_pain", "abdominal_pain"})
#: What tells that a finding is said of something without a place of its own: a wound, a stoma.
ELSEWHERE: Final = "said of something else"
#: No further from a complaint does its place begin (characters), and no more places are its own.
_REACH: Final = 120
#: A longer heading (characters) names more than a part of the body.
_LONGEST_HEADING: Final = 40
_MOST: Final = 6
#: More characters than those words have stand between no two complaints that share a place.
_LONGEST_BETWEEN: Final = 200


class ConditionPlacer:
    """Gives complaints and findings of one note the places that they are said of."""

    def __init__(self, sites: SiteReader, composer: TumorComposer) -> None:
        self._sites = sites
        self._composer = composer

    def place(self, frame: Frame, events: list[Span], sites: Sequence[Span]) -> list[Span]:
        """The spans that further places of one complaint make; the spans themselves get the first. ``sites`` are in
        text order."""
        conditions = sorted((one for one in events if one.kind in _SAID_OF_PLACES), key=lambda span: span.start)
        if not conditions:
            return []
        regions = Regions(frame, sites)
        starts = [site.start for site in sites]
        further: list[Span] = []
        alone: list[Span] = []
        shared: tuple[Span, list[Span]] | None = None
        for span in reversed(conditions):
            low, high = frame.sentence_span(span.start)
            first = bisect.bisect_left(starts, max(low, span.start - _REACH))
            near = sites[first : bisect.bisect_left(starts, min(high, span.end + _REACH), first)]
            places = _told_of(span, near) or self._ahead(frame.text, span, near)
            if not places:
                places = self._behind(frame.text, span, near)
                if places:
                    shared = (span, places)
                elif shared is not None and _are_together(frame.text, span, shared[0]):
                    # "Redness and swelling of the knee": both are there.
                    places = shared[1]
                    shared = (span, places)
            if places:
                further += self._placed(frame, span, places, low, high)
            elif span.kind in CONDITIONS:
                alone.append(span)
        for span in reversed(alone):
            self._give_side(frame, span)
            self._further_off(frame, span, regions, sites)
            if span.concept in local_findings() and "site" not in span.attributes:
                self._as_before_it(frame.text, span, conditions)
        return further

    def _as_before_it(self, text: str, span: Span, conditions: Sequence[Span]) -> None:
        """*Pharyngeal erythema or exudate*: the next of such findings has the place of the one before it. Pain is told
        beside all sorts of things."""
        before = next((one for one in reversed(conditions) if one.end <= span.start), None)
        if before is None or not _are_together(text, before, span):
            return
        place = self._composer.place_of(before.concept) or str(before.attributes.get("site", ""))
        if place and before.concept not in _TOLD_BESIDE_ALL and not span.helpers:
            self._is_there(span, Span(before.start, before.end, "site", place))

    def _give_side(self, frame: Frame, span: Span) -> None:
        """*Left hydronephrosis*, *a small pneumothorax on the right*: the side of what has its place in its name."""
        low, high = frame.sentence_span(span.start)
        side = self._sites.side_in(frame, span.start, span.end, low, high, 0)
        if side:
            span.attributes.setdefault("laterality", side)

    def _further_off(self, frame: Frame, span: Span, regions: Regions, sites: Sequence[Span]) -> None:
        """A finding is where its sentence looks: *the pharynx shows no exudate*, ``NECK: supple, no masses.``"""
        region = regions.at(span) if span.concept in local_findings() else None
        if region is None:
            section = frame.shape.section_at(span.start)
            if self._composer.is_local(span.concept) and not regions.is_headed(section.heading_end, span.start):
                self._under_heading(frame, span, sites)
        elif region.place is None:
            span.helpers.append((region.start, region.start + 1, ELSEWHERE))
        else:
            place = region.place
            low, high = frame.sentence_span(place.start)
            side = self._sites.side_in(frame, place.start, place.end, low, high, 1)
            self._is_there(span, place)
            if side:
                span.attributes.setdefault("laterality", side)

    def _under_heading(self, frame: Frame, span: Span, sites: Sequence[Span]) -> None:
        """A local finding under the heading of a part of the body is there: ``ABDOMEN: soft, no masses.`` What somebody
        has elsewhere or altogether is told under such headings too: *Eyes: due to diabetes*."""
        section = frame.shape.section_at(span.start)
        if section.heading_end - section.start > _LONGEST_HEADING or span.start < section.heading_end:
            return
        named = starting(sites, section.start, section.heading_end)
        if len(named) == 1:
            self._is_there(span, named[0])

    def _placed(self, frame: Frame, span: Span, places: Sequence[Span], low: int, high: int) -> list[Span]:
        """Give a complaint its first place; a copy of it for each other."""
        plain = replace(span, attributes=dict(span.attributes), helpers=list(span.helpers))
        further: list[Span] = []
        for number, place in enumerate(places):
            one = span
            if number:
                one = replace(plain, attributes=dict(plain.attributes), helpers=list(plain.helpers))
                further.append(one)
            self._at(frame, one, place, low, high, further=number > 0)
        return further

    def _at(self, frame: Frame, span: Span, place: Span, low: int, high: int, *, further: bool) -> None:
        side = self._sites.side_in(frame, place.start, place.end, low, high, 1)
        self._is_there(span, place)
        if side:
            span.attributes.setdefault("laterality", side)
        # "Chest pain" is its name; what is said of several places has words of its own for each. What is told of a
        # thing may be denied between the two: "her legs are not swollen".
        if span.source != TOLD:
            span.start = min(span.start, place.start)
        if further or span.kind in OPERATIONS and not span.end < place.start - _AT_MOST_A_WORD:
            span.end = max(span.end, place.end)

    def _is_there(self, span: Span, place: Span) -> None:
        """Give a complaint the place, the concept that means both if there is one, and the words that told it."""
        span.attributes.setdefault("site", place.concept)
        span.concept = self._composer.right_below(span.concept, place.concept)
        span.helpers.append((place.start, place.end, "place"))

    @staticmethod
    def _ahead(text: str, span: Span, near: Sequence[Span]) -> list[Span]:
        """The places right before a complaint."""
        before = [site for site in near if site.end <= span.start]
        if not before or not _AHEAD.fullmatch(text, before[-1].end, span.start):
            return []
        chosen = [before[-1]]
        for site in reversed(before[:-1][-_MOST:]):
            if not _JOINED.fullmatch(text, site.end, chosen[0].start):
                break
            chosen.insert(0, site)
        chosen.reverse()
        return chosen

    @staticmethod
    def _behind(text: str, span: Span, near: Sequence[Span]) -> list[Span]:
        """The places that the words behind a complaint lead to."""
        chosen: list[Span] = []
        at, between = span.end, _BEHIND
        for site in near:
            if site.start < span.end:
                continue
            if chosen:
                at_once = None
            elif span.kind in OPERATIONS:
                at_once = _AT_ONCE.fullmatch(text, at, site.start)
            else:
                at_once = _AT_ONCE.fullmatch(text, at, site.start) and _ADJECTIVE.fullmatch(text, span.start, at)
            if len(chosen) == _MOST or not (at_once or between.fullmatch(text, at, site.start)):
                break
            chosen.append(site)
            at, between = site.end, _JOINED
        return chosen


def _told_of(span: Span, near: Sequence[Span]) -> list[Span]:
    """The place that is the thing of which something is told: *her ankles get puffy by evening*."""
    if span.source != TOLD:
        return []
    things = [(start, end) for start, end, role in span.helpers if role == THING]
    # "Blood" is no place of blood sugars that are low.
    return [site for site in near if (site.start, site.end) in things][:1]


def _are_together(text: str, span: Span, following: Span) -> bool:
    """Whether nothing stands between two complaints but what joins those that share a place."""
    gap = following.start - span.end
    return gap <= _LONGEST_BETWEEN and _TOGETHER.fullmatch(text, span.end, following.start) is not None
