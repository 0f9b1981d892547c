"""Marked sentences: what dates, sections, sentences and the pattern recognisers read, and what they must leave alone.

The files beside this one hold the texts, all of them invented; each says in its first line how it is marked.
"""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from cohortium.ingest.recognizers.nodes import NodeRecognizer
from cohortium.ingest.recognizers.performance import PerformanceRecognizer
from cohortium.ingest.recognizers.spread import DEPOSIT, RETURN, MetastasisRecognizer
from cohortium.ingest.recognizers.staging import GradeRecognizer, StageRecognizer, TnmRecognizer
from cohortium.ingest.text.dates.intervals import month_span, year_span
from cohortium.ingest.text.dates.reader import DateReader
from cohortium.ingest.text.frame import Frame, Span, resolve_overlaps
from cohortium.ingest.text.shape import Shape, sentences_of
from cohortium.kb.model import DayInterval, Note
from tests.ingest.note.marks import lines_of, taken_apart

HERE = Path(__file__).parent
NOTE_DATE = datetime.date(2021, 6, 15)
PATTERNS = (TnmRecognizer(), StageRecognizer(), GradeRecognizer(), PerformanceRecognizer(), NodeRecognizer())


class Marked(NamedTuple):
    """A text without its marks, and the marks: span and what is expected there."""

    text: str
    marks: list[tuple[int, int, str]]


def unmark(line: str) -> Marked:
    """``line`` taken apart."""
    return Marked(*taken_apart(line.replace(r"\r", "\r").replace(r"\n", "\n")))


def days(expected: str) -> DayInterval:
    """The interval that a mark of ``dates.txt`` names."""
    if ".." in expected:
        low, high = expected.split("..")
        return DayInterval(days(low).low, days(high).high)
    parts = [int(part) for part in expected.split("-")]
    if len(parts) == 1:
        return year_span(parts[0])
    if len(parts) == 2:
        return month_span(parts[0], parts[1])
    ordinal = datetime.date(*parts).toordinal()
    return DayInterval(ordinal, ordinal)


def described(day: DayInterval) -> str:
    """An interval in the words of the data file, so that a failure can be read."""
    low, high = datetime.date.fromordinal(day.low), datetime.date.fromordinal(day.high)
    return f"{low}..{high}"


@pytest.mark.parametrize("line", lines_of(HERE / "dates.txt"))
def test_dates(line: str) -> None:
    """Exactly the marked spans are dates, and they stand for the marked days."""
    note_date: datetime.date | None = NOTE_DATE
    if line.startswith("@"):
        written, _, line = line[1:].partition(" ")
        note_date = None if written == "-" else datetime.date.fromisoformat(written)
    text, marks = unmark(line)
    found = {(mention.start, mention.end): described(mention.day) for mention in DateReader(text, note_date)}
    assert found == {(start, end): described(days(expected)) for start, end, expected in marks}


def patterns_in(text: str) -> list[Span]:
    """The spans of the pattern recognisers, overlaps settled."""
    frame = Frame(Note("P1", "N1", text, NOTE_DATE))
    spans = [span for recognizer in PATTERNS if frame.holds(recognizer.triggers) for span in recognizer.find(frame)]
    return resolve_overlaps(spans)


def shown(span: Span) -> str:
    """A span in the words of the data files."""
    if span.kind == "performance":
        return f"{span.concept} {span.attributes['value']:g}"
    values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in span.attributes.items()}
    if "scale" in values and values["scale"] != "gleason":
        values.pop("value", None)
    return " ".join([span.kind, *sorted(f"{name}={value}" for name, value in values.items())])


def normal(expected: str) -> str:
    """An expectation with its attributes in the order of :func:`shown`."""
    kind, *attributes = expected.split()
    return " ".join([kind, *sorted(attributes)])


def check(text: str, marks: list[tuple[int, int, str]], spans: list[Span]) -> None:
    """Each span overlaps the mark that expects it; none is left over on either side."""
    got = [(span.start, span.end, shown(span)) for span in spans]
    assert [item[2] for item in got] == [normal(mark[2]) for mark in marks], text
    for (start, end, _), (low, high, _) in zip(got, marks, strict=True):
        assert max(start, low) < min(end, high), (text, text[start:end], text[low:high])


@pytest.mark.parametrize("line", lines_of(HERE / "tnm.txt"))
def test_tnm(line: str) -> None:
    """TNM categories in all spellings."""
    text, marks = unmark(line)
    kinds = {"tnm", "stage", "node"}
    check(text, marks, [span for span in patterns_in(text) if span.kind in kinds])


@pytest.mark.parametrize("line", lines_of(HERE / "stages.txt"))
def test_stages(line: str) -> None:
    """Stage groups and their systems; stages of other things are none."""
    text, marks = unmark(line)
    check(text, marks, [span for span in patterns_in(text) if span.kind in ("stage", "tnm")])


@pytest.mark.parametrize("line", lines_of(HERE / "grades.txt"))
def test_grades(line: str) -> None:
    """Grades and their scales."""
    text, marks = unmark(line)
    check(text, marks, [span for span in patterns_in(text) if span.kind == "grade"])


@pytest.mark.parametrize("line", lines_of(HERE / "performance.txt"))
def test_performance(line: str) -> None:
    """Performance status; of a range the worse end."""
    text, marks = unmark(line)
    check(text, marks, [span for span in patterns_in(text) if span.kind == "performance"])


@pytest.mark.parametrize("line", lines_of(HERE / "nodes.txt"))
def test_node_counts(line: str) -> None:
    """Counts of lymph nodes; other fractions and dates are none."""
    text, marks = unmark(line)
    check(text, marks, [span for span in patterns_in(text) if span.kind in ("node", "tnm")])


@pytest.mark.parametrize("line", lines_of(HERE / "nodes.txt"))
def test_node_counts_are_no_dates(line: str) -> None:
    """What counts nodes is no date."""
    text, marks = unmark(line)
    dates = list(DateReader(text, NOTE_DATE))
    assert not [date for date in dates for start, end, _ in marks if date.start < end and start < date.end]


@pytest.mark.parametrize("line", lines_of(HERE / "spread.txt"))
def test_words_of_spread(line: str) -> None:
    """Words of spread, and their look-alikes (what needs a place beside it is told apart with the places)."""
    text, marks = unmark(line)
    found = MetastasisRecognizer().find(Frame(Note("P1", "N1", text, NOTE_DATE)))
    check(text, marks, [span for span in found if span.source not in (DEPOSIT, RETURN)])


def notes_of(name: str) -> list[str]:
    """The blocks of ``sections.txt``."""
    return "\n".join(lines_of(HERE / name)).split("\n---\n")


@pytest.mark.parametrize("block", notes_of("sections.txt"))
def test_sections(block: str) -> None:
    """Each line lies in the section that is written before it."""
    expected = [line.split(" >", 1)[0] for line in block.splitlines()]
    texts = [line.split(" >", 1)[1].removeprefix(" ") for line in block.splitlines()]
    text = "\n".join(texts)
    shape = Shape(text)
    got, offset = [], 0
    for line in texts:
        # The last character of a line lies in its section also where the line itself opens it.
        got.append(shape.section_at(max(offset, offset + len(line) - 1)).name)
        offset += len(line) + 1
    assert list(zip(got, texts, strict=True)) == list(zip(expected, texts, strict=True))


@pytest.mark.parametrize("block", notes_of("sections.txt"))
def test_sections_cover_the_note(block: str) -> None:
    """Sections follow one another without gap or overlap."""
    sections = Shape(block).sections
    assert sections[0].start == 0
    assert sections[-1].end == len(block)
    assert all(before.end == after.start for before, after in itertools.pairwise(sections))


@pytest.mark.parametrize("line", lines_of(HERE / "sentences.txt"))
def test_sentences(line: str) -> None:
    """Sentences end where ‖ stands and nowhere else."""
    marked = line.replace(r"\r", "\r").replace(r"\n", "\n")
    expected = [part.strip().lstrip(";").strip() for part in marked.split("‖")]
    text = marked.replace("‖", "")
    assert [text[sentence.start : sentence.end] for sentence in sentences_of(text)] == expected
