"""Old places and new ones of an array from which some things were taken and into which others were put."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final, Self

import numpy as np

from .arrays import Array
from .event_rows import Part, spread

#: So many places are worked on at a time: what is made of them stays in the cache.
_BLOCK: Final = 1 << 18
#: A run of so many places is copied by itself; shorter ones are gathered, many at a time.
_LONG: Final = 1024
#: So many stretches a run, for each of which the way to the new places is kept where it is one for all of them; and the
#: least and the most bits of a stretch.
_STRETCHES: Final = 8
_FEWEST_BITS: Final = 3
_MOST_BITS: Final = 10
_SEVERAL: Final = np.iinfo(np.int64).min


class Unlike(Exception):
    """What was cannot be spliced into what is: concepts have another order, or arrays contradict each other."""


class Moved:
    """What stays keeps its order. ``length``: of the new array; ``come``: the new places of what was put in."""

    def __init__(self, length: int, gone: Array, before: Array) -> None:
        """Of an array of this ``length``: the places that are ``gone``, sorted and each once; and ``before`` which old
        place (``length``: behind all) each new thing stands, in order."""
        gone, before = gone.astype(np.int64), before.astype(np.int64)
        # Sorted parts are sorted together sooner than np.unique makes a set of them.
        first = np.flatnonzero(np.diff(gone, prepend=-2) != 1)
        # The last of a run stands before the first of the next one.
        runs_of_gone = np.concatenate([gone[first], gone[first - 1] + 1])
        cuts = np.sort(np.concatenate([runs_of_gone, before, [0, length]]), kind="stable")
        start, end = cuts[:-1], cuts[1:]
        stays = (start < end) & (np.append(gone, -1)[np.searchsorted(gone, start)] != start)
        #: The runs of old places that stay together, and how far each moves.
        self._start, self._end = start[stays], end[stays]
        self._by = np.searchsorted(before, self._start, side="right") - np.searchsorted(gone, self._start)
        self.before = before
        self.come = before - np.searchsorted(gone, before) + np.arange(len(before))
        self.length = length - len(gone) + len(before)

    @classmethod
    def by_new_places(cls, length: int, gone: Array, come: Array) -> Self:
        """The same, told by the new places of what was put in, sorted."""
        stay_before = come - np.arange(len(come))
        return cls(length, gone, stay_before + np.searchsorted(gone - np.arange(len(gone)), stay_before, side="right"))

    @property
    def still(self) -> bool:
        """Whether everything that stays keeps its place."""
        return not self._by.any()

    def stretches(self, first: int = 0, last: int | None = None) -> Iterator[tuple[Part, Part]]:
        """The old places that stay, from ``first`` to below ``last`` (None: all), and the new ones, some at a time."""
        low = np.searchsorted(self._end, first, side="right")
        high = len(self._start) if last is None else np.searchsorted(self._start, last)
        start, end, by = np.maximum(self._start[low:high], first), self._end[low:high], self._by[low:high]
        if last is not None:
            end = np.minimum(end, last)
        long = end - start >= _LONG
        for run, until, way in zip(start[long].tolist(), end[long].tolist(), by[long].tolist(), strict=True):
            for at in range(run, until, _BLOCK):
                to = min(until, at + _BLOCK)
                yield slice(at, to), slice(at + way, to + way)
        start, end, by = start[~long], end[~long], by[~long]
        held = np.cumsum(end - start)
        done = 0
        while done < len(held):
            to = int(np.searchsorted(held, (held[done - 1] if done else 0) + _BLOCK))
            some = slice(done, max(to, done + 1))
            places = spread(np.column_stack([start[some], end[some]]))
            yield places, places + np.repeat(by[some], end[some] - start[some])
            done = some.stop

    def to(self, places: Array) -> Array:
        """The new places of these old ones, which stay."""
        if not len(self._start):
            return places.astype(np.int64)
        way = self._ways[places >> self._bits]
        several = np.flatnonzero(way == _SEVERAL)
        way[several] = self._by[np.searchsorted(self._start, places[several], side="right") - 1]
        way += places
        return np.asarray(way)

    @functools.cached_property
    def _bits(self) -> int:
        """How many bits a stretch has: short ones take more memory, of long ones more have several ways."""
        fitting = (int(self._end[-1]) // (_STRETCHES * len(self._start))).bit_length() - 1
        return min(max(fitting, _FEWEST_BITS), _MOST_BITS)

    @functools.cached_property
    def _ways(self) -> Array:
        """How far all that stays of each stretch moves."""
        first = np.arange(0, int(self._end[-1]), 1 << self._bits)
        run = np.searchsorted(self._start, first, side="right")
        last = np.searchsorted(self._start, first + (1 << self._bits) - 1, side="right")
        return np.where(run == last, self._by[run - 1], _SEVERAL)

    def extremes(self, column: Array) -> tuple[int, int]:
        """The least and the greatest of what stays of a column and nought."""
        if not len(self._start):
            return 0, 0
        bounds = np.column_stack([self._start, self._end]).ravel()
        if bounds[-1] == len(column):
            bounds = bounds[:-1]
        return (
            min(0, int(np.minimum.reduceat(column, bounds)[::2].min())),
            max(0, int(np.maximum.reduceat(column, bounds)[::2].max())),
        )


def shifted(part: Part, by: int) -> Part:
    """The places, each so much further on."""
    return slice(part.start + by, part.stop + by) if isinstance(part, slice) else part + by
