"""A file of patient lists: Roaring bitmaps under hashed keys, mapped into memory and read a list at a time.

An entry has, for each world from the highest down, the numbers of the bitmaps that united are its patients, so that
entries share what is the same in them, and a world adds little to the one above it. Nothing is read when the file is
opened: a look-up touches the pages of a binary search and those of its own bitmaps.

Layout, little-endian: a header; the bitmaps; offsets of the bitmaps (u64); keys, sorted (u64); for each key the number
of patients in each world (u32); for each key and world the first of its parts (u32); parts (u32, numbers of bitmaps).
"""

from __future__ import annotations

import bisect
import hashlib
import os
import struct
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from pyroaring import BitMap

from ...files.kept_file import KeptFile, kept
from ...model import World

#: The file of the lists, in the folder of the index.
LISTS: Final = "lists"
#: The concept under which the patients with any event of a kind are listed.
ANY_CONCEPT: Final = ""

_MAGIC: Final = b"COHLIST1"
_HEADER: Final = struct.Struct("<8s6Q")
#: From the highest down: a lower world has all that a higher one has.
LEVELS: Final = tuple(sorted(World, reverse=True))
_WORLDS: Final = len(LEVELS)

#: For each world of LEVELS, the bitmaps that it adds to those before it.
Parts = Sequence[Sequence[int]]


def key_of(*words: str) -> int:
    """The 64 bits under which a list is found."""
    return int.from_bytes(hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest(), "little")


def key_of_exact(kind: str, concept: str) -> int:
    """The key of the list of a kind and of this very concept, without what lies below it."""
    return key_of(kind, concept, "exact")


class ListWriter:
    """Writes the file front to back: bitmaps as they come, and what leads to them at the end."""

    def __init__(self, path: Path) -> None:
        """The file is made new, readable by its owner alone."""
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        self._file.write(b"\0" * _HEADER.size)
        self._offsets = array("Q", [_HEADER.size])
        self._entries: dict[int, tuple[tuple[int, ...], Parts]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        self._file.close()

    def bitmap(self, patients: BitMap) -> int:
        """Write a bitmap; returns its number."""
        patients.run_optimize()
        cell = patients.serialize()
        self._file.write(cell)
        self._offsets.append(self._offsets[-1] + len(cell))
        return len(self._offsets) - 2

    def entry(self, key: int, parts: Parts, sizes: Sequence[int]) -> None:
        """List under a key: the parts for each world of LEVELS, and how many patients each world then has."""
        if key in self._entries:
            raise ValueError(f"two lists have the key {key:#x}")
        self._entries[key] = (tuple(sizes), parts)

    def _finish(self) -> None:
        sizes, first, parts = array("I"), array("I", [0]), array("I")
        keys = sorted(self._entries)
        for key in keys:
            of_entry, levels = self._entries[key]
            sizes.extend(of_entry)
            for level in levels:
                parts.extend(level)
                first.append(len(parts))
        start = self._file.tell()
        self._file.write(b"\0" * (-start % 8))
        directory = self._file.tell()
        for column in (self._offsets, array("Q", keys), sizes, first, parts):
            if sys.byteorder == "big":
                column.byteswap()
            self._file.write(column.tobytes())
        end = self._file.tell()
        self._file.seek(0)
        self._file.write(
            _HEADER.pack(_MAGIC, directory, len(self._offsets) - 1, len(keys), len(parts), end, self._offsets[-1])
        )


class ListFile:
    """An open file of lists. Safe across threads."""

    def __init__(self, path: Path | KeptFile) -> None:
        """DamagedIndex if the file is none of these, or is not as it was written."""
        self._file = kept(path)
        self._data = self._file.data
        magic, directory, bitmaps, keys, parts, end, _ = self._file.header(_HEADER)
        if magic != _MAGIC or end != len(self._data) or sys.byteorder != "little":
            raise self._file.damaged("is none of its kind")
        #: What leads to the bitmaps, which is proven when the first of them is sought.
        self._directory = directory, end
        self._found_ways = self._file.proven
        whole = memoryview(self._data)
        place = directory

        def column(code: Literal["I", "Q"], count: int) -> memoryview:
            nonlocal place
            width = struct.calcsize(code)
            found = whole[place : place + width * count].cast(code)
            place += width * count
            return found

        self._offsets = column("Q", bitmaps + 1)
        self._keys = column("Q", keys)
        self._sizes = column("I", keys * _WORLDS)
        self._first = column("I", keys * _WORLDS + 1)
        self._parts = column("I", parts)

    def find(self, key: int) -> int | None:
        """The number of the entry under a key; None if there is none."""
        if not self._found_ways:
            self._file.prove(*self._directory)
            self._found_ways = True
        at = bisect.bisect_left(self._keys, key)
        return at if at < len(self._keys) and self._keys[at] == key else None

    def size(self, entry: int, world: World) -> int:
        """How many patients the entry has in the world."""
        found: int = self._sizes[entry * _WORLDS + LEVELS[0] - world]
        return found

    def patients(self, entry: int, world: World) -> BitMap:
        """The patients of the entry in the world: the caller's own. DamagedIndex if they are others than written."""
        start = entry * _WORLDS
        try:
            numbers = self._parts[self._first[start] : self._first[start + LEVELS[0] - world + 1]]
            if len(numbers) == 1:
                return self._bitmap(numbers[0])
            # A world that is there twice, here and above, is read once.
            return BitMap.union(*map(self._bitmap, dict.fromkeys(numbers))) if len(numbers) else BitMap()
        except (IndexError, ValueError) as error:
            raise self._file.damaged(f"cannot be read ({type(error).__name__})") from error

    def _bitmap(self, number: int) -> BitMap:
        low, high = self._offsets[number], self._offsets[number + 1]
        self._file.prove(low, high)
        return BitMap.deserialize(self._data[low:high])

    def __len__(self) -> int:
        return len(self._keys)
