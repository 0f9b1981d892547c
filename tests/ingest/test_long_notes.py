"""Placing findings costs in proportion to a note's length, also where a note says one thing over and over."""

from __future__ import annotations

import time

import pytest

from cohortium.ingest.document import read_text
from cohortium.ingest.frame import Span, starting


@pytest.mark.parametrize("unit", ["breast ", "Metastatic carcinoma of the left breast to bone. ", "Grade 2 nausea. "])
def test_four_times_the_text_takes_no_sixteen_times_the_time(unit: str) -> None:
    """Ten at the most, where the square of the length would take sixteen: sites, tumors and grades are looked up."""
    read_text(unit)

    def seconds(characters: int) -> float:
        text = unit * (characters // len(unit))
        begun = time.perf_counter()
        read_text(text)
        return time.perf_counter() - begun

    assert seconds(80_000) < 10 * max(seconds(20_000), 0.02)


def test_spans_are_found_by_where_they_start() -> None:
    """The lower bound belongs to the range, the upper does not."""
    spans = [Span(start, start + 1, "site", "breast", "x") for start in (0, 3, 3, 7)]
    assert [span.start for span in starting(spans, 3, 7)] == [3, 3]
    assert not starting(spans, 4, 7)
    assert not starting([], 0, 9)
