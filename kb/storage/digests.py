"""The digests of a generation's files: written beside them when it is published, and read with them.

The checksums of all blocks stand in the file ``digests``, file after file in the order of their names;
``manifest.json`` tells of each file its bytes, its SHA-256 and the checksum of its own stretch of ``digests``, and of
itself a digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..errors import DamagedKb
from ..files.block_digests import BLOCK, blocks_of, digest_of
from ..files.kept_file import KeptFile, Stated

#: The file of the checksums, in the folder of a generation.
DIGESTS: Final = "digests"
MANIFEST: Final = "manifest.json"
_WIDTH: Final = 4
#: How a manifest begins that tells its own digest: that of all bytes after it.
_BEGINS: Final = b'{"digest":"'
_ENDS: Final = b'",'
_HEX: Final = 64


def write_digests(folder: Path, place: Path) -> dict[str, Any]:
    """Write the file ``digests`` of all files in ``folder`` into ``place``; what the manifest tells of each."""
    stated: dict[str, Any] = {}
    path = place / DIGESTS
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        for name in sorted(_files(folder)):
            digest = digest_of(folder / name)
            out.write(digest.blocks)
            stated[name] = {"bytes": digest.size, "sha256": digest.sha256, "blocks": zlib.crc32(digest.blocks)}
        size = out.tell()
    return {**stated, DIGESTS: {"bytes": size, "block": BLOCK}}


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in (MANIFEST, DIGESTS):
            yield str(path.relative_to(folder))


class Digests:
    """What was written into the files of one generation. Safe across threads; nothing is read before it is needed."""

    def __init__(
        self,
        folder: Path,
        stated: Mapping[str, Any],
        damaged: Callable[[str], DamagedKb],
        damaged_index: Callable[[str], DamagedKb],
    ) -> None:
        """``stated``: what the manifest tells of each file, as :func:`write_digests` gave it. ``damaged`` and
        ``damaged_index`` make errors of what is wrong with the tables, and with what derives from them, which lies in
        folders of its own."""
        self._folder = folder
        self._stated = stated
        self._damaged, self._damaged_index = damaged, damaged_index
        self._table = KeptFile(folder / DIGESTS, None)

    @property
    def names(self) -> tuple[str, ...]:
        """The files, in the order of their names."""
        return tuple(sorted(set(self._stated) - {DIGESTS}))

    def file(self, name: str) -> KeptFile:
        """One file, to be read as it was written. DamagedIndex (DamagedKb of the tables) if nothing is told of it."""
        damaged = self._damaged_index if "/" in name else self._damaged
        try:
            told = self._stated[name]
            stated = Stated(name, told["bytes"], told["sha256"], lambda: self._checksums(name), damaged)
        except (LookupError, TypeError) as error:
            raise damaged(f"{name} is not told of in {MANIFEST}") from error
        return KeptFile(self._folder / name, stated)

    def sha256(self, name: str) -> str:
        """The SHA-256 of a file as it was written, in hex."""
        found: str = self._stated[name]["sha256"]
        return found

    def _checksums(self, name: str) -> memoryview:
        """The checksums of the blocks of a file; DamagedIndex if they are not those that were written."""
        try:
            if self._stated[DIGESTS]["block"] != BLOCK:
                raise ValueError("blocks of another size")
            begin = _WIDTH * sum(blocks_of(self._stated[other]["bytes"]) for other in self.names if other < name)
            own = self._table.data[begin : begin + _WIDTH * blocks_of(self._stated[name]["bytes"])]
            if zlib.crc32(own) != self._stated[name]["blocks"]:
                raise ValueError("other checksums")
        except (LookupError, TypeError, ValueError, DamagedKb) as error:
            raise self._damaged_index(f"{DIGESTS} is not as it was written") from error
        if sys.byteorder == "big":
            swapped = array("I", own)
            swapped.byteswap()
            return memoryview(swapped)
        return memoryview(own).cast("I")


def manifest_bytes(text: str) -> bytes:
    """A manifest (an object of JSON, which is not empty) with its own digest in front."""
    rest = text.encode()[1:] + b"\n"
    return _BEGINS + hashlib.sha256(rest).hexdigest().encode() + _ENDS + rest


def read_manifest(data: bytes) -> tuple[Any, bool]:
    """What a manifest tells, and whether its digest was there. ValueError if it is not as it was written."""
    digested = data.startswith(_BEGINS)
    if digested:
        at = len(_BEGINS)
        found, rest = data[at : at + _HEX], data[at + _HEX :]
        if rest[:2] != _ENDS or hashlib.sha256(rest[2:]).hexdigest().encode() != found:
            raise ValueError("another digest")
        data = b"{" + rest[2:]
    try:
        return json.loads(data), digested
    except RecursionError as error:
        raise ValueError("nested too deep") from error
