"""Long notes: spans are looked up by where they start (how reading grows is measured in benchmarks)."""

from __future__ import annotations

from cohortium.ingest.text.frame import Span, starting


def test_spans_are_found_by_where_they_start() -> None:
    """The lower bound belongs to the range, the upper does not."""
    spans = [Span(start, start + 1, "site", "breast", "x") for start in (0, 3, 3, 7)]
    assert [span.start for span in starting(spans, 3, 7)] == [3, 3]
    assert not starting(spans, 4, 7)
    assert not starting([], 0, 9)
