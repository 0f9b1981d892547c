"""An encoder that needs no model: quick, exact and equal everywhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from cohortium.eval.baselines.retrieval.encoders import Spans, Vectors
from cohortium.ingest.models.linking.encoders import to_unit

_WORD: Final = re.compile(r"\w+|[^\w\s]")


class HashedEncoder:
    """Counts of words, each thrown into one of ``dimension`` places with a sign that its hash draws.

    It knows no meaning.
    """

    def __init__(self, dimension: int = 64, most_tokens: int = 1000) -> None:
        if dimension < 1 or most_tokens < 1:
            raise ValueError("an encoder has at least one dimension and reads at least one token")
        self.name: Final = "hashed"
        self.dimension: Final = dimension
        self.most_tokens: Final = most_tokens

    def signature(self) -> Mapping[str, Any]:
        """Name, version, sizes."""
        return {
            "name": self.name,
            "version": 1,
            "dimension": self.dimension,
            "most_tokens": self.most_tokens,
            "tokens": "words and signs",
        }

    def offsets(self, texts: Sequence[str]) -> list[Spans]:
        """Words and single signs."""
        return [np.array([one.span() for one in _WORD.finditer(text)], dtype=np.int32).reshape(-1, 2) for text in texts]

    def encode(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """The signed counts of the first ``most_tokens`` words, scaled to length 1."""
        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for one in _WORD.findall(text.casefold())[: self.most_tokens]:
                drawn = int.from_bytes(hashlib.blake2b(one.encode("utf-8", "surrogatepass"), digest_size=8).digest())
                found[row, drawn % self.dimension] += 1 if drawn >> 63 else -1
        return to_unit(found)
