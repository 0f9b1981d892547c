"""Digests of a file: one of the whole, and a checksum of each of its blocks, so that a part can be proven by itself.

The checksum of a block is a CRC-32: of what damages files by accident it finds every flipped bit, every run of up to
32 bits, and all else but one time in 2**32. The digest of the whole is SHA-256, for a check that takes its time.
"""

from __future__ import annotations

import hashlib
import sys
import zlib
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Bytes of a block, as a power of two.
BLOCK_BITS: Final = 14
BLOCK: Final = 1 << BLOCK_BITS
_BLOCKS_AT_A_TIME: Final = 64


@dataclass(frozen=True, slots=True)
class FileDigest:
    """What was written into a file: its bytes, their SHA-256 in hex, and the checksums of its blocks (u32,
    little-endian, one after another)."""

    size: int
    sha256: str
    blocks: bytes


def digest_of(path: Path) -> FileDigest:
    """The digest of a file as it is now; it is read once. OSError."""
    whole, blocks, size = hashlib.sha256(), array("I"), 0
    held = memoryview(bytearray(BLOCK * _BLOCKS_AT_A_TIME))
    with path.open("rb", buffering=0) as file:
        while read := _filled(file.readinto, held):
            part = held[:read]
            whole.update(part)
            blocks.extend(zlib.crc32(part[at : at + BLOCK]) for at in range(0, read, BLOCK))
            size += read
    if sys.byteorder == "big":
        blocks.byteswap()
    return FileDigest(size, whole.hexdigest(), blocks.tobytes())


def blocks_of(size: int) -> int:
    """How many blocks a file of so many bytes has."""
    return -(-size // BLOCK)


def _filled(read: object, held: memoryview) -> int:
    """How many bytes came: all that fit, or fewer at the end of the file."""
    found = 0
    while found < len(held) and (more := read(held[found:])):  # type: ignore[operator]
        found += more
    return found
