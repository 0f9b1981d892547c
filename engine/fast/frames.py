"""Event rows as columns, and frames over them: which rows a criterion sees, grouped by patient, tumor or event.

A frame is the fast engine's view (see :mod:`.reference`): a criterion is asked of all its groups at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ...kb.deadline import too_much
from ...kb.index.event_rows import Coded, EventRows
from ...kb.index.patient_sets import patient_set
from ...kb.kinds import LASTING
from ...kb.model import EARLIEST_DAY, LATEST_DAY, Value, World
from ...kb.storage.reader import KnowledgeBase

if TYPE_CHECKING:
    # Takes long to load, and few criteria need it.
    import pyarrow as pa

Array = np.ndarray[Any, np.dtype[Any]]
#: Beyond every day and every difference of days, with room to add them up in 32 bits.
FAR: Final = 1 << 30
#: More groups or entries than that are not made: a gigabyte of columns. One scope comes nowhere near; scopes inside
#: scopes show each tumor the whole of each other, and multiply.
MOST_ENTRIES: Final = 1 << 26


@dataclass(frozen=True, slots=True)
class Words:
    """A column of text: for each row the position of its word among ``distinct``."""

    codes: Array
    distinct: tuple[str, ...]

    @classmethod
    def from_column(cls, column: pa.ChunkedArray) -> Words:
        """From a column without nulls."""
        words: dict[str, int] = {}
        codes = [words.setdefault(word, len(words)) for word in column.to_pylist()]
        return cls(np.array(codes, dtype=np.int64), tuple(words))

    def among(self, words: Collection[str]) -> Array:
        """For each row, whether its word is one of ``words``."""
        return np.array([word in words for word in self.distinct], dtype=bool)[self.codes]


class Days(NamedTuple):
    """The first and the last day on which events can have begun, or ended."""

    low: Array
    high: Array

    @property
    def middle(self) -> Array:
        """The day that is believed: half-way, rounded down."""
        return self.low + ((self.high - self.low) >> 1)


class Rows:
    """The events of some kinds and concepts of some patients, in the order of the index. ``patients``: sorted dense
    numbers. Each column is read when it is first looked at; days are of 32 bits, so that days and their differences
    fit, and numbers of patients or groups of 64."""

    def __init__(self, kb: KnowledgeBase, patients: Array, events: EventRows) -> None:
        """``events`` are rows of these patients."""
        self._kb = kb
        self._index = kb.event_index
        self.patients = patients
        self._events = events
        self._attributes: dict[str, Coded] = {}

    def __len__(self) -> int:
        return len(self._events)

    @cached_property
    def owner(self) -> Array:
        """The position of each row's patient among ``patients``."""
        owner, patients = self._events.patient, self.patients
        if not len(patients):
            return np.zeros(0, dtype=np.int64)
        first, last = int(patients[0]), int(patients[-1])
        if last - first + 1 == len(patients):
            return np.subtract(owner, first, dtype=np.int64)
        # Written where it is read, and nowhere else.
        position = np.empty(last - first + 1, dtype=np.int64)
        position[patients - first] = np.arange(len(patients))
        return position[owner - first if first else owner]

    @property
    def low(self) -> Array:
        """The first day on which each event can lie."""
        return self._events.low

    @property
    def high(self) -> Array:
        """The last such day."""
        return self._events.high

    @cached_property
    def middle(self) -> Array:
        """The day that is believed: half-way, rounded down."""
        return self.low + (self._events.span >> 1)

    @property
    def world(self) -> Array:
        """The highest world that each event is in."""
        return self._events.world

    @property
    def ends(self) -> tuple[Array, Array, Array]:
        """Which rows have an end; the first and the last day of it (of others, any)."""
        return self._events.ends

    def days(self, moment: str) -> Days:
        """When each event began, or when it ended; where that is not recorded, any day from its beginning on."""
        return Days(self.low, self.high) if moment == "begin" else self._ended

    def middle_of(self, moment: str) -> Array:
        """The day of that which is believed."""
        return self.middle if moment == "begin" else self._middle_of_end

    @cached_property
    def _ended(self) -> Days:
        there, low, high = self.ends
        last = np.where(self.goes_on, np.int32(LATEST_DAY), self.high)
        return Days(np.where(there, low, self.low), np.where(there, high, last))

    @cached_property
    def _middle_of_end(self) -> Array:
        return self._ended.middle

    @cached_property
    def goes_on(self) -> Array:
        """Which rows are of kinds that last and have no recorded end."""
        return np.logical_or.reduce([self.among(kind) for kind in sorted(LASTING)]) & ~self.ends[0]

    def among(self, kind: str | None, concepts: frozenset[str] | None = None) -> Array:
        """Which rows are of the kind and of one of these very concepts; None does not restrict."""
        return self._events.among(kind, concepts)

    @cached_property
    def concept(self) -> Words:
        """The concept of each row."""
        used, codes = np.unique(self._events.concept, return_inverse=True)
        names = self._index.concepts
        return Words(codes, tuple(names[at] for at in used.tolist()))

    def in_context(
        self,
        polarity: str | None = None,
        temporality: Collection[str] | None = None,
        experiencer: str | None = None,
        reason: str | None = None,
    ) -> Array:
        """Which rows are in a context of these parts; None does not restrict."""
        verdicts = [
            polarity in (None, own_polarity)
            and (temporality is None or own_temporality in temporality)
            and experiencer in (None, own_experiencer)
            and reason in (None, own_reason)
            for own_polarity, own_temporality, own_experiencer, own_reason in self._index.contexts
        ]
        return np.array(verdicts, dtype=bool)[self._events.context]

    # --- attributes -------------------------------------------------------------------------------------------------

    def attribute(self, name: str) -> Coded:
        """An attribute of the rows: the position of each one's value among the distinct ones, -1 where it has none."""
        found = self._attributes.get(name)
        if found is None:
            found = self._attributes[name] = self._events.values(name)
        return found

    def where(self, name: str, judge: Callable[[Sequence[Value]], Sequence[bool]]) -> Array:
        """Which rows have a value of the attribute that ``judge`` admits, which sees each distinct value once."""
        return self._events.where(name, judge)

    # --- how events are known ---------------------------------------------------------------------------------------

    def known_so(self, rows: Array, source: str, undisputed: bool, sources: int) -> Array:
        """Which of the rows of the mask are told in such a note, by so many, and named by no decision."""
        event = self._events.event
        return rows & np.isin(event, self._kb.known_events(event[rows], source, sources, undisputed))

    @cached_property
    def observations(self) -> tuple[Array, Words, Array, Array]:
        """Of each note of the patients: the position of its patient, its class, the first and the last day it can be
        of."""
        table = self._kb.observation_table(patient_set(self.patients))
        owner = np.searchsorted(self.patients, table["patient"].to_numpy())
        low, high = (table["day"].fill_null(day).to_numpy() for day in (EARLIEST_DAY, LATEST_DAY))
        return owner, Words.from_column(table["source"]), low, high

    # --- tumors -----------------------------------------------------------------------------------------------------

    @cached_property
    def tumors(self) -> Tumors:
        """The tumors of the patients, also those that no row here belongs to."""
        first = self._index.column("first_tumor")
        starts = first[self.patients].astype(np.int64)
        return Tumors(starts, first[self.patients + 1] - starts, self._index.array("tumor_world"))

    @property
    def tumor(self) -> Array:
        """For each row the position of its tumor among its patient's; -1 none known, -2 all of them, -3 one that is in
        no world."""
        return self._events.tumor


@dataclass(frozen=True)
class Tumors:
    """Tumors of patients: for each patient the number of the first and how many there are. ``world`` is the highest
    that an event of the tumor of a number is in."""

    starts: Array
    counts: Array
    world: Array


@dataclass(frozen=True)
class Frame:
    """Rows in groups, an entry for each shown row. ``index``: which row it is (None: every row is an entry, in order);
    ``group``: in which group; ``shown``: the highest world in which the group shows it (None: in all). ``patient`` has
    one for each group: the position of its patient."""

    rows: Rows
    index: Array | None
    group: Array
    shown: Array | None
    patient: Array

    @classmethod
    def of_patients(cls, rows: Rows) -> Frame:
        """A group for each patient, who is shown all rows of theirs."""
        return cls(rows, None, rows.owner, None, np.arange(len(rows.patients)))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.patient)

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self.group)

    def entries_of(self, column: Array) -> Array:
        """A column of the rows, for the entries."""
        return column if self.index is None else column[self.index]

    def row(self, entries: Array) -> Array:
        """The rows of these entries."""
        return entries if self.index is None else self.index[entries]

    def visible(self, mask: Array, world: World) -> Array:
        """Those entries of a mask over the rows that are shown in ``world``."""
        return self.entries_of(mask) if self.shown is None else self.entries_of(mask) & (self.shown >= world)

    def extreme(self, which: np.ufunc, mask: Array, values: Array) -> Array:
        """For each group the least (``numpy.minimum``) or the greatest (``numpy.maximum``) value of its entries in the
        mask; of a group without any, one beyond all values."""
        beyond = FAR if which is np.minimum else -FAR
        found = np.full(self.groups, beyond, dtype=values.dtype)
        entries = np.flatnonzero(mask)
        if not len(entries):
            return found
        groups, own = self.group[entries], values[entries]
        if ascending(groups):
            starts = np.concatenate([[0], np.flatnonzero(groups[1:] != groups[:-1]) + 1])
            found[groups[starts]] = which.reduceat(own, starts)
        else:
            which.at(found, groups, own)
        return found

    def by_tumor(self, least: World) -> tuple[Frame, Array, Array]:
        """A group for each tumor of each group's patient; with them the group and the tumor that each comes from.

        Rows of no known tumor are shown in the possible world; entries that are not shown in the world ``least`` or a
        higher one are left out.
        """
        tumors = self.rows.tumors
        counts = tumors.counts[self.patient]
        _require_few(int(counts.sum()))
        parent = np.repeat(np.arange(self.groups), counts)
        first = np.cumsum(counts) - counts
        number = tumors.starts[self.patient][parent] + np.arange(len(parent)) - first[parent]
        own = self.entries_of(self.rows.tumor)
        # A row of one tumor goes to one group, one of none or all to as many as there are tumors.
        one = np.flatnonzero(own >= 0)
        many = np.flatnonzero((own == -1) | (own == -2) if least <= World.POSSIBLE else own == -2)
        parent_of_one = self.group[one]
        group_of_one = first[parent_of_one] + own[one]
        copies = counts[self.group[many]]
        _require_few(int(copies.sum()))
        source = np.repeat(many, copies)
        step = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies)
        group_of_many = first[self.group[source]] + step
        everything = np.int8(World.CERTAIN)
        shown_one, shown_many = (
            np.full(len(rows), everything) if self.shown is None else self.shown[rows] for rows in (one, source)
        )
        shown_many = np.where(own[source] == -1, np.minimum(shown_many, np.int8(World.POSSIBLE)), shown_many)
        frame = Frame(
            self.rows,
            np.concatenate([self.row(one), self.row(source)]),
            np.concatenate([group_of_one, group_of_many]),
            np.concatenate([shown_one, shown_many]),
            self.patient[parent],
        )
        return frame, parent, number

    def by_event(self, world: World) -> tuple[Frame, Array]:
        """A group for each row that is shown in ``world``; with them the group that each comes from."""
        kept = np.arange(self.entries) if self.shown is None else np.flatnonzero(self.shown >= world)
        if len(kept) == self.entries == self.groups and np.array_equal(self.group, kept):
            # Each group is one event already.
            return self, self.group
        parent = self.group[kept]
        shown = None if self.shown is None else self.shown[kept]
        return Frame(self.rows, self.row(kept), np.arange(len(kept)), shown, self.patient[parent]), parent


def _require_few(entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise too_much("'same tumor' stands in 'same tumor' too often. Hint: ask it of each criterion once")


def ascending(numbers: Array) -> bool:
    """Whether no number is less than the one before it: rows of one concept are ordered by patient."""
    return bool((numbers[1:] >= numbers[:-1]).all())
