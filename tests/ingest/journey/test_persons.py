"""Persons: of sex, race and ethnicity one value is believed, and proofs of it are checked without the engine."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import cohortium
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.model import Note

DAY = datetime.date(2021, 6, 15)


def told(texts: Sequence[str], kind: str) -> dict[str, str]:
    """The values of a kind that the journey of these notes holds, each with its world."""
    reader = shared_reader()
    notes = [reader.read(Note("P", f"n{number}", text, DAY)) for number, text in enumerate(texts)]
    journey = build_journey("P", notes, reader.concepts)
    return {
        str(event.attributes[kind]): event.world.name.lower()
        for event in journey.events
        if event.kind == kind and not event.day.known
    }


@pytest.mark.parametrize(
    ("texts", "kind", "expected"),
    [
        (["67-year-old woman.", "Sex: F"], "sex", {"female": "certain"}),
        (["67-year-old woman.", "Sex: F", "Sex: M"], "sex", {"female": "believed", "male": "possible"}),
        (["Sex: F", "Sex: M"], "sex", {"female": "possible", "male": "possible"}),
        (["Race: Asian", "67-year-old Chinese woman."], "race", {"chinese": "certain"}),
        (["Race: Asian", "Race: White"], "race", {"asian": "possible", "white": "possible"}),
        (["Ethnicity: Hispanic"], "ethnicity", {"hispanic": "certain"}),
        (["Breast cancer."], "sex", {}),
    ],
)
def test_the_value_of_most_notes_is_believed(texts: list[str], kind: str, expected: dict[str, str]) -> None:
    """Notes that differ leave none certain; of a value and one below it the narrower is meant."""
    assert told(texts, kind) == expected


def test_two_relatives_with_one_illness_are_two_events() -> None:
    """Each with its own age; what two notes tell of one relative is one."""
    text = "Mother had breast cancer at 42, maternal aunt breast cancer at 60."
    reader = shared_reader()
    notes = [reader.read(Note("P", name, text, DAY)) for name in ("a", "b")]
    events = [event for event in build_journey("P", notes, reader.concepts).events if event.kind == "diagnosis"]
    assert sorted((event.attributes["relative"], event.attributes["relative_age"]) for event in events) == [
        ("aunt", 60.0),
        ("mother", 42.0),
    ]


NOTES = (
    ("P1", "2020-01-05", "Assessment: 67-year-old African American woman with lung cancer."),
    ("P2", "2020-01-05", "Sex: M\nRace: White\n\nAssessment: Lung cancer."),
    ("P2", "2020-02-05", "Sex: F\n\nAssessment: Lung cancer."),
    ("P2", "2020-03-05", "Sex: M\n\nAssessment: Lung cancer."),
    (
        "P3",
        "2020-01-05",
        "Family history: mother and maternal aunt had breast cancer at 42 and 60. Assessment: Asthma.",
    ),
)
ANSWERS = {
    "sex = female": ({"P1"}, {"P1"}, {"P1", "P2"}),
    "sex = male": (set(), {"P2"}, {"P2"}),
    "race = Black": ({"P1"}, {"P1"}, {"P1"}),
    "family history of breast cancer with relative = 'first-degree relative', relative_age < 50": (
        {"P3"},
        {"P3"},
        {"P3"},
    ),
    "family history of breast cancer with side = maternal and relative = aunt": ({"P3"}, {"P3"}, {"P3"}),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of the notes."""
    folder = tmp_path_factory.mktemp("persons")
    lines = [
        json.dumps({"patient_id": patient, "doc_id": f"d{at}", "date": date, "text": text})
        for at, (patient, date, text) in enumerate(NOTES)
    ]
    (folder / "notes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run_ingest([folder / "notes.jsonl"], folder / "persons.kb", progress=False)
    return folder / "persons.kb"


def test_notes_answer_who_somebody_is(stored: Path) -> None:
    """From words to a cohort, in three worlds; every member is proved."""
    with cohortium.open(stored) as kb:
        for query, (certain, believed, possible) in ANSWERS.items():
            found = kb.find(query)
            assert (set(found.certain), set(found), set(found.possible)) == (certain, believed, possible), query
    for query in ANSWERS:
        done = cohortium.verify(stored, query)
        assert done.holds, (query, done)
