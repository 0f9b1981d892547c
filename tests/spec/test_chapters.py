"""Every paragraph of the guide holds: the answers that a person worked out, from each engine, in the three worlds."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import ALL_TUMORS, NO_TUMOR, DayInterval, Event, Journey, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang import nodes
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from tests.generated.memory_kb import MemoryKb
from tests.generated.record_tables import journeys
from tests.spec import book
from tests.spec.records import unlike_a_reading

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
PARTS = {part.place: part for part in book.parts()}
QUESTIONS = [
    pytest.param(part, question, id=f"{part.place}: {question.query[:70]}")
    for part in PARTS.values()
    for question in part.questions
]
REFUSALS = [refusal for part in PARTS.values() for refusal in part.refusals]
FILLED_AT_RANDOM = 25


def answers(question: book.Question) -> tuple[frozenset[str], ...]:
    """The three answers, in the order of WORLDS."""
    return question.certain, question.believed, question.possible


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """One knowledge base on disk with the records of all paragraphs, each patient's id begun with its paragraph."""

    def moved(place: str, journey: Journey) -> Journey:
        patient = f"{place}/{journey.patient_id}"
        notes = {note.note_id: replace(note, patient_id=patient) for note in journey.notes}
        mentions = {one.mention_id: replace(one, note_id=notes[one.note_id].note_id) for one in journey.mentions}
        told = {old: new.mention_id for old, new in mentions.items()}
        events = {
            event.event_id: replace(event, patient_id=patient, evidence=tuple(told[one] for one in event.evidence))
            for event in journey.events
        }
        decisions = tuple(
            replace(
                decision,
                patient_id=patient,
                believed=tuple(events[one].event_id for one in decision.believed),
                rejected=tuple(events[one].event_id for one in decision.rejected),
            )
            for decision in journey.decisions
        )
        return Journey(patient, tuple(notes.values()), tuple(mentions.values()), (), tuple(events.values()), decisions)

    path: Path = tmp_path_factory.mktemp("spec") / "chapters.kb"
    build_generation(
        path, [moved(part.place, journey) for part in PARTS.values() if part.table for journey in journeys(part.table)]
    )
    return KnowledgeBase.open(path)


def test_there_is_much_to_ask() -> None:
    """The chapters are found, and each has its questions."""
    assert len(book.chapters()) >= 10
    assert len(QUESTIONS) >= 150


@pytest.mark.parametrize(("part", "question"), QUESTIONS)
def test_the_reference_engine_gives_the_answer(
    part: book.Part, question: book.Question, concepts: ConceptTable, scales: Scales
) -> None:
    """The engine that defines each node finds these patients, and no others, in each world."""
    query = resolve_text(question.query, concepts, scales, today=question.today)
    records = journeys(part.table)
    assert tuple(reference.evaluate(query, records, concepts, scales, world) for world in WORLDS) == answers(question)


@pytest.mark.parametrize(("part", "question"), QUESTIONS)
def test_the_fast_engine_gives_the_answer(
    part: book.Part, question: book.Question, concepts: ConceptTable, scales: Scales
) -> None:
    """The engine that people use finds the same in each world."""
    query = resolve_text(question.query, concepts, scales, today=question.today)
    kb = MemoryKb(journeys(part.table), concepts, scales)
    found = tuple(frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world)) for world in WORLDS)
    assert found == answers(question)


@pytest.mark.parametrize(("part", "question"), QUESTIONS)
def test_a_stored_knowledge_base_gives_the_answer(
    part: book.Part, question: book.Question, stored: KnowledgeBase
) -> None:
    """Among the patients of all other paragraphs, on disk and with its posting lists, the answer is the same."""
    place = f"{part.place}/"
    query = _asked_there(resolve_text(question.query, stored.concepts, stored.scales, today=question.today), place)
    for world, expected in zip(WORLDS, answers(question), strict=True):
        found = {stored.patients[number] for number in fast.evaluate(query, stored, world)}
        assert {patient.removeprefix(place) for patient in found if patient.startswith(place)} == expected


def _asked_there(node: Any, place: str) -> Any:
    """The tree with the ids of patients as they are in the stored knowledge base."""
    if isinstance(node, nodes.Among):
        return nodes.Among(tuple(f"{place}{patient}" for patient in node.patients))
    if isinstance(node, tuple):
        return tuple(_asked_there(one, place) for one in node)
    if not dataclasses.is_dataclass(node):
        return node
    return replace(node, **{one.name: _asked_there(getattr(node, one.name), place) for one in fields(node)})


@pytest.mark.parametrize(("part", "question"), QUESTIONS)
def test_the_worlds_are_nested_in_what_the_guide_says(part: book.Part, question: book.Question) -> None:
    """Certain lies within believed within possible, and all of them are patients of the record."""
    everyone = {journey.patient_id for journey in journeys(part.table)}
    assert question.certain <= question.believed <= question.possible <= everyone


@pytest.mark.parametrize(("part", "question"), QUESTIONS)
def test_what_a_record_leaves_open_is_filled_within_the_bounds(
    part: book.Part, question: book.Question, concepts: ConceptTable, scales: Scales
) -> None:
    """However days, uncertain facts and tumors are filled in, who is certain is found, and who is found is possible."""
    query = resolve_text(question.query, concepts, scales, today=question.today)
    chance = random.Random(part.place)
    for journey in journeys(part.table):
        if not any(_is_open(event) for event in journey.events):
            continue
        tumors = sorted(
            {event.tumor for event in journey.events if event.tumor not in (ALL_TUMORS, NO_TUMOR) and event.world}
        )
        for _ in range(FILLED_AT_RANDOM):
            filled = _with_events(journey, tuple(_filled(event, tumors, chance) for event in journey.events))
            found = reference.matches(query, filled, concepts, scales, World.BELIEVED)
            assert found or journey.patient_id not in question.certain
            assert not found or journey.patient_id in question.possible


def _with_events(journey: Journey, events: tuple[Event, ...]) -> Journey:
    """The record with these in place of its events; decisions name them by their new ids."""
    new = {old.event_id: event.event_id for old, event in zip(journey.events, events, strict=True)}
    decisions = tuple(
        replace(
            decision,
            believed=tuple(new[one] for one in decision.believed),
            rejected=tuple(new[one] for one in decision.rejected),
        )
        for decision in journey.decisions
    )
    return replace(journey, events=events, decisions=decisions)


def _is_open(event: Event) -> bool:
    return (
        event.day.low < event.day.high
        or event.world in (World.POSSIBLE, World.BELIEVED)
        or (event.tumor == NO_TUMOR and event.world > World.NONE)
    )


def _filled(event: Event, tumors: list[str], chance: random.Random) -> Event:
    """The event with one of its days, there or not there, and with a tumor if it has none."""
    day = chance.choice([event.day.low, event.day.high, chance.randint(event.day.low, event.day.high)])
    disputed = event.world in (World.POSSIBLE, World.BELIEVED)
    return replace(
        event,
        day=DayInterval(day, day),
        world=chance.choice([World.CERTAIN, World.NONE]) if disputed else event.world,
        tumor=chance.choice(tumors) if event.tumor == NO_TUMOR and tumors else event.tumor,
    )


@pytest.mark.parametrize(("part", "question"), QUESTIONS)
def test_a_query_survives_rendering(part: book.Part, question: book.Question) -> None:
    """The read-back of a query parses to the same tree."""
    parsed = parse(question.query)
    assert parse(render(parsed)) == parsed


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.query[:70])
def test_a_wrong_query_is_answered_with_this_message(
    refusal: book.Refusal, concepts: ConceptTable, scales: Scales
) -> None:
    """What, where, and what instead: word for word as the guide shows it."""
    with pytest.raises(QueryError) as caught:
        resolve_text(refusal.query, concepts, scales)
    assert str(caught.value) == refusal.message


def test_records_are_such_as_reading_makes(concepts: ConceptTable) -> None:
    """Each event has a concept of the ontology that fits its kind, and attributes that the kind has."""
    for part in PARTS.values():
        assert unlike_a_reading(part.table, concepts) == [], part.place
