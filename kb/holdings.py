"""What a knowledge base holds at all, in a few counts: kinds, dates, attributes. Each is asked once and kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from .model import EARLIEST_DAY, LATEST_DAY, World

Rows = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]

_TOLD: Final = "SELECT kind, concept FROM posting WHERE world = $1"
_KINDS: Final = "SELECT DISTINCT kind FROM event ORDER BY kind"
_EVENT: Final = "SELECT 1 FROM event WHERE kind = $1 AND concept = $2 LIMIT 1"
_ATTRIBUTE: Final = """
    SELECT 1 FROM event_attribute JOIN event USING (event) WHERE event_attribute.name = $1 AND event.kind = $2 LIMIT 1
"""
_FIRST: Final = "SELECT min(low) FROM event WHERE low > $1"
_NEWEST: Final = "SELECT max(date) FROM note"
_EXACT: Final = """
    SELECT count(*) FILTER (WHERE low = high), count(*) FROM event WHERE kind = $1 AND (low > $2 OR high < $3)
"""


class Holdings:
    """Asks one open generation; safe across threads as far as ``rows`` is."""

    def __init__(self, rows: Rows) -> None:
        """``rows`` runs a statement of ours with its parameters."""
        self._rows = rows
        self.has_event: Callable[[str, str], bool] = functools.cache(self._has_event)
        self.has_attribute: Callable[[str, str], bool] = functools.cache(self._has_attribute)
        self.exact_days: Callable[[str], float | None] = functools.cache(self._exact_days)

    @functools.cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which there is an event, sorted."""
        return tuple(kind for (kind,) in self._rows(_KINDS, ()))

    @functools.cached_property
    def told(self) -> frozenset[tuple[str, str]]:
        """Each kind with each concept at or below which there is an event of that kind, whatever its context."""
        return frozenset(self._rows(_TOLD, (World.NONE.value,)))

    @functools.cached_property
    def first_day(self) -> int | None:
        """The earliest day on which an event is known to lie, or to begin at the earliest; None if none is known."""
        day: int | None = self._rows(_FIRST, (EARLIEST_DAY,))[0][0]
        return day

    @functools.cached_property
    def newest_note(self) -> int | None:
        """The day of the newest note; None if no note has a date."""
        date = self._rows(_NEWEST, ())[0][0]
        return None if date is None else int(date.toordinal())

    def _has_event(self, kind: str, concept: str) -> bool:
        """Whether there is an event of the kind and of this very concept, whatever its context."""
        return bool(self._rows(_EVENT, (kind, concept)))

    def _has_attribute(self, kind: str, name: str) -> bool:
        """Whether an event of the kind has an attribute of this name."""
        return bool(self._rows(_ATTRIBUTE, (name, kind)))

    def _exact_days(self, kind: str) -> float | None:
        """The share, of the events of a kind with any date, of those whose day is known; None if none has a date."""
        exact, dated = self._rows(_EXACT, (kind, EARLIEST_DAY, LATEST_DAY))[0]
        return exact / dated if dated else None
