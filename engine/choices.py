"""Picks over frames: which rows of each group are, or may be, the first, latest, n-th, worst or best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..kb.model import EARLIEST_DAY, MAIN_ATTRIBUTE, Value
from ..kb.scales import Scales, as_number
from ..query_lang import nodes
from .frames import Array, Frame

#: More than the days of any interval: a group and a day make one key.
_DAYS: Final = 1 << 21
_FAR: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Chosen:
    """For each entry of a frame, whether it may be the pick, and for each group, whether there must be one."""

    candidates: Array
    must: Array


def chosen(node: nodes.Events, frame: Frame, members: Array, scales: Scales) -> Array:
    """The pick among ``members``, days being midpoints and all members there."""
    if node.pick.how in ("worst", "best"):
        return _Values.of(node, frame, scales).unexceeded(members, members)
    backwards, n = node.pick.how == "latest", max(1, node.pick.n)
    days = frame.rows.middle[frame.index] - EARLIEST_DAY
    keys = frame.group * _DAYS + (_DAYS - 1 - days if backwards else days)
    if n == 1:
        # By far the most frequent: no need to sort.
        earliest = np.full(frame.groups, _FAR)
        np.minimum.at(earliest, frame.group[members], keys[members])
        return members & (keys == earliest[frame.group])
    distinct = np.unique(keys[members])
    groups = distinct // _DAYS
    nth = np.searchsorted(groups, np.arange(frame.groups), side="left") + n - 1
    exists = nth < np.searchsorted(groups, np.arange(frame.groups), side="right")
    key_of_group = np.full(frame.groups, -1, dtype=np.int64)
    key_of_group[exists] = distinct[nth[exists]]
    return members & (keys == key_of_group[frame.group])


def may_be_chosen(node: nodes.Events, frame: Frame, sure: Array, maybe: Array, scales: Scales) -> Chosen:
    """What may be the pick when the members ``sure`` are there in every completion and those ``maybe`` in some."""
    if node.pick.how in ("worst", "best"):
        values = _Values.of(node, frame, scales)
        return Chosen(values.unexceeded(maybe, sure), _any_of(frame, sure & values.ranked))
    low, high = frame.rows.low[frame.index], frame.rows.high[frame.index]
    if node.pick.how == "latest":
        low, high = -high, -low
    if node.pick.how == "nth" and node.pick.n > 1:
        return _nth(node.pick.n, frame, low, high, sure, maybe)
    earliest_end = np.full(frame.groups, _FAR)
    np.minimum.at(earliest_end, frame.group[sure], high[sure])
    return Chosen(maybe & (low <= earliest_end[frame.group]), _any_of(frame, sure))


def _nth(n: int, frame: Frame, low: Array, high: Array, sure: Array, maybe: Array) -> Chosen:
    # Group by group: fewest common days are found by a greedy walk that does not turn into columns.
    candidates = np.zeros(len(frame.index), dtype=bool)
    must = np.zeros(frame.groups, dtype=bool)
    for group, entries in _grouped(frame, maybe):
        if len(entries) < n:
            continue
        days = [(int(low[entry]), int(high[entry])) for entry in entries]
        surely = [day for entry, day in zip(entries, days, strict=True) if sure[entry]]
        must[group] = _fewest_days(surely) >= n
        for at, entry in enumerate(entries):
            before = _fewest_days(day for day in surely if day[1] < days[at][0])
            perhaps = sum(day[0] < days[at][1] for other, day in enumerate(days) if other != at)
            candidates[entry] = before <= n - 1 <= perhaps
    return Chosen(candidates, must)


def _fewest_days(intervals: Iterable[tuple[int, int]]) -> int:
    count, last = 0, EARLIEST_DAY - _DAYS
    for low, high in sorted(intervals, key=lambda interval: interval[1]):
        if low > last:
            count, last = count + 1, high
    return count


def _grouped(frame: Frame, mask: Array) -> Iterator[tuple[int, list[int]]]:
    """Each group that has entries in the mask, with those entries."""
    entries = np.flatnonzero(mask)
    entries = entries[np.argsort(frame.group[entries], kind="stable")]
    groups, starts = np.unique(frame.group[entries], return_index=True)
    for group, part in zip(groups.tolist(), np.split(entries, starts[1:]) if len(groups) else [], strict=True):
        yield group, part.tolist()


def _any_of(frame: Frame, mask: Array) -> Array:
    found = np.zeros(frame.groups, dtype=bool)
    found[frame.group[mask]] = True
    return found


@dataclass(frozen=True, slots=True)
class _Values:
    """The main attribute of the entries of a frame, in its order: ``exceeds`` is ``>`` for worst and ``<`` for best."""

    frame: Frame
    scales: Scales
    attribute: str
    exceeds: str
    codes: Array
    distinct: tuple[Value, ...]
    ranked: Array

    @classmethod
    def of(cls, node: nodes.Events, frame: Frame, scales: Scales) -> _Values:
        attribute = MAIN_ATTRIBUTE[node.kind or ""]
        column = frame.rows.attribute(attribute)
        known = column.where([scales.compare(attribute, value, "=", value) for value in column.distinct])
        exceeds = ">" if node.pick.how == "worst" else "<"
        return cls(frame, scales, attribute, exceeds, column.codes[frame.index], column.distinct, known[frame.index])

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

    def _ranks(self, used: Array) -> Array | None:
        """The rank interval of each distinct value; None when only some of the used values lie on the scale."""
        ranks = np.zeros((len(self.distinct) + 1, 2))
        spans = {code: self.scales.span(self.attribute, self.distinct[code]) for code in used.tolist()}
        if len({span is None for span in spans.values()}) > 1:
            # Values off the scale compare as numbers with those that are numbers, and with no others.
            return None
        for code, span in spans.items():
            number = as_number(self.distinct[code])
            ranks[code] = (number, number) if span is None else span
        return ranks

    def _unexceeded_one_by_one(self, entries: Array, others: Array) -> Array:
        found = np.zeros(len(self.codes), dtype=bool)
        verdicts: dict[tuple[int, int], bool] = {}

        def exceeded(own: int, other: int) -> bool:
            key = (own, other)
            if key not in verdicts:
                verdicts[key] = self.scales.compare(
                    self.attribute, self.distinct[other], self.exceeds, self.distinct[own]
                )
            return verdicts[key]

        rivals = {group: {int(self.codes[at]) for at in members} for group, members in _grouped(self.frame, others)}
        for group, members in _grouped(self.frame, entries):
            for at in members:
                found[at] = not any(exceeded(int(self.codes[at]), other) for other in rivals.get(group, ()))
        return found
