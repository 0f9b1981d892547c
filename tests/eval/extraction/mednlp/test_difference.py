"""Two systems over the same reports: the difference of their F1, and the interval of it."""

from __future__ import annotations

import pytest

from cohortium.eval.extraction.mednlp.matching import Credit
from cohortium.eval.extraction.mednlp.scores import f1_difference, measures

RIGHT, WRONG, HALF = Credit(1, 1, 1, 1), Credit(0, 1, 0, 1), Credit(1, 1, 1, 2)


def test_difference_by_hand() -> None:
    """F1 of two right of two is 1; of one right, one wrong it is a half: the difference is a half."""
    found = f1_difference([RIGHT, RIGHT], [RIGHT, WRONG], 0)
    assert found["f1"] == pytest.approx(0.5)
    assert found["ci"] == [0.0, 1.0]


def test_a_system_does_not_differ_from_itself() -> None:
    """Each draw takes the same reports of both: no difference, and no width."""
    system = [RIGHT, WRONG, HALF]
    assert f1_difference(system, system, 3) == {"f1": 0.0, "ci": [0.0, 0.0]}
    assert measures(system, 3)["f1"] == pytest.approx(4 / 7)


def test_no_reports_and_other_numbers() -> None:
    """Where nothing is defined there is no difference; different numbers of reports are a fault."""
    assert f1_difference([Credit()], [RIGHT], 0) == {"f1": None, "ci": None}
    with pytest.raises(ValueError, match="same reports"):
        f1_difference([RIGHT], [], 0)
