"""A file that was written once and is kept, whose bytes are held against their digests when they are first read.

Every reader of an index reads through this door: what is not as it was written is DamagedIndex (DamagedKb of the
tables) before anything is made of it, and so is what is as it was written and yet cannot be decoded.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import DamagedIndex, DamagedKb
from .block_digests import BLOCK, BLOCK_BITS, blocks_of

#: What decoders raise over bytes that are none of theirs.
_UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error, RecursionError)


@dataclass(frozen=True, slots=True)
class Stated:
    """What is told of a file where it is described: its bytes, its SHA-256, and where the checksums of its blocks
    come from (u32, one for each), which is asked when the first block is read. ``damaged`` makes an error of what is
    wrong, which begins with the file's name."""

    name: str
    size: int
    sha256: str
    checksums: Callable[[], memoryview]
    damaged: Callable[[str], DamagedKb]


class KeptFile:
    """One file as its readers see it. Making one touches nothing. Safe across threads.

    Without anything ``stated`` of it, as of a file that was written this moment, its bytes are believed.
    """

    def __init__(self, path: Path, stated: Stated | None = None) -> None:
        self.path = path
        self._stated = stated
        #: Whether every byte is believed.
        self.proven = stated is None

    def damaged(self, what: str) -> DamagedKb:
        """The error for a file of which this is wrong (*is missing*)."""
        if self._stated is not None:
            return self._stated.damaged(f"{self._stated.name} {what}")
        return DamagedIndex(
            f"{self.path.name} in the index {what}. Hint: 'cohortium check KB --repair' makes it again from the tables."
        )

    @contextlib.contextmanager
    def decoding(self) -> Iterator[None]:
        """What decoders raise within is the file's damage."""
        try:
            yield
        except _UNREADABLE as error:
            raise self.damaged(f"cannot be read ({type(error).__name__})") from error

    @functools.cached_property
    def data(self) -> mmap.mmap | bytes:
        """The whole file, mapped into memory: nothing of it is to be believed before it is proven."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise self.damaged("is missing") from error
        except OSError as error:
            raise self.damaged(f"cannot be read ({error.strerror})") from error
        try:
            size = os.fstat(handle).st_size
            if self._stated is not None and size != self._stated.size:
                raise self.damaged("is of another size than it was written")
            return mmap.mmap(handle, 0, access=mmap.ACCESS_READ) if size else b""
        except (OSError, ValueError) as error:
            raise self.damaged(f"cannot be mapped ({type(error).__name__})") from error
        finally:
            os.close(handle)

    def header(self, form: struct.Struct) -> tuple[Any, ...]:
        """The values at its beginning, proven; what ``damaged`` makes of it where it is shorter."""
        if len(self.data) < form.size:
            raise self.damaged("is cut short")
        self.prove(0, form.size)
        return form.unpack_from(self.data)

    def read(self) -> bytes:
        """All bytes, proven."""
        self.prove_all()
        return self.data[:]

    def prove_all(self) -> None:
        """See that every byte is as it was written, or raise what ``damaged`` makes of it."""
        if not self.proven:
            self.prove(0, len(self.data))
            self.proven = True

    def prove(self, low: int, high: int) -> None:
        """See that the bytes from ``low`` to before ``high`` are as they were written, or raise what ``damaged`` makes
        of it. Each block is looked at once."""
        if self.proven or low >= high:
            return
        seen = self._seen
        last = ((high - 1) >> BLOCK_BITS) + 1
        if last > len(seen):
            raise self.damaged("leads out of itself")
        at = seen.find(0, low >> BLOCK_BITS, last)
        if at < 0:
            return
        whole, checksums = self._view, self._checksums
        while at >= 0:
            start = at << BLOCK_BITS
            if zlib.crc32(whole[start : start + BLOCK]) != checksums[at]:
                raise self.damaged(f"is not as it was written (the block at byte {start:,})")
            seen[at] = 1
            at = seen.find(0, at, last)

    def is_proven(self, low: int, high: int) -> bool:
        """Whether these bytes have been proven."""
        return self.proven or self._seen.find(0, low >> BLOCK_BITS, ((high - 1) >> BLOCK_BITS) + 1) < 0

    @functools.cached_property
    def _view(self) -> memoryview:
        return memoryview(self.data)

    @functools.cached_property
    def _seen(self) -> bytearray:
        """Of each block, whether it was proven."""
        return bytearray(blocks_of(len(self.data)))

    @functools.cached_property
    def _checksums(self) -> memoryview:
        assert self._stated is not None
        return self._stated.checksums()


def kept(file: Path | KeptFile) -> KeptFile:
    """The file itself; one whose bytes are believed, for a path."""
    return file if isinstance(file, KeptFile) else KeptFile(file)
