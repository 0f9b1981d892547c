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

from ..kb.model import ALL_TUMORS, EARLIEST_DAY, LATEST_DAY, NO_TUMOR, Value, World
from ..kb.store import KnowledgeBase

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Words:
    """A column of text: for each row the position of its word among ``distinct``."""

    codes: Array
    distinct: tuple[str, ...]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Words:
        """From a column without nulls. Words that no row has are left out."""
        encoded = pc.dictionary_encode(column).combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # what older versions give for no chunks
            encoded = encoded.chunk(0)
        codes, dictionary = encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary
        used = np.flatnonzero(np.bincount(codes, minlength=len(dictionary)))
        if len(used) < len(dictionary):
            # Rows chosen among many bring the words of all of them along, and each would be judged.
            position = np.zeros(len(dictionary), dtype=codes.dtype)
            position[used] = np.arange(len(used), dtype=codes.dtype)
            codes, dictionary = position[codes], dictionary.take(pa.array(used))
        return cls(codes, tuple(dictionary.to_pylist()))

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
    """The events of some kinds and concepts of some patients, ordered by event. ``patients``: sorted dense numbers."""

    def __init__(
        self,
        kb: KnowledgeBase,
        patients: BitMap,
        kinds: Collection[str] | None,
        concepts: Collection[str] | None,
    ) -> None:
        """None does not restrict."""
        self._kb = kb
        self.patients = np.asarray(patients.to_array(), dtype=np.int64)
        table = kb.event_table(kinds, concepts, patients)
        self.event = table["event"].to_numpy()
        #: The position of the row's patient among ``patients``.
        self.owner = np.searchsorted(self.patients, table["patient"].to_numpy())
        self.kind, self.concept = Words.of(table["kind"]), Words.of(table["concept"])
        self.polarity, self.temporality = Words.of(table["polarity"]), Words.of(table["temporality"])
        self.experiencer, self.reason = Words.of(table["experiencer"]), Words.of(table["reason"])
        self.low = table["low"].to_numpy().astype(np.int64)
        self.high = table["high"].to_numpy().astype(np.int64)
        self.middle = (self.low + self.high) // 2
        self.world = table["world"].to_numpy().astype(np.int8)
        self._tumor = table["tumor"]
        self._end_low, self._end_high = table["end_low"], table["end_high"]
        self._attributes: dict[str, Attribute] = {}

    def __len__(self) -> int:
        return len(self.event)

    @cached_property
    def ends(self) -> tuple[Array, Array, Array]:
        """Which rows have an end; the first and the last day of it (of others, any)."""
        low, high = (pc.fill_null(of, 0).to_numpy().astype(np.int64) for of in (self._end_low, self._end_high))
        return pc.is_valid(self._end_low).to_numpy(), low, high

    # --- attributes -------------------------------------------------------------------------------------------------

    def load_attributes(self, names: Iterable[str], rows: Array) -> None:
        """Read these attributes of the rows that the mask ``rows`` names; of other rows they count as not there."""
        names = [name for name in names if name not in self._attributes]
        if not names:
            return
        table = self._kb.attribute_table(pa.array(self.event[rows]), names)
        for name in names:
            self._attributes[name] = self._column(table.filter(pc.equal(table["name"], name)))

    def attribute(self, name: str) -> Attribute:
        """An attribute that was loaded."""
        return self._attributes[name]

    def _column(self, table: pa.Table) -> Attribute:
        at = np.searchsorted(self.event, table["event"].to_numpy())
        texts, numbers = table["text"], table["number"]
        # Text and number differ as values, also when they look alike: "2" is not 2.0.
        told = pc.and_(pc.is_valid(texts), pc.not_equal(texts, "")).to_numpy(zero_copy_only=False).astype(bool)
        counted = pc.and_(pc.is_null(texts), pc.is_valid(numbers)).to_numpy(zero_copy_only=False).astype(bool)
        words = Words.of(texts.filter(pa.array(told)))
        values, positions = np.unique(numbers.to_numpy()[counted].astype(float), return_inverse=True)
        codes = np.full(len(self), -1, dtype=np.int64)
        codes[at[told]] = words.codes
        codes[at[counted]] = len(words.distinct) + positions
        return Attribute(codes, (*words.distinct, *values.tolist()))

    # --- how events are known ---------------------------------------------------------------------------------------

    def known_so(self, rows: Array, source: str, undisputed: bool, sources: int) -> Array:
        """Which of the rows of the mask are told in such a note, by so many, and named by no decision."""
        told = self._kb.told_table(pa.array(self.event[rows]))
        kept = np.asarray(told["sources"].to_numpy() >= sources)
        if source:
            kept &= Words.of(told["source"]).among((source,))
        if undisputed:
            kept &= ~told["disputed"].to_numpy()
        return rows & np.isin(self.event, told["event"].to_numpy()[kept])

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
        table = self._kb.tumor_table
        patient = table["patient"].to_numpy()
        kept = np.flatnonzero(np.isin(patient, self.patients))
        names = Words.of(table["tumor"].take(pa.array(kept)))
        owner = np.searchsorted(self.patients, patient[kept])
        keys = owner * max(1, len(names.distinct)) + names.codes
        order = np.argsort(keys)
        world = table["world"].to_numpy()[kept].astype(np.int8)
        return Tumors(keys[order], world[order], names.distinct, len(self.patients))

    @cached_property
    def tumor(self) -> Array:
        """For each row the number of its tumor; -1 none known, -2 all of them, -3 one that is in no world."""
        names = Words.of(self._tumor)
        own = self.tumors.numbers(self.owner, names)
        own[names.among((NO_TUMOR,))] = -1
        own[names.among((ALL_TUMORS,))] = -2
        return own


@dataclass(frozen=True)
class Tumors:
    """Tumors of patients, ordered by patient. ``keys`` join the position of the patient and that of the tumor's name
    among ``names``; ``world`` is the highest that an event of the tumor is in."""

    keys: Array
    world: Array
    names: tuple[str, ...]
    patients: int

    def numbers(self, owner: Array, names: Words) -> Array:
        """For each patient and name, the number of that tumor; -3 if there is none."""
        positions = {name: position for position, name in enumerate(self.names)}
        codes = np.array([positions.get(name, -1) for name in names.distinct], dtype=np.int64)[names.codes]
        wanted = owner * max(1, len(self.names)) + codes
        found = np.searchsorted(self.keys, wanted)
        known = (codes >= 0) & (found < len(self.keys))
        known[known] = self.keys[found[known]] == wanted[known]
        return np.where(known, found, -3)

    @cached_property
    def owner(self) -> Array:
        """The position of each tumor's patient."""
        return self.keys // max(1, len(self.names))

    @cached_property
    def counts(self) -> Array:
        """How many tumors each patient has."""
        return np.bincount(self.owner, minlength=self.patients)

    @cached_property
    def starts(self) -> Array:
        """The number of each patient's first tumor."""
        return np.cumsum(self.counts) - self.counts


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
        group_of_one = first[parent_of_one] + own[one] - tumors.starts[self.patient[parent_of_one]]
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
