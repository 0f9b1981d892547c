"""A file of named arrays with its directory: written array by array, mapped into memory when first looked at.

``NAME.bin`` holds the arrays, little-endian, each at a multiple of 64 bytes; ``NAME.json`` says of each its type,
length and place, how long the file is, and whatever else its writer has to tell.
"""

from __future__ import annotations

import functools
import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..errors import DamagedIndex

Array = np.ndarray[Any, np.dtype[Any]]

#: Raised whenever what the files hold changes.
INDEX_VERSION: Final = 1
_ALIGNMENT: Final = 64


def narrowest(low: int, high: int) -> np.dtype[Any]:
    """The smallest little-endian integer type that holds both numbers and all between."""
    kinds = ("u1", "<u2", "<u4", "<u8") if low >= 0 else ("i1", "<i2", "<i4", "<i8")
    for kind in kinds:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return np.dtype(kind)
    raise OverflowError(f"no integer type holds {low} to {high}")


class ArrayWriter:
    """Writes a file of arrays. Space is taken from the disk before it is mapped: a full disk is an OSError at once."""

    def __init__(self, folder: Path, name: str) -> None:
        """``folder`` exists; the files in it are readable by their owner alone."""
        self._data, self._directory = folder / f"{name}.bin", folder / f"{name}.json"
        self._file = os.open(self._data, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self._arrays: dict[str, list[Any]] = {}
        self._mapped: list[np.memmap[Any, Any]] = []
        self._size = 0

    def create(self, name: str, dtype: np.dtype[Any] | str, length: int) -> Array:
        """A new array of zeros, to be filled in place before :meth:`finish`."""
        kind = np.dtype(dtype)
        offset = -(-self._size // _ALIGNMENT) * _ALIGNMENT
        self._arrays[name] = [kind.str, length, offset]
        self._size = offset + length * kind.itemsize
        if not length:
            return np.zeros(0, kind)
        os.posix_fallocate(self._file, offset, length * kind.itemsize)
        mapped = np.memmap(self._data, kind, "r+", offset, (length,))
        self._mapped.append(mapped)
        return mapped

    def add(self, name: str, values: Array, dtype: np.dtype[Any] | str | None = None) -> None:
        """An array that is at hand, as the narrowest integers that hold it unless a type is named."""
        if dtype is None:
            dtype = narrowest(int(values.min(initial=0)), int(values.max(initial=0)))
        self.create(name, dtype, len(values))[:] = values

    def finish(self, header: Mapping[str, Any]) -> int:
        """Write all to the disk, last the directory with the ``header``; returns the bytes of both files."""
        for mapped in self._mapped:
            mapped.flush()
        self._mapped.clear()
        os.fsync(self._file)
        os.close(self._file)
        self._file = -1
        directory = {**header, "version": INDEX_VERSION, "bytes": self._size, "arrays": self._arrays}
        text = json.dumps(directory, sort_keys=True, separators=(",", ":"))
        handle = os.open(self._directory, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(text + "\n")
            out.flush()
            os.fsync(out.fileno())
        return self._size + len(text) + 1

    def close(self) -> None:
        """Let go of the file, finished or not."""
        self._mapped.clear()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class ArrayFile:
    """Reads a file of arrays. Making one touches nothing; DamagedIndex when the files are not there or not whole."""

    def __init__(self, folder: Path, name: str) -> None:
        self._data, self._directory = folder / f"{name}.bin", folder / f"{name}.json"

    @functools.cached_property
    def header(self) -> dict[str, Any]:
        """The directory of the arrays, and what else the writer put beside it."""
        try:
            found = json.loads(self._directory.read_text(encoding="ascii"))
            version, size, held = found["version"], found["bytes"], self._data.stat().st_size
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged("it cannot be read") from error
        if version != INDEX_VERSION:
            raise self._damaged(f"it is of version {version}, and this program reads version {INDEX_VERSION}")
        if held != size:
            raise self._damaged(f"it has {held} bytes and should have {size}")
        return dict(found)

    def array(self, name: str) -> Array:
        """One array, read-only: its bytes come from the disk when they are looked at."""
        try:
            kind, length, offset = self.header["arrays"][name]
            dtype = np.dtype(kind)
            if not 0 <= offset <= offset + length * dtype.itemsize <= self.header["bytes"]:
                raise ValueError("outside the file")
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(f"its array {name!r} is not there") from error
        if not length:
            return np.zeros(0, dtype)
        found: Array = np.frombuffer(self._mapped, dtype, length, offset)
        return found

    @functools.cached_property
    def _mapped(self) -> mmap.mmap:
        size = self.header["bytes"]
        try:
            with self._data.open("rb") as file:
                return mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ)
        except (OSError, ValueError) as error:
            raise self._damaged("it cannot be mapped") from error

    def _damaged(self, what: str) -> DamagedIndex:
        return DamagedIndex(
            f"The index {self._data} cannot be used: {what}. "
            "Hint: 'cohortium check KB --repair' makes it again from the tables."
        )
