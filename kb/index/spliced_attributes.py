"""The attribute columns of a generation spliced from those of the one before and those of the patients written anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from .arrays import Array, ArrayWriter
from .attributes import column_form
from .columns import EventIndex
from .event_rows import DistinctValues
from .moved import Moved, shifted
from .recoded import counts_of, recoded, recoded_numbers, translation
from .word_arrays import packed

_NO_ROWS: Final = np.zeros(0, dtype=np.int64)
_NO_VALUES: Final = DistinctValues((), np.zeros(0))


class SplicedAttributes:
    """Writes them."""

    def __init__(
        self, old: EventIndex, fresh: EventIndex, rows: Moved, gone: Array, rows_of: Mapping[str, tuple[int, int]]
    ) -> None:
        """``gone``: the old rows that do not stay; ``rows_of``: of each kind, its first new row and the one after its
        last."""
        self._old, self._fresh = old, fresh
        self._rows = rows
        self._gone = gone
        self._rows_of = rows_of

    def write(self, writer: ArrayWriter) -> list[list[str]]:
        """All columns; the (kind, name) of each, by number."""
        held = {*self._old.attributes, *self._fresh.attributes}
        found: list[list[str]] = []
        for name in sorted({name for _, name in held}):
            for kind in self._rows_of:
                if (kind, name) in held and self._column(writer, len(found), kind, name):
                    found.append([kind, name])
        return found

    def _column(self, writer: ArrayWriter, number: int, kind: str, name: str) -> bool:
        """Write one, unless no row has a value any more."""
        old, fresh = self._old.values(kind, name), self._fresh.values(kind, name)
        old_rows, fresh_rows = self._old.rows_of(kind), self._fresh.rows_of(kind)
        gone = self._gone[slice(*np.searchsorted(self._gone, old_rows))]
        # Of every row of the kind that comes: they are few.
        come = self._rows.come[slice(*fresh_rows)]
        codes = np.zeros(len(come), dtype=np.int64) if fresh is None else fresh.at(slice(*fresh_rows)).astype(np.int64)
        before, after = (_NO_VALUES if side is None else side.distinct for side in (old, fresh))
        counts = counts_of(codes, len(after) + 1)[:-1]
        old_counts = np.zeros(len(before), dtype=np.int64)
        if old is not None:
            old_counts = counts_of(old.codes[:], len(before) + 1, old.at(gone))[:-1]
        held = int(old_counts.sum() + counts.sum())
        if not held:
            return False
        texts = recoded(before.texts, old_counts[: len(before.texts)], after.texts, counts[: len(after.texts)])
        numbers = recoded_numbers(
            before.numbers, old_counts[len(before.texts) :], after.numbers, counts[len(after.texts) :]
        )
        first_number = len(texts.values)
        none = first_number + len(numbers.values)
        start, end = self._rows_of[kind]
        dense, code_type, row_type = column_form(end - start, held, none)
        old_table = np.concatenate([texts.old, numbers.old + first_number, [none]])
        coming = np.concatenate([texts.fresh, numbers.fresh + first_number, [none]]).astype(code_type)[codes]
        prefix = f"attribute_{number}_"
        if dense:
            column = writer.create(f"{prefix}codes", code_type, end - start)
            if old is None:
                column[:] = none
            else:
                table = translation(old_table, code_type)
                for at, to in self._rows.stretches(*old_rows):
                    cell = old.at(at)
                    column[shifted(to, -start)] = cell if table is None else table[cell]
            column[come - start] = coming
        else:
            stays, staying = _NO_ROWS, _NO_ROWS
            if old is not None:
                stays, staying = old.held()
                there = np.isin(stays, gone, invert=True)
                stays, staying = self._rows.to(stays[there]), old_table[staying[there]]
            comes = coming != none
            rows = np.concatenate([stays, come[comes]])
            order = np.argsort(rows, kind="stable")
            writer.add(f"{prefix}rows", rows[order] - start, row_type)
            writer.add(f"{prefix}codes", np.concatenate([staying, coming[comes]])[order], code_type)
        writer.add(f"{prefix}texts", packed(texts.values))
        writer.add(f"{prefix}numbers", numbers.values, "<f8")
        return True
