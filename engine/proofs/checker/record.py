"""One patient as the tables of a knowledge base have it, read by SQL alone, read-only."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.errors import MissingKb
from ....kb.model import ALL_TUMORS, NO_TUMOR, Decision, Event, Mention, Note, World
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales
from ....kb.ontology.stored_ontology import concepts_from
from ....kb.storage.layout import DATABASE, Layout
from ....kb.storage.lazy_database import LazyDatabase
from ....kb.storage.rows import CURRENT, decision_from, event_from, mention_from, note_from, value_from

#: The columns whose rows the digest of a patient is made of, by staging table; ``patient_id`` stands before each.
_OF_JOURNEY: Final[Mapping[str, str]] = {
    "mention": "ordinal, mention_id, note_id, span_start, span_end, text, kind, label, concept, attributes, polarity,"
    " temporality, experiencer, reason, low, high, source, section, sentence_start, sentence_end, cues, confidence",
    "relation": "ordinal, note_id, type, head, tail, rule",
    "event": "event_id, kind, concept, low, high, end_low, end_high, polarity, temporality, experiencer, reason, world,"
    " tumor, tumor_rule, sources, anchors, confidence",
    "decision": "ordinal, decision_id, rule, believed, rejected, explanation",
}
_NOTE: Final = "ordinal, note_id, doc_id, date, type, title, text, sha256, status, superseded_by"


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A note with what the knowledge base says of it."""

    note: Note
    note_id: str
    sha256: str
    status: str


@dataclass(frozen=True)
class Record:
    """What the tables say of one patient. ``events`` are in their order, by id with the ids that the tables give them;
    ``digest`` is that stored with the patient, ``found_digests`` those that the rows as they are may have."""

    patient_id: str
    notes: Mapping[str, StoredNote]
    mentions: Mapping[str, Mention]
    events: Mapping[str, Event]
    decisions: Mapping[str, Decision]
    events_stated: int
    events_found: int
    digest: str
    found_digests: tuple[str, ...]

    @functools.cached_property
    def tumors(self) -> Mapping[str, World]:
        """The patient's tumors, each with the highest world that one of its events is in."""
        found: dict[str, World] = {}
        for event in self.events.values():
            if event.tumor not in (ALL_TUMORS, NO_TUMOR):
                found[event.tumor] = max(event.world, found.get(event.tumor, World.NONE))
        return found

    @functools.cached_property
    def disputed(self) -> frozenset[str]:
        """The events that a decision names."""
        return frozenset(
            event for decision in self.decisions.values() for event in (*decision.believed, *decision.rejected)
        )


class Tables:
    """The tables of one generation. Not for several threads at once."""

    def __init__(self, path: Path, generation: str) -> None:
        """MissingKb if there is no such generation; SchemaVersionError if it is of another version; DamagedKb, here and
        later, if it cannot be read."""
        layout = Layout(path)
        self.generation = generation
        try:
            file = layout.digests(generation, layout.check_schema(generation)).file(DATABASE)
        except FileNotFoundError as error:
            raise MissingKb(f"The knowledge base at {layout.path} has no generation {generation}.") from error
        self._database = LazyDatabase(file, layout.check_own_version)
        self._rows, self._dicts = self._database.rows, self._database.dicts
        try:
            self.manifest: dict[str, Any] = {
                name: json.loads(value) for name, value in self._rows("SELECT name, value FROM manifest ORDER BY name")
            }
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    @functools.cached_property
    def concepts(self) -> ConceptTable:
        """The ontology as the tables have it."""
        return concepts_from(self._rows)

    @functools.cached_property
    def scales(self) -> Scales:
        """The scales as the manifest has them."""
        return Scales(self.manifest["scales"])

    @functools.cached_property
    def edges(self) -> dict[str, tuple[str, str]]:
        """Each is-a edge, child and parent, by its id."""
        return {
            edge: (child, parent)
            for edge, child, parent in self._rows("SELECT edge_id, child, parent FROM concept_edge")
        }

    def patients(self) -> dict[str, int]:
        """Dense numbers by patient id."""
        return dict(self._rows("SELECT patient_id, patient FROM patient"))

    def record(self, patient_id: str) -> Record | None:
        """Everything of one patient; None if there is none of this id."""
        found = self._rows("SELECT patient, events, digest FROM patient WHERE patient_id = $1", [patient_id])
        if not found:
            return None
        number, events_stated, digest = found[0]
        notes = self._dicts("SELECT * FROM note WHERE patient = $1 ORDER BY status, ordinal", [number])
        mentions = self._dicts("SELECT * FROM mention WHERE patient = $1 ORDER BY ordinal", [number])
        relations = self._dicts("SELECT * FROM relation WHERE patient = $1 ORDER BY ordinal", [number])
        events = self._dicts("SELECT * FROM event WHERE patient = $1 ORDER BY event", [number])
        numbers = [row["event"] for row in events]
        attributes = self._of_events("event_attribute", numbers)
        evidence = self._of_events("evidence", numbers)
        decisions = self._dicts("SELECT * FROM decision WHERE patient = $1 ORDER BY ordinal", [number])
        values: dict[int, dict[str, Any]] = {}
        for row in attributes:
            values.setdefault(row["event"], {})[row["name"]] = value_from(row)
        cited: dict[int, list[str]] = {}
        for row in evidence:
            cited.setdefault(row["event"], []).append(row["mention_id"])
        return Record(
            patient_id,
            {
                row["note_id"]: StoredNote(note_from(patient_id, row), row["note_id"], row["sha256"], row["status"])
                for row in notes
            },
            {row["mention_id"]: mention_from(row) for row in mentions},
            {
                row["event_id"]: event_from(
                    patient_id, row, values.get(row["event"], {}), tuple(cited.get(row["event"], ()))
                )
                for row in events
            },
            {row["decision_id"]: decision_from(patient_id, row) for row in decisions},
            events_stated,
            len(events),
            digest,
            tuple(
                _digest(patient_id, stated, mentions, relations, events, attributes, evidence, decisions)
                for stated in _as_written(notes)
            ),
        )

    def _of_events(self, table: str, numbers: Sequence[int]) -> list[dict[str, Any]]:
        statement = {
            "event_attribute": "SELECT * FROM event_attribute WHERE event BETWEEN $1 AND $2 ORDER BY event, position",
            "evidence": "SELECT * FROM evidence WHERE event BETWEEN $1 AND $2 ORDER BY event, position",
        }[table]
        return self._dicts(statement, [numbers[0], numbers[-1]]) if numbers else []


def _as_written(notes: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The rows of notes that the digest may be made of: older versions may have been carried along after it."""
    current = [row for row in notes if row["status"] == CURRENT]
    return [notes] if len(current) == len(notes) else [notes, current]


# One parameter a table of the patient, in the order in which the digest takes them.
def _digest(
    patient_id: str,
    notes: Sequence[Mapping[str, Any]],
    mentions: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]],
    attributes: Sequence[Mapping[str, Any]],
    evidence: Sequence[Mapping[str, Any]],
    decisions: Sequence[Mapping[str, Any]],
) -> str:
    """What ``patient.digest`` is when the rows are those that were loaded."""

    def cells(rows: Sequence[Mapping[str, Any]], columns: str) -> list[list[Any]]:
        return [[patient_id, *(row[name] for name in columns.split(", "))] for row in rows]

    ordinals = {row["event"]: at for at, row in enumerate(events)}
    tables = {
        "note": cells(notes, _NOTE),
        "mention": cells(mentions, _OF_JOURNEY["mention"]),
        "relation": cells(relations, _OF_JOURNEY["relation"]),
        "event": [[patient_id, at, *row[1:]] for at, row in enumerate(cells(events, _OF_JOURNEY["event"]))],
        "event_attribute": [
            [
                patient_id,
                ordinals.get(row["event"]),
                *(row[name] for name in ("position", "name", "text", "number", "form")),
            ]
            for row in attributes
        ],
        "evidence": [[patient_id, ordinals.get(row["event"]), row["position"], row["mention_id"]] for row in evidence],
        "decision": cells(decisions, _OF_JOURNEY["decision"]),
    }
    digest = hashlib.blake2b(digest_size=16)
    for name, rows in tables.items():
        digest.update(name.encode())
        digest.update(json.dumps(rows, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
