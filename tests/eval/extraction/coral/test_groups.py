"""Kruskal–Wallis with Benjamini–Hochberg, by hand, and intervals over documents."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from cohortium.eval.extraction.coral.intervals import mean_intervals
from cohortium.eval.extraction.coral.strata import Difference, corrected, differences, kruskal_wallis, load_strata
from cohortium.kb.errors import UsageError


def test_kruskal_wallis_by_hand() -> None:
    """Ranks 1 2 3 against 4 5 6: H = 12/(6·7)·(6²/3 + 15²/3) − 3·7 = 27/7; p = erfc(√(H/2))."""
    found = kruskal_wallis([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    assert found is not None
    assert found[0] == pytest.approx(27 / 7)
    assert found[1] == pytest.approx(math.erfc(math.sqrt(27 / 14)))


def test_kruskal_wallis_with_ties_and_three_groups_by_hand() -> None:
    """Ranks 1.5 1.5, 3.5 3.5, 5.5 5.5: H = 12/42·(9/2 + 49/2 + 121/2) − 21 = 32/7, over 1 − 3·6/210 = 32/35, is 5;
    two degrees of freedom: p = e^(−H/2)."""
    found = kruskal_wallis([[0, 0], [0.5, 0.5], [1, 1]])
    assert found is not None
    assert found[0] == pytest.approx(5)
    assert found[1] == pytest.approx(math.exp(-2.5))


@pytest.mark.parametrize("groups", [[], [[]], [[0.1, 0.9]], [[0.1, 0.9], []], [[0.5, 0.5], [0.5]]])
def test_nothing_to_test_has_no_p_value(groups: list[list[float]]) -> None:
    """Fewer than two groups with a score, or all scores equal."""
    assert kruskal_wallis(groups) is None


def test_benjamini_hochberg_by_hand() -> None:
    """p .01 .04 .03 .005 of four: times 4 over rank .04/2 .16/4 .12/3 .02/1, and none above one of a higher rank."""

    def test(p: float | None) -> Difference:
        return Difference("s", "r", "f", {}, None if p is None else 1.0, p)

    found = corrected([test(0.01), test(None), test(0.04), test(0.03), test(0.005)])
    assert [one.q for one in found] == [pytest.approx(0.02), None, *map(pytest.approx, (0.04, 0.04, 0.02))]
    assert corrected([]) == []
    assert corrected([test(None)])[0].q is None


def test_each_stratum_is_a_family_and_a_document_an_observation() -> None:
    """Documents without a group or without a score are left out, and counted in no group."""
    scores = {("a", "f1"): {"1": 0.1, "2": 0.2, "3": 0.8, "4": 0.9, "5": 0.5}, ("b", "f1"): {"1": 1.0, "3": 1.0}}
    strata = {"gender": {"1": "f", "2": "f", "3": "m", "4": "m"}, "empty": {}}
    found = {(one.stratum, one.relation): one for one in differences(scores, strata)}
    one = found["gender", "a"]
    assert one.groups == {"f": 2, "m": 2}
    # Ranks 1 2 against 3 4: H = 12/20·(9/2 + 49/2) − 15 = 2.4; the only test of its family, so q = p.
    assert one.h == pytest.approx(2.4)
    assert one.q == one.p
    assert found["gender", "b"].p is None
    assert found["empty", "a"].groups == {}


def test_strata_are_read_from_tables(tmp_path: Path) -> None:
    """Tabs or commas; empty cells, short rows and other documents are left out."""
    table = tmp_path / "strata"
    for text in ("document\tsex\tage\nd1\tf\t\nd2\tm\nother\tf\t1\n", '"document",sex,age\nd1,f,\nd2,m\nother,f,1\n'):
        table.write_text(text)
        assert load_strata(table, ["d1", "d2"]) == {"sex": {"d1": "f", "d2": "m"}, "age": {}}
        with pytest.raises(UsageError, match="none of the documents"):
            load_strata(table, ["x"])
    table.write_text("document\n")
    with pytest.raises(UsageError, match="no table"):
        load_strata(table, ["d1"])
    with pytest.raises(UsageError, match="cannot read"):
        load_strata(tmp_path / "nowhere", ["d1"])


def test_one_document_has_an_interval_of_one_point() -> None:
    """Whatever is drawn is that document; the mean of two tables is that of their means."""
    each, overall = mean_intervals({"a": {"d": [0.2, 0.4]}, "b": {"d": [0.9]}, "c": {}}, ["d"])
    assert each == {"a": (pytest.approx(0.3), pytest.approx(0.3)), "b": (pytest.approx(0.9),) * 2, "c": None}
    assert overall == (pytest.approx(0.6), pytest.approx(0.6))
    assert mean_intervals({}, ["d"]) == ({}, None)
    assert mean_intervals({"a": {}}, []) == ({"a": None}, None)


def test_an_interval_holds_the_mean_and_is_drawn_over_documents() -> None:
    """Sections of one document go together: ten of one document are no more than one draw."""
    table = {"a": {"d1": [0.0] * 10, "d2": [1.0] * 10}}
    each, _ = mean_intervals(table, ["d1", "d2"], seed=1)
    assert each["a"] == (0.0, 1.0)
    assert mean_intervals(table, ["d1", "d2"], seed=1) == mean_intervals(table, ["d1", "d2"], seed=1)
    many = {"a": {f"d{one}": [one % 2] for one in range(100)}}
    low, high = mean_intervals(many, list(many["a"]))[0]["a"] or (0, 0)
    assert 0.35 < low < 0.5 < high < 0.65
