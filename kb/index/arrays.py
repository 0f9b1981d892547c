"""A file of named arrays with its directory: written array by array, mapped into memory when first looked at.

``NAME.bin`` holds the arrays, little-endian, each at a multiple of 64 bytes; ``NAME.json`` says of each its type,
length and place, how long the file is, and whatever else its writer has to tell.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..files.block_digests import BLOCK, BLOCK_BITS
from ..files.kept_file import KeptFile, kept

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
        # One call for the file: it writes what was changed through the maps too, and each map alone takes as long.
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


class Column:
    """One array of a file, read-only, whose bytes are proven where they are read."""

    __slots__ = ("_file", "_offset", "_proven", "_raw")

    def __init__(self, file: KeptFile, raw: Array, offset: int) -> None:
        """``raw`` lies in ``file`` at the byte ``offset``."""
        self._file, self._raw, self._offset = file, raw, offset
        self._proven = file.proven

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items."""
        return self._raw.dtype

    def __len__(self) -> int:
        return len(self._raw)

    def __getitem__(self, part: slice | Array) -> Array:
        """The items of a slice without steps, or at these positions, which ascend. DamagedIndex."""
        if not self._proven:
            self._prove(part)
        found: Array = self._raw[part]
        return found

    def _prove(self, part: slice | Array) -> None:
        width = self._raw.itemsize
        if isinstance(part, slice):
            start, stop, _ = part.indices(len(self._raw))
        elif len(part):
            start, stop = int(part[0]), int(part[-1]) + 1
        else:
            return
        low, high = self._offset + start * width, self._offset + stop * width
        if isinstance(part, slice) or (high - low) >> BLOCK_BITS < len(part):
            self._file.prove(low, high)
        elif not self._file.is_proven(low, high):
            # Few items far apart: of what lies between them nothing is read.
            for block in np.unique((part.astype(np.int64) * width + self._offset) >> BLOCK_BITS).tolist():
                self._file.prove(block * BLOCK, block * BLOCK + 1)
        self._proven = self._file.is_proven(self._offset, self._offset + len(self._raw) * width)


class ArrayFile:
    """Reads a file of arrays. Making one touches nothing; DamagedIndex when the files are not there or not as they were
    written."""

    def __init__(self, files: Path | Callable[[str], KeptFile], name: str) -> None:
        """``files`` gives the two files by their names; those in a folder are believed."""
        if isinstance(files, Path):
            self._data, self._directory = kept(files / f"{name}.bin"), kept(files / f"{name}.json")
        else:
            self._data, self._directory = files(f"{name}.bin"), files(f"{name}.json")

    @functools.cached_property
    def header(self) -> dict[str, Any]:
        """The directory of the arrays, and what else the writer put beside it."""
        with self._directory.decoding():
            found = dict(json.loads(self._directory.read()))
            version, size = found["version"], found["bytes"]
        if version != INDEX_VERSION:
            raise self._directory.damaged(f"is of version {version}, and this program reads version {INDEX_VERSION}")
        if len(self._data.data) != size:
            raise self._data.damaged("is of another size than it was written")
        return found

    def array(self, name: str) -> Array:
        """One array, read-only, all of whose bytes are proven."""
        raw, offset = self._raw(name)
        self._data.prove(offset, offset + raw.nbytes)
        return raw

    def column(self, name: str) -> Column:
        """The same, whose bytes come from the disk, and are proven, where they are looked at."""
        raw, offset = self._raw(name)
        return Column(self._data, raw, offset)

    def _raw(self, name: str) -> tuple[Array, int]:
        """One array, and where it lies."""
        try:
            kind, length, offset = self.header["arrays"][name]
            dtype = np.dtype(kind)
            if not 0 <= offset <= offset + length * dtype.itemsize <= self.header["bytes"]:
                raise ValueError("outside the file")
        except (KeyError, TypeError, ValueError) as error:
            raise self._directory.damaged(f"has no array {name!r}") from error
        if not length:
            return np.zeros(0, dtype), offset
        found: Array = np.frombuffer(self._data.data, dtype, length, offset)
        return found, offset
