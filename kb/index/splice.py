"""The event columns of a generation spliced from those of the one before and those of the patients written anew.

What :mod:`.build` makes of all tables, byte for byte, at little more than the cost of copying it: rows that stay are
copied in long runs, their codes by small tables. Both sides are event indexes; the tables are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from ..files.kept_file import KeptFile
from ..ontology.concepts import ConceptTable
from .arrays import Array, ArrayWriter, narrowest
from .columns import EventIndex
from .event_rows import spread
from .moved import Moved, Unlike
from .recoded import Recoded, counts_of, recoded, recoded_numbers, translation
from .slices import WrittenSlices, in_order
from .spliced_attributes import SplicedAttributes

#: The schema with the tables of the patients written anew.
CHANGED: Final = "changed"


class Update(NamedTuple):
    """What sets a generation apart from the one before: the files of the index that was (``before``), by name, the
    numbers there of the patients whose rows were not copied (``gone``), and the numbers of those whose rows are new
    (``come``). Both are sorted.

    Their rows alone are also in the tables ``patient``, ``event`` and ``event_attribute`` of the schema
    :data:`CHANGED`, numbered from nought.
    """

    before: Callable[[str], KeptFile]
    gone: Array
    come: Array


class Splicing:
    """One splicing."""

    def __init__(self, old: EventIndex, gone: Array, fresh: EventIndex, come: Array, concepts: ConceptTable) -> None:
        """``gone``: numbers in ``old``, sorted, of the patients whose rows do not stay; ``come``: the new numbers,
        sorted, of the patients of ``fresh``. Unlike, if the two do not fit."""
        self._old, self._fresh, self._concepts = old, fresh, concepts
        self._patients = Moved.by_new_places(old.patients, gone, come)
        first = old.array("first_event")
        gone_events = _rows_of(first, gone)
        self._gone = np.sort(old.array("row_of_event")[gone_events].astype(np.int64))
        if not np.array_equal(np.sort(old.array("patient")[self._gone]), np.repeat(gone, _counts_between(first)[gone])):
            raise Unlike("rows of patients are not where they should be")
        self._slices = in_order({*old.slices, *fresh.slices}, concepts)
        before_events = np.repeat(
            first[self._patients.before].astype(np.int64), _counts_between(fresh.array("first_event"))
        )
        self._events = Moved(old.events, gone_events, before_events)
        self._rows = Moved(old.events, self._gone, self._rows_before())
        tumors = old.array("first_tumor")
        before_tumors = np.repeat(tumors[self._patients.before], _counts_between(fresh.array("first_tumor")))
        self._tumors = Moved(int(tumors[-1]), _rows_of(tumors, gone), before_tumors)

    def _rows_before(self) -> Array:
        """Before which old row each fresh one stands: in its slice in the order of patients."""
        old, fresh, before = self._old, self._fresh, self._patients.before
        place = {one: at for at, one in enumerate(self._slices)}
        places = np.array([place[one] for one in old.slices], dtype=np.int64)
        if (places[1:] <= places[:-1]).any():
            raise Unlike("the concepts have another order")
        starts, owner = old.array("slice_starts"), old.array("patient")
        number = {one: at for at, one in enumerate(old.slices)}
        found = np.empty(fresh.events, dtype=np.int64)
        for one, (low, high) in zip(fresh.slices, pairwise(fresh.array("slice_starts").tolist()), strict=True):
            at = number.get(one)
            if at is None:
                found[low:high] = starts[np.searchsorted(places, place[one])]
                continue
            start, end = starts[at : at + 2].tolist()
            # Of the column's own type: another one would have it copied.
            sought = before[fresh.array("patient")[low:high]].astype(owner.dtype)
            found[low:high] = start + np.searchsorted(owner[start:end], sought)
        return found

    @property
    def events(self) -> int:
        """How many events there are now."""
        return self._events.length

    @property
    def patients(self) -> int:
        """How many patients there are now."""
        return self._patients.length

    def write(self, writer: ArrayWriter) -> dict[str, Any]:
        """Write all arrays; what is told of them. Unlike, DamagedIndex."""
        slices = self._write_slices(writer)
        contexts, spans = self._contexts(), self._spans()
        # As where there are no events, a width is listed that none has.
        widths = spans.values if self.events else np.zeros(1, dtype=np.int64)
        first = self._firsts("first_event")
        writer.add("first_event", first, narrowest(0, self.events))
        tumors = self._firsts("first_tumor")
        writer.add("first_tumor", tumors, narrowest(0, self._tumors.length))
        worlds = writer.create("tumor_world", "i1", self._tumors.length)
        for at, to in self._tumors.stretches():
            worlds[to] = self._old.array("tumor_world")[at]
        worlds[self._tumors.come] = self._fresh.array("tumor_world")
        most_tumors = max(0, int(np.diff(tumors).max(initial=0)) - 1)
        types = {
            "patient": np.dtype("<u4"),
            "ordinal": narrowest(0, int(np.diff(first).max(initial=0))),
            "low": self._days(self._rows, "low", "low"),
            "span": narrowest(0, len(widths)),
            "world": np.dtype("i1"),
            "context": narrowest(0, len(contexts.values)),
            "tumor": narrowest(-3, most_tumors),
        }
        columns = {name: writer.create(name, kind, self.events) for name, kind in types.items()}
        self._write_columns(columns, {"span": spans, "context": contexts})
        self._write_rows_of_events(writer)
        writer.add("spans", widths, "<i8")
        self._write_ends(writer)
        attributes = SplicedAttributes(self._old, self._fresh, self._rows, self._gone, slices.rows_of)
        summary = {
            "events": self.events,
            "patients": self.patients,
            "kinds": slices.kinds,
            "contexts": [list(context) for context in contexts.values],
            "attributes": attributes.write(writer),
        }
        slices.add_names()
        return summary

    # --- patients and tumors ----------------------------------------------------------------------------------------

    def _firsts(self, name: str) -> Array:
        """Where what each patient has begins, and where that of the last one ends."""
        counts = np.empty(self.patients, dtype=np.int64)
        owned = _counts_between(self._old.array(name))
        for at, to in self._patients.stretches():
            counts[to] = owned[at]
        counts[self._patients.come] = _counts_between(self._fresh.array(name))
        return np.concatenate([[0], np.cumsum(counts)])

    # --- rows -------------------------------------------------------------------------------------------------------

    def _write_slices(self, writer: ArrayWriter) -> WrittenSlices:
        number = {one: at for at, one in enumerate(self._slices)}
        rows = np.zeros(len(self._slices), dtype=np.int64)
        starts = self._old.array("slice_starts")
        for slices, counts in (
            (self._old.slices, np.diff(starts - np.searchsorted(self._gone, starts))),
            (self._fresh.slices, np.diff(self._fresh.array("slice_starts"))),
        ):
            rows[[number[one] for one in slices]] += counts
        left = np.flatnonzero(rows).tolist()
        return WrittenSlices(writer, [self._slices[at] for at in left], rows[left].tolist(), self._concepts)

    def _contexts(self) -> Recoded[list[Any]]:
        """The contexts that are left."""
        old, fresh = self._old.contexts, self._fresh.contexts
        old_counts, counts = self._counts("context", len(old), len(fresh))
        return recoded(old, old_counts, fresh, counts)

    def _spans(self) -> Recoded[Array]:
        """The days between first and last ones that are left."""
        old, fresh = self._old.array("spans"), self._fresh.array("spans")
        old_counts, counts = self._counts("span", len(old), len(fresh))
        return recoded_numbers(old, old_counts, fresh, counts)

    def _counts(self, name: str, old: int, fresh: int) -> tuple[Array, Array]:
        """How many rows that stay, and that come, have each code of a column."""
        column = self._old.array(name)
        return counts_of(column, old, column[self._gone]), counts_of(self._fresh.array(name), fresh)

    def _days(self, moved: Moved, low: str, high: str) -> np.dtype[Any]:
        """The type of days between the least of one column and the greatest of another."""
        least, greatest = moved.extremes(self._old.array(low))[0], moved.extremes(self._old.array(high))[1]
        return narrowest(
            min(least, int(self._fresh.array(low).min(initial=0))),
            max(greatest, int(self._fresh.array(high).max(initial=0))),
        )

    def _write_columns(self, columns: Mapping[str, Array], codes: Mapping[str, Recoded[Any]]) -> None:
        """The columns of all rows; ``codes``: of those whose values may have other codes now."""
        new_code = {name: translation(one.old, columns[name].dtype) for name, one in codes.items()}
        if not self._patients.still:
            numbers = np.arange(self.patients, dtype=columns["patient"].dtype)
            number = new_code["patient"] = np.zeros(self._old.patients, numbers.dtype)
            for at, to in self._patients.stretches():
                number[at] = numbers[to]
        for at, to in self._rows.stretches():
            for name, column in columns.items():
                cell, table = self._old.array(name)[at], new_code.get(name)
                column[to] = cell if table is None else table[cell]
        for name, column in columns.items():
            cell = self._fresh.array(name)
            if name in codes:
                cell = codes[name].fresh[cell]
            column[self._rows.come] = self._patients.come[cell] if name == "patient" else cell

    def _write_rows_of_events(self, writer: ArrayWriter) -> None:
        column = writer.create("row_of_event", narrowest(0, self.events), self.events)
        old = self._old.array("row_of_event")
        for at, to in self._events.stretches():
            column[to] = self._rows.to(old[at])
        column[self._events.come] = self._rows.come[self._fresh.array("row_of_event")]

    def _write_ends(self, writer: ArrayWriter) -> None:
        """Which rows have an end, and when."""
        old, fresh = self._old.array("end_row"), self._fresh.array("end_row")
        gone = np.flatnonzero(np.isin(old, self._gone))
        ends = Moved(len(old), gone, np.searchsorted(old, self._rows.before[fresh].astype(old.dtype)))
        day = self._days(ends, "end_low", "end_high")
        rows = writer.create("end_row", narrowest(0, self.events), ends.length)
        days = {name: writer.create(name, day, ends.length) for name in ("end_low", "end_high")}
        for at, to in ends.stretches():
            rows[to] = self._rows.to(old[at])
            for name, column in days.items():
                column[to] = self._old.array(name)[at]
        rows[ends.come] = self._rows.come[fresh]
        for name, column in days.items():
            column[ends.come] = self._fresh.array(name)


def _counts_between(firsts: Array) -> Array:
    """How many each patient has, of whom these are the first."""
    return np.diff(firsts.astype(np.int64))


def _rows_of(firsts: Array, patients: Array) -> Array:
    """What these patients have, of whom ``firsts`` are the first."""
    return spread(np.column_stack([firsts[patients], firsts[patients + 1]]).astype(np.int64))
