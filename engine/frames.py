"""Event rows as columns, and frames over them: which rows a criterion sees, grouped by patient, tumor or event.

A frame is the fast engine's view (see :mod:`.reference`): a criterion is asked of all its groups at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap

from ..kb.index.columns import EventRows, Wanted
from ..kb.model import EARLIEST_DAY, LATEST_DAY, Value, World
from ..kb.store import KnowledgeBase

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Words:
    """A column of text: for each row the position of its word among ``distinct``."""

    codes: Array
    distinct: tuple[str, ...]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Words:
        """From a column without nulls."""
        encoded = pc.dictionary_encode(column).combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # what older versions give for no chunks
            encoded = encoded.chunk(0)
        return cls(encoded.indices.to_numpy(zero_copy_only=False), tuple(encoded.dictionary.to_pylist()))

    def among(self, words: Collection[str]) -> Array:
        """For each row, whether its word is one of ``words``."""
        return np.array([word in words for word in self.distinct], dtype=bool)[self.codes]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of all rows: the position of the row's value among ``distinct``, -1 where it has none."""

    codes: Array
    distinct: tuple[Value, ...]

    def where(self, verdicts: Sequence[bool]) -> Array:
        """For each row, the verdict on its value; False where it has none."""
        # The last entry is the one that -1 finds.
        return np.array([*verdicts, False], dtype=bool)[self.codes]


class Rows:
    """The events of some kinds and concepts of some patients, in the order of the index. ``patients``: sorted dense
    numbers. Each column is read when it is first looked at."""

    def __init__(self, kb: KnowledgeBase, patients: BitMap, wanted: Iterable[Wanted]) -> None:
        """``wanted``: kinds and concepts, as :meth:`.columns.EventIndex.rows` takes them."""
        self._kb = kb
        self._index = kb.event_index
        self.patients = np.asarray(patients.to_array(), dtype=np.int64)
        self._events: EventRows = self._index.rows(wanted, patients)
        self._attributes: dict[str, Attribute] = {}

    def __len__(self) -> int:
        return len(self._events)

    @cached_property
    def owner(self) -> Array:
        """The position of each row's patient among ``patients``."""
        if len(self.patients) == self._index.patients:
            return self._events.patient.astype(np.int64)
        # Read only where it is written.
        position = np.empty(self._index.patients, dtype=np.int64)
        position[self.patients] = np.arange(len(self.patients))
        return position[self._events.patient]

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
        """The day that is believed."""
        return (self.low + self.high) // 2

    @property
    def world(self) -> Array:
        """The highest world that each event is in."""
        return self._events.world

    @property
    def ends(self) -> tuple[Array, Array, Array]:
        """Which rows have an end; the first and the last day of it (of others, any)."""
        return self._events.ends

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

    def attribute(self, name: str) -> Attribute:
        """An attribute of the rows."""
        found = self._attributes.get(name)
        if found is None:
            values = self._events.values(name)
            found = self._attributes[name] = Attribute(values.codes, values.distinct)
        return found

    # --- how events are known ---------------------------------------------------------------------------------------

    def known_so(self, rows: Array, source: str, undisputed: bool, sources: int) -> Array:
        """Which of the rows of the mask are told in such a note, by so many, and named by no decision."""
        event = self._events.event
        told = self._kb.told_table(pa.array(event[rows]))
        kept = np.asarray(told["sources"].to_numpy() >= sources)
        if source:
            kept &= Words.of(told["source"]).among((source,))
        if undisputed:
            kept &= ~told["disputed"].to_numpy()
        return rows & np.isin(event, told["event"].to_numpy()[kept])

    @cached_property
    def observations(self) -> tuple[Array, Words, Array, Array]:
        """Of each note of the patients: the position of its patient, its class, the first and the last day it can be
        of."""
        table = self._kb.observation_table(BitMap(self.patients))
        owner = np.searchsorted(self.patients, table["patient"].to_numpy())
        low, high = (pc.fill_null(table["day"], day).to_numpy() for day in (EARLIEST_DAY, LATEST_DAY))
        return owner, Words.of(table["source"]), low, high

    # --- tumors -----------------------------------------------------------------------------------------------------

    @cached_property
    def tumors(self) -> Tumors:
        """The tumors of the patients, also those that no row here belongs to."""
        first = self._index.array("first_tumor")
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
    """Rows in groups. ``index``, ``group``, ``shown`` have an entry for each shown row: which row, in which group, and
    the highest world in which the group shows it. ``patient`` has one for each group: the position of its patient."""

    rows: Rows
    index: Array
    group: Array
    shown: Array
    patient: Array

    @classmethod
    def of_patients(cls, rows: Rows) -> Frame:
        """A group for each patient, who is shown all rows of theirs."""
        everything = np.full(len(rows), World.CERTAIN, dtype=np.int8)
        return cls(rows, np.arange(len(rows)), rows.owner, everything, np.arange(len(rows.patients)))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.patient)

    def by_tumor(self) -> tuple[Frame, Array, Array]:
        """A group for each tumor of each group's patient; with them the group and the tumor that each comes from.

        Rows of no known tumor are shown in the possible world.
        """
        tumors = self.rows.tumors
        counts = tumors.counts[self.patient]
        parent = np.repeat(np.arange(self.groups), counts)
        first = np.cumsum(counts) - counts
        number = tumors.starts[self.patient][parent] + np.arange(len(parent)) - first[parent]
        own = self.rows.tumor[self.index]
        # A row of one tumor goes to one group, one of none or all to as many as there are tumors.
        one = np.flatnonzero(own >= 0)
        many = np.flatnonzero((own == -1) | (own == -2))
        parent_of_one = self.group[one]
        group_of_one = first[parent_of_one] + own[one]
        copies = counts[self.group[many]]
        source = np.repeat(many, copies)
        step = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies)
        group_of_many = first[self.group[source]] + step
        shown = self.shown[source]
        shown = np.where(own[source] == -1, np.minimum(shown, np.int8(World.POSSIBLE)), shown)
        frame = Frame(
            self.rows,
            np.concatenate([self.index[one], self.index[source]]),
            np.concatenate([group_of_one, group_of_many]),
            np.concatenate([self.shown[one], shown]),
            self.patient[parent],
        )
        return frame, parent, number

    def by_event(self, world: World) -> tuple[Frame, Array]:
        """A group for each row that is shown in ``world``; with them the group that each comes from."""
        kept = np.flatnonzero(self.shown >= world)
        parent = self.group[kept]
        frame = Frame(self.rows, self.index[kept], np.arange(len(kept)), self.shown[kept], self.patient[parent])
        return frame, parent
