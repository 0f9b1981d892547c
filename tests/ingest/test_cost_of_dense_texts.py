"""The work of reading a note, and of joining what was read, grows with its length and no faster: counted, not timed."""

from __future__ import annotations

import datetime

import pytest

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.text.frame import Span, first_come
from cohortium.kb.model import Note
from tests.ingest.dense_texts import DENSE, dense_text
from tests.steps import steps_of

SHORT, LONG = 2_000, 8_000
#: Four times the text in four times the steps; what is done once a note, and what the end of a text cuts, is the rest.
MOST_GROWTH, ONCE = 4.6, 3_000


def read_and_join(text: str) -> None:
    """One note, and the journey of its patient."""
    reader = shared_reader()
    build_journey("P1", [reader.read(Note("P1", "D1", text, datetime.date(2021, 6, 15)))], reader.concepts)


@pytest.mark.parametrize("name", DENSE)
def test_work_grows_with_length(name: str) -> None:
    """Whatever is said over and over."""
    short, long = (dense_text(name, length) for length in (SHORT, LONG))
    read_and_join(long)  # What is worked out once a process.
    assert steps_of(lambda: read_and_join(long)) <= MOST_GROWTH * steps_of(lambda: read_and_join(short)) + ONCE


@pytest.mark.parametrize("shift", [0, 1, 3])
def test_many_spans_are_settled_as_few_are(shift: int) -> None:
    """Marking what is taken gives what looking at the neighbours gives."""
    spans = [Span(at * 2, at * 2 + 1 + (at * 7 + shift) % 5, "site") for at in range(3_000)]
    spans.sort(key=lambda span: (span.start - span.end, span.start))
    kept: list[Span] = []
    taken: set[int] = set()
    for span in spans:
        if taken.isdisjoint(range(span.start, span.end)):
            kept.append(span)
            taken.update(range(span.start, span.end))
    assert [(one.start, one.end) for one in first_come(spans)] == sorted((one.start, one.end) for one in kept)
