"""The picture of one record: a row for each thing told, its events along time, in lanes; places in pixels, no drawing.

What is denied, planned or of relatives is in no world and not drawn; it is counted.
"""

from __future__ import annotations

import datetime
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...kb.kinds import MAIN_ATTRIBUTE, kinds_named
from ...kb.model import EARLIEST_DAY, LATEST_DAY, Event, Journey, World
from ...kb.ontology.concepts import ConceptTable
from ..answers.evidence import EvidenceReader

_LANES: Final = tuple(
    (str(lane["name"]), kinds_named(lane["kinds"]))
    for lane in tomllib.loads(Path(__file__).with_name("lanes.toml").read_text(encoding="utf-8"))["lane"]
)
#: Pixels: the names on the left, what has no date beside them, then time up to the right edge.
LABELS: Final = 260
UNDATED: Final = 40
WIDTH: Final = 1000
ROW: Final = 18
HEAD: Final = 22
_LEFT: Final = LABELS + UNDATED
_MARGIN: Final = 12
#: A day is narrower than a pixel; a mark narrower than this cannot be seen.
_NARROWEST: Final = 7.0
#: Rows of one picture; those of events that the answer rests on come before others.
MOST_ROWS: Final = 45
#: Letters of a name, and of a value beside its mark; the whole stands in the mark's title.
_NAME_LETTERS: Final = 40
_VALUE_LETTERS: Final = 8
_VALUE_ROOM: Final = 56
#: Ticks of the axis, at most; days, months or years apart.
_MOST_TICKS: Final = 12
_STEPS: Final = ((0, 1), (0, 2), (0, 3), (0, 6), (1, 0), (2, 0), (5, 0), (10, 0), (20, 0), (50, 0))


@dataclass(frozen=True, slots=True)
class Mark:
    """One event: from ``x`` on, ``width`` wide; ``world`` in which it is; ``text`` tells all of it.

    ``told``: the answer rests on it. ``value`` is written beside it, where there is room. ``undated``: it stands beside
    the axis, not on it.
    """

    x: float
    width: float
    world: str
    told: bool
    undated: bool
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """The events of one kind and concept. ``y`` is the middle of the row."""

    name: str
    full_name: str
    y: int
    told: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """Rows of one purpose under a heading at ``y``."""

    name: str
    y: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A record as lanes of rows of marks, ``width`` by ``height`` pixels. ``ticks``: place and words along time.

    ``rows_left_out`` are rows beyond :data:`MOST_ROWS`, ``events_left_out`` events in no world.
    """

    patient_id: str
    width: int
    height: int
    labels: int
    left: int
    ticks: tuple[tuple[float, str], ...]
    lanes: tuple[Lane, ...]
    rows_left_out: int
    events_left_out: int
    summary: str


def picture(journey: Journey, concepts: ConceptTable, told: Collection[str] = ()) -> Picture:
    """The picture of a record; ``told`` are the events that an answer rests on, as their text."""
    reader = EvidenceReader(journey, concepts)
    drawn = [event for event in journey.events if event.world > World.NONE]
    scale = _Scale(drawn)
    rows: dict[tuple[int, str, str], list[tuple[Event, str]]] = defaultdict(list)
    for event in drawn:
        rows[_lane(event.kind), event.kind, event.concept].append((event, reader.shown(event).as_text()))
    ordered = sorted(rows.items(), key=lambda entry: (entry[0][0], min(map(_order, entry[1])), entry[0]))
    important = {key for key, events in ordered if any(text in told for _, text in events)}
    kept = {*sorted(important)[:MOST_ROWS]}
    kept.update([key for key, _ in ordered if key not in kept][: max(0, MOST_ROWS - len(kept))])
    lanes: list[Lane] = []
    y = HEAD
    for number, (name, _) in enumerate(_LANES):
        found = [(key, events) for key, events in ordered if key[0] == number and key in kept]
        if not found:
            continue
        top = y + ROW // 2
        y += ROW
        made = []
        for (_, kind, concept), events in found:
            words = f"{kind} {concepts.name(concept) if concept else ''}".strip().replace("_", " ")
            marks = tuple(_marks(sorted(events, key=_order), scale, told, concepts))
            made.append(Row(_cut(words, _NAME_LETTERS), words, y + ROW // 2, any(one.told for one in marks), marks))
            y += ROW
        lanes.append(Lane(name, top, tuple(made)))
    return Picture(
        journey.patient_id,
        WIDTH,
        y + ROW // 2,
        LABELS,
        _LEFT,
        tuple(scale.ticks()),
        tuple(lanes),
        len(ordered) - len(kept),
        len(journey.events) - len(drawn),
        _summary(journey.patient_id, drawn, scale),
    )


class _Scale:
    """Days to pixels, from the first known day to the last."""

    def __init__(self, events: Sequence[Event]) -> None:
        days = [day for event in events for day in _known_days(event)]
        self.dated = bool(days)
        self.first = min(days, default=0)
        self.last = max(days, default=0)
        self._span = max(30, self.last - self.first)

    def x(self, day: int) -> float:
        inside = min(max(day, self.first), self.last)
        return round(_LEFT + _MARGIN + (WIDTH - _LEFT - 2 * _MARGIN) * (inside - self.first) / self._span, 1)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """First days of years or months, as far apart as leaves a readable number of them."""
        if not self.dated:
            return
        for years, months in _STEPS:
            found = list(self._first_days(years, months))
            if len(found) <= _MOST_TICKS:
                break
        for day in found:
            yield self.x(day.toordinal()), f"{day.year}" if years else f"{day:%Y-%m}"

    def _first_days(self, years: int, months: int) -> Iterator[datetime.date]:
        first, last = (datetime.date.fromordinal(day) for day in (self.first, self.first + self._span))
        step = 12 * years + months
        number = -(-(12 * first.year + first.month - 1 + (first.day > 1)) // step) * step
        while number // 12 <= min(last.year, datetime.MAXYEAR):
            day = datetime.date(number // 12, number % 12 + 1, 1)
            if day > last:
                return
            yield day
            number += step


def _known_days(event: Event) -> Iterator[int]:
    ends = (event.day.low, event.day.high, *(() if event.end is None else (event.end.low, event.end.high)))
    return (day for day in ends if EARLIEST_DAY < day < LATEST_DAY)


def _marks(
    events: Sequence[tuple[Event, str]], scale: _Scale, told: Collection[str], concepts: ConceptTable
) -> Iterator[Mark]:
    """The marks of one row, in the order of time; a value stands beside its mark unless the next mark is too near."""
    places = [_place(event, scale) for event, _ in events]
    for at, (event, text) in enumerate(events):
        (x, width), undated = places[at], not any(_known_days(event))
        following = min((one for (one, _), _ in zip(places[at + 1 :], events, strict=False) if one > x), default=WIDTH)
        value = _value(event, concepts) if not undated and following - x - width >= _VALUE_ROOM else ""
        yield Mark(x, width, event.world.name.lower(), text in told, undated, value, text)


def _place(event: Event, scale: _Scale) -> tuple[float, float]:
    """Where the event begins and how wide it is: its day as an interval, up to its end where it has one."""
    days = list(_known_days(event))
    if not days:
        return LABELS + UNDATED / 2 - _NARROWEST / 2, _NARROWEST
    # A side that the record leaves open reaches to the border of what is known.
    low = scale.first if event.day.low <= EARLIEST_DAY else min(days)
    high = scale.last if event.day.high >= LATEST_DAY and event.end is None else max(days)
    x, until = scale.x(low), scale.x(high)
    if until - x >= _NARROWEST:
        return x, round(until - x, 1)
    return round((x + until - _NARROWEST) / 2, 1), _NARROWEST


def _value(event: Event, concepts: ConceptTable) -> str:
    value = event.attributes.get(MAIN_ATTRIBUTE.get(event.kind, ""), "")
    if isinstance(value, str):
        value = concepts.name(value) if value in concepts else value
        return value if len(value) <= _VALUE_LETTERS else ""
    return f"{value:g}"


def _lane(kind: str) -> int:
    return next(number for number, (_, kinds) in enumerate(_LANES) if kind in kinds)


def _order(entry: tuple[Event, str]) -> tuple[bool, int, str]:
    event, text = entry
    return not event.day.known, event.day.midpoint, text


def _summary(patient_id: str, drawn: Sequence[Event], scale: _Scale) -> str:
    """What the picture shows, for those who cannot see it."""
    number = f"{len(drawn)} event{'' if len(drawn) == 1 else 's'}"
    if not scale.dated:
        return f"{patient_id}: {number}, none of them dated"
    first, last = (datetime.date.fromordinal(day).isoformat() for day in (scale.first, scale.last))
    return f"{patient_id}: {number} from {first} to {last}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
