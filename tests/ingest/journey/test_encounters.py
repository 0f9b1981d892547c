"""Encounters of a journey: a stay that several notes tell is one event, and a visit is one of its day."""

from __future__ import annotations

import datetime

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import EARLIEST_DAY, Event, Note

SUMMARY = ("2021-06-09", "Discharge summary", "Mercer Hospital\nADMIT 6/1/21   DC 6/9/21\nHe was in the ICU.")


def met(*notes: tuple[str, str, str]) -> list[tuple[str, str, str, str]]:
    """Concept, first and last possible day, and end of each encounter that happened, in order; ``-`` for none."""
    reader = shared_reader()
    read = [
        reader.read(Note("P", f"d{number}", text, datetime.date.fromisoformat(date), kind))
        for number, (date, kind, text) in enumerate(notes)
    ]
    events = build_journey("P", read, reader.concepts).events
    return sorted(_shown(event) for event in events if event.kind == "encounter" and event.context.really_happened)


def _shown(event: Event) -> tuple[str, str, str, str]:
    end = None if event.end is None else event.end.high
    first, last, left = map(_day, (event.day.low, event.day.high, end))
    return event.concept, first, last, left


def _day(number: int | None) -> str:
    return "-" if number is None or number <= EARLIEST_DAY else str(datetime.date.fromordinal(number))


def test_a_stay_that_several_notes_tell_is_one() -> None:
    """Its summary, a later note with the month, and one without a date."""
    later = ("2021-08-01", "Clinic letter", "Dear Dr Shaw,\nShe was admitted in June 2021 with sepsis.")
    last = ("2021-09-01", "Clinic letter", "Dear Dr Shaw,\nShe was hospitalized with sepsis this summer.")
    found = [one for one in met(SUMMARY, later, last) if one[0] == "admission"]
    assert found == [("admission", "2021-06-01", "2021-06-01", "2021-06-09")]


def test_a_unit_is_one_of_the_days_of_its_stay() -> None:
    """Where the summary tells no date of it."""
    assert ("icu_stay", "2021-06-01", "2021-06-09", "-") in met(SUMMARY)


def test_another_stay_is_another() -> None:
    """One that lies apart, and the one of another note's date."""
    later = ("2021-08-01", "Clinic letter", "Dear Dr Shaw,\nShe was admitted 7/20-7/22/21 with pneumonia.")
    found = [one for one in met(SUMMARY, later) if one[0] == "admission"]
    assert [one[1] for one in found] == ["2021-06-01", "2021-07-20"]


def test_the_sort_of_a_stay_is_that_which_says_most() -> None:
    """Of one told as an admission, and as one by the way of the emergency department."""
    later = ("2021-08-01", "Clinic letter", "Dear Dr Shaw,\nShe was admitted from the ED on 6/1/21 with sepsis.")
    found = [one for one in met(SUMMARY, later) if "admission" in one[0]]
    assert found == [("unplanned_admission", "2021-06-01", "2021-06-01", "2021-06-09")]


def test_visits_of_a_day_are_one() -> None:
    """Two notes of it, and the one that says more of its sort; not those of other days, nor an infusion beside it."""
    notes = (
        ("2021-06-15", "Progress note", "Doing well."),
        ("2021-06-15", "Oncology consult", "New lung cancer."),
        ("2021-06-15", "Infusion note", "C1 given."),
        ("2021-06-22", "Progress note", "Seen in clinic on 6/15/2021 first."),
    )
    assert [one[:2] for one in met(*notes)] == [
        ("consultation", "2021-06-15"),
        ("infusion_visit", "2021-06-15"),
        ("visit", "2021-06-22"),
    ]


def test_a_note_from_within_a_stay_is_no_visit() -> None:
    """Those of its first and last day may be: a clinic sends somebody in."""
    notes = [(f"2021-06-0{day}", "Progress note", "Doing well.") for day in (1, 4, 9)]
    assert [one[1] for one in met(SUMMARY, *notes) if one[0] == "visit"] == ["2021-06-01", "2021-06-09"]


def test_a_stay_without_a_date_lies_before_its_note() -> None:
    """On a day that nobody tells; two notes tell one."""
    notes = (
        ("2021-06-15", "Progress note", "She was hospitalized for sepsis."),
        ("2021-07-15", "Progress note", "She had a recent admission for sepsis."),
    )
    assert [one for one in met(*notes) if one[0] == "admission"] == [("admission", "-", "2021-06-15", "-")]
