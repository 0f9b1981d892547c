"""Some rows of the event index and their columns, each read when it is first asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, overload

import numpy as np

from ..model import Value
from .arrays import Array, Column

#: Rows of one kind: a stretch of them, or their numbers, ascending.
Part = slice | Array
#: Above this many ranges of one concept expression, they are sought among the rows all together.
_FEW_RANGES: Final = 64


class DistinctValues(Sequence[Value]):
    """The values of an attribute: texts, then numbers, which are not all made objects."""

    def __init__(self, texts: tuple[str, ...], numbers: Array) -> None:
        self.texts, self.numbers = texts, numbers

    def __len__(self) -> int:
        return len(self.texts) + len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> Value: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Value, ...]: ...

    def __getitem__(self, at: int | slice) -> Value | tuple[Value, ...]:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(len(self))[at])
        at = range(len(self))[at]
        return self.texts[at] if at < len(self.texts) else float(self.numbers[at - len(self.texts)])


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """An attribute of the events of one kind, which begin at row ``start``: a code for each of them (``rows`` is None)
    or for each of ``rows``, which count from there. A code is a position in ``distinct``; the next one is no value."""

    start: int
    codes: Column
    rows: Array | None
    distinct: DistinctValues

    def at(self, part: Part) -> Array:
        """The codes of these rows of the kind."""
        rows = slice(part.start - self.start, part.stop - self.start) if isinstance(part, slice) else part - self.start
        if self.rows is None:
            found: Array = self.codes[rows]
            return found
        if isinstance(rows, slice):
            first, last = np.searchsorted(self.rows, [rows.start, rows.stop])
            found = np.full(rows.stop - rows.start, len(self.distinct), self.codes.dtype)
            found[self.rows[first:last].astype(np.int64) - rows.start] = self.codes[first:last]
            return found
        there, position = _sought(self.rows, rows)
        found = np.full(len(rows), len(self.distinct), self.codes.dtype)
        found[there] = self.codes[position]
        return found

    def held(self) -> tuple[Array, Array]:
        """The rows of all that have a value, ascending, and the code of each."""
        if self.rows is not None:
            return self.rows.astype(np.int64) + self.start, self.codes[:]
        codes = self.codes[:]
        rows = np.flatnonzero(codes != len(self.distinct))
        return rows + self.start, codes[rows]


@dataclass(frozen=True, slots=True)
class Coded:
    """One attribute of some rows: the position of the row's value among ``distinct``, -1 where it has none."""

    codes: Array
    distinct: tuple[Value, ...]


class Columns(Protocol):
    """What rows need of the index: :class:`.columns.EventIndex`."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds, in the order of rows."""

    def kind_at(self, row: int) -> int:
        """The position of a row's kind."""

    def array(self, name: str) -> Array:
        """One array."""

    def column(self, name: str) -> Column:
        """The same, to be read in part."""

    @property
    def ranges(self) -> Callable[[str | None, frozenset[str] | None], Array]:
        """The ranges of rows of a kind and concepts."""

    def values(self, kind: str, name: str) -> AttributeValues | None:
        """An attribute of a kind."""


class EventRows:
    """Some rows of the index, ascending."""

    def __init__(self, index: Columns, parts: list[Part]) -> None:
        """``parts``: the rows, in ascending parts that each are of one kind and not empty."""
        self.index = index
        self.parts = parts
        lengths = [part.stop - part.start if isinstance(part, slice) else len(part) for part in parts]
        self._bounds = np.cumsum([0, *lengths]).tolist()

    def __len__(self) -> int:
        return int(self._bounds[-1])

    @functools.cached_property
    def at(self) -> Array:
        """The rows themselves."""
        parts = [np.arange(part.start, part.stop) if isinstance(part, slice) else part for part in self.parts]
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def column(self, name: str) -> Array:
        """A column of the index at the rows: not to be written to."""
        column = self.index.column(name)
        if len(self.parts) == 1:
            found: Array = column[self.parts[0]]
            return found
        return np.concatenate([column[:0], *(column[part] for part in self.parts)])

    @functools.cached_property
    def patient(self) -> Array:
        """The dense number of each event's patient."""
        return self.column("patient")

    @functools.cached_property
    def event(self) -> Array:
        """The number of each event."""
        return self.index.array("first_event")[self.patient].astype(np.int64) + self.column("ordinal")

    @functools.cached_property
    def low(self) -> Array:
        """The first day on which each event can lie."""
        return self.column("low").astype(np.int32, copy=False)

    @functools.cached_property
    def span(self) -> Array:
        """The days from there to the last one."""
        spans = self.index.array("spans").astype(np.int32)
        return spans[self.column("span")]

    @functools.cached_property
    def high(self) -> Array:
        """The last day on which each event can lie."""
        return self.low + self.span

    @functools.cached_property
    def world(self) -> Array:
        """The highest world that each event is in."""
        return self.column("world").astype(np.int8, copy=False)

    @functools.cached_property
    def context(self) -> Array:
        """The position of each event's context among those of the index."""
        return self.column("context")

    @functools.cached_property
    def tumor(self) -> Array:
        """The position of each event's tumor among its patient's; -1 none known, -2 all of them, -3 one in no world."""
        return self.column("tumor")

    @functools.cached_property
    def ends(self) -> tuple[Array, Array, Array]:
        """Which events have an end; the first and the last day of it (of others, any)."""
        there, found = _sought(self.index.array("end_row"), self.at)
        low, high = np.zeros(len(self), dtype=np.int32), np.zeros(len(self), dtype=np.int32)
        low[there], high[there] = (self.index.column(name)[found] for name in ("end_low", "end_high"))
        return there, low, high

    # --- kinds, concepts, values ------------------------------------------------------------------------------------

    def kinds(self) -> Iterator[tuple[str, Part, int, int]]:
        """The kind of each part, with the place of its first row among these rows and the one after its last."""
        for part, start, end in zip(self.parts, self._bounds, self._bounds[1:], strict=False):
            first = part.start if isinstance(part, slice) else int(part[0])
            yield self.index.kinds[self.index.kind_at(first)], part, start, end

    def among(self, kind: str | None, concepts: frozenset[str] | None) -> Array:
        """Which events are of the kind and of one of these very concepts; None does not restrict."""
        ranges = self.index.ranges(kind, concepts)
        found = np.zeros(len(self), dtype=bool)
        for part, place, until in zip(self.parts, self._bounds, self._bounds[1:], strict=False):
            first, last = (part.start, part.stop - 1) if isinstance(part, slice) else (int(part[0]), int(part[-1]))
            near = ranges[
                np.searchsorted(ranges[:, 1], first, side="right") : np.searchsorted(ranges[:, 0], last, "right")
            ]
            if len(near) == 1 and near[0, 0] <= first and last < near[0, 1]:
                found[place:until] = True
            elif len(near):
                bounds = (
                    np.clip(near - part.start, 0, until - place) if isinstance(part, slice) else part.searchsorted(near)
                )
                _fill(found[place:until], bounds)
        return found

    @functools.cached_property
    def concept(self) -> Array:
        """The position of each event's concept among those of the index."""
        slices = np.searchsorted(self.index.array("slice_starts"), self.at, side="right") - 1
        found: Array = self.index.array("slice_concepts")[slices]
        return found

    def where(self, name: str, judge: Callable[[Sequence[Value]], Sequence[bool]]) -> Array:
        """Which events have a value of the attribute that ``judge`` admits, which sees each distinct value once."""
        found = np.zeros(len(self), dtype=bool)
        known: dict[tuple[bool, Value], bool] = {}
        for kind, part, start, end in self.kinds():
            values = self.index.values(kind, name)
            if values is None:
                continue
            codes = values.at(part)
            used = _used(codes, len(values.distinct))
            # Text and number differ as values, also when they look alike: "2" is not 2.0.
            keys = [(isinstance(values.distinct[code], str), values.distinct[code]) for code in used]
            fresh = [key for key in keys if key not in known]
            known.update(zip(fresh, judge([value for _, value in fresh]), strict=True))
            verdicts = np.zeros(len(values.distinct) + 1, dtype=bool)
            verdicts[used] = [known[key] for key in keys]
            found[start:end] = verdicts[codes]
        return found

    def values(self, name: str) -> Coded:
        """An attribute of the rows."""
        codes = np.full(len(self), -1, dtype=np.int64)
        distinct: dict[tuple[bool, Value], int] = {}
        for kind, part, start, end in self.kinds():
            values = self.index.values(kind, name)
            if values is None:
                continue
            own = values.at(part)
            position = np.full(len(values.distinct) + 1, -1, dtype=np.int64)
            for code in _used(own, len(values.distinct)):
                value = values.distinct[code]
                position[code] = distinct.setdefault((isinstance(value, str), value), len(distinct))
            codes[start:end] = position[own]
        return Coded(codes, tuple(value for _, value in distinct))


def spread(ranges: Array) -> Array:
    """Every number of the ranges."""
    lengths = ranges[:, 1] - ranges[:, 0]
    before = np.cumsum(lengths) - lengths
    return np.repeat(ranges[:, 0] - before, lengths) + np.arange(int(lengths.sum()))


def _fill(found: Array, ranges: Array) -> None:
    if len(ranges) > _FEW_RANGES:
        found[spread(ranges)] = True
        return
    for start, end in ranges.tolist():
        found[start:end] = True


def _used(codes: Array, distinct: int) -> list[int]:
    """The codes that some row has: of many values, few may be left to judge."""
    if distinct <= len(codes) >> 10:
        return list(range(distinct))
    return np.flatnonzero(np.bincount(codes, minlength=distinct + 1)[:distinct]).tolist()


def _sought(sorted_: Array, rows: Array) -> tuple[Array, Array]:
    """Which rows are among the sorted ones, and the positions of those that are."""
    if not len(sorted_):
        return np.zeros(len(rows), dtype=bool), np.zeros(0, dtype=np.int64)
    position = np.minimum(np.searchsorted(sorted_, rows), len(sorted_) - 1)
    there = sorted_[position] == rows
    return np.asarray(there), position[there]
