"""Sets of patients from columns of their numbers."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from pyroaring import BitMap


def patient_set(numbers: np.ndarray[Any, np.dtype[Any]]) -> BitMap:
    """The set of these dense patient numbers (integers from 0 to 2**32 - 1, in any order)."""
    # The library takes the items of a NumPy array one by one as objects, which costs nine times as much.
    return BitMap(array("I", numbers.astype(np.uint32, copy=False).tobytes()))
