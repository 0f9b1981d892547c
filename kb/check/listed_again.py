"""Posting lists made again from the events, a patient list at a time: slow, and nothing that the writer uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyroaring import BitMap

from ..index.lists.list_file import ANY_CONCEPT
from ..index.patient_sets import patient_set
from ..model import World
from ..ontology.concepts import ConceptTable

#: By what a list is of, the concept last: its patients in each world.
Bitmaps = dict[tuple[Any, ...], list[BitMap]]


def add_postings(
    found: Bitmaps, batches: Iterable[pa.RecordBatch], columns: tuple[str, ...] = ("kind", "concept")
) -> None:
    """Add to ``found`` the patients of lists that are not closed over descendants, by highest world of their events.

    ``batches`` have the columns of ``of`` (the concept last), world and patients (a list of dense numbers), each row
    another key.
    """
    for batch in batches:
        patients = batch.column("patients")
        for at, (*key, world) in enumerate(zip(*_cells(batch, *columns, "world"), strict=True)):
            bitmaps = found.setdefault(tuple(key), [BitMap() for _ in World])
            bitmaps[world] |= patient_set(patients[at].values.to_numpy())


def _cells(batch: pa.RecordBatch, *names: str) -> list[list[Any]]:
    return [batch.column(name).to_pylist() for name in names]


def closed_postings(exact: Bitmaps, concepts: ConceptTable) -> Bitmaps:
    """The same, closed: a patient listed for a world is listed for the lower ones, for every ancestor and for any."""
    closed: Bitmaps = {}
    for (*key, concept), bitmaps in exact.items():
        downward: list[BitMap] = [BitMap() for _ in World]
        reached = BitMap()
        for world in sorted(World, reverse=True):
            reached |= bitmaps[world]
            downward[world] = reached.copy()
        for ancestor in concepts.at_or_above(concept) | {ANY_CONCEPT}:
            union = closed.setdefault((*key, ancestor), [BitMap() for _ in World])
            for world in World:
                union[world] |= downward[world]
    return closed
