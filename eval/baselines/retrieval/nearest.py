"""Which chunks are nearest to a question: FAISS over vectors (flat, IVF, HNSW), with its settings and what it costs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ....ingest.models.optional import library, versions
from ....kb.errors import UsageError
from .encoders import Encoder, Vectors

KINDS: Final = ("flat", "ivf", "hnsw")

#: Scores are rounded to so many places, so that equal texts tie whatever the order in which sums were taken.
PLACES: Final = 6


@dataclass(frozen=True)
class Hits:
    """Chunks, by number, and how near each is, best first; chunks that are equally near stand by number."""

    chunks: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]

    @classmethod
    def sorted(cls, chunks: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]) -> Hits:
        """Sorted and rounded."""
        rounded = np.round(scores.astype(np.float64), PLACES)
        order = np.lexsort((chunks, -rounded))
        return cls(chunks[order], rounded[order].astype(np.float32))


class Search(Protocol):
    """Finds the chunks near to a text."""

    def search(self, texts: Sequence[str], depth: int | None = None) -> list[Hits]:
        """For each text its ``depth`` nearest chunks, or as many as the search touches (None: all that it would)."""

    def signature(self) -> Mapping[str, Any]:
        """What its answers hang on."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How vectors are searched.

    ``flat`` compares all. ``ivf`` puts them into ``lists`` (None: 4 times the root of their number, at most one for 39
    vectors) and compares those in ``probes`` of them (None: one in eight, at least eight). ``hnsw`` walks a graph of
    ``neighbours`` a vector, made with ``construction`` candidates, searched with ``candidates`` (None: as many as are
    asked for).
    ``depth`` is the share of all vectors that an approximate search gives back at most; flat gives all.
    """

    kind: str = "flat"
    lists: int | None = None
    probes: int | None = None
    neighbours: int = 32
    construction: int = 64
    candidates: int | None = None
    depth: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"an index is one of {', '.join(KINDS)}, not {self.kind!r}")
        if not 0 < self.depth <= 1:
            raise UsageError("the depth of a search is a share of the index, above 0 and at most 1")


class VectorIndex:
    """Unit vectors in a FAISS index, searched by inner product (the cosine, as all have length 1)."""

    def __init__(
        self, vectors: Vectors, settings: IndexSettings | None = None, *, built: tuple[bytes, float] | None = None
    ) -> None:
        """``built``: such an index as :meth:`serialized` gave it, and the seconds that it took."""
        self.settings: Final = settings or IndexSettings()
        self._faiss = library("faiss", "dense")
        self.size: Final = len(vectors)
        began = time.perf_counter()
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        self.lists: Final = self._list_count()
        self.probes: Final = min(self.settings.probes or max(8, self.lists // 8), self.lists)
        if built is None:
            self._index = self._built(rows)
            self.seconds = time.perf_counter() - began
        else:
            self._index = self._faiss.deserialize_index(np.frombuffer(built[0], dtype=np.uint8))
            self.seconds = built[1]

    def _list_count(self) -> int:
        most = max(1, self.size // 39)  # FAISS wants at least 39 vectors to place a list.
        return min(self.settings.lists or round(4 * math.sqrt(self.size)) or 1, most)

    def _built(self, rows: Vectors) -> Any:
        faiss, settings = self._faiss, self.settings
        width = rows.shape[1]
        if settings.kind == "flat" or not self.size:
            index = faiss.IndexFlatIP(width)
        elif settings.kind == "ivf":
            index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, self.lists, faiss.METRIC_INNER_PRODUCT)
            index.cp.seed = 1234 + settings.seed
            index.train(rows)
        else:
            index = faiss.IndexHNSWFlat(width, settings.neighbours, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = settings.construction
            # Several threads would add in an order that changes from run to run, and the graph with it.
            threads = faiss.omp_get_max_threads()
            faiss.omp_set_num_threads(1)
            try:
                index.add(rows)
            finally:
                faiss.omp_set_num_threads(threads)
            return index
        index.add(rows)
        return index

    def deepest(self) -> int:
        """How many vectors a search gives back when nothing else is said."""
        if self.settings.kind == "flat":
            return self.size
        return min(self.size, max(1000, math.ceil(self.settings.depth * self.size)))

    def nearest(self, rows: Vectors, depth: int | None = None) -> list[Hits]:
        """For each row the ``depth`` nearest vectors (None: :meth:`deepest`), by their place."""
        wanted = min(self.size, self.deepest() if depth is None else depth)
        if not wanted:
            none = np.zeros(0, dtype=np.int64)
            return [Hits(none, none.astype(np.float32)) for _ in rows]
        how = None
        if self.settings.kind == "ivf":
            how = self._faiss.SearchParametersIVF(nprobe=self.probes)
        elif self.settings.kind == "hnsw":
            how = self._faiss.SearchParametersHNSW(efSearch=max(wanted, self.settings.candidates or 0))
        scores, places = self._index.search(np.ascontiguousarray(rows, dtype=np.float32), wanted, params=how)
        return [
            Hits.sorted(place[place >= 0].astype(np.int64), score[place >= 0])
            for place, score in zip(places, scores, strict=True)
        ]

    def serialized(self) -> bytes:
        """The index as FAISS writes it."""
        return bytes(self._faiss.serialize_index(self._index))

    @cached_property
    def size_in_bytes(self) -> int:
        """What the index takes, as it would be written."""
        return int(self._faiss.serialize_index(self._index).nbytes)

    def signature(self) -> Mapping[str, Any]:
        """Settings that hold for this kind, and the version of FAISS."""
        description: dict[str, Any] = {"kind": self.settings.kind, "vectors": self.size}
        if self.settings.kind == "ivf":
            description |= {"lists": self.lists, "probes": self.probes, "seed": self.settings.seed}
        elif self.settings.kind == "hnsw":
            held = asdict(self.settings)
            description |= {key: held[key] for key in ("neighbours", "construction", "candidates")}
        return {**description, "deepest": self.deepest(), "versions": versions("faiss-cpu", "faiss-gpu")}


class DenseSearch:
    """An encoder and the index of its vectors."""

    def __init__(self, encoder: Encoder, index: VectorIndex) -> None:
        self.encoder, self.index = encoder, index

    def search(self, texts: Sequence[str], depth: int | None = None) -> list[Hits]:
        """The chunks whose vectors are nearest to those of ``texts``."""
        return self.index.nearest(self.encoder.encode(texts, asked=True), depth)

    def signature(self) -> Mapping[str, Any]:
        """The encoder's and the index's."""
        return {"encoder": dict(self.encoder.signature()), "index": dict(self.index.signature())}
