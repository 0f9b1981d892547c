"""Births: ages and dates of birth in notes, and the one event that they are joined to."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.journey.births import _day_of_most
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import NoteReader
from cohortium.ingest.recognizers.births import born_of
from cohortium.kb.model import ALL_TUMORS, DayInterval, Event, Mention, Note, World
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from tests.amounts import examples

DAY = datetime.date(2019, 6, 1)


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """A reader with the shipped ontology."""
    return NoteReader.from_ontology()


def read(reader: NoteReader, text: str, date: datetime.date | None = DAY) -> list[tuple[str, str, str]]:
    """The mentions of birth in a note: their words, the first and the last day."""
    found = reader.read(Note("P", "n", text, date)).mentions
    return [
        (one.text, *(datetime.date.fromordinal(day).isoformat() for day in (one.day.low, one.day.high)))
        for one in found
        if one.kind == "birth"
    ]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("67-year-old woman with breast cancer.", "1951-06-02", "1952-06-01"),
        ("This is a 67 yo with colon cancer.", "1951-06-02", "1952-06-01"),
        ("Pt is a 54yo M here for follow-up.", "1964-06-02", "1965-06-01"),
        ("Age: 71\nSex: F", "1947-06-02", "1948-06-01"),
        ("81 y/o gentleman with melanoma.", "1937-06-02", "1938-06-01"),
        ("DOB: 1950-03-14", "1950-03-14", "1950-03-14"),
        ("DOB: 3/14/1950", "1950-03-14", "1950-03-14"),
        ("DOB: 3/4/1950", "1950-03-04", "1950-04-03"),
        ("born on March 4, 1950 in Ohio", "1950-03-04", "1950-03-04"),
        ("She was born in 1950.", "1950-01-01", "1950-12-31"),
    ],
)
def test_an_age_or_a_date_of_birth_is_read_as_the_days_it_can_be(
    reader: NoteReader, text: str, low: str, high: str
) -> None:
    """An age holds on the day of the note; where the order of day and month is open, both count."""
    assert [days for _, *days in read(reader, text)] == [[low, high]]


@pytest.mark.parametrize(
    "text",
    [
        "Mother died at 67 years old.",
        "Her 45-year-old sister had ovarian cancer.",
        "Diagnosed at age 45.",
        "She was 50 years old when diagnosed.",
        "Family History:\nfather 80 years old man with heart disease",
        "Compared with a 2 year old scan.",
        "DOB 13/45/1950. Patient well.",
        "DOB 2/30/1950. Patient well.",
        "Born on Foo 4, 1950.",
    ],
)
def test_what_is_not_the_patients_age_or_no_date_is_not_read(reader: NoteReader, text: str) -> None:
    """Relatives, ages at another time, other things, and days that the calendar does not have."""
    assert read(reader, text) == []


def test_without_a_date_of_the_note_an_age_leaves_the_day_open(reader: NoteReader) -> None:
    """A date of birth does not."""
    assert read(reader, "67-year-old woman, DOB 1950-03-14.", None) == [
        ("67-year-old", "1900-01-01", "2199-12-31"),
        ("DOB 1950-03-14", "1950-03-14", "1950-03-14"),
    ]


@pytest.mark.parametrize(
    ("dated", "sources", "world"),
    [("Feels well.", 1, World.POSSIBLE), ("66-year-old woman.", 1, World.CERTAIN), ("DOB 1950", 1, World.CERTAIN)],
)
def test_a_birth_on_no_known_day_is_possible_alone(reader: NoteReader, dated: str, sources: int, world: World) -> None:
    """So that no age is believed of it; where anything tells the day, an age on no known day says nothing more."""
    notes = [Note("P", "a", "67-year-old woman."), Note("P", "b", dated, DAY)]
    (event,) = births(reader, notes, reader.concepts)
    assert (event.world, event.sources, event.day.known) == (world, sources, world is World.CERTAIN)


def births(reader: NoteReader, notes: list[Note], concepts: ConceptTable) -> list[Event]:
    """The births of the journey of these notes."""
    journey = build_journey("P", [reader.read(note) for note in notes], concepts)
    return [event for event in journey.events if event.kind == "birth"]


def test_the_ages_of_several_notes_meet_in_one_event(reader: NoteReader) -> None:
    """67 on one day and 68 on another leave the days between; an age copied forward agrees with few, and counts not."""
    notes = [
        Note("P", "a", "67-year-old woman.", datetime.date(2019, 6, 1)),
        Note("P", "b", "68-year-old woman.", datetime.date(2019, 9, 1)),
        Note("P", "c", "67-year-old woman.", datetime.date(2022, 1, 1)),
    ]
    (event,) = births(reader, notes, reader.concepts)
    first, second = born_of(67, DAY), born_of(68, datetime.date(2019, 9, 1))
    assert (event.day.low, event.day.high) == (max(first.low, second.low), min(first.high, second.high))
    assert (event.tumor, event.sources) == (ALL_TUMORS, 2)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12), st.integers(0, 9)), min_size=1, max_size=12))
def test_most_notes_agree_on_the_day_that_is_chosen(told: list[tuple[int, int, int]]) -> None:
    """Of the first days of all mentions it is the one on which mentions of most notes agree, of equals the latest."""
    mentions = [
        Mention(f"note {note}", 0, 1, "x", "birth", "", "", day=DayInterval(700_000 + low, 700_000 + low + length))
        for note, low, length in told
    ]

    def agreeing(day: int) -> int:
        return len({one.note_id for one in mentions if one.day.low <= day <= one.day.high})

    assert _day_of_most(mentions) == max((one.day.low for one in mentions), key=lambda day: (agreeing(day), day))


@pytest.mark.parametrize(
    ("text", "sex"),
    [
        ("67-year-old postmenopausal woman with breast cancer.", "female"),
        ("54yo M here for follow-up.", "male"),
        ("81 y/o retired gentleman.", "male"),
        ("Age/Sex: 56/F", "female"),
        ("45-year-old patient.", None),
        ("Age: 71", None),
    ],
)
def test_a_sex_is_told_beside_an_age(reader: NoteReader, text: str, sex: str | None) -> None:
    (one,) = (one for one in reader.read(Note("P", "n", text, DAY)).mentions if one.kind == "birth")
    assert one.attributes.get("sex") == sex


@pytest.mark.parametrize(
    ("texts", "sex"),
    [
        (("67 yo woman.", "67 yo F seen.", "67 yo male."), "female"),
        (("67 yo woman.", "67 yo male."), None),
        (("67 yo patient.", "67 yo male."), "male"),
    ],
)
def test_the_sex_is_the_one_of_most_notes(reader: NoteReader, texts: tuple[str, ...], sex: str | None) -> None:
    notes = [reader.read(Note("P", f"n{at}", text, DAY)) for at, text in enumerate(texts)]
    (one,) = (event for event in build_journey("P", notes, shipped_concepts()).events if event.kind == "birth")
    assert one.attributes.get("sex") == sex
