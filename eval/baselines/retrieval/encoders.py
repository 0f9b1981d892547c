"""Encoders: text in, unit vectors out; what every one of them must do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

#: ``(n, dimension)`` float32.
Vectors = npt.NDArray[np.float32]
#: ``(tokens, 2)`` int32: where each token begins and ends, in characters.
Spans = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Machine:
    """What a model of this machine computes on: the device, the precision of the transformer (pooling and all behind it
    stay float32), the threads of the processor's kernels (None: as torch finds it), and the tokens of a batch."""

    device: str = "cpu"
    precision: str = "float32"
    threads: int | None = None
    batch_tokens: int | None = None


PLAIN: Final = Machine()


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
