"""The causes by which a patient joined or left: shown by what would have happened had one thing stayed as it was.

Three things can differ between two knowledge bases: the notes, how they were read (pipeline, ontology files, model),
and what the query means (the ontology under which it is asked). The journey stands for the first two. Where journey and
meaning both differ, the old journey is asked under the new ontology, and the new one under the old; no cause is named
because it merely differs.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...kb.model import Journey, World
from ..reference.meaning import matches
from .meaning import Asked

#: What each version in a manifest is a version of; names that stand nowhere here count as the pipeline.
_READ_BY: Final[Mapping[str, str]] = {"ontology_files": "ontology", "model": "model", "probabilities": "model"}
#: The version of the concepts that stand in the tables: it bears on what a query means, not on what was read.
_OF_TABLES: Final = "ontology"


class Bearing(enum.StrEnum):
    """How a cause bears on the change."""

    ALONE = "alone"
    EITHER = "either"
    TOGETHER = "together"
    UNDIVIDED = "undivided"


#: What each bearing means, for people.
BEARINGS: Final[Mapping[Bearing, str]] = {
    Bearing.ALONE: "with it alone the patient changes, without it not",
    Bearing.EITHER: "it would do alone, and so would the other cause",
    Bearing.TOGETHER: "it takes this and the other cause",
    Bearing.UNDIVIDED: "one of these, or both: to tell them apart, the notes must be read again",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause: ``note``, ``ontology``, ``pipeline``, ``model``, or ``patient`` (whom one knowledge base lacks)."""

    kind: str
    bearing: Bearing = Bearing.ALONE

    def __str__(self) -> str:
        return self.kind if self.bearing is Bearing.ALONE else f"{self.kind} ({self.bearing})"


def reading_changes(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The versions of the reading that differ between two manifests: name → old and new, empty where there is none."""
    names = sorted({*old, *new} - {_OF_TABLES})
    found = {name: (str(old.get(name, "")), str(new.get(name, ""))) for name in names}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def kinds_of(reading: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """The kinds of cause that these versions are, sorted."""
    return tuple(sorted({_READ_BY.get(name, "pipeline") for name in reading}))


@dataclass(frozen=True, slots=True)
class Sides:
    """What differs between the two sides as a whole: the meaning of the query, and how notes were read."""

    old: Asked
    new: Asked
    world: World
    meaning_differs: bool
    reading_kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One patient on both sides. The journeys are fetched when a counterfactual asks for them."""

    differs: bool
    notes_differ: bool
    old: Callable[[], Journey]
    new: Callable[[], Journey]
    joined: bool


def causes_of(record: Record, sides: Sides) -> tuple[Cause, ...]:
    """The causes for a patient whom both knowledge bases have, sorted by kind; empty where nothing explains it."""
    of_journey = (*(("note",) if record.notes_differ else ()), *sides.reading_kinds) if record.differs else ()
    by_meaning, by_journey = _what_decides(record, sides)
    found: dict[str, Bearing] = {}
    if by_journey is not None:
        inner = sorted(set(of_journey))
        for kind in inner:
            found[kind] = by_journey if len(inner) == 1 else Bearing.UNDIVIDED
    if by_meaning is not None:
        # The same files bring a concept to the reading and to the query: then the cause is one.
        found["ontology"] = Bearing.ALONE if set(found) <= {"ontology"} else by_meaning
    return tuple(Cause(kind, bearing) for kind, bearing in sorted(found.items()))


def _what_decides(record: Record, sides: Sides) -> tuple[Bearing | None, Bearing | None]:
    """How the meaning of the query and the journey bear on the change; None where one does not."""
    if not sides.meaning_differs:
        return None, Bearing.ALONE if record.differs else None
    if not record.differs:
        return Bearing.ALONE, None
    meaning_does = _holds(sides.new, record.old(), sides.world) is record.joined
    journey_does = _holds(sides.old, record.new(), sides.world) is record.joined
    if meaning_does and journey_does:
        return Bearing.EITHER, Bearing.EITHER
    if meaning_does or journey_does:
        return (Bearing.ALONE, None) if meaning_does else (None, Bearing.ALONE)
    return Bearing.TOGETHER, Bearing.TOGETHER


def _holds(asked: Asked, journey: Journey, world: World) -> bool:
    return matches(asked.query, journey, asked.concepts, asked.scales, world)


def in_words(causes: Sequence[Cause]) -> str:
    """The causes in a few words."""
    if causes and all(cause.bearing is Bearing.UNDIVIDED for cause in causes):
        return " or ".join(cause.kind for cause in causes)
    joint = " and " if any(cause.bearing is Bearing.TOGETHER for cause in causes) else ", "
    return joint.join(map(str, causes)) or "none found"
