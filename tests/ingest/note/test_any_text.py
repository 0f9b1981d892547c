"""What holds of every text: nothing raises, spans lie inside it, days lie inside the bounds of the model."""

from __future__ import annotations

import ast
import datetime
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import NoteReader, shared_reader
from cohortium.ingest.recognizers import molecular
from cohortium.ingest.recognizers.every import recognizers_of
from cohortium.ingest.text.dates.patterns import DASH, DATE, SECOND_DATE
from cohortium.ingest.text.dates.reader import DateReader
from cohortium.ingest.text.frame import Frame, Recognizer
from cohortium.ingest.text.gates import gated_patterns
from cohortium.ingest.text.shape import Shape
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY, Note
from tests.amounts import examples

#: Pieces that the patterns care for, to be strung together in any order with anything between.
PIECES = st.sampled_from(
    r"""pT2 N1a M0 ypT0ypN0 cT3N0M0 Tis (DCIS) T: =2 stage Stage IIIB 3b FIGO IC1 AJCC 8 8th edition group Rai Binet C
    ISS R-ISS II grade Grade Nottingham 8/9 Gleason 3+4 =7 GG 2 G3 well poorly differentiated to moderately ECOG
    PS WHO KPS 80 % 0-1 [x] [ ] performance status from 2 nodes 2/14 three of twelve none (0/3) LN examined
    involved: positive met mets metastatic liver brain POD #3 ago weeks 3 last week yesterday 2019 2019-03-04
    3/4/2019 13/5 4.3.19 March Mar '19 [** **] XX/XX/2020 __/__/2020 03/XX/2021 20190304 2019-Mar-04 early mid- Q2
    end of 2015-18 1990s [DATE] **DATE[ Mar-04-2019 4-8
    99/99/9999 0/0 31/2/2020 - – / . ; : , | ( ) FAMILY HISTORY: Plan
    HER2 ER+ EGFR L858R c.1799T>A IVS4+1G>A Val to Glu codon mutation C677T delAG exon 19 del 95
    IHC 2+ p.V600E no evidence of breast cancer carcinoma not denies mother
    carboplatin paclitaxel Pembrolizumab FOLFOX radiation RT colitis C4D1 C1 x6 cycles 2L first-line adjuvant
    maintenance started stopped held since until due to for toxicity progression switched to 50 Gy /25 5040 cGy in
    28 fx 40/15
    NCT01234567 phase II trial enrolled declined study on SWOG S1418 -> →
    ſix dayſ İ ſept K ٣/٤/٢٠١٩ ² １２""".split()
)
TEXTS = st.lists(st.one_of(PIECES, PIECES, st.text(max_size=6)), max_size=40).flatmap(
    lambda pieces: st.sampled_from(["", " ", "\n", "  ", "\r\n", "\t"]).map(lambda joint: joint.join(pieces))
)
DATES = st.one_of(st.none(), st.dates(), st.just(datetime.date(2021, 6, 15)))
#: What the readers of notes let through.
NOTE_DATES = st.one_of(st.none(), st.dates(datetime.date(1900, 1, 1), datetime.date(2199, 12, 31)))
SOME = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
RECOGNIZERS = recognizers_of(shared_reader().lexicon, shared_reader().measured)


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """A reader with the shipped ontology."""
    return shared_reader()


@SOME
@given(text=TEXTS, date=DATES)
def test_days_lie_within_the_bounds_of_the_model(text: str, date: datetime.date | None) -> None:
    """Dates of any text, with any note date, lie within EARLIEST_DAY and LATEST_DAY and their spans within the text."""
    for mention in DateReader(text, date):
        assert EARLIEST_DAY <= mention.day.low <= mention.day.high <= LATEST_DAY
        assert 0 <= mention.start < mention.end <= len(text)


@SOME
@given(text=TEXTS)
def test_shape_covers_any_text(text: str) -> None:
    """Sections cover the text; sentences follow one another and leave out nothing but blanks and semicolons."""
    shape = Shape(text)
    assert "".join(text[section.start : section.end] for section in shape.sections) == text
    position = 0
    for sentence in shape.sentences:
        assert position <= sentence.start < sentence.end <= len(text)
        assert not text[position : sentence.start].replace(";", " ").strip()
        position = sentence.end


@SOME
@given(text=TEXTS, date=DATES)
@pytest.mark.parametrize("recognizer", RECOGNIZERS, ids=lambda recognizer: recognizer.name)
def test_recognisers_read_any_text(recognizer: Recognizer, text: str, date: datetime.date | None) -> None:
    """No recogniser raises, and its spans lie within the text, whether or not the note holds its trigger."""
    for span in recognizer.find(Frame(Note("P1", "N1", text, date))):
        assert 0 <= span.start < span.end <= len(text)
        assert span.attributes is not None


@SOME
@given(text=TEXTS, date=NOTE_DATES)
def test_notes_of_any_text_are_read(reader: NoteReader, text: str, date: datetime.date | None) -> None:
    """A note of any text is read, and the mentions quote it."""
    note = Note("P1", "N1", text, date)
    for mention in reader.read(note).mentions:
        assert note.text[mention.start : mention.end] == mention.text
        assert EARLIEST_DAY <= mention.day.low <= mention.day.high <= LATEST_DAY
        for cue in mention.cues:
            assert 0 <= cue.start <= cue.end <= len(text)


@SOME
@given(text=TEXTS, date=NOTE_DATES)
def test_courses_of_any_text_become_a_journey(reader: NoteReader, text: str, date: datetime.date | None) -> None:
    """Courses and lines of any text are told: a line is a number from 1, an end lies not before its begin."""
    notes = [Note("P1", "N1", text, date), Note("P1", "N2", text[::-1] + text, None)]
    journey = build_journey("P1", [reader.read(note) for note in notes], reader.concepts)
    for event in journey.events:
        assert float(event.attributes.get("line", 1.0)) >= 1
        assert event.end is None or event.end.high >= event.day.low


@SOME
@example(text="G3ſix", date=None)
@example(text="Grade3", date=None)
@example(text="0/0 sentinels", date=None)
@given(text=TEXTS, date=DATES)
def test_recognisers_find_the_same_behind_their_triggers(text: str, date: datetime.date | None) -> None:
    """A note without a recogniser's trigger or gate holds nothing for it: they change no result."""
    frame = Frame(Note("P1", "N1", text, date))
    for recognizer in RECOGNIZERS:
        if not (frame.holds(recognizer.triggers) and frame.opens(recognizer.gates)):
            assert not list(recognizer.find(frame)), recognizer.name


@SOME
@example(text="éV600E m²T2N0 3mets ٣/٤ ALNs xIVS4+1G>A")
@example(text="p.(V600E) p. V600E 1234% >= 5 to 10 percent 7 / 8 on the study NRG-GY018 trial drop-met")
@given(text=TEXTS)
def test_gated_patterns_find_what_they_would_find_anywhere(text: str) -> None:
    """A pattern behind its gate finds what it finds in the whole text, and in the same places."""
    places = Frame(Note("P1", "N1", text)).places
    for gated in gated_patterns():
        everywhere = [match for match in gated.pattern.finditer(text) if _counts(match)]
        assert [match.span() for match in gated.find(places, text) if _counts(match)] == [
            match.span() for match in everywhere
        ]
    percentages = [match.span() for match in molecular._PERCENT.finditer(text)]
    assert [match.span() for match in molecular._percentages(text)] == percentages


@SOME
@example(text="q2-Mar 4 Q3/2020 12/__/2019-Mar 4 ?/??/2020 [**4-8**] '19 ’20 xx/XX/2020 sept.2019 2 d post, dayſ ago")
@example(text="'19of Oct 3rdMar 4 on 5. 6.2019, 4 - 5 May 2019 12.x.2019 7 /2019 20190304 2019s 19900101-2 1may 2")
@given(text=TEXTS)
def test_dates_begin_where_their_words_and_signs_stand(text: str) -> None:
    """Dates are sought only where one may begin, and the same are found as in the whole text."""
    found, position = [], 0
    while match := DATE.search(text, position):
        found.append(match.span())
        position = match.end()
        while (dash := DASH.match(text, position)) and (match := SECOND_DATE.match(text, dash.end())):
            found.append(match.span())
            position = match.end()
    assert [match.span() for match in DateReader(text, None)._matches] == found


def _counts(match: re.Match[str]) -> bool:
    """A stage that neither a word nor a system announces is left out behind each of its gates."""
    return "systems" not in match.re.groupindex or bool(match["systems"] or match["word"])


#: Patterns that are sought in a whole text all the same: a sign that is rare, and what is sought behind another only
#: (or, in short forms, in texts that have a bracket, and lines without a capital).
_UNGATED = {"_SMALL_LINE", "_BRACKETED", "_HOLDS_LONG", "_PERCENT_SIGN", "_SIGN_OR_WORD", "_EXAMINED_FIELD"}


def test_recognisers_have_no_pattern_without_a_gate() -> None:
    """No recogniser seeks a pattern in a whole text: each stands behind a gate."""
    for path in sorted(Path(molecular.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "finditer":
                assert len(node.args) > 1 or ast.unparse(node.func.value) in _UNGATED, f"{path.name}:{node.lineno}"
