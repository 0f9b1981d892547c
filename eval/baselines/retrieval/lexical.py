"""BM25 over the same chunks: what shared words alone find, as a control of the dense retrievers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ....ingest.models.optional import library, versions
from .nearest import Hits

_WORD: Final = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits in lower case. None is dropped as too common: BM25 weighs words, and *no* is one."""
    return _WORD.findall(text.casefold())


class LexicalSearch:
    """Lucene's BM25 (k1 1.5, b 0.75) by bm25s. UsageError when the library is missing."""

    def __init__(self, texts: Iterable[str], *, k1: float = 1.5, b: float = 0.75) -> None:
        began = time.perf_counter()
        self._library = library("bm25s", "bench")
        self._settings = {"k1": k1, "b": b}
        held = [words_of(text) for text in texts]
        self.size: Final = len(held)
        self._known = frozenset(word for words in held for word in words)
        self._index = None
        if self._known:
            self._index = self._library.BM25(k1=k1, b=b, method="lucene")
            self._index.index(held, show_progress=False)
        self.seconds: Final = time.perf_counter() - began

    def search(self, texts: Sequence[str], depth: int | None = None) -> list[Hits]:
        """The chunks that share a word with each text; the rest are not touched."""
        return [self._one(text, depth) for text in texts]

    def _one(self, text: str, depth: int | None) -> Hits:
        words = [word for word in words_of(text) if word in self._known]
        if self._index is None or not words:
            none = np.zeros(0, dtype=np.int64)
            return Hits(none, none.astype(np.float32))
        scores = np.asarray(self._index.get_scores(words), dtype=np.float32)[: self.size]
        shared = np.flatnonzero(scores > 0)
        hits = Hits.sorted(shared, scores[shared])
        return hits if depth is None else Hits(hits.chunks[:depth], hits.scores[:depth])

    def signature(self) -> Mapping[str, Any]:
        """Method, settings and library."""
        return {"bm25": {"method": "lucene", **self._settings, "chunks": self.size, "versions": versions("bm25s")}}
