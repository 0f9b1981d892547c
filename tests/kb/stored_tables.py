"""Events and attributes as the database of a knowledge base has them: what index and lists are compared with."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyroaring import BitMap

from cohortium.kb.storage.reader import KnowledgeBase

#: The columns of :func:`event_table`.
EVENT_COLUMNS = (
    "event",
    "patient",
    "kind",
    "concept",
    "low",
    "high",
    "end_low",
    "end_high",
    "polarity",
    "temporality",
    "experiencer",
    "reason",
    "world",
    "tumor",
    "tumor_rule",
)


def event_table(
    kb: KnowledgeBase,
    kinds: Iterable[str] | None = None,
    concepts: Iterable[str] | None = None,
    patients: BitMap | Iterable[int] | None = None,
) -> pa.Table:
    """Events of these kinds, of exactly these concepts (not closed), of these dense patient numbers; None: of all.

    Columns: EVENT_COLUMNS; ordered by event number, so by patient.
    """
    wanted = {
        "kind": None if kinds is None else pa.array(list(kinds), pa.string()),
        "concept": None if concepts is None else pa.array(list(concepts), pa.string()),
        "patient": None if patients is None else pa.array(list(patients), pa.int32()),
    }
    return _selected(kb, f"SELECT {', '.join(EVENT_COLUMNS)} FROM event", wanted, "event")


def attribute_table(
    kb: KnowledgeBase, events: Iterable[int] | None = None, names: Iterable[str] | None = None
) -> pa.Table:
    """Attributes of these event numbers, perhaps of these names only: event, name, text, number; ordered by event."""
    wanted = {
        "event": None if events is None else pa.array(list(events), pa.int64()),
        "name": None if names is None else pa.array(list(names), pa.string()),
    }
    return _selected(kb, "SELECT event, name, text, number FROM event_attribute", wanted, "event, position")


def _selected(kb: KnowledgeBase, select: str, wanted: dict[str, pa.Array | None], order: str) -> pa.Table:
    given = {name: values for name, values in wanted.items() if values is not None}
    clauses = [f"{name} IN (SELECT {name} FROM wanted_{name})" for name in given]
    return kb._selected(
        select, clauses, order, {f"wanted_{name}": pa.table({name: values}) for name, values in given.items()}
    )
