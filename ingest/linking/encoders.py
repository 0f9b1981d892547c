"""Encoders of names: text in, unit vectors out; one of runs of letters that needs numpy alone, one through ONNX."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ...kb.errors import UsageError
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
        except (OSError, KeyError, ValueError) as error:
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


class OnnxEncoder:
    """A sentence encoder's ONNX file (inputs ``input_ids``, ``attention_mask``; its last hidden states come first),
    with mean pooling. Needs onnxruntime and tokenizers, not torch."""

    def __init__(self, model: Path, tokenizer: Path, *, threads: int = 1, most_tokens: int = 64) -> None:
        """UsageError for a missing library, or files that cannot be read."""
        try:
            onnxruntime = importlib.import_module("onnxruntime")
            tokenizers = importlib.import_module("tokenizers")
        except ImportError as error:
            raise UsageError(f"this needs the library {error.name}: pip install 'cohortium[ner]'") from error
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = threads
        try:
            self._session = onnxruntime.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        except Exception as error:
            # The libraries raise types of their own, which differ from version to version.
            raise UsageError(f"'{model.name}' and '{tokenizer.name}' hold no encoder that can be read") from error
        self._tokenizer.enable_truncation(most_tokens)
        self._tokenizer.no_padding()
        self._inputs = frozenset(one.name for one in self._session.get_inputs())
        total = hashlib.sha256(model.read_bytes())
        total.update(tokenizer.read_bytes())
        self._sha256: Final = total.hexdigest()

    def signature(self) -> Mapping[str, Any]:
        """Name and hash of both files."""
        return {"name": "onnx", "version": 1, "sha256": self._sha256}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors; texts of equal length go through together."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        tokens = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        found: list[Vectors | None] = [None] * len(tokens)
        for first in range(0, len(order), 64):
            batch = order[first : first + 64]
            width = max(1, max(len(tokens[at]) for at in batch))
            ids = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros((len(batch), width), dtype=np.int64)
            for row, at in enumerate(batch):
                ids[row, : len(tokens[at])] = tokens[at]
                mask[row, : len(tokens[at])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = self._session.run(None, {key: value for key, value in given.items() if key in self._inputs})[0]
            weights = mask[:, :, None].astype(np.float32)
            pooled = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
            for row, at in enumerate(batch):
                found[at] = pooled[row]
        return to_unit(np.stack([row for row in found if row is not None]))


def told(encoder: Encoder) -> str:
    """The signature as one line that can be hashed and compared."""
    return json.dumps(dict(encoder.signature()), sort_keys=True, ensure_ascii=True)
