"""A knowledge base in memory, with what the fast engine reads: so that thousands of generated ones cost little."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyroaring import BitMap

from cohortium.kb.files.kept_file import KeptFile
from cohortium.kb.index.arrays import Column
from cohortium.kb.index.columns import EventIndex, EventRows, Wanted
from cohortium.kb.index.word_arrays import packed
from cohortium.kb.kinds import KINDS
from cohortium.kb.model import ALL_TUMORS, NO_TUMOR, Event, Journey, World
from cohortium.kb.note_classes import evidence_classes, note_class
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from tests.generated.memory_lists import MemoryLists

CONTEXT = ("polarity", "temporality", "experiencer", "reason")
OBSERVATIONS = pa.schema([("patient", pa.int32()), ("source", pa.string()), ("day", pa.int64())])


class MemoryKb:
    """As :class:`cohortium.kb.storage.reader.KnowledgeBase`, as far as a query needs it. ``asked``: the
    patients of each reading of events."""

    def __init__(self, journeys: Iterable[Journey], concepts: ConceptTable, scales: Scales) -> None:
        self.concepts, self.scales = concepts, scales
        self.journeys = sorted(journeys, key=lambda journey: journey.patient_id)
        self.patients = tuple(journey.patient_id for journey in self.journeys)
        self.lists = MemoryLists(self.journeys, concepts)
        self.asked: list[list[int]] = []
        self._numbered = numbered = [
            (patient, event) for patient, journey in enumerate(self.journeys) for event in journey.events
        ]
        self.rows: list[dict[str, Any]] = [
            {
                "event": number,
                "patient": patient,
                "kind": event.kind,
                "concept": event.concept,
                "low": event.day.low,
                "high": event.day.high,
                "end_low": None if event.end is None else event.end.low,
                "end_high": None if event.end is None else event.end.high,
                "polarity": str(event.context.polarity),
                "temporality": str(event.context.temporality),
                "experiencer": str(event.context.experiencer),
                "reason": event.context.reason,
                "world": int(event.world),
                "tumor": event.tumor,
            }
            for number, (patient, event) in enumerate(numbered)
        ]
        self.attributes: list[dict[str, Any]] = [
            {
                "event": number,
                "name": name,
                "text": value if isinstance(value, str) else None,
                "number": None if isinstance(value, str) else float(value),
            }
            for number, (_, event) in enumerate(numbered)
            for name, value in event.attributes.items()
        ]

    @property
    def all_patients(self) -> BitMap:
        """Every dense patient number."""
        return BitMap(range(len(self.patients)))

    def posting(self, kind: str, concept: str, world: World) -> BitMap:
        """Patients with such an event, closed over descendants; the concept '' is any."""
        return BitMap(
            row["patient"]
            for row in self.rows
            if row["kind"] == kind
            and row["world"] >= world
            and (not concept or self.concepts.is_a(row["concept"], concept))
        )

    @functools.cached_property
    def event_index(self) -> EventIndex:
        """The events as columns."""
        return CountedIndex(self)

    def known_events(
        self, events: np.ndarray[Any, Any], source: str = "", sources: int = 1, undisputed: bool = False
    ) -> np.ndarray[Any, Any]:
        """Those of these events that are known so."""
        wanted = set(events.tolist())
        found = [
            number
            for number, (patient, event) in enumerate(self._numbered)
            if number in wanted
            and event.sources >= sources
            and (not source or source in self._classes(patient, event))
            and not (undisputed and self._is_disputed(patient, event))
        ]
        return np.array(found, dtype=np.int64)

    def _classes(self, patient: int, event: Event) -> set[str]:
        journey = self.journeys[patient]
        notes = {note.note_id: note for note in journey.notes}
        return {
            source
            for mention in journey.mentions
            if mention.mention_id in event.evidence and (note := notes.get(mention.note_id)) is not None
            for source in evidence_classes(note.type, note.title, mention.section)
        }

    def _is_disputed(self, patient: int, event: Event) -> bool:
        return any(event.event_id in (*one.believed, *one.rejected) for one in self.journeys[patient].decisions)

    def observation_table(self, patients: BitMap) -> pa.Table:
        """The notes of these patients."""
        rows = [
            {
                "patient": patient,
                "source": note_class(note.type, note.title),
                "day": None if note.date is None else note.date.toordinal(),
            }
            for patient in patients
            for note in self.journeys[patient].notes
        ]
        return pa.Table.from_pylist(rows, schema=OBSERVATIONS)


class CountedIndex(EventIndex):
    """An event index that keeps for whom rows were asked."""

    def __init__(self, kb: MemoryKb) -> None:
        super().__init__(MemoryArrays(kb, kb.rows, kb.attributes))
        self._asked = kb.asked

    def rows(self, wanted: Iterable[Wanted], patients: BitMap | None = None) -> EventRows:
        """As the index does."""
        self._asked.append([] if patients is None else list(patients))
        return super().rows(wanted, patients)

    def portions(
        self, wanted: Iterable[Wanted], patients: BitMap, patients_of_one: int
    ) -> Iterator[tuple[np.ndarray[Any, Any], EventRows]]:
        """As the index does, with two patients at a time: so that every generated query is answered in portions."""
        self._asked.append(list(patients))
        return super().portions(wanted, patients, 2)


class _Ascending(Column):
    """A column whose reader must ask for ascending positions: the bytes between the first and the last are proven."""

    def __getitem__(self, part: slice | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if isinstance(part, slice):
            assert part.step is None
        else:
            assert part.dtype != bool
            assert (part[1:] >= part[:-1]).all()
            assert not len(part) or 0 <= part[0] <= part[-1] < len(self)
        return super().__getitem__(part)


class MemoryArrays:
    """The arrays of an event index, made row by row from what :class:`MemoryKb` holds."""

    def __init__(self, kb: MemoryKb, rows: list[dict[str, Any]], attributes: list[dict[str, Any]]) -> None:
        kinds = list(dict.fromkeys(kind for kind in KINDS for row in rows if row["kind"] == kind))
        concepts = sorted({row["concept"] for row in rows})
        contexts = sorted({tuple(row[part] for part in CONTEXT) for row in rows})
        spans = sorted({row["high"] - row["low"] for row in rows})
        worlds: dict[tuple[int, str], int] = {}
        for row in rows:
            if row["tumor"] not in (ALL_TUMORS, NO_TUMOR) and row["world"] > World.NONE:
                key = row["patient"], row["tumor"]
                worlds[key] = max(worlds.get(key, 0), row["world"])
        tumors = sorted(worlds)
        people = range(len(kb.patients) + 1)
        first_tumor = [sum(owner < patient for owner, _ in tumors) for patient in people]
        first_event = [sum(row["patient"] < patient for row in rows) for patient in people]
        placed = sorted(rows, key=lambda row: (kinds.index(row["kind"]), row["concept"], row["event"]))
        slices = sorted({(kinds.index(row["kind"]), concepts.index(row["concept"])) for row in rows})
        of_slice = [(kinds.index(row["kind"]), concepts.index(row["concept"])) for row in placed]
        ending = [at for at, row in enumerate(placed) if row["end_low"] is not None]
        row_of_event = [0] * len(rows)
        for at, row in enumerate(placed):
            row_of_event[row["event"]] = at

        def tumor(row: dict[str, Any]) -> int:
            if row["tumor"] in (NO_TUMOR, ALL_TUMORS):
                return -1 if row["tumor"] == NO_TUMOR else -2
            key = row["patient"], row["tumor"]
            return tumors.index(key) - first_tumor[row["patient"]] if key in worlds else -3

        columns: dict[str, list[int]] = {
            "patient": [row["patient"] for row in placed],
            "ordinal": [row["event"] - first_event[row["patient"]] for row in placed],
            "low": [row["low"] for row in placed],
            "span": [spans.index(row["high"] - row["low"]) for row in placed],
            "world": [row["world"] for row in placed],
            "context": [contexts.index(tuple(row[part] for part in CONTEXT)) for row in placed],
            "tumor": [tumor(row) for row in placed],
            "spans": spans,
            "first_event": first_event,
            "first_tumor": first_tumor,
            "tumor_world": [worlds[key] for key in tumors],
            "row_of_event": row_of_event,
            "end_row": ending,
            "end_low": [placed[at]["end_low"] for at in ending],
            "end_high": [placed[at]["end_high"] for at in ending],
            "slice_starts": [of_slice.index(one) for one in slices] + [len(placed)],
            "slice_concepts": [concept for _, concept in slices],
            "kind_slices": [sum(kind < at for kind, _ in slices) for at in range(len(kinds) + 1)],
        }
        self._arrays = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
        self._arrays["concepts"] = packed(concepts)
        names = self._add_attributes(placed, attributes)
        self.header = {
            "events": len(rows),
            "patients": len(kb.patients),
            "kinds": kinds,
            "contexts": contexts,
            "attributes": names,
            "arrays": self._arrays,
        }

    def _add_attributes(self, placed: list[dict[str, Any]], attributes: list[dict[str, Any]]) -> list[tuple[str, str]]:
        kind_of = {row["event"]: row["kind"] for row in placed}
        held: dict[tuple[str, str], dict[int, Any]] = {}
        for one in attributes:
            value = one["number"] if one["text"] is None else one["text"]
            if value != "":
                held.setdefault((kind_of[one["event"]], one["name"]), {})[one["event"]] = value
        for number, ((kind, name), values) in enumerate(held.items()):
            events = [row["event"] for row in placed if row["kind"] == kind]
            texts = sorted({value for value in values.values() if isinstance(value, str)})
            numbers = sorted({value for value in values.values() if not isinstance(value, str)})
            place = {value: at for at, value in enumerate([*texts, *numbers])}
            codes = [place[values[event]] if event in values else len(place) for event in events]
            self._arrays[f"attribute_{number}_codes"] = np.array(codes, dtype=np.int64)
            self._arrays[f"attribute_{number}_texts"] = packed(texts)
            self._arrays[f"attribute_{number}_numbers"] = np.array(numbers, dtype=np.float64)
            del name
        return list(held)

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """One array."""
        return self._arrays[name]

    def column(self, name: str) -> Column:
        """The same, which lies in no file; who reads it keeps to what a column asks for."""
        return _Ascending(KeptFile(Path()), self._arrays[name], 0)
