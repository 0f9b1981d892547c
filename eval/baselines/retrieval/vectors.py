"""Vectors on disk, in shards keyed by text: an interruption costs one shard, and no text is encoded twice."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ....ingest.models.linking.encoders import to_unit
from ....kb.errors import LockedError, UsageError
from ....kb.files.locks import lock
from ....kb.files.whole_files import write_private
from .encoders import Encoder, Vectors

#: Chunks that are encoded and written at a time: some ten seconds of work that an interruption may cost.
SHARD: Final = 1024
_KEY: Final = 32


@dataclass(frozen=True, slots=True)
class Filled:
    """What filling a store took: texts asked for, different ones, of them newly encoded; seconds; bytes on disk."""

    texts: int
    different: int
    encoded: int
    seconds: float
    bytes: int

    @property
    def texts_a_second(self) -> float | None:
        """Newly encoded texts a second; None when there was none."""
        return self.encoded / self.seconds if self.encoded and self.seconds else None


class VectorStore:
    """The vectors of one encoder in one folder, as pairs of files: ``N.npy`` (rows) and ``N.keys`` (their hashes).

    A key is the hash of the encoder's signature and the text. The file of keys is written last, so that a shard without
    one was interrupted and is made again. Folder and files are readable by their owner only: vectors tell of the text.
    UsageError for a folder of another encoder or precision.
    """

    def __init__(self, folder: Path, encoder: Encoder, precision: str = "float32", *, shard: int = SHARD) -> None:
        if precision not in ("float32", "float16"):
            raise UsageError(f"vectors are kept as float32 or float16, not {precision!r}")
        self.folder: Final = Path(folder)
        self._encoder, self._type, self._shard = encoder, np.dtype(precision), shard
        self._signature = json.dumps(dict(encoder.signature()), sort_keys=True, ensure_ascii=True)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._check()
        #: Key to shard and row.
        self._places: dict[bytes, tuple[int, int]] = {}
        self._shards: set[int] = set()
        self._look()

    def _check(self) -> None:
        header = {"encoder": json.loads(self._signature), "precision": self._type.name, "version": 1}
        path = self.folder / "encoder.json"
        data = (json.dumps(header, sort_keys=True, indent=1) + "\n").encode()
        if not path.exists():
            write_private(path, data)
        elif path.read_bytes() != data:
            raise UsageError(
                f"{self.folder.name!r} holds vectors of another encoder, version or precision. Hint: another folder"
            )

    def _look(self) -> None:
        """Learns of the shards that are there, each by the number in its name: one may have been taken out."""
        for path in sorted(self.folder.glob("*.keys")):
            if path.stem.isdigit() and int(path.stem) not in self._shards:
                self._learn(int(path.stem), path.read_bytes())

    def _learn(self, shard: int, keys: bytes) -> None:
        for row in range(len(keys) // _KEY):
            self._places[keys[row * _KEY : (row + 1) * _KEY]] = shard, row
        self._shards.add(shard)

    def __len__(self) -> int:
        """How many texts have a vector here."""
        return len(self._places)

    @property
    def bytes_on_disk(self) -> int:
        """What its files take on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    def key(self, text: str) -> bytes:
        """The hash of the encoder's signature and the text."""
        total = hashlib.sha256(self._signature.encode() + b"\0")
        total.update(text.encode("utf-8", "surrogatepass"))
        return total.digest()

    def fill(self, texts: Iterable[str]) -> Filled:
        """Encodes those of ``texts`` that have no vector yet, equal ones once, a shard after the other.

        The longest come first, texts of like length together: the order hangs on the missing texts alone, so that an
        interrupted run goes on where it was and ends with the same files. LockedError when another process fills it.
        """
        began = time.perf_counter()
        with self._alone():
            asked = 0
            different: dict[bytes, str] = {}
            for text in texts:
                asked += 1
                different.setdefault(self.key(text), text)
            missing = [(key, text) for key, text in different.items() if key not in self._places]
            missing.sort(key=lambda one: (-len(one[1]), one[0]))
            for first in range(0, len(missing), self._shard):
                shard = missing[first : first + self._shard]
                self._add([key for key, _ in shard], self._encoder.encode([text for _, text in shard]))
        return Filled(asked, len(different), len(missing), time.perf_counter() - began, self.bytes_on_disk)

    def _add(self, keys: Sequence[bytes], rows: Vectors) -> None:
        if rows.shape != (len(keys), self._encoder.dimension):
            raise ValueError(f"{len(keys)} texts gave vectors of shape {rows.shape}")
        shard = max(self._shards, default=-1) + 1
        stem = f"{shard:06d}"
        held = io.BytesIO()
        np.save(held, rows.astype(self._type))
        write_private(self.folder / f"{stem}.npy", held.getvalue())
        write_private(self.folder / f"{stem}.keys", b"".join(keys))
        self._learn(shard, b"".join(keys))

    def take(self, texts: Iterable[str]) -> Vectors:
        """The vectors of ``texts`` in their order, ``(n, dimension)`` float32, of length 1. KeyError, without the text,
        for one that has none: fill first."""
        places = []
        for number, text in enumerate(texts):
            place = self._places.get(self.key(text))
            if place is None:
                raise KeyError(f"text number {number} has no vector here")
            places.append(place)
        found = np.empty((len(places), self._encoder.dimension), dtype=np.float32)
        shards = np.array([shard for shard, _ in places], dtype=np.int64)
        rows = np.array([row for _, row in places], dtype=np.int64)
        for shard in np.unique(shards):
            here = np.flatnonzero(shards == shard)
            held = np.load(self.folder / f"{int(shard):06d}.npy", allow_pickle=False)
            found[here] = held[rows[here]]
        return found if self._type == np.float32 else to_unit(found)

    def signature(self) -> Mapping[str, Any]:
        """The encoder's, and the precision of what is kept."""
        return {"encoder": json.loads(self._signature), "kept_as": self._type.name}

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time writes shards."""
        held = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                lock(held)
            except OSError as error:
                raise LockedError(f"another process is filling {self.folder.name!r}") from error
            # What a killed process left half written: nobody else writes shards now.
            for path in self.folder.glob("[0-9]*.part"):
                path.unlink(missing_ok=True)
            # What another process has written since this one looked.
            self._look()
            yield
        finally:
            os.close(held)
