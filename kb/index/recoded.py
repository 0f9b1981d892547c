"""Codes of values, when some values go and others come: the values that are left, and the new code of each old one.

Codes are places among the distinct values in their order, of which each has a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np

from .arrays import Array
from .moved import Unlike

_BLOCK: Final = 1 << 20

Values = TypeVar("Values", bound=Sequence[Any] | Array)


@dataclass(frozen=True, slots=True)
class Recoded(Generic[Values]):
    """The ``values`` there are now, in order; the new code of each ``old`` one and of each ``fresh`` one."""

    values: Values
    old: Array
    fresh: Array


def counts_of(codes: Array, values: int, gone: Array | None = None) -> Array:
    """How many rows have each of so many values, those with the codes ``gone`` left out. Unlike, if a code is none."""
    counts = np.zeros(values, dtype=np.int64)
    for at in range(0, len(codes), _BLOCK):
        found = np.bincount(codes[at : at + _BLOCK], minlength=values)
        if len(found) > values:
            raise Unlike("a code is of no value")
        counts += found
    return counts if gone is None else counts - np.bincount(gone, minlength=values)


def recoded(old: Sequence[Any], old_counts: Array, fresh: Sequence[Any], fresh_counts: Array) -> Recoded[list[Any]]:
    """Values that sort as the database sorts them (texts do: code points and bytes of UTF-8 have one order)."""
    used = [one for values, counts in ((old, old_counts), (fresh, fresh_counts)) for one in _used(values, counts)]
    values = sorted(set(used))
    code = {value: at for at, value in enumerate(values)}
    return Recoded(values, *(_table([code.get(value, 0) for value in side]) for side in (old, fresh)))


def recoded_numbers(old: Array, old_counts: Array, fresh: Array, fresh_counts: Array) -> Recoded[Array]:
    """The same for numbers, none of which is made an object."""
    values = np.union1d(old[old_counts > 0], fresh[fresh_counts > 0])
    return Recoded(values, np.searchsorted(values, old), np.searchsorted(values, fresh))


def translation(table: Array, kind: np.dtype[Any]) -> Array | None:
    """The table as codes of this type; None where no code changes."""
    return None if np.array_equal(table, np.arange(len(table))) else table.astype(kind)


def _used(values: Sequence[Any], counts: Array) -> list[Any]:
    return [values[at] for at in np.flatnonzero(counts).tolist()]


def _table(codes: list[int]) -> Array:
    return np.array(codes, dtype=np.int64)
