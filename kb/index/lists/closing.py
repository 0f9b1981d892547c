"""Closing lists over what lies below: each concept's list is shared with, or united from, those of the concepts below.

A list that is united from few others is not written: its entry names them, and they are united when it is asked for.
One that is united from many is written, so that a class of ten thousand codes is read as fast as a single code.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from pyroaring import BitMap

from ..patient_sets import patient_set
from .list_file import LEVELS, ListWriter, Parts

Array = np.ndarray[Any, np.dtype[Any]]

#: A list of more bitmaps than this is written as one: each bitmap more costs its reader a microsecond or two.
MOST_PARTS: Final = 8

_WORLDS: Final = tuple(map(int, LEVELS))

#: Of one list, the patients by the highest world that they are listed in, for each world of LEVELS.
Levels = Sequence[BitMap]


class Exact:
    """A list that is not closed: its bitmaps, and where they were written."""

    __slots__ = ("levels", "parts", "sizes")

    def __init__(self, levels: Levels, file: ListWriter) -> None:
        self.levels = levels
        #: How many patients each world of LEVELS has.
        self.sizes: list[int] = list(itertools.accumulate(map(len, levels)))
        self.parts: Parts = [[file.bitmap(level)] if level else [] for level in levels]


def levels_of(patients: Array, worlds: Array) -> list[BitMap]:
    """Patients, sorted and each once, parted by their world."""
    # Not by members of the enumeration, which NumPy first asks whether they are arrays.
    counts = np.bincount(worlds, minlength=len(LEVELS)).tolist()
    if len(patients) in counts:
        return [patient_set(patients) if counts[level] else BitMap() for level in _WORLDS]
    return [patient_set(patients[worlds == level]) if counts[level] else BitMap() for level in _WORLDS]


def highest_worlds(keys: Array) -> Array:
    """Of sorted numbers whose last two bits are a world, the highest of those that agree in all other bits."""
    last = np.empty(len(keys), dtype=bool)
    if len(keys):
        last[-1] = True
        np.not_equal(keys[1:] >> np.uint64(2), keys[:-1] >> np.uint64(2), out=last[:-1])
    return keys[last]


def write_closed(
    file: ListWriter, exact: Mapping[str, Exact], below: Mapping[str, Sequence[str]], key: Any, most_parts: int
) -> Iterable[tuple[str, Sequence[int]]]:
    """Write an entry for each concept of ``below``, the union of the exact lists that it names; gives their sizes.

    ``key(concept)`` is the key of its entry. Sizes are in the order of LEVELS.
    """
    for concept, members in below.items():
        lists = [exact[member] for member in members]
        if len(lists) == 1:
            parts, sizes = lists[0].parts, lists[0].sizes
        else:
            levels, sizes = _united(lists)
            several = [
                list(dict.fromkeys(number for one in lists for number in one.parts[at])) for at in range(len(LEVELS))
            ]
            few = sum(map(len, several)) <= most_parts
            parts = several if few else Exact(levels, file).parts
        file.entry(key(concept), parts, sizes)
        yield concept, sizes


def _united(lists: Sequence[Exact]) -> tuple[list[BitMap], list[int]]:
    """What each world adds to those above it, and how many patients it then has."""
    reached, levels, sizes = BitMap(), [], []
    for at in range(len(LEVELS)):
        level = BitMap.union(*[one.levels[at] for one in lists])
        level -= reached
        levels.append(level)
        reached |= level
        sizes.append(len(reached))
    return levels, sizes


def members_below(exact: Iterable[str], above: Any) -> dict[str, list[str]]:
    """Each concept at or above one of ``exact``, and no concept (``""``), with those of ``exact`` at or below it."""
    found: dict[str, list[str]] = {"": []}
    for concept in exact:
        found[""].append(concept)
        # Sorted: a set comes in another order in each process, and equal tables make equal files.
        for ancestor in sorted(above(concept)):
            if ancestor:
                found.setdefault(ancestor, []).append(concept)
    return found
