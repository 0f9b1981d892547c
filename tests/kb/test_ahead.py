"""What is taken ahead of its use, and sets of patients from columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from cohortium.kb.index.ahead import ahead
from cohortium.kb.index.patient_sets import patient_set


def test_the_same_items() -> None:
    """All items come, in their order; of nothing nothing comes."""
    with ahead(iter(range(1, 100))) as coming:
        assert list(coming) == list(range(1, 100))
    with ahead(iter(())) as coming:
        assert list(coming) == []


def test_one_at_a_time() -> None:
    """No more than one item is taken before it is asked for, and none when the rest is not wanted."""
    taken = []

    def items() -> Iterator[str]:
        for name in "abcdef":
            taken.append(name)
            yield name

    with ahead(items()) as coming:
        assert [next(coming), next(coming)] == ["a", "b"]
    assert taken in (["a", "b"], ["a", "b", "c"])


def test_what_goes_wrong_is_told() -> None:
    """An error of the source reaches whoever asks, at its place."""

    def items() -> Iterator[int]:
        yield 1
        raise OSError("the disk is full")

    with ahead(items()) as coming:
        assert next(coming) == 1
        with pytest.raises(OSError, match="the disk is full"):
            next(coming)


@given(st.lists(st.integers(0, 2**32 - 1)), st.sampled_from(["u4", "i8", "u8"]))
def test_a_set_of_patients(numbers: list[int], dtype: str) -> None:
    """Whatever their order and type, the numbers of a column are the set."""
    assert patient_set(np.array(numbers, dtype=dtype)) == BitMap(numbers)
