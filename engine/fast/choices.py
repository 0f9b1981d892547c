"""Picks over frames: which rows of each group are, or may be, the first, latest, n-th, worst or best."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ...kb.deadline import check
from ...kb.kinds import MAIN_ATTRIBUTE
from ...kb.model import BETTER_WHEN_HIGHER, EARLIEST_DAY, Value
from ...kb.ontology.scales import Scales, as_number
from ...query_lang import nodes
from .frames import Array, Frame

#: More than the days of any interval: a group and a day make one key.
_DAYS: Final = 1 << 21


@dataclass(frozen=True, slots=True)
class Chosen:
    """For each entry of a frame, whether it may be the pick, and the first and last day on which it may (of others, any
    days); for each group, whether there must be one."""

    candidates: Array
    low: Array
    high: Array
    must: Array


def chosen(node: nodes.Events, frame: Frame, members: Array, scales: Scales) -> Array:
    """The pick among ``members``, days being midpoints and all members there."""
    if node.pick.how in ("worst", "best"):
        return _Values.from_frame(node, frame, scales).unexceeded(members, members)
    backwards, n = node.pick.how == "latest", max(1, node.pick.n)
    days = frame.entries_of(frame.rows.middle_of(node.moment))
    if n == 1:
        # By far the most frequent: no need to sort.
        best = frame.extreme(np.maximum if backwards else np.minimum, members, days)
        return members & (days == best[frame.group])
    days = days - EARLIEST_DAY
    keys = frame.group * _DAYS + (_DAYS - 1 - days if backwards else days)
    distinct = np.unique(keys[members])
    groups = distinct // _DAYS
    nth = np.searchsorted(groups, np.arange(frame.groups), side="left") + n - 1
    exists = nth < np.searchsorted(groups, np.arange(frame.groups), side="right")
    key_of_group = np.full(frame.groups, -1, dtype=np.int64)
    key_of_group[exists] = distinct[nth[exists]]
    return members & (keys == key_of_group[frame.group])


def days_in_window(node: nodes.Events, frame: Frame) -> tuple[Array, Array]:
    """For each entry the first and the last of its days, of those in the window where it has any there."""
    window, days = node.window, frame.rows.days(node.moment)
    low, high = frame.entries_of(days.low), frame.entries_of(days.high)
    if window is None:
        return low, high
    return np.maximum(low, window.low), np.minimum(high, window.high)


def may_be_chosen(
    node: nodes.Events, frame: Frame, sure: Array, maybe: Array, scales: Scales, spoilers: Array | None = None
) -> Chosen:
    """What may be the pick when the members ``sure`` are there in every completion and those ``maybe`` in some.

    With ``spoilers``, which are among ``sure``: what may be the pick and none of those beside it.
    """
    low, high = days_in_window(node, frame)
    if node.pick.how in ("worst", "best"):
        values = _Values.from_frame(node, frame, scales)
        candidates = values.unexceeded(maybe, sure)
        if spoilers is not None and spoilers.any():
            candidates = values.unspoilt(candidates, maybe, spoilers)
        return Chosen(candidates, low, high, _any_of(frame, sure & values.ranked))
    if spoilers is None:
        spoilers = np.zeros(frame.entries, dtype=bool)
    if node.pick.how == "latest":
        mirrored = _first(frame, -high, -low, sure, maybe, spoilers)
        return replace(mirrored, low=-mirrored.high, high=-mirrored.low)
    if node.pick.how == "first" or node.pick.n == 1:
        return _first(frame, low, high, sure, maybe, spoilers)
    return _nth(node.pick.n, frame, low, high, sure, maybe, spoilers)


def _first(frame: Frame, low: Array, high: Array, sure: Array, maybe: Array, spoilers: Array) -> Chosen:
    last = frame.extreme(np.minimum, sure, high)
    # A spoiler must come later.
    last = np.minimum(last, frame.extreme(np.minimum, spoilers, high - 1))
    high = np.minimum(high, last[frame.group])
    return Chosen(maybe & (low <= high), low, high, _any_of(frame, sure))


# Columns of one frame: a value of them would be taken apart at once.
def _nth(n: int, frame: Frame, low: Array, high: Array, sure: Array, maybe: Array, spoilers: Array) -> Chosen:
    # Group by group: days are shared out among events by greedy walks that do not turn into columns.
    found = Chosen(np.zeros(frame.entries, dtype=bool), low.copy(), high.copy(), np.zeros(frame.groups, dtype=bool))
    for group, entries in grouped(frame, maybe):
        if len(entries) < n:
            continue
        # In order, so that the days of all but one need not be ordered again.
        entries.sort(key=lambda entry: low[entry])
        days = {entry: (int(low[entry]), int(high[entry])) for entry in entries}
        # Once that day has passed, n days have passed in every completion.
        last = nth_of_fewest(n, [days[entry] for entry in entries if sure[entry]])
        found.must[group] = last is not None
        taken = {days[entry][0] for entry in entries if spoilers[entry] and days[entry][0] == days[entry][1]}
        for entry in entries:
            own_low, own_high = days[entry]
            passed = day_of_most(n - 1, [day for other, day in days.items() if other != entry])
            if passed is None:
                continue
            own_low = max(own_low, passed + 1)
            own_high = own_high if last is None else min(own_high, last)
            while own_low in taken:
                own_low += 1
            while own_high in taken:
                own_high -= 1
            found.candidates[entry] = own_low <= own_high
            found.low[entry], found.high[entry] = own_low, own_high
    return found


def nth_of_fewest(n: int, intervals: Iterable[tuple[int, int]]) -> int | None:
    """The n-th of the fewest days of which one lies in each interval, as late as can be; None if there are fewer."""
    count, last = 0, EARLIEST_DAY - _DAYS
    for low, high in sorted(intervals, key=lambda interval: interval[1]):
        if low > last:
            count, last = count + 1, high
            if count == n:
                return last
    return None


def day_of_most(n: int, intervals: list[tuple[int, int]]) -> int | None:
    """The first day by which n of the intervals can have had a day each, no two the same; None if they cannot."""
    waiting = sorted(intervals)
    ends: list[int] = []
    day, found, at = EARLIEST_DAY - _DAYS, 0, 0
    while found < n:
        day += 1
        if not ends:
            if at == len(waiting):
                return None
            day = max(day, waiting[at][0])
        while at < len(waiting) and waiting[at][0] <= day:
            heapq.heappush(ends, waiting[at][1])
            at += 1
        # Those that end first are served first.
        while ends and ends[0] < day:
            heapq.heappop(ends)
        if ends:
            heapq.heappop(ends)
            found += 1
    return day


def grouped(frame: Frame, mask: Array) -> Iterator[tuple[int, list[int]]]:
    """Each group that has entries in the mask, with those entries."""
    entries = np.flatnonzero(mask)
    entries = entries[np.argsort(frame.group[entries], kind="stable")]
    groups, starts = np.unique(frame.group[entries], return_index=True)
    for group, part in zip(groups.tolist(), np.split(entries, starts[1:]) if len(groups) else [], strict=True):
        check()
        yield group, part.tolist()


def _any_of(frame: Frame, mask: Array) -> Array:
    found = np.zeros(frame.groups, dtype=bool)
    found[frame.group[mask]] = True
    return found


@dataclass(frozen=True, slots=True)
class _Values:
    """The main attribute of the entries of a frame, in its order: ``exceeds`` is ``>`` for worst and ``<`` for best.

    ``distinct`` stands twice: from ``turned`` on for entries of a concept that is better the higher its value.
    """

    frame: Frame
    scales: Scales
    attribute: str
    exceeds: str
    codes: Array
    distinct: tuple[Value, ...]
    ranked: Array
    turned: int
    verdicts: dict[tuple[int, int], bool] = field(default_factory=dict)

    @classmethod
    def from_frame(cls, node: nodes.Events, frame: Frame, scales: Scales) -> _Values:
        attribute = MAIN_ATTRIBUTE[node.kind or ""]
        column = frame.rows.attribute(attribute)
        # The last entry is the one that -1 finds.
        verdicts = [*(scales.compare(attribute, value, "=", value) for value in column.distinct), False]
        known = np.array(verdicts, dtype=bool)[column.codes]
        exceeds = ">" if node.pick.how == "worst" else "<"
        turned = frame.rows.among(None, BETTER_WHEN_HIGHER) & (column.codes >= 0)
        codes = np.where(turned, column.codes + len(column.distinct), column.codes)
        ranked = frame.entries_of(known)
        return cls(
            frame,
            scales,
            attribute,
            exceeds,
            frame.entries_of(codes),
            column.distinct * 2,
            ranked,
            len(column.distinct),
        )

    def unexceeded(self, entries: Array, others: Array) -> Array:
        """Which of ``entries`` have a rank, and none of ``others`` in their group exceeds it."""
        entries, others = entries & self.ranked, others & self.ranked
        ranks = self._ranks(np.unique(self.codes[entries | others]))
        if ranks is None:
            return self._unexceeded_one_by_one(entries, others)
        low, high = ranks[:, 0][self.codes], ranks[:, 1][self.codes]
        if self.exceeds == "<":
            low, high = -high, -low
        highest = np.full(self.frame.groups, -np.inf)
        np.maximum.at(highest, self.frame.group[others], low[others])
        return entries & (highest[self.frame.group] <= high)

    def unspoilt(self, entries: Array, others: Array, spoilers: Array) -> Array:
        """Which of ``entries`` leave room for one of ``others`` that exceeds each of the spoilers of their group, and
        does not exceed them."""
        others, spoilers = others & self.ranked, spoilers & self.ranked
        rivals = {group: {int(self.codes[at]) for at in members} for group, members in grouped(self.frame, others)}
        spoilt = {group: {int(self.codes[at]) for at in members} for group, members in grouped(self.frame, spoilers)}
        found = entries.copy()
        for group, members in grouped(self.frame, entries & _any_of(self.frame, spoilers)[self.frame.group]):
            for at in members:
                own = int(self.codes[at])
                room = [code for code in rivals[group] if not self._exceeds(code, own)]
                found[at] = all(any(self._exceeds(code, spoiler) for code in room) for spoiler in spoilt[group])
        return found

    def _exceeds(self, one: int, other: int) -> bool:
        key = (one, other)
        if key not in self.verdicts:
            first, second = (other, one) if one >= self.turned else (one, other)
            self.verdicts[key] = (one >= self.turned) == (other >= self.turned) and self.scales.compare(
                self.attribute, self.distinct[first], self.exceeds, self.distinct[second]
            )
        return self.verdicts[key]

    def _ranks(self, used: Array) -> Array | None:
        """The rank interval of each distinct value; None when only some of the used values lie on the scale."""
        ranks = np.zeros((len(self.distinct) + 1, 2))
        spans = {code: self.scales.span(self.attribute, self.distinct[code]) for code in used.tolist()}
        sorts = {(span is None, code >= self.turned) for code, span in spans.items() if code >= 0}
        if len(sorts) > 1:
            # Values off the scale compare as numbers with those that are numbers, and with no others.
            return None
        for code, span in spans.items():
            # What is ranked and lies on no scale is a number.
            number = as_number(self.distinct[code]) or 0
            low, high = (number, number) if span is None else span
            ranks[code] = (-high, -low) if code >= self.turned else (low, high)
        return ranks

    def _unexceeded_one_by_one(self, entries: Array, others: Array) -> Array:
        found = np.zeros(len(self.codes), dtype=bool)
        rivals = {group: {int(self.codes[at]) for at in members} for group, members in grouped(self.frame, others)}
        for group, members in grouped(self.frame, entries):
            for at in members:
                found[at] = not any(self._exceeds(other, int(self.codes[at])) for other in rivals.get(group, ()))
        return found
