"""The clinical abstraction of a simulated course: the truth that a knowledge base and labels are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .course import Course, Fact

_OF_A_TUMOR: Final = frozenset(
    {"biomarker", "genomic_variant", "medication", "regimen", "stage_group", "disease_state"}
)


def abstraction(course: Course, written: Mapping[int, tuple[Sequence[str], str]] | None = None) -> dict[str, Any]:
    """The course as one line of an abstraction (``docs/guide/abstraction.md``).

    ``written`` gives for the place of a fact the documents that state it and the words by which the first does. With
    it, a fact that no document states is left out: nobody could know it. Without it, every fact is told, each with the
    place of the encounters that state it as its documents.
    """
    person = course.person
    stated = written if written is not None else _by_encounter(course)
    sites = _sites(course)
    origins = _origins(course) if sites else {}
    return {
        "patient_id": person.patient_id,
        "demographics": {
            "sex": person.sex,
            "birth_year": person.born.year,
            "race": person.race,
            "ethnicity": person.ethnicity,
        },
        "vital_status": "alive" if person.died is None else "dead",
        "death_date": None if person.died is None else person.died.isoformat(),
        "facts": [
            {
                "kind": fact.kind,
                "concept": fact.concept,
                "value": fact.value or origins.get(fact.tumor if fact.kind == "metastasis" else "") or None,
                "attributes": dict(fact.attributes) | _place(fact, sites),
                "date": None if fact.date is None else fact.date.isoformat(),
                "end_date": None if fact.end_date is None else fact.end_date.isoformat(),
                "assertion": fact.assertion,
                "docs": list(stated[place][0]),
                "evidence": stated[place][1],
            }
            for place, fact in enumerate(course.facts)
            if place in stated
        ],
    }


def _sites(course: Course) -> dict[str, str]:
    """Where each tumor sits, of a patient who has several; nobody need say so of a patient's only one."""
    found = {
        one.tumor: one.attributes["site"]
        for one in course.facts
        if one.kind == "diagnosis" and one.assertion == "present" and one.tumor and "site" in one.attributes
    }
    return found if len(found) > 1 else {}


def _origins(course: Course) -> dict[str, str]:
    """What each tumor is called: with several, a registrar writes of which a metastasis is."""
    return {
        one.tumor: f"of the {one.concept}"
        for one in course.facts
        if one.kind == "diagnosis" and one.assertion == "present" and one.tumor
    }


def _place(fact: Fact, sites: Mapping[str, str]) -> dict[str, str]:
    """The site of the tumor that a test or drug is of, where it would not be clear otherwise."""
    if fact.kind not in _OF_A_TUMOR or "site" in fact.attributes or fact.tumor not in sites:
        return {}
    return {"site": sites[fact.tumor]}


def _by_encounter(course: Course) -> dict[int, tuple[Sequence[str], str]]:
    """Facts with the encounters that state them; what they say there is nothing but concept and value."""
    stated: dict[int, list[str]] = {}
    for number, one in enumerate(course.encounters):
        for place in (*one.new, *one.recalled):
            stated.setdefault(place, []).append(course.doc_id(number))
    words = [f"{fact.concept}: {fact.value}" if fact.value else fact.concept for fact in course.facts]
    return {place: (documents, words[place]) for place, documents in stated.items()}
