"""The ids of all patients, sorted, in a mapped file: by number, and the number by id, without reading the others."""

from __future__ import annotations

import bisect
import os
import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, overload

from ...files.block_digests import blocks_of
from ...files.kept_file import KeptFile, kept

#: The file of the ids, in the folder of the index.
PATIENTS: Final = "patients"

_MAGIC: Final = b"COHPAT01"
_HEADER: Final = struct.Struct("<8s3Q")
_IDS_AT_A_TIME: Final = 65_536


def write_patient_ids(path: Path, ids: Iterable[str]) -> None:
    """Write the ids, which come sorted. Layout: a header, the ids in UTF-8, where each begins and the last one ends
    (u64), little-endian."""
    offsets = array("Q", [0])
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(b"\0" * _HEADER.size)
        waiting: list[bytes] = []
        for one in ids:
            waiting.append(one.encode())
            offsets.append(offsets[-1] + len(waiting[-1]))
            if len(waiting) >= _IDS_AT_A_TIME:
                file.write(b"".join(waiting))
                waiting.clear()
        file.write(b"".join(waiting))
        start = file.tell()
        file.write(b"\0" * (-start % 8))
        place = file.tell()
        if sys.byteorder == "big":
            offsets.byteswap()
        file.write(offsets.tobytes())
        size = file.tell()
        file.seek(0)
        file.write(_HEADER.pack(_MAGIC, len(offsets) - 1, place, size))


class PatientIds(Sequence[str]):
    """All patient ids, sorted; the position is the dense patient number. Safe across threads."""

    def __init__(self, path: Path | KeptFile) -> None:
        """DamagedIndex if the file is none of these, or is not as it was written."""
        self._file = kept(path)
        self._data = self._file.data
        magic, count, place, size = self._file.header(_HEADER)
        if magic != _MAGIC or size != len(self._data) or place + 8 * (count + 1) != size:
            raise self._file.damaged("is none of its kind")
        if sys.byteorder == "big":
            self._file.prove_all()
            swapped = array("Q", self._data[place:])
            swapped.byteswap()
            self._offsets = memoryview(swapped)
        else:
            self._offsets = memoryview(self._data)[place:].cast("Q")
        self._count: int = count
        self._place: int = place
        #: So many ids are proven one by one; after that the rest is at once, which each then costs nothing more.
        self._one_by_one = blocks_of(size)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        """The id with this number, or the ids with these."""
        if isinstance(at, slice):
            return tuple(map(self._id, range(*at.indices(self._count))))
        if not -self._count <= at < self._count:
            raise IndexError(f"there are {self._count} patients, none has the number {at}")
        return self._id(at % self._count)

    def __iter__(self) -> Iterator[str]:
        return map(self._id, range(self._count))

    def __contains__(self, patient_id: object) -> bool:
        return isinstance(patient_id, str) and self.number(patient_id) is not None

    def __eq__(self, other: object) -> bool:
        """Equal to any sequence of the same ids."""
        if isinstance(other, PatientIds | tuple | list):
            return len(self) == len(other) and all(one == its for one, its in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def number(self, patient_id: str) -> int | None:
        """The number of the patient with this id; None if there is none."""
        at = bisect.bisect_left(self, patient_id)
        return at if at < self._count and self._id(at) == patient_id else None

    def _id(self, number: int) -> str:
        if not self._file.proven:
            self._prove(number)
        low, high = self._offsets[number] + _HEADER.size, self._offsets[number + 1] + _HEADER.size
        try:
            return self._data[low:high].decode()
        except UnicodeDecodeError as error:
            raise self._file.damaged("cannot be read (no UTF-8)") from error

    def _prove(self, number: int) -> None:
        """See that the id of a number is as it was written."""
        self._one_by_one -= 1
        if self._one_by_one < 0:
            self._file.prove_all()
            return
        begin = self._place + 8 * number
        self._file.prove(begin, begin + 16)
        self._file.prove(self._offsets[number] + _HEADER.size, self._offsets[number + 1] + _HEADER.size)
