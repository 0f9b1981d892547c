"""Files read within limits: packed or not, their bytes counted while they are unpacked, their lines none too long."""

from __future__ import annotations

import gzip
import io
import zlib
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
#: So many packed bytes are taken at once: what of them belongs to the next part is copied at the end of each.
_PACKED: Final = 1 << 14
_GZIP: Final = b"\x1f\x8b"
#: A part of a packed file that holds fewer bytes is small: no note is so short.
_SMALL_PART: Final = 64


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, part by part; LimitReached in the middle when that is too much in all, or for so few
    packed bytes, or when it is in too many small parts.

    The library's own reader goes through empty parts as long as there are some, before it gives anything back.
    """

    def __init__(self, packed: BinaryIO, limits: Limits) -> None:
        super().__init__()
        self._packed, self._limits = packed, limits
        self._waiting = b""
        self._part: zlib._Decompress | None = None
        self._count = self._before = self._small = 0
        self._first = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while self._part is not None or self._begin():
            part = self._part
            assert part is not None
            data = part.decompress(self._waiting, len(view))
            if part.eof:
                self._waiting = part.unused_data
                self._end_part(len(data))
            elif part.unconsumed_tail or data:
                self._waiting = part.unconsumed_tail
            elif not self._more():
                raise EOFError("the file ends in the middle of a part")
            if data:
                view[: len(data)] = data
                self._counted(len(data))
                return len(data)
        return 0

    def _more(self) -> bool:
        self._waiting = self._packed.read(_PACKED)
        return bool(self._waiting)

    def _begin(self) -> bool:
        """Whether there is a part to read. Zero bytes behind a part fill a block of a tape, and are none."""
        self._waiting = self._waiting if self._first else self._waiting.lstrip(b"\0")
        while not self._first and not self._waiting and self._more():
            self._waiting = self._waiting.lstrip(b"\0")
        while len(self._waiting) < len(_GZIP):
            more = self._packed.read(_PACKED)
            if not more:
                break
            self._waiting += more
        if not self._waiting:
            return False
        if not self._waiting.startswith(_GZIP):
            raise gzip.BadGzipFile("not a gzipped file")
        self._first = False
        self._part = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self._before = self._count
        return True

    def _end_part(self, last: int) -> None:
        self._part = None
        self._small += self._count + last - self._before < _SMALL_PART
        if self._small > self._limits.small_parts:
            raise LimitReached("too_many_parts")

    def _counted(self, length: int) -> None:
        self._count += length
        if self._count > self._limits.unpacked:
            raise LimitReached("unpacked_too_long")
        if self._count > _UNLOOKED and self._count > self._limits.ratio * self._packed.tell():
            raise LimitReached("packed_too_tight")

    def close(self) -> None:
        if not self.closed:
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
