"""Posting lists: for each event kind, concept and world, a Roaring bitmap of dense patient numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyroaring import BitMap

from .concepts import ConceptTable
from .model import World

#: The concept under which the patients with any event of a kind are listed.
ANY_CONCEPT: Final = ""

SCHEMA: Final = pa.schema(
    [
        ("kind", pa.string()),
        ("concept", pa.string()),
        ("world", pa.int8()),
        ("size", pa.int32()),
        ("patients", pa.binary()),
    ]
)

Bitmaps = dict[tuple[str, str], list[BitMap]]


def exact_postings(batches: Iterable[pa.RecordBatch]) -> Bitmaps:
    """Bitmaps of each (kind, concept), not closed over descendants, by highest world of the patient's events.

    ``batches`` have the columns kind, concept, world, patients (a list of dense numbers), each row another key.
    """
    found: Bitmaps = {}
    for batch in batches:
        for row in batch.to_pylist():
            bitmaps = found.setdefault((row["kind"], row["concept"]), [BitMap() for _ in World])
            bitmaps[row["world"]].update(row["patients"])
    return found


def closed_postings(exact: Bitmaps, concepts: ConceptTable) -> Bitmaps:
    """The same, closed: a patient listed for a world is listed for the lower ones, for every ancestor and for any."""
    closed: Bitmaps = {}
    for (kind, concept), bitmaps in exact.items():
        downward: list[BitMap] = [BitMap() for _ in World]
        reached = BitMap()
        for world in sorted(World, reverse=True):
            reached |= bitmaps[world]
            downward[world] = reached.copy()
        ancestors = concepts.above(concept) if concept in concepts else frozenset((concept,))
        for ancestor in ancestors | {ANY_CONCEPT}:
            union = closed.setdefault((kind, ancestor), [BitMap() for _ in World])
            for world in World:
                union[world] |= downward[world]
    return closed


def posting_table(closed: Bitmaps) -> pa.Table:
    """The rows of the table ``posting``, sorted; empty bitmaps have none."""
    columns: list[list[object]] = [[], [], [], [], []]
    for kind, concept, world, bitmap in _sorted(closed):
        if bitmap:
            bitmap.run_optimize()
            for column, cell in zip(columns, (kind, concept, int(world), len(bitmap), bitmap.serialize()), strict=True):
                column.append(cell)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def _sorted(closed: Bitmaps) -> Iterator[tuple[str, str, World, BitMap]]:
    for kind, concept in sorted(closed):
        for world in World:
            yield kind, concept, world, closed[kind, concept][world]
