"""The stored order of ``schema.sql``: patients and events without gaps, tables in the order of patients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .looked_at import LookedAt
from .rules import Faults, Rule

Array = np.ndarray[Any, np.dtype[Any]]
Columns = Mapping[str, Array]
#: From the columns of a batch, with the last row of the one before in front of them, to the rows that are misplaced:
#: row n + 1 against row n.
Misplaced = Callable[[Columns, Columns], Array]


@dataclass(frozen=True, slots=True)
class Order:
    """How the rows of one table lie. ``first`` is a row before the first one; ``example`` names a column to tell."""

    name: str
    table: str
    columns: str
    finds: str
    first: Mapping[str, Any]
    misplaced: Misplaced
    example: str


def _patients(before: Columns, row: Columns) -> Array:
    return (
        (row["patient"] != before["patient"] + 1)
        | (row["first_event"] != before["first_event"] + before["events"])
        | (row["events"] < 0)
        | ~(row["patient_id"] > before["patient_id"])
    )


def _events(before: Columns, row: Columns) -> Array:
    return (row["event"] != before["event"] + 1) | (row["patient"] < before["patient"])


def _numbered(before: Columns, row: Columns) -> Array:
    same = row["patient"] == before["patient"]
    return np.where(
        same, row["ordinal"] != before["ordinal"] + 1, (row["patient"] < before["patient"]) | (row["ordinal"] != 0)
    )


def _notes(before: Columns, row: Columns) -> Array:
    same = (row["patient"] == before["patient"]) & (row["old"] == before["old"])
    # Of the versions that are superseded some may be gone, and some have come from before: they are in order, no more.
    ordered = np.where(row["old"] == 1, row["ordinal"] < before["ordinal"], row["ordinal"] != before["ordinal"] + 1)
    further = (row["patient"] > before["patient"]) | (
        (row["patient"] == before["patient"]) & (row["old"] > before["old"])
    )
    return np.where(same, ordered, ~further | ((row["old"] == 0) & (row["ordinal"] != 0)))


def _positions(before: Columns, row: Columns) -> Array:
    same = row["event"] == before["event"]
    return np.where(
        same, row["position"] != before["position"] + 1, (row["event"] < before["event"]) | (row["position"] != 0)
    )


ORDERS: Final = (
    Order(
        "numbers of patients",
        "patient",
        "patient, patient_id, first_event, events",
        "patients that are not numbered by their sorted ids, each with the events behind those of the one before",
        {"patient": -1, "patient_id": "", "first_event": 0, "events": 0},
        _patients,
        "patient",
    ),
    Order(
        "numbers of events",
        "event",
        "event, patient",
        "events that are not numbered one after the other, patient by patient",
        {"event": -1, "patient": 0},
        _events,
        "event",
    ),
    Order(
        "order of notes",
        "note",
        "patient, ordinal, CAST(status <> 'current' AS TINYINT) AS old",
        "notes that are not in the order of patients, without a gap among a patient's current ones",
        {"patient": -1, "ordinal": -1, "old": 0},
        _notes,
        "patient",
    ),
    *(
        Order(
            f"order of {table}s",
            table,
            "patient, ordinal",
            f"{table}s that are not in the order of patients, without a gap among those of one",
            {"patient": -1, "ordinal": -1},
            _numbered,
            "patient",
        )
        for table in ("mention", "relation", "decision")
    ),
    *(
        Order(
            f"order of {what}",
            table,
            "event, position",
            f"{what} that {verb} not in the order of events, without a gap within one",
            {"event": -1, "position": -1},
            _positions,
            "event",
        )
        for table, what, verb in (("event_attribute", "attributes", "are"), ("evidence", "evidence", "is"))
    ),
)


def order_rules() -> tuple[Rule, ...]:
    """A rule for each order, and that no row is of a patient or event who is not there."""
    return tuple(Rule(order.name, "order", order.finds, _looking(order)) for order in ORDERS)


def _looking(order: Order) -> Callable[[LookedAt], Iterator[Faults]]:
    owner = "event" if "event" in order.first else "patient"

    def look(looked_at: LookedAt) -> Iterator[Faults]:
        owners = looked_at.number(owner)
        last: dict[str, Any] = dict(order.first)
        looked_at.bar.step(looked_at.doing, looked_at.number(order.table))
        # In the order in which they are stored: no sorting, and a column at a time.
        for batch in looked_at.stored(order.table, order.columns):
            if not batch.num_rows:
                continue
            columns = dict(
                zip(batch.schema.names, (column.to_numpy(zero_copy_only=False) for column in batch), strict=True)
            )
            before = {
                name: np.concatenate((np.asarray([last[name]], dtype=values.dtype), values[:-1]))
                for name, values in columns.items()
            }
            misplaced = order.misplaced(before, columns)
            misplaced = misplaced.astype(bool) | (columns[owner] >= owners) | (columns[owner] < 0)
            if misplaced.any():
                example = columns[order.example][int(np.argmax(misplaced))]
                yield Faults(int(misplaced.sum()), f"{order.example} {example}")
            last = {name: values[-1] for name, values in columns.items()}
            looked_at.bar.advance(batch.num_rows)

    return look
