"""Encoders of names: text in, unit vectors out; the shipped one, of words and runs of letters, needs numpy alone."""

from __future__ import annotations

import functools
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ....kb.errors import UsageError
from .wording import wording

Vectors = npt.NDArray[np.float32]

_SHORTEST: Final = 3
_LONGEST: Final = 5
SHIPPED: Final = Path(__file__).parent / "name_vectors.npz"


class Encoder(Protocol):
    """Turns names into vectors whose inner product is their nearness."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (texts, dimension), float32; none for no texts."""

    def signature(self) -> Mapping[str, Any]:
        """What identifies its vectors: equal signatures promise equal vectors. No path in it."""


def to_unit(vectors: npt.NDArray[Any]) -> Vectors:
    """Rows of length 1, float32; a row of zeros stays one."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def buckets_of_word(word: str, buckets: int) -> list[int]:
    """The places of a word and its runs of letters among ``buckets``, by their hash."""
    marked = f"^{word}$"
    found = [zlib.crc32(marked.encode("utf-8", "surrogatepass")) % buckets]
    for size in range(_SHORTEST, _LONGEST + 1):
        runs = (marked[at : at + size] for at in range(max(0, len(marked) - size)))
        found.extend(zlib.crc32(run.encode("utf-8", "surrogatepass")) % buckets for run in runs)
    return found


def buckets_of(text: str, buckets: int) -> list[int]:
    """The places of all words of a name."""
    return [at for word in wording(text).words for at in buckets_of_word(word, buckets)]


class GramEncoder:
    """The sum of the vectors of a name's words and runs of letters, learnt from pairs of synonyms."""

    def __init__(self, table: npt.NDArray[np.int8], scales: npt.NDArray[np.float32]) -> None:
        """``table``: (buckets, dimension) int8; ``scales``: (buckets,), by which each row is multiplied."""
        if table.ndim != 2 or scales.shape != (len(table),) or not len(table):
            raise UsageError("the vectors of names are a table of rows and a scale for each row")
        self._table, self._scales = table, scales.astype(np.float32)
        self.dimension: Final = int(table.shape[1])
        # Names share most of their words.
        self._of_word = functools.lru_cache(maxsize=32_768)(self._summed)

    @classmethod
    def load(cls, path: Path = SHIPPED) -> GramEncoder:
        """The encoder of a file. UsageError when there is none, or it is not one."""
        try:
            with np.load(path, allow_pickle=False) as held:
                return cls(held["table"], held["scales"])
        except UsageError:
            raise
        # A damaged archive shows in as many ways as there are parts of it.
        except Exception as error:
            raise UsageError(f"'{path.name}' holds no vectors of names that can be read") from error

    def save(self, path: Path) -> None:
        """Writes the file that :meth:`load` reads."""
        np.savez_compressed(path, table=self._table, scales=self._scales.astype(np.float16))

    def signature(self) -> Mapping[str, Any]:
        """Name, version and hash of the numbers."""
        total = hashlib.sha256(self._table.tobytes())
        total.update(self._scales.tobytes())
        return {"name": "grams", "version": 1, "sha256": total.hexdigest(), "dimension": self.dimension}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors; zeros for a text without letters."""
        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in wording(text).words:
                found[row] += self._of_word(word)
        return to_unit(found)

    def _summed(self, word: str) -> Vectors:
        at = buckets_of_word(word, len(self._table))
        return np.asarray(self._scales[at] @ self._table[at].astype(np.float32), dtype=np.float32)


def signature_of(encoder: Encoder) -> str:
    """The signature as one line that can be hashed and compared."""
    return json.dumps(dict(encoder.signature()), sort_keys=True, ensure_ascii=True)
