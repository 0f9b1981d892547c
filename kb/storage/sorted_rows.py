"""Rows that come in their final order: they go straight into the tables of ``schema.sql``, with no staging and no sort.

Patients come in the order of their ids, in chunks of any size; a chunk holds all rows of its patients. Nothing is kept
of a chunk but the last patient's id and two counts, so that memory does not grow with the knowledge base.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa

from .rows import STAGING

#: The tables of a chunk in the order in which they are written. Those of events are numbered by their events.
_OF_PATIENTS: Final = ("note", "mention", "relation", "event", "decision")
_OF_EVENTS: Final = ("event_attribute", "evidence")
Array = np.ndarray[Any, np.dtype[np.int64]]


class SortedRows:
    """Appends chunks of staging rows to the schema ``built`` of a database."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        """``built`` holds the empty tables of ``schema.sql``."""
        self._database = database
        self._last = ""
        self.patients = 0
        self.events = 0

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """One chunk: staging tables (columns of :data:`.rows.STAGING`; text may come as dictionary codes), each in the
        order of patient and ordinal. ValueError if the order is another; what was added before then stays."""
        unknown = sorted(set(tables) - {"patient", *_OF_PATIENTS, *_OF_EVENTS})
        if unknown:
            raise ValueError(f"no rows of patients: {', '.join(unknown)}")
        people = tables["patient"]
        ids = _plain(people["patient_id"])
        self._check_ids(ids)
        counts = people["events"].to_numpy().astype(np.int64)
        first = self.events + np.cumsum(counts) - counts
        placed = {
            "patient": people.append_column(
                "patient", pa.array(np.arange(self.patients, self.patients + len(ids), dtype=np.int32))
            ).append_column("first_event", pa.array(first))
        }
        for name in (*_OF_PATIENTS, *_OF_EVENTS):
            if name in tables and len(tables[name]):
                placed[name] = self._placed(name, tables[name], ids, first)
        if int(counts.sum()) != len(placed.get("event", ())):
            raise ValueError("the patients' counts of events are not those of their rows")
        for name, table in placed.items():
            self._database.register("incoming", table)
            self._database.execute(f"INSERT INTO built.{name} BY NAME SELECT * FROM incoming")
            self._database.unregister("incoming")
        self.patients += len(ids)
        self.events += int(counts.sum())
        self._last = ids[-1].as_py() if len(ids) else self._last

    def _check_ids(self, ids: pa.Array) -> None:
        import pyarrow.compute as pc

        if len(ids) and not (
            (self.patients == 0 or self._last < ids[0].as_py())
            and (len(ids) == 1 or pc.all(pc.less(ids[:-1], ids[1:])).as_py())
        ):
            raise ValueError("patients must come in the order of their ids, each once")

    def _placed(self, name: str, table: pa.Table, ids: pa.Array, first: Array) -> pa.Table:
        """The rows with dense numbers in place of patient ids and, where events number them, of ordinals."""
        at = _positions(table["patient_id"], ids, name)
        ordinal = table["ordinal"].to_numpy().astype(np.int64)
        rest = table.select([field.name for field in STAGING[name] if field.name not in ("patient_id", "ordinal")])
        if name in _OF_EVENTS:
            event = first[at] + ordinal
            _require_sorted(event, name)
            return rest.append_column("event", pa.array(event))
        _require_sorted(at, name)
        numbered = rest.append_column("patient", pa.array((at + self.patients).astype(np.int32)))
        if name != "event":
            return numbered.append_column("ordinal", pa.array(ordinal.astype(np.int32)))
        event = first[at] + ordinal
        if not np.array_equal(event, np.arange(self.events, self.events + len(event))):
            raise ValueError("events must be numbered by patient, from nought")
        return numbered.append_column("event", pa.array(event))


def _plain(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    array = whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _positions(column: pa.ChunkedArray, ids: pa.Array, name: str) -> Array:
    """Where each row's patient stands among ``ids``."""
    import pyarrow.compute as pc

    parts = []
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            known = pc.index_in(chunk.dictionary, value_set=ids).fill_null(-1).to_numpy(zero_copy_only=False)
            parts.append(known[chunk.indices.to_numpy(zero_copy_only=False)])
        else:
            parts.append(pc.index_in(chunk, value_set=ids).fill_null(-1).to_numpy(zero_copy_only=False))
    at: Array = np.concatenate(parts).astype(np.int64)
    if len(at) and at.min() < 0:
        raise ValueError(f"a {name} is of a patient who is not in this chunk")
    return at


def _require_sorted(numbers: Array, name: str) -> None:
    if len(numbers) > 1 and np.any(np.diff(numbers) < 0):
        raise ValueError(f"rows of {name} must come in the order of their patients")
