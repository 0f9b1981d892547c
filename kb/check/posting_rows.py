"""The posting lists against the rows: made again from the events, and compared bitmap by bitmap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pyroaring import BitMap

from ..errors import DamagedIndex
from ..index.lists.listed import Listed
from ..model import World
from ..ontology.stored_ontology import concepts_from
from ..storage.layout import INDEX
from .listed_again import Bitmaps, add_postings, closed_postings
from .looked_at import LookedAt
from .rules import REPAIR, Faults, Rule

_PATIENTS: Final = """
    SELECT kind, concept, world, list(patient ORDER BY patient) AS patients
    FROM (SELECT DISTINCT kind, concept, world, patient FROM events) GROUP BY ALL
"""
_STORED: Final = "SELECT kind, concept, world, size FROM built.posting"


def posting_rules() -> tuple[Rule, ...]:
    """The one rule."""
    return (Rule("posting lists", "index", "posting lists that differ from the events", _postings, REPAIR, slow=True),)


def _postings(looked_at: LookedAt) -> Iterator[Faults]:
    exact: Bitmaps = {}
    for _ in looked_at.parts():
        add_postings(exact, looked_at.arrow(_PATIENTS).to_batches())
    closed = closed_postings(exact, concepts_from(looked_at.rows))
    wanted: dict[tuple[Any, ...], BitMap] = {
        (kind, concept, int(world)): bitmaps[world]
        for (kind, concept), bitmaps in closed.items()
        for world in World
        if bitmaps[world]
    }
    lists = open_lists(looked_at)
    differing = []
    for batch in looked_at.batches(_STORED):
        for row in batch.to_pylist():
            listed = (row["kind"], row["concept"], row["world"])
            bitmap = wanted.pop(listed, None)
            if bitmap is None or row["size"] != len(bitmap) or not _lists_so(lists, listed, bitmap):
                differing.append(listed)
    differing.extend(wanted)
    if differing:
        yield Faults(len(differing), " ".join(map(str, min(differing))))


def open_lists(looked_at: LookedAt) -> Listed | None:
    """The lists of the generation; None where their file cannot be read."""
    try:
        return Listed.of_folder(looked_at.folder / INDEX)
    except (OSError, DamagedIndex):
        return None


def _lists_so(lists: Listed | None, key: tuple[str, str, int], wanted: BitMap) -> bool:
    """Whether the file of the lists has these patients under a kind, concept and world."""
    kind, concept, world = key
    try:
        return lists is not None and lists.patients(kind, concept, World(world)) == wanted
    except DamagedIndex:
        # Bytes that are no bitmap, or that lead out of the file.
        return False
