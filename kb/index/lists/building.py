"""Building the lists from the event columns, a kind at a time: by concept, and by concept and attribute value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from ...model import Value
from ...ontology.concepts import ConceptTable
from .closing import MOST_PARTS, Array, Exact, highest_worlds, levels_of, members_below, write_closed
from .list_file import LEVELS, LISTS, ListWriter, key_of, key_of_exact
from .values import REST, VALUES, ListedValues, limits, write_values

#: Rows that are sorted at a time.
_BLOCK: Final = 4_000_000
#: Bits of a world, and of a patient and a world, in one number.
_WORLD: Final = 2
_PATIENT: Final = 34

#: Kind, concept, world and the number of its patients.
Size = tuple[str, str, int, int]


class EventRows(Protocol):
    """Events in order of kind, concept and patient, as columns."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of which there are events."""

    @property
    def patient(self) -> Array:
        """The dense patient number of each row."""

    @property
    def world(self) -> Array:
        """The world of each row."""

    def slices(self, kind: str) -> tuple[Sequence[str], Array]:
        """The concepts of a kind, in the order of their rows, and where the rows of each begin; the last end too."""

    def attributes(self, kind: str) -> Iterable[tuple[str, Sequence[Value], Array, Array]]:
        """Each attribute of a kind: its name, its values, the rows that have one, in order, and which they have."""


def build_lists(rows: EventRows, folder: Path, concepts: ConceptTable, most_parts: int = MOST_PARTS) -> list[Size]:
    """Write the files of the lists into ``folder``; returns the sizes of the lists by kind and concept, sorted."""
    sizes: list[Size] = []
    listed: dict[str, dict[str, ListedValues | None]] = {}
    with ListWriter(folder / LISTS) as file:
        writer = _Writer(rows, file, concepts, most_parts)
        for kind in rows.kinds:
            sizes += writer.by_concept(kind)
            listed[kind] = dict(writer.by_value(kind))
    write_values(folder / VALUES, {kind: names for kind, names in listed.items() if names})
    return sorted(sizes)


class _Writer:
    def __init__(self, rows: EventRows, file: ListWriter, concepts: ConceptTable, most_parts: int) -> None:
        self._rows = rows
        self._file = file
        self._concepts = concepts
        self._most_parts = most_parts

    def by_concept(self, kind: str) -> Iterator[Size]:
        """The lists of each concept at or above one that there are events of, and of the whole kind."""
        names, starts = self._rows.slices(kind)
        bounds = starts.tolist()
        exact = {
            name: self._exact(_packed(self._rows, low, high))
            for name, low, high in zip(names, bounds, bounds[1:], strict=False)
        }
        for name, one in exact.items():
            self._file.entry(key_of_exact(kind, name), one.parts, one.sizes)
        for concept, sizes in self._closed(exact, kind):
            yield from ((kind, concept, int(world), size) for world, size in zip(LEVELS, sizes, strict=True) if size)

    def by_value(self, kind: str) -> Iterator[tuple[str, ListedValues | None]]:
        """The lists of the common values of each attribute, and one of the others; yields what is listed."""
        names, starts = self._rows.slices(kind)
        for name, values, rows, codes in self._rows.attributes(kind):
            found = _chosen(values, np.bincount(codes, minlength=len(values)))
            if found is None:
                yield name, None
                continue
            listed, numbers = found
            exact: dict[int, dict[str, Exact]] = {}
            for place, number, packed in self._by_place_and_number(starts, rows, numbers, codes):
                exact.setdefault(number, {})[names[place]] = self._exact(packed)
            for number in sorted(exact):
                for _ in self._closed(exact[number], kind, name, str(number)):
                    pass
            yield name, listed

    def _by_place_and_number(
        self, starts: Array, rows: Array, numbers: Array, codes: Array
    ) -> Iterator[tuple[int, int, Array]]:
        """The patients and worlds, packed, for each concept (by its place) and number of a value."""
        width = int(numbers.max(initial=0)) + 2
        for low, high in _blocks(np.searchsorted(rows, starts)):
            at = np.asarray(rows[low:high], dtype=np.int64)
            place = np.searchsorted(starts, at, side="right") - 1
            key = (place * width + numbers[codes[low:high]] - REST).astype(np.uint64)
            packed = key << np.uint64(_PATIENT) | _patients_and_worlds(self._rows, at)
            packed.sort()
            packed = highest_worlds(packed)
            keys = packed >> np.uint64(_PATIENT)
            ends = np.append(np.flatnonzero(keys[1:] != keys[:-1]) + 1, len(keys)).tolist() if len(keys) else []
            start = 0
            for end in ends:
                where, number = divmod(int(keys[start]), width)
                yield where, number + REST, packed[start:end] & np.uint64((1 << _PATIENT) - 1)
                start = end

    def _exact(self, packed: Array) -> Exact:
        worlds = (packed & np.uint64(3)).view(np.int64)
        return Exact(levels_of((packed >> np.uint64(_WORLD)).astype(np.uint32), worlds), self._file)

    def _closed(self, exact: dict[str, Exact], *words: str) -> Iterable[tuple[str, Sequence[int]]]:
        kind, *rest = words
        below = members_below(exact, self._concepts.at_or_above)
        return write_closed(self._file, exact, below, lambda concept: key_of(kind, concept, *rest), self._most_parts)


def _packed(rows: EventRows, low: int, high: int) -> Array:
    """The patients and highest worlds of a stretch of rows in order of patient."""
    # Rows of one patient stand together, their worlds in any order.
    packed = _patients_and_worlds(rows, slice(low, high))
    if len(packed) and not (packed[1:] > packed[:-1]).all():
        packed.sort()
    return highest_worlds(packed)


def _patients_and_worlds(rows: EventRows, at: slice | Array) -> Array:
    packed: Array = rows.patient[at].astype(np.uint64) << np.uint64(_WORLD) | rows.world[at].astype(np.uint64)
    return packed


def _blocks(bounds: Array) -> Iterator[tuple[int, int]]:
    """Neighbouring stretches joined to blocks of rows that are sorted together; none is cut."""
    start = int(bounds[0])
    for end, after in zip(bounds.tolist()[1:], [*bounds.tolist()[2:], None], strict=True):
        if after is None or after - start > _BLOCK:
            if end > start:
                yield start, end
            start = end


def _chosen(values: Sequence[Value], counts: Array) -> tuple[ListedValues, Array] | None:
    """What is listed of values that so many events have each, and for each value its number or REST; None when too few
    events have a common one."""
    most, total = limits()["most_values"], int(counts.sum())
    # Texts before numbers, so that the order is one of values and not of how they came.
    order = sorted(
        np.flatnonzero(counts).tolist(), key=lambda at: (-counts[at], isinstance(values[at], float), values[at])
    )
    common, others = order[:most], order[most:]
    if not total or counts[common].sum() < limits()["least_share"] * total:
        return None
    numbers = np.full(len(values), REST, dtype=np.int64)
    numbers[common] = np.arange(len(common))
    rest = tuple(values[at] for at in others) if len(others) <= limits()["most_told"] else None
    return ListedValues(tuple(values[at] for at in common), rest), numbers
