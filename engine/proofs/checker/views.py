"""The views that a criterion of a proof looks at: a patient's events, those of one tumor, or one event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ....kb.kinds import KIND_TABLE
from ....kb.model import ALL_TUMORS, LATEST_DAY, NO_TUMOR, DayInterval, Event, World
from .record import Record

#: The world whose answer bounds that of a negation.
NEGATED: Final[Mapping[World, World]] = {
    World.CERTAIN: World.POSSIBLE,
    World.BELIEVED: World.BELIEVED,
    World.POSSIBLE: World.CERTAIN,
}


@dataclass(frozen=True, slots=True)
class Seen:
    """An event as it is seen: up to which world it is shown, and the days that are looked at, which are those of its
    beginning or, where it is seen as it ``ended``, of its end."""

    event_id: str
    event: Event
    shown: World
    low: int
    high: int
    ended: bool = False

    @property
    def recorded(self) -> DayInterval:
        """The days that are looked at, as they are recorded."""
        return last_days(self.event) if self.ended else self.event.day

    @property
    def middle(self) -> int:
        """The day that the believed world takes."""
        return (self.recorded.low + self.recorded.high) // 2

    def at_end(self) -> Seen:
        """The same, as it ended."""
        days = last_days(self.event)
        return replace(self, low=days.low, high=days.high, ended=True)


def goes_on(event: Event) -> bool:
    """Whether it is of a kind that lasts, and nothing tells when it ended."""
    return event.end is None and "lasts" in KIND_TABLE[event.kind].traits


def last_days(event: Event) -> DayInterval:
    """On which days it can have ended."""
    if goes_on(event):
        return DayInterval(event.day.low, LATEST_DAY)
    return event.end or event.day


@dataclass(frozen=True, slots=True)
class View:
    """The events that are seen, and the patient's record, of which tumors, notes and decisions are those of all."""

    seen: tuple[Seen, ...]
    record: Record

    @classmethod
    def from_record(cls, record: Record) -> View:
        """All events of a patient."""
        return cls(
            tuple(
                Seen(event_id, event, World.CERTAIN, event.day.low, event.day.high)
                for event_id, event in record.events.items()
            ),
            record,
        )

    def of_tumor(self, tumor: str) -> View:
        """Those of one tumor and of all; those of none known are seen in the possible world."""
        return replace(
            self,
            seen=tuple(
                replace(seen, shown=min(seen.shown, World.POSSIBLE)) if seen.event.tumor == NO_TUMOR else seen
                for seen in self.seen
                if seen.event.tumor in (tumor, ALL_TUMORS, NO_TUMOR)
            ),
        )

    def of_event(self, event_id: str) -> View:
        """One event alone."""
        return replace(self, seen=tuple(seen for seen in self.seen if seen.event_id == event_id))
