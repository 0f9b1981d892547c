"""Encoders: text in, unit vectors out; what every one of them must do, and a tiny one that needs no model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ....ingest.models.linking.encoders import to_unit

__all__ = ["Encoder", "HashedEncoder", "Spans", "Vectors", "to_unit"]

#: ``(n, dimension)`` float32.
Vectors = npt.NDArray[np.float32]
#: ``(tokens, 2)`` int32: where each token begins and ends, in characters.
Spans = npt.NDArray[np.int32]

_WORD: Final = re.compile(r"\w+|[^\w\s]")


class Encoder(Protocol):
    """Turns texts into vectors whose inner product is their nearness."""

    @property
    def name(self) -> str:
        """How reports call it: short, without blanks."""

    @property
    def dimension(self) -> int:
        """The length of its vectors."""

    @property
    def most_tokens(self) -> int:
        """How many tokens of a text it reads at most, those that it adds itself (start, end) not counted."""

    def signature(self) -> Mapping[str, Any]:
        """What identifies its vectors: name, version, hash of the weights, precision, prompts; no path, no secret.

        Equal signatures promise equal vectors for equal texts (up to rounding), so that they can be kept.
        """

    def offsets(self, texts: Sequence[str]) -> list[Spans]:
        """For each text the place of each of its tokens, in order, as ``(tokens, 2)``; tokens that the encoder adds
        itself are left out. An encoder that has no tokenizer of its own says in its signature how it counts."""

    def encode(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """The vectors of ``texts``, ``(n, dimension)`` float32 with rows of length 1, in the order of ``texts``.

        ``asked`` tells questions from passages, for encoders that set another prompt before them. What stands behind
        ``most_tokens`` is not read.
        """


class HashedEncoder:
    """Counts of words, each thrown into one of ``dimension`` places with a sign that its hash draws.

    It knows no meaning: a stand-in that is quick, exact and equal everywhere, for tests and for trying a run out.
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
