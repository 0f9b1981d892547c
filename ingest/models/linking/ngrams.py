"""Names by their runs of letters: an inverted index with tf-idf weights, searched by the cosine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]

SHORTEST: Final = 3
LONGEST: Final = 4


def grams(plain: str) -> Iterator[str]:
    """The runs of letters of each word of a normal form, with the borders of the word marked."""
    for word in plain.split():
        marked = f"^{word}$"
        for size in range(SHORTEST, LONGEST + 1):
            for at in range(max(1, len(marked) - size + 1)):
                yield marked[at : at + size]


class GramIndex:
    """Cosine between the tf-idf vectors of a text and of every name."""

    def __init__(self, names: Sequence[str]) -> None:
        """``names``: normal forms."""
        self.size: Final = len(names)
        counted = [Counter(grams(name)) for name in names]
        self._number: Final[dict[str, int]] = {}
        total: list[int] = []
        for counts in counted:
            for gram in counts:
                at = self._number.setdefault(gram, len(total))
                if at == len(total):
                    total.append(0)
                total[at] += 1
        self._idf: Final = np.log((1 + self.size) / (1 + np.array(total, dtype=np.float64))) + 1.0
        lengths = np.array([len(counts) for counts in counted], dtype=np.int64)
        rows = np.repeat(np.arange(self.size), lengths)
        columns = np.fromiter((self._number[gram] for counts in counted for gram in counts), np.int64, len(rows))
        values = np.fromiter((1 + math.log(n) for counts in counted for n in counts.values()), np.float64, len(rows))
        values *= self._idf[columns] if len(rows) else values
        norms = np.sqrt(np.bincount(rows, values**2, minlength=self.size)) if len(rows) else np.ones(self.size)
        values /= np.where(norms > 0, norms, 1)[rows]
        order = np.argsort(columns, kind="stable")
        self._rows: Final = rows[order].astype(np.int32)
        self._values: Final = values[order].astype(np.float32)
        self._begins: Final = np.concatenate(([0], np.cumsum(np.bincount(columns, minlength=len(total)))))
        self._unseen: Final = math.log(1 + self.size) + 1.0

    def cosines(self, plain: str) -> Scores:
        """The cosine with every name, shape (names,); zeros for a text without letters."""
        counts = Counter(grams(plain))
        squares = 0.0
        rows, values = [], []
        for gram, count in counts.items():
            at = self._number.get(gram)
            weight = (1 + math.log(count)) * (self._unseen if at is None else float(self._idf[at]))
            squares += weight**2
            if at is not None:
                here = slice(self._begins[at], self._begins[at + 1])
                rows.append(self._rows[here])
                values.append(self._values[here] * np.float32(weight))
        if not rows:
            return np.zeros(self.size, dtype=np.float32)
        found = np.bincount(np.concatenate(rows), np.concatenate(values), minlength=self.size)
        return np.asarray(found / math.sqrt(squares), dtype=np.float32)
