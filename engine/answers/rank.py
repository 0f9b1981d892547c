"""The patients of a cohort in order: certain before believed before possible, then by their weakest evidence.

What the strength of evidence is, is told in :mod:`.strength` and ``docs/guide/why_not.md``. Equal ones stand by patient
id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pyroaring import BitMap

from ...kb.deadline import check
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ..reference.meaning import Meaning
from ..reference.views import View
from .evidence import EvidenceReader, ShownEvent
from .query_text import QueryText
from .strength import Strength, Strengths


@dataclass(frozen=True, slots=True)
class RankedPatient:
    """One patient with their place, from 1. ``strength`` (0 to 1) is that of the ``weakest`` criterion that they need,
    which stands at ``start`` to ``end`` of the rendered query; ``says`` is what it rests on, ``event`` its event."""

    rank: int
    patient_id: str
    certainty: str
    strength: float
    weakest: str
    start: int
    end: int
    says: str
    event: ShownEvent | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def ranked(
    query: nodes.Query, kb: KnowledgeBase, by_world: dict[World, BitMap], top: int | None
) -> tuple[RankedPatient, ...]:
    """The first ``top`` (None: all) of the patients in ``by_world``: for each world those whom no stronger one has.

    Each patient is read; of a world whose patients cannot be among the first, none is.
    """
    text = QueryText(query)
    found: list[RankedPatient] = []
    for world, patient, strength in by_strength(query, kb, by_world, top):
        shown = None
        if strength.event is not None:
            shown = EvidenceReader(kb.journey(patient, relations=False), kb.concepts).shown(strength.event)
        found.append(
            RankedPatient(
                len(found) + 1,
                patient,
                world.name.lower(),
                _rounded(strength),
                text.shown(strength.path),
                *text[strength.path],
                strength.says,
                shown,
            )
        )
    return tuple(found)


def by_strength(
    query: nodes.Query, kb: KnowledgeBase, by_world: dict[World, BitMap], top: int | None
) -> Iterator[tuple[World, str, Strength]]:
    """The same patients in the same order, each with the world and the strength that place them."""
    meaning = Meaning(kb.concepts, kb.scales, query.definitions)
    left = top
    for world in sorted(by_world, reverse=True):
        if left == 0:
            return
        scored: list[tuple[float, str, Strength]] = []
        for number in by_world[world]:
            check()
            patient = kb.patients[number]
            strength = Strengths(query, View.from_journey(kb.journey(patient, relations=False)), meaning).of_query(
                world
            )
            scored.append((-_rounded(strength), patient, strength))
        scored.sort(key=lambda one: one[:2])
        for _, patient, strength in scored[:left]:
            yield world, patient, strength
        left = None if left is None else left - min(left, len(scored))


def _rounded(strength: Strength) -> float:
    return round(strength.value, 6)
