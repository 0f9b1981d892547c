"""Whatever journeys are made up, a knowledge base gives them back and lists them where they belong."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.kb.model import (
    EARLIEST_DAY,
    LATEST_DAY,
    Context,
    DayInterval,
    Event,
    Experiencer,
    Journey,
    Note,
    Polarity,
    Temporality,
    World,
)
from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from tests.amounts import examples

CONCEPTS = ConceptTable(
    [
        ConceptRow("top", "tumor", "top"),
        ConceptRow("left", "tumor", "left", ("top",)),
        ConceptRow("right", "tumor", "right", ("top",)),
        ConceptRow("bottom", "tumor", "bottom", ("left", "right")),
    ]
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
DAYS = st.tuples(*[st.integers(EARLIEST_DAY, LATEST_DAY)] * 2).map(lambda days: DayInterval(min(days), max(days)))
VALUES = TEXT | st.integers(-1000, 1000) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def events(draw: st.DrawFn, patient: str) -> Event:
    """An event of a patient, of any context and a world that fits it."""
    context = Context(
        draw(st.sampled_from(Polarity)), draw(st.sampled_from(Temporality)), draw(st.sampled_from(Experiencer))
    )
    exists = context.temporality in (Temporality.CURRENT, Temporality.HISTORICAL)
    exists = exists and context.experiencer is Experiencer.PATIENT
    return Event(
        patient,
        draw(st.sampled_from(["diagnosis", "stage", "medication"])),
        draw(st.sampled_from(["top", "left", "right", "bottom", "stranger", ""])),
        draw(DAYS),
        draw(st.none() | DAYS),
        draw(st.dictionaries(TEXT, VALUES, max_size=3)),
        context,
        draw(st.sampled_from(World)) if exists else World.NONE,
        draw(TEXT),
        draw(st.integers(0, 5)),
        tuple(draw(st.lists(TEXT, max_size=2))),
        draw(st.integers(1, 9)),
        tuple(draw(st.lists(TEXT, max_size=2))),
        draw(st.floats(0, 1)),
    )


@st.composite
def journeys(draw: st.DrawFn) -> list[Journey]:
    """A few patients with notes and events."""
    made = []
    for patient in draw(st.lists(TEXT.filter(bool), unique=True, max_size=4)):
        dates = st.none() | st.dates(datetime.date(1900, 1, 1), datetime.date(2199, 12, 31))
        notes = draw(st.lists(st.builds(Note, st.just(patient), TEXT, TEXT, dates, TEXT, TEXT), max_size=2))
        made.append(Journey(patient, tuple(notes), events=tuple(draw(st.lists(events(patient), max_size=4)))))
    return made


@settings(max_examples=examples(20), deadline=None)
@given(journeys())
def test_what_goes_in_comes_out(made: list[Journey]) -> None:
    """Journeys come back equal, and each posting list holds just the patients that the events call for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.kb"
        build_generation(path, made, concepts=CONCEPTS, scales=Scales({}))
        with KnowledgeBase.open(path) as kb:
            assert kb.patients == tuple(sorted(journey.patient_id for journey in made))
            for journey in made:
                found = kb.journey(journey.patient_id)
                assert found == journey
                assert [event.event_id for event in found.events] == [event.event_id for event in journey.events]
            for concept in ("top", "left", "bottom", "stranger"):
                for world in World:
                    expected = {
                        journey.patient_id
                        for journey in made
                        for event in journey.events
                        if event.kind == "diagnosis" and event.world >= world and CONCEPTS.is_a(event.concept, concept)
                    }
                    listed = {kb.patients[number] for number in kb.posting("diagnosis", concept, world)}
                    assert listed == expected, (concept, world)
