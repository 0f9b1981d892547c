"""Eighty questions in the language: each has a query, which finds in its record whom a person found there."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.nodes import Concept, Query
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.tree import find
from tests.generated.memory_kb import MemoryKb
from tests.generated.record_tables import journeys, rows
from tests.spec.records import unlike_a_reading

QUERIES = Path(__file__).with_name("queries.toml")
FITS = ("exact", "nearly", "none")
WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the query that comes closest to it, and what a person found by it in a small record."""

    id: str
    text: str
    fit: str
    lacks: str = ""
    query: str = ""
    record: str = ""
    believed: str = ""
    as_of: datetime.date | None = None

    def __post_init__(self) -> None:
        if self.fit not in FITS:
            raise ValueError(f"{self.id}: no fit is called {self.fit!r}; they are {', '.join(FITS)}")
        if bool(self.lacks) is (self.fit == "exact"):
            raise ValueError(f"{self.id}: what is not exact tells what the language lacks, and nothing else does")
        if bool(self.query) is (self.fit == "none"):
            raise ValueError(f"{self.id}: there is a query, unless none fits")

    def today(self) -> int | None:
        """The day that *now* is, as an ordinal."""
        return None if self.as_of is None else self.as_of.toordinal()

    def found(self) -> frozenset[str]:
        """Whom a person found in the record."""
        return frozenset(self.believed.split()) - {"-"}


def _questions() -> list[Asked]:
    data: dict[str, Any] = tomllib.loads(QUERIES.read_text(encoding="utf-8"))
    return [Asked(**one) for one in data["question"]]


QUESTIONS = _questions()
WITH_QUERY = [pytest.param(one, id=one.id) for one in QUESTIONS if one.query]
WITH_RECORD = [pytest.param(one, id=one.id) for one in QUESTIONS if one.record]
Resolve = Callable[[Asked], Query]


@pytest.fixture
def resolved(concepts: ConceptTable, scales: Scales) -> Resolve:
    """The query of a question as the engines take it."""
    return lambda asked: resolve_text(asked.query, concepts, scales, today=asked.today)


def test_there_are_eighty() -> None:
    """Each question stands there once, in its order."""
    assert [one.id for one in QUESTIONS] == [f"n{number}" for number in range(1, 81)]


@pytest.mark.parametrize("asked", WITH_QUERY)
def test_a_query_is_understood_and_survives_rendering(asked: Asked, resolved: Resolve) -> None:
    """Every name in it is known, and its rendering parses to the same tree, as written and as understood."""
    parsed = parse(asked.query)
    assert parse(render(parsed)) == parsed
    understood = resolved(asked)
    assert render(parse(render(understood))) == render(understood)


@pytest.mark.parametrize("asked", WITH_QUERY)
def test_a_query_is_read_back(asked: Asked, resolved: Resolve, concepts: ConceptTable) -> None:
    """What it asks can be told in English, and every concept is named there."""
    query = resolved(asked)
    said = read_back(query, rules=False)
    assert said.startswith("Patients")
    for concept in find(query, Concept):
        assert any(name in said for name in concepts.names(concept.id)), concept.id


@pytest.mark.parametrize("asked", WITH_RECORD)
def test_both_engines_find_whom_a_person_found(
    asked: Asked, resolved: Resolve, concepts: ConceptTable, scales: Scales
) -> None:
    """The engine that defines each node and the one that people use, among patients of whom some just fail."""
    query, records = resolved(asked), journeys(asked.record)
    assert reference.evaluate(query, records, concepts, scales, World.BELIEVED) == asked.found()
    kb = MemoryKb(records, concepts, scales)
    for world in WORLDS:
        found = frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world))
        assert found == reference.evaluate(query, records, concepts, scales, world)


@pytest.mark.parametrize("asked", WITH_RECORD)
def test_a_record_has_who_is_found_and_who_is_not(asked: Asked) -> None:
    """Otherwise a query that finds everybody, or nobody, would do."""
    everyone = {cells["patient"] for cells in rows(asked.record)}
    assert asked.found()
    assert asked.found() < everyone


@pytest.mark.parametrize("asked", WITH_RECORD)
def test_records_are_such_as_reading_makes(asked: Asked, concepts: ConceptTable) -> None:
    """Each event has a concept of the ontology that fits its kind, and attributes that the kind has."""
    assert unlike_a_reading(asked.record, concepts) == []
