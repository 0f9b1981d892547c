"""A knowledge base in memory, with what the fast engine reads: so that thousands of generated ones cost little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyroaring import BitMap

from cohortium.kb.concepts import ConceptTable
from cohortium.kb.model import ALL_TUMORS, NO_TUMOR, Journey, World
from cohortium.kb.note_classes import evidence_classes, note_class
from cohortium.kb.scales import Scales

TEXT = ("kind", "concept", "polarity", "temporality", "experiencer", "reason", "tumor")
SCHEMA = pa.schema(
    [
        ("event", pa.int64()),
        ("patient", pa.int32()),
        *((name, pa.string()) for name in ("kind", "concept")),
        *((name, pa.int32()) for name in ("low", "high", "end_low", "end_high")),
        *((name, pa.string()) for name in ("polarity", "temporality", "experiencer", "reason")),
        ("world", pa.int8()),
        ("tumor", pa.string()),
    ]
)
ATTRIBUTES = pa.schema([("event", pa.int64()), ("name", pa.string()), ("text", pa.string()), ("number", pa.float64())])
TOLD = pa.schema([("event", pa.int64()), ("source", pa.string()), ("sources", pa.int64()), ("disputed", pa.bool_())])
OBSERVATIONS = pa.schema([("patient", pa.int32()), ("source", pa.string()), ("day", pa.int64())])
TUMORS = pa.schema([("patient", pa.int32()), ("tumor", pa.string()), ("world", pa.int8())])


class MemoryKb:
    """As :class:`cohortium.kb.store.KnowledgeBase`, as far as a query needs it. Counts how often events are read."""

    def __init__(self, journeys: Iterable[Journey], concepts: ConceptTable, scales: Scales) -> None:
        self.concepts, self.scales = concepts, scales
        self.journeys = sorted(journeys, key=lambda journey: journey.patient_id)
        self.patients = tuple(journey.patient_id for journey in self.journeys)
        self.reads = 0
        self._numbered = numbered = [
            (patient, event) for patient, journey in enumerate(self.journeys) for event in journey.events
        ]
        self._rows = [
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
        self._attributes = [
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
            for row in self._rows
            if row["kind"] == kind
            and row["world"] >= world
            and (not concept or self.concepts.is_a(row["concept"], concept))
        )

    def event_table(
        self,
        kinds: Sequence[str] | None = None,
        concepts: Sequence[str] | None = None,
        patients: BitMap | None = None,
    ) -> pa.Table:
        """Events of these kinds, exactly these concepts, these patients."""
        self.reads += 1
        return pa.Table.from_pylist(
            [
                row
                for row in self._rows
                if (kinds is None or row["kind"] in kinds)
                and (concepts is None or row["concept"] in concepts)
                and (patients is None or row["patient"] in patients)
            ],
            schema=SCHEMA,
        )

    def told_table(self, events: pa.Array) -> pa.Table:
        """How these events are known."""
        wanted = set(events.to_pylist())
        found: list[dict[str, object]] = []
        for number, (patient, event) in enumerate(self._numbered):
            if number not in wanted:
                continue
            journey = self.journeys[patient]
            notes = {note.note_id: note for note in journey.notes}
            told = [mention for mention in journey.mentions if mention.mention_id in event.evidence]
            classes = {
                source
                for mention in told
                if (note := notes.get(mention.note_id)) is not None
                for source in evidence_classes(note.type, note.title, mention.section)
            }
            disputed = any(event.event_id in (*one.believed, *one.rejected) for one in journey.decisions)
            found += [
                {"event": number, "source": source, "sources": event.sources, "disputed": disputed}
                for source in classes or {""}
            ]
        return pa.Table.from_pylist(found, schema=TOLD)

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

    @property
    def tumor_table(self) -> pa.Table:
        """The tumors of all patients with the highest world of their events."""
        worlds: dict[tuple[int, str], int] = {}
        for row in self._rows:
            if row["tumor"] not in (ALL_TUMORS, NO_TUMOR) and row["world"] > World.NONE:
                key = row["patient"], row["tumor"]
                worlds[key] = max(worlds.get(key, 0), row["world"])
        rows = [{"patient": key[0], "tumor": key[1], "world": worlds[key]} for key in sorted(worlds)]
        return pa.Table.from_pylist(rows, schema=TUMORS)

    def attribute_table(self, events: pa.Array, names: Sequence[str]) -> pa.Table:
        """These attributes of these events."""
        wanted = set(events.to_pylist())
        rows = [row for row in self._attributes if row["event"] in wanted and row["name"] in names]
        return pa.Table.from_pylist(rows, schema=ATTRIBUTES)
