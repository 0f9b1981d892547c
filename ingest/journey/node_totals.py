"""Totals of lymph nodes: the counts that a report tells station by station, added up for the tumor.

Counts are added only where the text tells that they are of different stations (``kb/derivation/stations.py``); what is
told again in another part of the report, or beside its parts as their sum, is never added. The total is a derived event
that names the counts as its premises; where the report states one as great itself, there is nothing to derive.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...kb.derivation.rules import PREMISES, RULE
from ...kb.derivation.stations import SUM_OF_STATIONS, Station, Stations
from ...kb.model import Context, Event, Experiencer, Mention, Value, World
from ...kb.note_classes import PATHOLOGY
from ..note.read import ReadNote
from .bench import Workbench

_ANY_NODE: Final = "lymph_node"
#: The bracket that a count opens, behind nothing but the word for a number: ``(No III/XIV)``.
_BRACKET_OF_COUNT: Final = re.compile(r"\((?:nos?\.?\s?)?\Z", re.IGNORECASE)
#: A bracket that is still open at its end.
_OPEN_BRACKET: Final = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\Z")


@dataclass(frozen=True, slots=True)
class _Count:
    """A count that a report tells: its place, its station, and the event that it is evidence of."""

    mention: Mention
    event: Event
    station: Station

    @property
    def positive(self) -> float:
        return _number(self.event, "positive")

    @property
    def examined(self) -> float:
        return max(_number(self.event, "examined"), self.positive)

    @property
    def fullness(self) -> tuple[bool, float, float]:
        """How much it tells: of two counts of one station the fuller one stands."""
        return "examined" in self.event.attributes, self.examined, self.positive

    def is_at_least(self, positive: float, examined: float) -> bool:
        """Whether it is as great as a sum: then it may be that sum, told in words."""
        return self.positive >= positive and self.examined >= examined


def total_nodes(bench: Workbench) -> None:
    """Adds the totals of the stations that the reports of pathology tell apart."""
    counts = [event for event in bench.events if _is_count(event)]
    if len(counts) < 2 and sum(len(event.evidence) for event in counts) < 2:
        return
    by_tumor: dict[str, dict[str, Event]] = defaultdict(dict)
    for event in counts:
        by_tumor[event.tumor].update(dict.fromkeys(event.evidence, event))
    for read in bench.notes:
        if read.document_class != PATHOLOGY:
            continue
        stations: Stations | None = None
        for events in by_tumor.values():
            told = sorted((one for one in read.mentions if one.mention_id in events), key=lambda one: one.start)
            if len(told) > 1:
                stations = stations or Stations(read.note.text)
                total = _total(bench, _counts(read, told, events, stations))
                if total is not None:
                    bench.events.append(total)


def _is_count(event: Event) -> bool:
    return (
        event.kind == "node"
        and "positive" in event.attributes
        and RULE not in event.attributes
        and event.world > World.NONE
        and event.context.experiencer is Experiencer.PATIENT
    )


def _counts(read: ReadNote, told: Sequence[Mention], events: dict[str, Event], stations: Stations) -> Iterator[_Count]:
    """The counts of a report in text order; those in a bracket behind a greater one are its parts, and left out."""
    text, after = read.note.text, 0
    whole: _Count | None = None
    for mention in told:
        if mention.start < after:
            continue
        one = _Count(mention, events[mention.mention_id], stations.of_count(mention.start, mention.end, after))
        after = mention.end
        opened = _BRACKET_OF_COUNT.search(text, max(0, mention.start - 8), mention.start)
        own_bracket = opened is not None and text[mention.end : mention.end + 1] == ")"
        is_part = whole and whole.examined > one.examined and not own_bracket
        if whole and is_part and _OPEN_BRACKET.search(text, whole.mention.end, mention.start):
            continue
        whole = one
        yield one


def _total(bench: Workbench, counts: Iterator[_Count]) -> Event | None:
    """The greatest total that one part of the report gives, if none is stated and no count is as great by itself."""
    told = list(counts)
    if any(one.station.total for one in told):
        return None
    tellings = [one for one in _tellings(told) if len(one) > 1]
    if not tellings:
        return None
    best = max(tellings, key=_sums)
    if any(2 * one.positive == _sums(best)[0] and 2 * one.examined == _sums(best)[1] for one in best) and len(best) > 2:
        # One of them is the sum of all others.
        return None
    positive, examined = _sums(best)
    # What one of the counts leaves open the total leaves open.
    is_known = all("examined" in one.event.attributes for one in best)
    if any(one.is_at_least(positive, examined if is_known else 0) for one in told):
        return None
    return _event(bench, best)


def _sums(telling: Sequence[_Count]) -> tuple[float, float]:
    """How many nodes are involved, and how many were examined."""
    return sum(one.positive for one in telling), sum(one.examined for one in telling)


def _tellings(counts: Sequence[_Count]) -> Iterator[list[_Count]]:
    """The counts of different stations that follow each other in one list of one part of the report."""
    telling: list[_Count] = []
    for one in counts:
        if telling and _begins_anew(telling[-1].station, one.station):
            yield telling
            telling = []
        same = [at for at, other in enumerate(telling) if not one.station.is_other(other.station)]
        if not telling:
            if not one.station.total and (one.station.label or one.station.words):
                telling.append(one)
        elif not same:
            if len(telling) == 1 and _is_whole_before(telling[0], one):
                telling = [one]
            elif not _may_be_whole(one, telling):
                telling.append(one)
        elif len(same) == 1 and _is_same_specimen(one.station, telling[same[0]].station):
            other = telling[same[0]]
            if one.fullness > other.fullness:
                telling[same[0]] = one
    yield telling


def _is_whole_before(first: _Count, one: _Count) -> bool:
    """Whether the first count names no place and may be that of all nodes, of which the next is a part; what stands in
    lists by Roman numbers is counted once each."""
    label = one.station.label
    if label is not None and label.kind == "roman" and first.station.label is not None:
        return False
    return not first.station.words and first.is_at_least(one.positive, one.examined)


def _may_be_whole(one: _Count, telling: Sequence[_Count]) -> bool:
    """Whether a count of another station may be all of those before it, or one of them all that it is a part of.

    What has a label of its own is so only if it names no new place and is their very sum, or names none and is as
    great; what only other words tell apart, if one is as great as the other, unless they name other sides or levels.
    """
    positive, examined = _sums(telling)
    is_sum = len(telling) > 1 and (one.positive, one.examined) == (positive, examined)
    if is_sum and any(one.station.words <= other.station.words for other in telling):
        return True
    labels = [other.station.label for other in telling]
    if one.station.label is not None and one.station.label not in labels and None not in labels:
        # A specimen of its own is never all of them, but for their very sum.
        return False
    beside = [other for other in telling if not _is_apart(one, other)]
    if not beside or all(one.station.is_of_other_side(other.station) for other in beside):
        return False
    return one.is_at_least(positive, examined) or any(other.is_at_least(one.positive, one.examined) for other in beside)


def _is_apart(one: _Count, other: _Count) -> bool:
    """Whether two counts have headings of their own, or one of them has, and they share no word for a place; levels
    that are only numbered may be parts of what has none."""
    if one.station.is_headed_apart(other.station):
        return not _is_level_of(one, other) and not _is_level_of(other, one)
    labelled = (one.station.label is None) != (other.station.label is None)
    headed = labelled or max(one.station.heading, other.station.heading) >= 0
    places, others = one.station.places, other.station.places
    named = bool(places and others) and places.isdisjoint(others)
    return headed and named and not _is_level_of(one, other) and not _is_level_of(other, one)


def _is_level_of(part: _Count, whole: _Count) -> bool:
    """Whether one names a level alone and the other a whole region: the level may be one of its parts."""
    return part.station.is_level and whole.station.is_region and whole.is_at_least(part.positive, part.examined)


def _begins_anew(last: Station, station: Station) -> bool:
    if last.part != station.part:
        return True
    if last.label is None or station.label is None:
        return False
    return last.label.kind != station.label.kind or station.label.order < last.label.order


def _is_same_specimen(station: Station, other: Station) -> bool:
    return station.label is not None and station.label == other.label and not station.total


def _event(bench: Workbench, counts: Sequence[_Count]) -> Event:
    premises = {one.event.event_id: one.event for one in counts}
    concepts = {one.event.concept for one in counts}
    attributes: dict[str, Value] = {"positive": sum(one.positive for one in counts)}
    if all("examined" in one.event.attributes for one in counts):
        attributes["examined"] = sum(one.examined for one in counts)
    attributes[RULE] = SUM_OF_STATIONS
    attributes[PREMISES] = " ".join(sorted(premises))
    latest = max(premises.values(), key=lambda event: (event.day.low, event.event_id))
    return Event(
        bench.patient_id,
        "node",
        concepts.pop() if len(concepts) == 1 else _ANY_NODE,
        latest.day,
        None,
        attributes,
        Context(),
        min(event.world for event in premises.values()),
        latest.tumor,
        latest.tumor_rule,
        tuple(one.mention.mention_id for one in counts),
        max(1, min(event.sources for event in premises.values())),
        latest.anchors,
        min(event.confidence for event in premises.values()),
    )


def _number(event: Event, name: str) -> float:
    value = event.attributes.get(name)
    return value if isinstance(value, float | int) else 0.0
