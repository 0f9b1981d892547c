"""The views of the reference engine: events as seen by a criterion, and the worlds that bound each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...kb.kinds import LASTING
from ...kb.model import ALL_TUMORS, LATEST_DAY, NO_TUMOR, DayInterval, Event, Journey, World

#: The world whose answer bounds the answer of a negation: *certainly not* is *not possibly*.
OPPOSITE = {World.CERTAIN: World.POSSIBLE, World.BELIEVED: World.BELIEVED, World.POSSIBLE: World.CERTAIN}


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """An event, the ``position``-th of its journey, as a view shows it.

    ``world``: in which worlds the view shows it, whether or not the event is so there. ``narrowed``: the days on which
    it can be a member of the set that is looked at, where these are known; they lie in the event's own interval.
    ``moment``: whether that set looks at the day on which it began, or at that on which it ended.
    """

    event: Event
    position: int
    world: World = World.CERTAIN
    narrowed: DayInterval | None = None
    moment: str = "begin"

    @property
    def day(self) -> DayInterval:
        """The day that is looked at, as it is recorded."""
        return self.event.day if self.moment == "begin" else end_of(self.event)

    @property
    def days(self) -> DayInterval:
        """The days that the certain and the possible world reckon with."""
        return self.day if self.narrowed is None else self.narrowed

    @property
    def middle(self) -> int:
        """The day that the believed world reckons with."""
        return self.day.midpoint


def has_known_end(event: Event) -> bool:
    """Whether the record tells when it ended; what does not last ends on its day."""
    return event.end is not None or event.kind not in LASTING


def end_of(event: Event) -> DayInterval:
    """When it ended; where that is not recorded, on any day from its beginning on."""
    if event.end is not None:
        return event.end
    return event.day if has_known_end(event) else DayInterval(event.day.low, LATEST_DAY)


@dataclass(frozen=True, slots=True)
class View:
    """What a criterion looks at: all events of a patient, those of one tumor, or one event.

    ``tumors`` are those of the patient, whatever the view, each with the highest world that one of its events is in.
    ``journey`` is the whole record: what is not asked of a tumor or an event (birth, notes, decisions) is found there.
    ``memory`` keeps what was found of a definition: it is of one patient, and all views of the patient share it.
    """

    events: tuple[Seen, ...]
    tumors: Mapping[str, World]
    journey: Journey
    memory: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def shown(self) -> int:
        """A number for what the view shows: two views of a patient that show the same have the same."""
        key = tuple([(seen.position, seen.world, seen.narrowed) for seen in self.events])
        found: int = self.memory.setdefault(key, len(self.memory))
        return found

    @classmethod
    def from_journey(cls, journey: Journey) -> View:
        """Everything recorded of a patient."""
        tumors: dict[str, World] = {}
        for event in journey.events:
            if event.tumor not in (ALL_TUMORS, NO_TUMOR):
                tumors[event.tumor] = max(event.world, tumors.get(event.tumor, World.NONE))
        return cls(tuple(Seen(event, position) for position, event in enumerate(journey.events)), tumors, journey)

    def of_tumor(self, tumor: str) -> View:
        """What is seen of one tumor: its events and those of all tumors, and perhaps those of no known tumor."""
        shown = []
        for seen in self.events:
            if seen.event.tumor in (tumor, ALL_TUMORS):
                shown.append(seen)
            elif seen.event.tumor == NO_TUMOR:
                shown.append(replace(seen, world=min(seen.world, World.POSSIBLE)))
        return replace(self, events=tuple(shown))

    def of_event(self, seen: Seen) -> View:
        """One event alone."""
        return replace(self, events=(seen,))
