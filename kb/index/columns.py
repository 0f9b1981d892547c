"""Reads the event columns of a generation: the rows of kinds and concepts for some patients, column by column.

Rows are ordered by kind, then by the order of concepts (:mod:`.concept_order`), then by event number. So a concept and
all that lies below it are a few ranges of rows, and the rows of one concept are ordered by patient. A column is read
when it is asked for, at the rows that are wanted.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from pyroaring import BitMap

from .arrays import Array
from .words import unpacked

#: The name of the files.
EVENTS: Final = "events"
#: Finding a patient's events by their numbers costs so many times what looking at a row of a range costs.
_DEARER: Final = 20

#: Events of a kind (None: of any) and of one of these very concepts (None: of any).
Wanted = tuple[str | None, frozenset[str] | None]


class Arrays(Protocol):
    """Where the arrays come from: :class:`.arrays.ArrayFile`, or memory."""

    @property
    def told(self) -> Mapping[str, Any]:
        """What was written beside the arrays."""

    def array(self, name: str) -> Array:
        """One array."""


@dataclass(frozen=True, slots=True)
class Values:
    """One attribute of some rows: the position of the row's value among ``distinct``, -1 where it has none."""

    codes: Array
    distinct: tuple[str | float, ...]


class EventIndex:
    """The event columns of one generation. Safe across threads; nothing is read before it is asked for."""

    def __init__(self, source: Arrays) -> None:
        self._source = source
        self._arrays: dict[str, Array] = {}
        self._values: dict[int, tuple[str | float, ...]] = {}
        #: The ranges of rows (first, one after the last) of a kind and concepts: an array of two columns, sorted.
        self.ranges = functools.lru_cache(maxsize=1024)(self._ranges)

    def array(self, name: str) -> Array:
        """One array of the file."""
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = self._source.array(name)
        return found

    @functools.cached_property
    def events(self) -> int:
        """How many events there are."""
        return int(self._source.told["events"])

    @functools.cached_property
    def patients(self) -> int:
        """How many patients there are."""
        return int(self._source.told["patients"])

    @functools.cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which there is an event, in the order of rows."""
        return tuple(self._source.told["kinds"])

    @functools.cached_property
    def concepts(self) -> tuple[str, ...]:
        """The concepts that an event is of, in the order of rows; what the column of concepts counts by."""
        return unpacked(self.array("concepts"))

    @functools.cached_property
    def contexts(self) -> tuple[tuple[str, str, str, str], ...]:
        """The contexts that an event has: polarity, temporality, experiencer, reason."""
        return tuple((polarity, time, who, why) for polarity, time, who, why in self._source.told["contexts"])

    @functools.cached_property
    def _attributes(self) -> dict[tuple[str, str], int]:
        return {(kind, name): at for at, (kind, name) in enumerate(self._source.told["attributes"])}

    @functools.cached_property
    def _slices(self) -> dict[str, dict[str, int]]:
        """Of each kind: the number of the slice of each concept."""
        owned, first, names = self.array("slice_concepts").tolist(), self.array("kind_slices").tolist(), self.concepts
        return {
            kind: {names[owned[at]]: at for at in range(first[number], first[number + 1])}
            for number, kind in enumerate(self.kinds)
        }

    @functools.cached_property
    def kind_starts(self) -> Array:
        """The first row of each kind, and one after the last row."""
        return self.array("slice_starts")[self.array("kind_slices")]

    def _ranges(self, kind: str | None, concepts: frozenset[str] | None) -> Array:
        if kind is None:
            return _joined([self.ranges(one, concepts) for one in self.kinds])
        slices = self._slices.get(kind, {})
        if concepts is None:
            first = self.kinds.index(kind) if slices else 0
            bounds = self.kind_starts[first : first + 2]
            return np.asarray(bounds, dtype=np.int64).reshape(1, 2) if slices else np.zeros((0, 2), dtype=np.int64)
        fewer, more = (concepts, slices) if len(concepts) < len(slices) else (slices, concepts)
        numbers = np.array(sorted(slices[one] for one in fewer if one in more), dtype=np.int64)
        starts = self.array("slice_starts")
        return _joined([np.column_stack([starts[numbers], starts[numbers + 1]])])

    def rows(self, wanted: Iterable[Wanted], patients: BitMap | None = None) -> EventRows:
        """The rows of any of the ``wanted``, of these patients (None: of all)."""
        ranges = _joined([self.ranges(kind, concepts) for kind, concepts in wanted])
        if patients is None or len(patients) == self.patients:
            at = _spread(ranges)
            return EventRows(self, at, self.array("patient")[at])
        sought = int((ranges[:, 1] - ranges[:, 0]).sum())
        if len(patients) * self.events * _DEARER < sought * self.patients:
            return self._by_patient(ranges, np.asarray(patients.to_array(), dtype=np.int64))
        mask = np.zeros(self.patients, dtype=bool)
        mask[patients.to_array()] = True
        owner = self.array("patient")
        found, whose = [], []
        for start, end in ranges.tolist():
            part = owner[start:end]
            kept = np.flatnonzero(mask[part])
            whose.append(part[kept])
            kept += start
            found.append(kept)
        if not found:
            return EventRows(self, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32))
        return EventRows(self, np.concatenate(found), np.concatenate(whose))

    def _by_patient(self, ranges: Array, patients: Array) -> EventRows:
        """The same for few patients, whose events are sought by their numbers."""
        first = self.array("first_event")
        events = _spread(np.column_stack([first[patients], first[patients + 1]]).astype(np.int64))
        rows = np.sort(self.array("row_of_event")[events].astype(np.int64))
        rows = rows[_lie_in(ranges, rows)]
        return EventRows(self, rows, self.array("patient")[rows])

    # --- attributes -------------------------------------------------------------------------------------------------

    def values(self, kind: str, name: str, rows: Array) -> Values | None:
        """An attribute at rows of the kind; None if no event of the kind has one."""
        number = self._attributes.get((kind, name))
        if number is None:
            return None
        distinct = self._distinct(number)
        start = int(self.kind_starts[self.kinds.index(kind)])
        codes = self.array(f"attribute_{number}_codes")
        if (number, "rows") in self._sparse:
            there, found = _sought(self.array(f"attribute_{number}_rows"), rows - start)
            own = np.full(len(rows), -1, dtype=np.int64)
            own[there] = codes[found]
        else:
            own = codes[rows - start].astype(np.int64)
            own[own == len(distinct)] = -1
        return Values(own, distinct)

    def attribute_columns(self, kind: str) -> Iterator[tuple[str, tuple[str | float, ...], Array, Array]]:
        """Each attribute of a kind: its name, its values, the rows that have one, ascending, and the code of each."""
        start = int(self.kind_starts[self.kinds.index(kind)])
        for (of_kind, name), number in self._attributes.items():
            if of_kind != kind:
                continue
            distinct, codes = self._distinct(number), self.array(f"attribute_{number}_codes")
            if (number, "rows") in self._sparse:
                rows = self.array(f"attribute_{number}_rows").astype(np.int64)
            else:
                rows = np.flatnonzero(codes != len(distinct))
                codes = codes[rows]
            yield name, distinct, rows + start, codes

    @functools.cached_property
    def _sparse(self) -> frozenset[tuple[int, str]]:
        held = self._source.told["arrays"]
        return frozenset((at, "rows") for at in self._attributes.values() if f"attribute_{at}_rows" in held)

    def _distinct(self, number: int) -> tuple[str | float, ...]:
        found = self._values.get(number)
        if found is None:
            texts = unpacked(self.array(f"attribute_{number}_texts"))
            found = self._values[number] = (*texts, *self.array(f"attribute_{number}_numbers").tolist())
        return found


class EventRows:
    """Some rows of the index, ascending; a column is read when it is first asked for."""

    def __init__(self, index: EventIndex, at: Array, patient: Array) -> None:
        """``at``: the rows; ``patient``: the dense number of each row's patient."""
        self.index = index
        self.at = at
        self.patient = patient

    def __len__(self) -> int:
        return len(self.at)

    def _column(self, name: str) -> Array:
        found: Array = self.index.array(name)[self.at]
        return found

    @functools.cached_property
    def event(self) -> Array:
        """The number of each event."""
        return self.index.array("first_event")[self.patient].astype(np.int64) + self._column("ordinal")

    @functools.cached_property
    def low(self) -> Array:
        """The first day on which each event can lie."""
        return self._column("low").astype(np.int64)

    @functools.cached_property
    def high(self) -> Array:
        """The last such day."""
        return self.low + self.index.array("spans")[self._column("span")]

    @functools.cached_property
    def world(self) -> Array:
        """The highest world that each event is in."""
        return self._column("world").astype(np.int8)

    @functools.cached_property
    def context(self) -> Array:
        """The position of each event's context among those of the index."""
        return self._column("context")

    @functools.cached_property
    def tumor(self) -> Array:
        """The position of each event's tumor among its patient's; -1 none known, -2 all of them, -3 one in no world."""
        return self._column("tumor").astype(np.int64)

    @functools.cached_property
    def ends(self) -> tuple[Array, Array, Array]:
        """Which events have an end; the first and the last day of it (of others, any)."""
        there, found = _sought(self.index.array("end_row"), self.at)
        low, high = np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.int64)
        low[there], high[there] = (self.index.array(name)[found] for name in ("end_low", "end_high"))
        return there, low, high

    def among(self, kind: str | None, concepts: frozenset[str] | None) -> Array:
        """Which events are of the kind and of one of these very concepts; None does not restrict."""
        found = np.zeros(len(self), dtype=bool)
        ranges = self.index.ranges(kind, concepts)
        bounds = np.searchsorted(self.at, ranges)
        if len(ranges) > len(self):
            found[_spread(bounds)] = True
        else:
            for start, end in bounds.tolist():
                found[start:end] = True
        return found

    @functools.cached_property
    def concept(self) -> Array:
        """The position of each event's concept among those of the index."""
        slices = np.searchsorted(self.index.array("slice_starts"), self.at, side="right") - 1
        found: Array = self.index.array("slice_concepts")[slices]
        return found

    def parts_of_kinds(self) -> Iterable[tuple[str, int, int]]:
        """The kinds of which there are rows here, each with the first and the one after the last of them."""
        bounds = np.searchsorted(self.at, self.index.kind_starts).tolist()
        for kind, start, end in zip(self.index.kinds, bounds, bounds[1:], strict=False):
            if start < end:
                yield kind, start, end

    def values(self, name: str, kinds: Collection[str] | None = None) -> Values:
        """An attribute of the rows of these kinds (None: of all); of other rows it counts as not there."""
        codes = np.full(len(self), -1, dtype=np.int64)
        distinct: dict[tuple[bool, str | float], int] = {}
        for kind, start, end in self.parts_of_kinds():
            if kinds is not None and kind not in kinds:
                continue
            found = self.index.values(kind, name, self.at[start:end])
            if found is None:
                continue
            # Many values may be known, and each would be judged: those that no row has are left out.
            used = np.flatnonzero(np.bincount(found.codes + 1, minlength=len(found.distinct) + 1)[1:])
            position = np.full(len(found.distinct) + 1, -1, dtype=np.int64)
            for code in used.tolist():
                value = found.distinct[code]
                # Text and number differ as values, also when they look alike: "2" is not 2.0.
                position[code] = distinct.setdefault((isinstance(value, str), value), len(distinct))
            codes[start:end] = position[found.codes]
        return Values(codes, tuple(value for _, value in distinct))


def _joined(parts: Iterable[Array]) -> Array:
    """Ranges of rows, sorted, those that touch or overlap as one."""
    ranges = np.concatenate([np.zeros((0, 2), dtype=np.int64), *parts])
    ranges = ranges[ranges[:, 0] < ranges[:, 1]]
    if len(ranges) < 2:
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    until = np.maximum.accumulate(ranges[:, 1])
    first = np.concatenate([[True], ranges[1:, 0] > until[:-1]])
    last = np.concatenate([first[1:], [True]])
    return np.column_stack([ranges[first, 0], until[last]])


def _spread(ranges: Array) -> Array:
    """Every row of the ranges."""
    if len(ranges) == 1:
        return np.arange(ranges[0, 0], ranges[0, 1])
    lengths = ranges[:, 1] - ranges[:, 0]
    before = np.cumsum(lengths) - lengths
    return np.repeat(ranges[:, 0] - before, lengths) + np.arange(int(lengths.sum()))


def _lie_in(ranges: Array, rows: Array) -> Array:
    """Which rows lie in one of the ranges."""
    if not len(ranges):
        return np.zeros(len(rows), dtype=bool)
    position = np.searchsorted(ranges[:, 0], rows, side="right") - 1
    return np.asarray((position >= 0) & (rows < ranges[position, 1]))


def _sought(sorted_: Array, rows: Array) -> tuple[Array, Array]:
    """Which rows are among the sorted ones, and the positions of those that are."""
    if not len(sorted_):
        return np.zeros(len(rows), dtype=bool), np.zeros(0, dtype=np.int64)
    position = np.minimum(np.searchsorted(sorted_, rows), len(sorted_) - 1)
    there = sorted_[position] == rows
    return np.asarray(there), position[there]
