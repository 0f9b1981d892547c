"""Pairs of events of one group: the same, however many are looked at in one step."""

from __future__ import annotations

import numpy as np
import pytest

from cohortium.engine.fast import related


@pytest.mark.parametrize("at_a_time", [1, 2, 7, 1 << 21])
def test_every_pair_of_equal_keys_comes_once(monkeypatch: pytest.MonkeyPatch, at_a_time: int) -> None:
    """Sorted keys and others, keys that one side lacks, and no keys at all."""
    monkeypatch.setattr(related, "_PAIRS_AT_A_TIME", at_a_time)
    random = np.random.default_rng(1)
    for left_size, right_size in ((0, 3), (3, 0), (1, 1), (20, 30), (40, 5)):
        for keys in (1, 4, 50, 70_000):
            left, right = random.integers(0, keys, left_size), random.integers(0, keys, right_size)
            for one, other in ((left, right), (left, np.sort(right)), (np.sort(left), right)):
                found = [
                    pair
                    for first, second in related._matched(one, other, keys)
                    for pair in zip(first.tolist(), second.tolist(), strict=True)
                ]
                expected = [(a, b) for a in range(left_size) for b in range(right_size) if one[a] == other[b]]
                assert sorted(found) == expected
