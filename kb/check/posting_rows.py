"""The posting lists against the rows: made again from the events, and compared bitmap by bitmap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pyroaring import BitMap

from ..model import World
from ..ontology_tables import concepts_from
from ..postings import closed_postings, exact_postings
from .looked_at import LookedAt
from .rules import REPAIR, Faults, Rule

_PATIENTS: Final = """
    SELECT kind, concept, world, list(patient ORDER BY patient) AS patients
    FROM (SELECT DISTINCT kind, concept, world, patient FROM events) GROUP BY ALL
"""
_STORED: Final = "SELECT kind, concept, world, size, patients FROM built.posting"


def posting_rules() -> tuple[Rule, ...]:
    """The one rule."""
    return (Rule("posting lists", "index", "posting lists that differ from the events", _postings, REPAIR, slow=True),)


def _postings(looked_at: LookedAt) -> Iterator[Faults]:
    exact: dict[tuple[str, str], list[BitMap]] = {}
    for _ in looked_at.parts():
        rows = looked_at.arrow(_PATIENTS)
        for key, bitmaps in exact_postings(rows.to_batches()).items():
            for held, more in zip(exact.setdefault(key, [BitMap() for _ in World]), bitmaps, strict=True):
                held |= more
    closed = closed_postings(exact, concepts_from(looked_at.rows))
    wanted: dict[tuple[Any, ...], BitMap] = {
        (kind, concept, int(world)): bitmaps[world]
        for (kind, concept), bitmaps in closed.items()
        for world in World
        if bitmaps[world]
    }
    differing = []
    for batch in looked_at.batches(_STORED):
        for row in batch.to_pylist():
            listed = (row["kind"], row["concept"], row["world"])
            bitmap = wanted.pop(listed, None)
            if bitmap is None or row["size"] != len(bitmap) or _read(row["patients"]) != bitmap:
                differing.append(listed)
    differing.extend(wanted)
    if differing:
        yield Faults(len(differing), " ".join(map(str, min(differing))))


def _read(cell: bytes) -> BitMap | None:
    try:
        return BitMap.deserialize(cell)
    except ValueError:
        return None
