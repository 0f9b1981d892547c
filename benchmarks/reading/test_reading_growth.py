"""Reading costs in proportion to length, also for texts made to defeat patterns: 100 KB against 400 KB."""

from __future__ import annotations

import datetime
import gc
import time

import pytest

from cohortium.ingest.notation.expressions import expressions_of
from cohortium.ingest.note.read import NoteReader
from cohortium.ingest.recognizers.nodes import NodeRecognizer
from cohortium.ingest.recognizers.performance import PerformanceRecognizer
from cohortium.ingest.recognizers.spread import MetastasisRecognizer
from cohortium.ingest.recognizers.staging import GradeRecognizer, StageRecognizer, TnmRecognizer
from cohortium.ingest.recognizers.trials import TrialRecognizer
from cohortium.ingest.text.dates.reader import DateReader
from cohortium.ingest.text.frame import Frame
from cohortium.ingest.text.shape import Shape
from cohortium.ingest.text.words import words_of
from cohortium.kb.model import Note

NOTE_DATE = datetime.date(2021, 6, 15)
#: What is repeated; a first part that stands once arms the patterns that need it.
REPEATED = {
    "brackets": "[",
    "closed_brackets": "(a) ",
    "masks": "[**",
    "dashes": "-",
    "digits": "7",
    "small_numbers": "1 ",
    "letters": "a ",
    "capitals": "A",
    "newlines": "\n",
    "carriage_returns": "\r\n",
    "blanks": " ",
    "tabs": "\t",
    "stops": ".",
    "spaced_stops": ". ",
    "slashes": "1/",
    "dates": "3/4/2019 ",
    "dashed_dates": "3/4/2019-",
    "bare_dates": "pain 3/4, ",
    "months": "Mar-",
    "years": "2019-",
    "apostrophes": "'",
    "stage": "stage ",
    "systems": "AJCC 8 ",
    "figo": "FIGO 2018 ",
    "tnm": "T2",
    "tnm_apart": "T2 N1 ",
    "prefixes": "yp",
    "notes": "pT2(",
    "grade": "grade ",
    "nottingham": "Nottingham ",
    "gleason": "Gleason score ",
    "gleason_sum": "3+4",
    "ecog": "ECOG ",
    "ecog_filler": "ECOG from 2 to ",
    "who": "WHO  ",
    "boxes": "ECOG [ ] 0 ",
    "karnofsky": "Karnofsky performance ",
    "nodes": "nodes ",
    "node_counts": "2/14 nodes ",
    "node_fields": "nodes examined: 1 nodes involved: 1 ",
    "sentinel": "sentinel lymph nodes positive ",
    "metastases": "metastatic ",
    "headings": "Plan:\n",
    "capital_lines": "\n\nA B",
    "colons": "A:",
    "rules": "=",
    "semicolons": "; ",
    "ago": "three weeks ",
    "negation": "no ",
    "cancer": "breast cancer, ",
    "markers": "ER ",
    "results": "ER positive, ",
    "variants": "p.V600E ",
    "exons": "exon 19, ",
    "places": "c.1_",
    "offsets": "1+1 ",
    "bases": "ACGT",
    "arrows": "C-->T ",
    "residues": "Val-600-",
    "changes_in_words": "valine to glutamic acid at codon ",
    "rewrites": "1del ",
    "gene_pairs": "ALK-",
    "sites": "breast ",
    "spread": "Metastatic carcinoma of the left breast to bone. ",
    "graded_symptoms": "Grade 2 nausea. ",
    "courses": "Carboplatin x4 3/4/2019 - 5/6/2019, then docetaxel ",
    "cycles": "carboplatin C4D1 ",
    "stopped": "carboplatin stopped for ",
    "switches": "docetaxel switched to ",
    "lines": "second line docetaxel ",
    "doses": "RT 50 Gy/25 ",
    "fractions": "radiation 25 fx ",
    "harms": "nausea due to docetaxel, ",
    "listed_harms": "docetaxel nausea and ",
    "trials": "enrolled on NCT01234567 ",
    "phases": "phase II ",
    "bare_trials": "study ",
    "definitions": "partial response (PR). ER positive, PR negative ",
    "brackets_of_capitals": "SCC (SCC) ",
    "reversed_definitions": "SCC (squamous cell carcinoma) ",
    "hidden_dates": "XX/03/2019 __/__/2020 **/",
    "masked_ranges": "[**Date range (1) 3-4 ",
    "marks_of_masks": "[**",
    "underscores": "__/",
    "parts_of_years": "early in mid-March 2020 Q2 of the ",
}
SHORT, LONG = 100_000, 400_000
#: Four times the text in four times the time, and a margin for a busy machine.
MOST_GROWTH = 6.0
#: Below this a ratio says nothing (seconds).
NOISE = 0.3

#: Each part of reading that takes a text alone.
PARTS = {
    "shape": lambda text: Shape(text),
    "words": words_of,
    "dates": lambda text: list(DateReader(text, NOTE_DATE)),
    "notations": expressions_of,
}
RECOGNIZERS = (
    TnmRecognizer(),
    StageRecognizer(),
    GradeRecognizer(),
    PerformanceRecognizer(),
    NodeRecognizer(),
    MetastasisRecognizer(),
    TrialRecognizer(),
)


def text_of(piece: str, length: int) -> str:
    """``piece`` over and over."""
    return (piece * (length // len(piece) + 1))[:length]


def seconds(part: object, argument: object) -> float:
    """How long one call takes, of processor time."""
    # The collector would walk through the whole ontology, now in the short text's time, now in the long one's.
    gc.disable()
    try:
        started = time.process_time()
        part(argument)  # type: ignore[operator]
        return time.process_time() - started
    finally:
        gc.enable()


def assert_grows_with_length(part: object, short: object, long: object) -> None:
    """The long one takes at most ``MOST_GROWTH`` times as long as the short one."""
    first = seconds(part, short)
    second = seconds(part, long)
    assert second <= max(NOISE, MOST_GROWTH * first), f"{first:.3f} s, then {second:.3f} s for four times the text"


@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("part", PARTS)
def test_parts_grow_with_length(part: str, piece: str) -> None:
    """Shape, tokens and dates are read in time proportional to the text."""
    text = text_of(REPEATED[piece], LONG)
    assert_grows_with_length(PARTS[part], text[:SHORT], text)


@pytest.mark.parametrize("piece", REPEATED)
def test_recognisers_grow_with_length(piece: str) -> None:
    """Each pattern recogniser reads in time proportional to the text."""
    text = text_of(REPEATED[piece], LONG)
    short, long = (Frame(Note("P1", "N1", part, NOTE_DATE)) for part in (text[:SHORT], text))
    for recognizer in RECOGNIZERS:
        assert_grows_with_length(lambda frame, find=recognizer.find: list(find(frame)), short, long)


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """A reader with the shipped ontology."""
    return NoteReader.from_ontology()


@pytest.mark.parametrize("piece", REPEATED)
def test_whole_notes_grow_with_length(reader: NoteReader, piece: str) -> None:
    """A whole note is read in time proportional to its text."""
    text = text_of(REPEATED[piece], LONG // 4)
    short, long = (Note("P1", "N1", part, NOTE_DATE) for part in (text[: SHORT // 4], text))
    assert_grows_with_length(reader.read, short, long)
