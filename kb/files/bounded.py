"""Files read within limits: packed or not, their bytes counted while they are unpacked, their lines none too long."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from .limits import LimitReached, Limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BOM: Final = b"\xef\xbb\xbf"
#: So many bytes are asked for at once.
_BUFFER: Final = 1 << 16
#: Only behind so many unpacked bytes is the ratio looked at: a small file of one repeated note is no flood.
_UNLOOKED: Final = 64 << 20


class _Unpacked(io.RawIOBase):
    """What a gzip file holds; LimitReached in the middle when that is too much in all, or for so few packed bytes."""

    def __init__(self, packed: BinaryIO, limits: Limits) -> None:
        super().__init__()
        self._packed, self._limits = packed, limits
        self._gzip = gzip.GzipFile(fileobj=packed, mode="rb")
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        data = self._gzip.read1(len(memoryview(buffer)))
        memoryview(buffer)[: len(data)] = data
        self._count += len(data)
        if self._count > self._limits.unpacked:
            raise LimitReached("unpacked_too_long")
        if self._count > _UNLOOKED and self._count > self._limits.ratio * self._packed.tell():
            raise LimitReached("packed_too_tight")
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._gzip.close()
            self._packed.close()
        super().close()


def unpacked(file: BinaryIO, is_packed: bool, limits: Limits) -> BinaryIO:
    """The bytes of an open file, unpacked if it is packed with gzip. Reading raises LimitReached, and of a torn file
    EOFError, zlib.error or OSError. Closing it closes the file."""
    if not is_packed:
        return file
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, _Unpacked(file, limits)), _BUFFER))


def lines_of(stream: BinaryIO, limits: Limits) -> Iterator[tuple[int, bytes | None]]:
    """The lines that are not blank, with their number from 1, without a byte order mark; None for one that is too long.

    LimitReached for too many blank ones together.
    """
    number = blank = 0
    while line := stream.readline(limits.line + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BOM)
        if len(line) > limits.line:
            while not line.endswith(b"\n") and (line := stream.readline(_BUFFER)):
                pass
            yield number, None
        elif line and not line.isspace():
            yield number, line
        else:
            blank += 1
            if blank > limits.blank_lines:
                raise LimitReached("blank_lines")
            continue
        blank = 0
