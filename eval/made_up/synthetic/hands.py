"""The hands that can write a corpus: one course, told by one of them.

The first writes in the styles of four hospitals (``writing``). The second (``second_hand``) was made by somebody who
had seen neither the first hand's tables nor anything of the reader: what it tells is the same, how is its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from .course import Course, Encounter
from .second_hand.writer import write_page
from .writing.marks import Mark, Place
from .writing.notes import WrittenNote, entries_of, write_course
from .writing.statements import Entry

#: Writes the notes of a course, by a seed and a length.
Hand = Callable[[Course, int, float], tuple[WrittenNote, ...]]


def by_second_hand(course: Course, seed: int, length: float = 1.0) -> tuple[WrittenNote, ...]:
    """The notes of a patient by the second hand, which writes at a length of its own."""
    del length
    notes = []
    for number, encounter in enumerate(course.encounters):
        visit = _visit(course, encounter, number)
        page = write_page(visit, random.Random(f"second:{seed}:{course.person.patient_id}:{number}"))
        told = [(place, course.facts[place], start, end) for place, start, end in page.told]
        places = [
            Place(Mark(what, (place,), fact.kind, fact.concept, fact.assertion), start, end)
            for place, fact, start, end in told
            for what in ("statement", "mention")
        ]
        notes.append(
            WrittenNote(
                patient_id=course.person.patient_id,
                doc_id=course.doc_id(number),
                date=encounter.date,
                type=page.type,
                title=page.title,
                text=page.text,
                places=tuple(places),
            )
        )
    return tuple(notes)


def _visit(course: Course, encounter: Encounter, number: int) -> dict[str, Any]:
    """An encounter as the second hand is told of it."""
    person = course.person
    return {
        "patient_id": person.patient_id,
        "sex": person.sex,
        "born": person.born.isoformat(),
        "site": person.site,
        "number": number + 1,
        "date": encounter.date.isoformat(),
        "type": encounter.type,
        "purpose": encounter.purpose,
        "told": [_told(entry) for entry in entries_of(course, encounter)],
    }


def _told(entry: Entry) -> dict[str, Any]:
    stands, fact = entry.standing, entry.standing.fact
    return {
        "place": entry.place,
        "kind": fact.kind,
        "concept": fact.concept,
        "value": stands.value,
        "assertion": fact.assertion,
        "mode": stands.mode,
        "attributes": {name: str(value) for name, value in stands.attributes.items()},
        "begun": stands.begun.isoformat() if stands.begun else None,
        "ended": stands.ended.isoformat() if stands.ended else None,
        "tumor": fact.tumor,
        "recalled": entry.recalled,
    }


HANDS: Final[Mapping[str, Hand]] = {"first": write_course, "second": by_second_hand}
