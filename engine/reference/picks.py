"""Picks as the reference engine defines them: which events are, or may be, the first, latest, n-th, worst or best."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...kb.model import BETTER_WHEN_HIGHER, DayInterval, Value
from ...kb.ontology.scales import Scales
from .views import Seen


@dataclass(frozen=True, slots=True)
class ByDay:
    """The events on the ``n``-th of the days on which there is one; ``backwards``: counted from the last day."""

    n: int
    backwards: bool = False

    def choose(self, members: Sequence[Seen]) -> list[Seen]:
        """Believed: by midpoints."""
        days = sorted({seen.middle for seen in members}, reverse=self.backwards)
        if len(days) < self.n:
            return []
        return [seen for seen in members if seen.middle == days[self.n - 1]]

    def candidates(self, sure: Sequence[Seen], maybe: Sequence[Seen], spoilers: Sequence[Seen] = ()) -> list[Seen]:
        """Those of ``maybe`` before whose day n - 1 days can lie, narrowed to the days on which that can be.

        ``sure`` are there in every completion; with ``spoilers``, which are, too, none of those is chosen beside it.
        """
        fewest = fewest_days(map(self._days, sure))
        found = []
        for seen in maybe:
            low, high = self._days(seen)
            before = first_days((self._days(one) for one in maybe if one.position != seen.position), self.n - 1)
            if len(before) < self.n - 1:
                continue
            if before:
                low = max(low, before[-1] + 1)
            if len(fewest) >= self.n:
                # The n-th of the fewest days: after it, n days have passed in every completion.
                high = min(high, fewest[self.n - 1])
            spoilt = [self._days(one) for one in spoilers]
            if self.n == 1:
                # The spoiler must come later.
                high = min([high, *(last - 1 for _, last in spoilt)])
            taken = {first for first, last in spoilt if first == last}
            while low in taken:
                low += 1
            while high in taken:
                high -= 1
            if low <= high:
                days = DayInterval(-high, -low) if self.backwards else DayInterval(low, high)
                found.append(replace(seen, narrowed=days))
        return found

    def must_choose(self, sure: Sequence[Seen]) -> bool:
        """Whether there are n days in every completion."""
        return len(fewest_days(map(self._days, sure))) >= self.n

    def _days(self, seen: Seen) -> tuple[int, int]:
        days = seen.days
        return (-days.high, -days.low) if self.backwards else (days.low, days.high)


def fewest_days(intervals: Iterable[tuple[int, int]]) -> list[int]:
    """The fewest days of which one lies in each interval, each as late as can be, in order."""
    days: list[int] = []
    for low, high in sorted(intervals, key=lambda interval: interval[1]):
        if not days or low > days[-1]:
            days.append(high)
    return days


def first_days(intervals: Iterable[tuple[int, int]], number: int) -> list[int]:
    """The earliest different days, up to ``number`` of them, when each interval gives at most one."""
    coming = sorted(intervals, reverse=True)
    at_hand: list[int] = []
    days: list[int] = []
    while len(days) < number and (coming or at_hand):
        day = days[-1] + 1 if days else coming[-1][0]
        if not at_hand:
            day = max(day, coming[-1][0])
        while coming and coming[-1][0] <= day:
            heapq.heappush(at_hand, coming.pop()[1])
        # Of the intervals that hold the day, the one that ends first; the others may give a later day.
        while at_hand and at_hand[0] < day:
            heapq.heappop(at_hand)
        if at_hand:
            heapq.heappop(at_hand)
            days.append(day)
    return days


@dataclass(frozen=True, slots=True)
class ByValue:
    """The events whose value of ``attribute`` no other exceeds; an event whose value has no rank takes no part.

    On a scale that is better the higher it is, the lower value exceeds. Values of the two sorts are not compared.
    """

    scales: Scales
    attribute: str
    exceeds: str

    def choose(self, members: Sequence[Seen]) -> list[Seen]:
        """Believed: those that no other exceeds."""
        return [seen for seen in members if self._ranked(seen) and not self._exceeded(seen, members)]

    def candidates(self, sure: Sequence[Seen], maybe: Sequence[Seen], spoilers: Sequence[Seen] = ()) -> list[Seen]:
        """Those of ``maybe`` that none of ``sure``, which are there in every completion, exceeds.

        With ``spoilers``, which are, too: something that does not exceed it can exceed each of those.
        """
        spoilers = [seen for seen in spoilers if self._ranked(seen)]
        return [
            seen
            for seen in maybe
            if self._ranked(seen)
            and not self._exceeded(seen, sure)
            and all(
                any(self._exceeds(other, spoiler) and not self._exceeds(other, seen) for other in maybe)
                for spoiler in spoilers
            )
        ]

    def must_choose(self, sure: Sequence[Seen]) -> bool:
        """Whether an event with a rank is there in every completion."""
        return any(self._ranked(seen) for seen in sure)

    def _value(self, seen: Seen) -> Value:
        return seen.event.attributes.get(self.attribute, "")

    def _ranked(self, seen: Seen) -> bool:
        return self.scales.compare(self.attribute, self._value(seen), "=", self._value(seen))

    def _exceeded(self, seen: Seen, others: Sequence[Seen]) -> bool:
        return any(self._exceeds(other, seen) for other in others)

    def _exceeds(self, one: Seen, other: Seen) -> bool:
        turned = one.event.concept in BETTER_WHEN_HIGHER
        if turned != (other.event.concept in BETTER_WHEN_HIGHER):
            return False
        first, second = (other, one) if turned else (one, other)
        return self.scales.compare(self.attribute, self._value(first), self.exceeds, self._value(second))
