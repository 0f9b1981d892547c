"""The event columns of a generation: the rows of kinds and concepts for some patients, column by column.

Rows are ordered by kind, then by the order of concepts (:mod:`.concept_order`), then by event number. So a concept and
all that lies below it are a few ranges of rows, and the rows of one concept are ordered by patient. A column is read
when it is asked for, at the rows that are wanted.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from pyroaring import BitMap

from ..model import Value
from .arrays import Array, Column
from .event_rows import AttributeValues, DistinctValues, EventRows, spread
from .word_arrays import unpacked

#: The name of the files.
EVENTS: Final = "events"
#: Finding a patient's events by their numbers costs so many times what looking at a row of a range costs.
_TIMES_THE_COST: Final = 20
#: So many ranges are looked through one by one; more of them all together, which takes more steps for each row.
_FEW_SLICES: Final = 64

#: Events of a kind (None: of any) and of one of these very concepts (None: of any).
Wanted = tuple[str | None, frozenset[str] | None]


class Arrays(Protocol):
    """Where the arrays come from: :class:`.arrays.ArrayFile`, or memory."""

    @property
    def header(self) -> Mapping[str, Any]:
        """What was written beside the arrays."""

    def array(self, name: str) -> Array:
        """One array."""

    def column(self, name: str) -> Column:
        """The same, to be read in part."""


class EventIndex:
    """The event columns of one generation. Safe across threads; nothing is read before it is asked for."""

    def __init__(self, source: Arrays) -> None:
        self._source = source
        self._arrays: dict[str, Array] = {}
        self._columns: dict[str, Column] = {}
        self._values: dict[int, DistinctValues] = {}
        #: The ranges of rows (first, one after the last) of a kind and concepts: an array of two columns, sorted.
        self.ranges = functools.lru_cache(maxsize=1024)(self._ranges)

    def array(self, name: str) -> Array:
        """One array of the file, to be read as a whole: all of it is proven."""
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = self._source.array(name)
        return found

    def column(self, name: str) -> Column:
        """One array of the file, to be read in part: what is read of it is proven."""
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self._source.column(name)
        return found

    @functools.cached_property
    def events(self) -> int:
        """How many events there are."""
        return int(self._source.header["events"])

    @functools.cached_property
    def patients(self) -> int:
        """How many patients there are."""
        return int(self._source.header["patients"])

    @functools.cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which there is an event, in the order of rows."""
        return tuple(self._source.header["kinds"])

    @functools.cached_property
    def concepts(self) -> tuple[str, ...]:
        """The concepts that an event is of, in the order of rows; what the column of concepts counts by."""
        return unpacked(self.array("concepts"))

    @functools.cached_property
    def contexts(self) -> tuple[tuple[str, str, str, str], ...]:
        """The contexts that an event has: polarity, temporality, experiencer, reason."""
        return tuple((polarity, time, who, why) for polarity, time, who, why in self._source.header["contexts"])

    def rows_of(self, kind: str) -> tuple[int, int]:
        """The first row of a kind, and the one after its last."""
        if kind not in self._slices:
            return 0, 0
        first, last = self.kind_starts[self.kinds.index(kind) :][:2].tolist()
        return first, last

    @property
    def attributes(self) -> Iterable[tuple[str, str]]:
        """The kinds and names of which an event has a value."""
        return self._attributes.keys()

    @functools.cached_property
    def _attributes(self) -> dict[tuple[str, str], int]:
        return {(kind, name): at for at, (kind, name) in enumerate(self._source.header["attributes"])}

    @functools.cached_property
    def slices(self) -> list[tuple[str, str]]:
        """The kinds and concepts of which there are events, in the order of rows."""
        names, slices = self.concepts, np.diff(self.array("kind_slices")).tolist()
        kinds = itertools.chain.from_iterable(map(itertools.repeat, self.kinds, slices))
        return [
            (kind, names[concept]) for kind, concept in zip(kinds, self.array("slice_concepts").tolist(), strict=True)
        ]

    @functools.cached_property
    def _slices(self) -> dict[str, dict[str, int]]:
        """Of each kind: the number of the slice of each concept."""
        found: dict[str, dict[str, int]] = {kind: {} for kind in self.kinds}
        for at, (kind, concept) in enumerate(self.slices):
            found[kind][concept] = at
        return found

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

    # --- rows -------------------------------------------------------------------------------------------------------

    def rows(self, wanted: Iterable[Wanted], patients: BitMap | None = None) -> EventRows:
        """The rows of any of the ``wanted``, of these patients (None: of all)."""
        ranges = self._ranges_of(wanted)
        if patients is None or len(patients) == self.patients:
            return EventRows(self, [slice(start, end) for start, end in ranges.tolist()])
        if self._few(len(patients), ranges):
            return self._by_patient(ranges, _numbers(patients))
        return self._among(ranges, _numbers(patients))

    def portions(
        self, wanted: Iterable[Wanted], patients: BitMap, patients_of_one: int
    ) -> Iterator[tuple[Array, EventRows]]:
        """The same, so many patients at a time: their sorted numbers, and their rows.

        What is then done with the rows is done in memory that lies near, and no column is copied for all at once.
        """
        numbers = _numbers(patients)
        ranges = self._ranges_of(wanted)
        if len(numbers) <= patients_of_one:
            yield (
                numbers,
                self._by_patient(ranges, numbers) if self._few(len(numbers), ranges) else self._among(ranges, numbers),
            )
            return
        slices = self._slices_in(ranges)
        for start in range(0, len(numbers), patients_of_one):
            part = numbers[start : start + patients_of_one]
            # In each slice the rows are ordered by patient: those of the part, and of others between, are a stretch.
            stretches = self._of_patients_between(slices, int(part[0]), int(part[-1]))
            whole = len(part) == part[-1] - part[0] + 1
            if whole:
                yield part, EventRows(self, [slice(first, last) for first, last in stretches.tolist()])
            else:
                yield part, self._among(stretches, part, int(part[0]), int(part[-1]) + 1)

    def _ranges_of(self, wanted: Iterable[Wanted]) -> Array:
        return self._by_kind(_joined([self.ranges(kind, concepts) for kind, concepts in wanted]))

    def _by_kind(self, ranges: Array) -> Array:
        """The ranges, none of more than one kind."""
        bounds = self.kind_starts
        inner = bounds[
            np.searchsorted(ranges[:, 0], bounds, side="left") != np.searchsorted(ranges[:, 1], bounds, side="right")
        ]
        if not len(inner):
            return ranges
        cuts = np.sort(np.concatenate([ranges.ravel(), inner, inner]))
        return cuts.reshape(-1, 2)

    def _slices_in(self, ranges: Array) -> Array:
        """The ranges, none of more than one kind and concept."""
        starts = self.array("slice_starts")
        first, last = np.searchsorted(starts, ranges[:, 0]), np.searchsorted(starts, ranges[:, 1])
        numbers = spread(np.column_stack([first, last]))
        return np.column_stack([starts[numbers], starts[numbers + 1]])

    def _of_patients_between(self, slices: Array, first: int, last: int) -> Array:
        """Of each slice, the rows of the patients of these numbers and between; empty ones are left out."""
        owner = self.column("patient")
        if len(slices) <= _FEW_SLICES:
            found = np.array(
                [
                    start + np.searchsorted(owner[start:end], np.array([first, last + 1], dtype=owner.dtype))
                    for start, end in slices.tolist()
                ],
                dtype=np.int64,
            ).reshape(-1, 2)
        else:
            found = np.column_stack([_lower_bounds(owner, slices, number) for number in (first, last + 1)])
        return found[found[:, 0] < found[:, 1]]

    def _few(self, patients: int, ranges: Array) -> bool:
        sought = int((ranges[:, 1] - ranges[:, 0]).sum())
        return patients * self.events * _TIMES_THE_COST < sought * self.patients

    def _among(self, ranges: Array, patients: Array, low: int = 0, high: int | None = None) -> EventRows:
        """Those rows of the ranges, whose patients all are from ``low`` to below ``high``, of these patients."""
        mask = np.zeros((self.patients if high is None else high) - low, dtype=bool)
        mask[patients - low] = True
        owner = self.column("patient")
        if len(ranges) > _FEW_SLICES:
            rows = spread(ranges)
            return EventRows(self, [part for part in self._split(rows[mask[owner[rows] - low]]) if len(part)])
        found: list[list[Array]] = [[] for _ in self.kinds]
        for start, end in ranges.tolist():
            whose = owner[start:end]
            kept = np.flatnonzero(mask[whose - low if low else whose])
            if len(kept):
                kept += start
                found[self.kind_at(start)].append(kept)
        return EventRows(self, [rows[0] if len(rows) == 1 else np.concatenate(rows) for rows in found if rows])

    def _by_patient(self, ranges: Array, patients: Array) -> EventRows:
        """The same for few patients, whose events are sought by their numbers."""
        first = self.column("first_event")
        events = spread(np.column_stack([first[patients], first[patients + 1]]).astype(np.int64))
        rows = np.sort(self.column("row_of_event")[events].astype(np.int64))
        return EventRows(self, [part for part in self._split(rows[_lie_in(ranges, rows)]) if len(part)])

    def _split(self, rows: Array) -> list[Array]:
        """Rows by kind."""
        return np.split(rows, np.searchsorted(rows, self.kind_starts[1:-1])) if len(self.kinds) else []

    # --- attributes -------------------------------------------------------------------------------------------------

    def kind_at(self, row: int) -> int:
        """The position of a row's kind among the kinds."""
        return bisect.bisect_right(self._kind_starts, row) - 1

    @functools.cached_property
    def _kind_starts(self) -> list[int]:
        found: list[int] = self.kind_starts.tolist()
        return found

    def values(self, kind: str, name: str) -> AttributeValues | None:
        """An attribute of the events of a kind; None if no event of the kind has one."""
        number = self._attributes.get((kind, name))
        if number is None:
            return None
        rows = self.array(f"attribute_{number}_rows") if number in self._sparse else None
        start, _ = self.rows_of(kind)
        return AttributeValues(start, self.column(f"attribute_{number}_codes"), rows, self._distinct(number))

    def attribute_columns(self, kind: str) -> Iterator[tuple[str, Sequence[Value], Array, Array]]:
        """Each attribute of a kind: its name, its values, the rows that have one, ascending, and the code of each."""
        for of_kind, name in self._attributes:
            column = self.values(kind, name) if of_kind == kind else None
            if column is None:
                continue
            rows, codes = column.held()
            yield name, column.distinct, rows, codes

    def _distinct(self, number: int) -> DistinctValues:
        found = self._values.get(number)
        if found is None:
            texts = unpacked(self.array(f"attribute_{number}_texts"))
            found = self._values[number] = DistinctValues(texts, self.array(f"attribute_{number}_numbers"))
        return found

    @functools.cached_property
    def _sparse(self) -> frozenset[int]:
        held = self._source.header["arrays"]
        return frozenset(at for at in self._attributes.values() if f"attribute_{at}_rows" in held)


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


def _lower_bounds(sorted_in_slices: Column, slices: Array, number: int) -> Array:
    """Of each slice, the first row whose value is the number or more: all slices are halved together."""
    low, high = slices[:, 0].copy(), slices[:, 1].copy()
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        less = open_ & (sorted_in_slices[np.minimum(middle, len(sorted_in_slices) - 1)] < number)
        low = np.where(less, middle + 1, low)
        high = np.where(open_ & ~less, middle, high)
    return low


def _numbers(patients: BitMap) -> Array:
    return np.asarray(patients.to_array(), dtype=np.int64)


def _lie_in(ranges: Array, rows: Array) -> Array:
    """Which rows lie in one of the ranges."""
    if not len(ranges):
        return np.zeros(len(rows), dtype=bool)
    position = np.searchsorted(ranges[:, 0], rows, side="right") - 1
    return np.asarray((position >= 0) & (rows < ranges[position, 1]))
