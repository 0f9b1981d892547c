"""The vectors of all names: kept on disk under a hash of ontology and encoder, searched by FAISS or by numpy."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....kb.files.whole_files import write_private
from .encoders import Encoder, Vectors, signature_of, to_unit
from .names import NameTable

#: Raised when the files come to mean something else.
_FORM: Final = 1
Rows = npt.NDArray[np.int64]


def kept_vectors(names: NameTable, encoder: Encoder, folder: Path | None) -> npt.NDArray[np.float16]:
    """The vectors of all names, shape (names, dimension), float16.

    From ``folder`` (mapped into memory) when a file of this ontology and encoder lies there; made and written there
    otherwise, all or nothing. A folder that cannot be written costs the making each time, nothing else; so does None.
    """
    key = hashlib.sha256(f"{_FORM}\n{names.sha256}\n{signature_of(encoder)}\n".encode()).hexdigest()[:32]
    path = None if folder is None else folder / f"names-{key}.npy"
    if path is not None:
        with contextlib.suppress(OSError, ValueError, EOFError):
            held = np.load(path, mmap_mode="r", allow_pickle=False)
            if held.ndim == 2 and len(held) == len(names) and held.dtype == np.float16:
                return held
    made = encoder.encode([row.name for row in names.rows]).astype(np.float16)
    if path is not None:
        with contextlib.suppress(OSError):
            _write(path, made)
    return made


def _write(path: Path, made: npt.NDArray[np.float16]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    held = io.BytesIO()
    np.save(held, made)
    write_private(path, held.getvalue())


class NearestNames:
    """Which names are nearest to a vector, among the names of some kinds. FAISS searches where it is installed, numpy
    otherwise; both give the same rows."""

    def __init__(self, vectors: npt.NDArray[Any], names: NameTable, *, faiss: bool | None = None) -> None:
        """``faiss``: None takes it where it is installed."""
        self._vectors: Final = to_unit(np.asarray(vectors, dtype=np.float32))
        self._names: Final = names
        self._faiss: Any = None
        if faiss is not False:
            with contextlib.suppress(ImportError):
                self._faiss = importlib.import_module("faiss")
        self._held: dict[tuple[str, ...], tuple[Rows, Any]] = {}

    @property
    def searched_by(self) -> str:
        """``faiss`` or ``numpy``."""
        return "numpy" if self._faiss is None else "faiss"

    def cosines(self, vector: Vectors, rows: Rows) -> Vectors:
        """The cosines of one vector with some names, shape (rows,)."""
        return np.asarray(self._vectors[rows] @ vector, dtype=np.float32)

    def search(self, vectors: Vectors, kinds: tuple[str, ...], depth: int) -> list[Rows]:
        """For each vector the rows of the ``depth`` nearest names of these kinds (all kinds where none is named)."""
        rows, index = self._index(kinds)
        depth = min(depth, len(rows))
        if not depth:
            return [np.zeros(0, dtype=np.int64) for _ in vectors]
        if self._faiss is not None:
            _, found = index.search(np.ascontiguousarray(vectors, dtype=np.float32), depth)
            return [rows[one[one >= 0]] for one in found]
        answers = []
        for vector in vectors:
            near = index @ vector
            best = np.argpartition(-near, depth - 1)[:depth]
            answers.append(rows[best])
        return answers

    def _index(self, kinds: tuple[str, ...]) -> tuple[Rows, Any]:
        held = self._held.get(kinds)
        if held is None:
            rows = np.flatnonzero(self._names.of_kinds(kinds))
            some = np.ascontiguousarray(self._vectors[rows])
            index: Any = some
            if self._faiss is not None:
                index = self._faiss.IndexFlatIP(some.shape[1])
                index.add(some)
            held = self._held[kinds] = rows, index
        return held
