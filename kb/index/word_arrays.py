"""Lists of words as arrays of bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from .arrays import Array


def packed(words: Sequence[str]) -> Array:
    """The words as bytes."""
    return np.frombuffer(json.dumps(list(words), separators=(",", ":")).encode("ascii"), dtype=np.uint8)


def unpacked(held: Array) -> tuple[str, ...]:
    """The words that were packed."""
    return tuple(json.loads(held.tobytes()))
