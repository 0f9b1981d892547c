"""Whatever contradicts what: deciding adds nothing, believes nothing more, and depends on no order of notes."""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.journey import build
from cohortium.ingest.journey.bench import Workbench
from cohortium.ingest.note.read import ReadNote, shared_reader
from cohortium.kb.derivation.rules import PREMISES, RULE
from cohortium.kb.model import Journey, Note, Polarity, World
from tests.amounts import examples

#: Kind of note and text; each contradicts some other, or could not have happened after it.
POOL = (
    ("operative report", "Procedure: total abdominal hysterectomy and bilateral salpingo-oophorectomy."),
    ("operative report", "Procedure: radical cystectomy."),
    ("operative report", "Procedure: TURBT."),
    ("operative report", "Procedure: left mastectomy."),
    ("operative report", "Procedure: left lumpectomy."),
    ("operative report", "Procedure: radical prostatectomy."),
    ("gynecology note", "She is currently pregnant. Breast cancer."),
    ("clinic note", "Past surgical history: hysterectomy, cystectomy. Former smoker."),
    ("clinic note", "She underwent TURBT and had a hysterectomy in 2012."),
    ("clinic note", "The patient died."),
    ("clinic note", "ECOG 1. Left breast cancer, HER2 positive, ER positive. Never smoker."),
    ("clinic note", "ECOG 2. Left breast cancer, HER2 negative, ER negative."),
    ("clinic note", "Started paclitaxel on 2015-03-01. Her mother had a hysterectomy. We plan cystectomy."),
    ("pathology report", "Left breast, core biopsy: invasive ductal carcinoma, Nottingham grade 2. HER2 negative."),
    ("pathology report - addendum", "Left breast, core biopsy: HER2 positive. Nottingham grade 3."),
    (
        "surgical pathology",
        "Left breast, lumpectomy: invasive lobular carcinoma, Nottingham grade 3. Nodes 0/3 positive.",
    ),
    ("radiology report", "CT: metastasis in the liver and the left ovary. Left axillary lymph node metastasis."),
    ("pathology report", "Liver, core biopsy: hemangioma. Negative for malignancy."),
    ("pathology report", "Corrected report: HER2 corrected result: negative. Preliminary: ER negative."),
)
DAYS = st.one_of(st.none(), st.dates(datetime.date(2012, 1, 1), datetime.date(2018, 1, 1)))
RECORDS = st.lists(st.tuples(st.integers(0, len(POOL) - 1), DAYS), min_size=2, max_size=8)
Record = list[tuple[int, datetime.date | None]]


def notes_of(record: Record) -> list[Note]:
    """The notes of a drawn record."""
    return [Note("P1", f"N{at}", POOL[which][1], day, POOL[which][0]) for at, (which, day) in enumerate(record)]


@cache
def read_of(note: Note) -> ReadNote:
    """The note read, once."""
    return shared_reader().read(note)


def journey_of(notes: list[Note], without: frozenset[str] = frozenset()) -> Journey:
    """The journey, without the steps of these names."""
    reader = shared_reader()
    read = sorted(map(read_of, notes), key=lambda one: (one.note.date or datetime.date.max, one.note.doc_id))
    bench = Workbench("P1", reader.concepts, read)
    for step in build.STEPS:
        if step.__name__ not in without:
            step(bench)
    return build.assembled(bench)


DECIDING = frozenset({"settle_contradictions", "resolve_impossible"})


def strongest(journey: Journey) -> dict[tuple[object, ...], World]:
    """By kind, concept, result and cited mention the highest world of an event that no rule derived."""
    worlds: dict[tuple[object, ...], World] = defaultdict(lambda: World.NONE)
    for event in journey.events:
        if RULE in event.attributes:
            continue
        for mention in event.evidence:
            key = (event.kind, event.concept, event.attributes.get("result"), mention)
            worlds[key] = max(worlds[key], event.world)
    return dict(worlds)


@settings(max_examples=examples(30), deadline=None)
@given(RECORDS)
def test_a_decision_makes_no_event_and_raises_none(record: Record) -> None:
    """With and without the rules the same mentions state the same things; with them none is more believed."""
    decided, plain = journey_of(notes_of(record)), journey_of(notes_of(record), DECIDING)
    after, before = strongest(decided), strongest(plain)
    assert after.keys() == before.keys()
    for said, world in after.items():
        assert world >= World.POSSIBLE or before[said] is World.NONE
        # Events share evidence where one day joins what another day parts, so that only certainty can be compared.
        assert world < World.CERTAIN or before[said] is World.CERTAIN


@settings(max_examples=examples(30), deadline=None)
@given(RECORDS)
def test_what_rules_derive_follows_from_what_was_decided(record: Record) -> None:
    """The premises of a derived event are events of the decided journey, none of them less believed than it is."""
    events = {event.event_id: event for event in journey_of(notes_of(record)).events}
    for event in events.values():
        for premise in str(event.attributes.get(PREMISES, "")).split():
            denied = events[premise].context.polarity is Polarity.ABSENT
            assert denied or events[premise].world >= event.world


@settings(max_examples=examples(30), deadline=None)
@given(RECORDS)
def test_each_decision_is_between_events_that_are_there(record: Record) -> None:
    """What gave way by trust is possible; what gave way by order keeps its world; nothing is on both sides."""
    journey = journey_of(notes_of(record))
    events = {event.event_id: event for event in journey.events}
    for decision in journey.decisions:
        assert decision.rejected
        assert not set(decision.believed) & set(decision.rejected)
        assert {*decision.believed, *decision.rejected} <= events.keys()
        if decision.rule not in ("correction over error", "possible order over impossible"):
            assert {events[one].world for one in decision.rejected} == {World.POSSIBLE}


@settings(max_examples=examples(20), deadline=None)
@given(RECORDS, st.integers(0, 1000))
def test_the_order_of_reading_decides_nothing(record: Record, seed: int) -> None:
    """Notes read in another order give the same journey, decisions included."""
    reader, notes = shared_reader(), notes_of(record)
    shuffled = random.Random(seed).sample(notes, len(notes))
    first, second = (
        build.build_journey("P1", [read_of(note) for note in order], reader.concepts) for order in (notes, shuffled)
    )
    assert first == second


@pytest.mark.parametrize("left_out", sorted(DECIDING))
def test_the_steps_stand_in_the_journey(left_out: str) -> None:
    """The properties above speak of steps that are there, before the facts are folded."""
    names = [step.__name__ for step in build.STEPS]
    assert names.index(left_out) < names.index("fold")
