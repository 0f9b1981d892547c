"""The words by which courses and lines are told: each concept that they name is in the ontology."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any

from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.recognizers.trials import part_in
from cohortium.ingest.treatments.courses import dose_of, reason_in

#: Tables of ``lines.toml`` that hold no concepts.
NO_CONCEPTS = frozenset({"intents", "days"})


def concepts_in(table: dict[str, Any]) -> Iterator[str]:
    """The concepts that the tables name."""
    for name, entry in table.items():
        if name not in NO_CONCEPTS:
            yield from (concept for concepts in entry.values() for concept in concepts)


def test_lines_are_counted_by_known_concepts() -> None:
    """A misspelled concept would count nothing."""
    text = resources.files("cohortium.ingest").joinpath("cues", "lines.toml").read_text("utf-8")
    named = set(concepts_in(tomllib.loads(text)))
    assert named
    assert {concept for concept in named if concept not in shared_reader().concepts} == set()


def test_short_texts_of_abstractions_are_read() -> None:
    """Doses, reasons and parts in trials, as somebody writes them down; nothing where nothing is said."""
    assert dose_of("40 Gy/15#") == (40.0, 15.0)
    assert dose_of("5040 cGy in 28 fractions") == (50.4, 28.0)
    assert dose_of("8 Gy x 1") == (8.0, 1.0)
    assert dose_of("50 Gy") == (50.0, None)
    assert dose_of("weekly") == (None, None)
    assert reason_in("liver progression") == "progression"
    assert reason_in("patient choice") == "patient_choice"
    assert reason_in("unclear") == ""
    assert part_in("not enrolled") == "not_enrolled"
    assert part_in("she declined it") == "declined"
    assert part_in("") == ""
