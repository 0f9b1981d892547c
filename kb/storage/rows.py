"""The translation of a journey into table rows, and of the rows of one patient back into a journey."""

from __future__ import annotations

import datetime
import hashlib
import json
import json.encoder
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from ..errors import UsageError
from ..model import (
    Context,
    Cue,
    DayInterval,
    Decision,
    Event,
    Experiencer,
    Journey,
    Mention,
    Note,
    Polarity,
    Relation,
    Temporality,
    Value,
    World,
)

_quoted: Final = json.encoder.encode_basestring
CURRENT: Final = "current"
SUPERSEDED: Final = "superseded"
#: Of a version that was taken back: nothing stands in its place.
RETRACTED: Final = "retracted"

_TEXT: Final = pa.string()
_NUMBER: Final = pa.int32()
_CUES: Final = pa.list_(pa.struct([("span_start", _NUMBER), ("span_end", _NUMBER), ("rule", _TEXT)]))
_CONTEXT: Final = [("polarity", _TEXT), ("temporality", _TEXT), ("experiencer", _TEXT), ("reason", _TEXT)]
_OWNED: Final = [("patient_id", _TEXT), ("ordinal", _NUMBER)]

#: The staging tables: those of ``schema.sql`` with ``patient_id`` and ``ordinal`` in place of dense numbers.
STAGING: Final[Mapping[str, pa.Schema]] = {
    "patient": pa.schema([("patient_id", _TEXT), ("events", _NUMBER), ("digest", _TEXT)]),
    "note": pa.schema(
        [
            *_OWNED,
            ("note_id", _TEXT),
            ("doc_id", _TEXT),
            ("date", pa.date32()),
            ("type", _TEXT),
            ("title", _TEXT),
            ("text", _TEXT),
            ("sha256", _TEXT),
            ("status", _TEXT),
            ("superseded_by", _TEXT),
        ]
    ),
    "mention": pa.schema(
        [
            *_OWNED,
            ("mention_id", _TEXT),
            ("note_id", _TEXT),
            ("span_start", _NUMBER),
            ("span_end", _NUMBER),
            ("text", _TEXT),
            ("kind", _TEXT),
            ("label", _TEXT),
            ("concept", _TEXT),
            ("attributes", _TEXT),
            *_CONTEXT,
            ("low", _NUMBER),
            ("high", _NUMBER),
            ("source", _TEXT),
            ("section", _TEXT),
            ("sentence_start", _NUMBER),
            ("sentence_end", _NUMBER),
            ("cues", _CUES),
            ("confidence", pa.float64()),
        ]
    ),
    "relation": pa.schema(
        [*_OWNED, ("note_id", _TEXT), ("type", _TEXT), ("head", _TEXT), ("tail", _TEXT), ("rule", _TEXT)]
    ),
    "event": pa.schema(
        [
            *_OWNED,
            ("event_id", _TEXT),
            ("kind", _TEXT),
            ("concept", _TEXT),
            ("low", _NUMBER),
            ("high", _NUMBER),
            ("end_low", _NUMBER),
            ("end_high", _NUMBER),
            *_CONTEXT,
            ("world", pa.int8()),
            ("tumor", _TEXT),
            ("tumor_rule", pa.int8()),
            ("sources", _NUMBER),
            ("anchors", pa.list_(_TEXT)),
            ("confidence", pa.float64()),
        ]
    ),
    "event_attribute": pa.schema(
        [*_OWNED, ("position", _NUMBER), ("name", _TEXT), ("text", _TEXT), ("number", pa.float64()), ("form", _TEXT)]
    ),
    "evidence": pa.schema([*_OWNED, ("position", _NUMBER), ("mention_id", _TEXT)]),
    "decision": pa.schema(
        [
            *_OWNED,
            ("decision_id", _TEXT),
            ("rule", _TEXT),
            ("believed", pa.list_(_TEXT)),
            ("rejected", pa.list_(_TEXT)),
            ("explanation", _TEXT),
        ]
    ),
    "quarantine": pa.schema(
        [
            ("source", _TEXT),
            ("place", _TEXT),
            ("patient_id", _TEXT),
            ("doc_id", _TEXT),
            ("reason", _TEXT),
            ("raw", _TEXT),
        ]
    ),
}


@dataclass(frozen=True, slots=True)
class SupersededNote:
    """An older version of a note, and the id of the version that replaced it; empty if it was taken back."""

    note: Note
    superseded_by: str


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """A record that could not be read: where it stood (``notes.jsonl``, ``line 7``), why, and the record itself."""

    source: str
    place: str
    reason: str
    patient_id: str = ""
    doc_id: str = ""
    raw: str = ""


class StagingRows:
    """Rows of staging tables, gathered in memory until they are taken as Arrow tables."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in STAGING}
        self.weight = 0

    def add_journey(self, journey: Journey, superseded: Sequence[SupersededNote] = ()) -> None:
        """All rows of one patient. UsageError if a text of it is not valid Unicode (a lone surrogate)."""
        own = journey_rows(journey)
        own["note"].extend(older_row(ordinal, old) for ordinal, old in enumerate(superseded))
        digest = rows_digest(own, journey.patient_id)
        own["patient"] = [(journey.patient_id, len(journey.events), digest)]
        for name, rows in own.items():
            self._rows[name].extend(rows)
        self.weight += sum(len(note.text) for note in journey.notes) + 200 * (
            len(journey.mentions) + len(journey.events)
        )

    def add_quarantine(self, records: Iterable[QuarantinedRecord]) -> None:
        """Quarantined records; what is not valid Unicode in them is escaped."""
        for record in records:
            cells = (record.source, record.place, record.patient_id, record.doc_id, record.reason, record.raw)
            self._rows["quarantine"].append(tuple(cell.encode("utf-8", "backslashreplace").decode() for cell in cells))

    def take(self) -> dict[str, pa.Table]:
        """The rows as one Arrow table for each staging table that has any; afterwards there are none."""
        tables = {name: arrow_table(name, rows) for name, rows in self._rows.items() if rows}
        self._rows = {name: [] for name in STAGING}
        self.weight = 0
        return tables


def arrow_table(name: str, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Rows of one staging table as an Arrow table."""
    schema = STAGING[name]
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def joined_tables(parts: Sequence[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """The staging tables of several batches, one behind the other, each in one piece: the database reads it quicker."""
    names = dict.fromkeys(name for tables in parts for name in tables)
    joined = {name: pa.concat_tables([tables[name] for tables in parts if name in tables]) for name in names}
    return {name: table.combine_chunks() for name, table in joined.items()}


#: Rows hold no circles.
_encoder: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, default=str)


def rows_digest(tables: Mapping[str, Sequence[tuple[Any, ...]]], patient_id: str) -> str:
    """A digest of all rows of one patient. UsageError if a text is not valid Unicode."""
    digest = hashlib.blake2b(digest_size=16)
    for name, rows in tables.items():
        digest.update(name.encode())
        try:
            # Not repr: it would escape a lone surrogate, which neither Arrow nor DuckDB can hold.
            digest.update(_encoder.encode(rows).encode("utf-8"))
        except UnicodeEncodeError as error:
            raise UsageError(
                f"A {name} of patient {patient_id!r} holds a lone surrogate, which is no character. "
                "Hint: replace such characters when the file is read, or quarantine the record."
            ) from error
    return digest.hexdigest()


# --- to rows ---------------------------------------------------------------------------------------------------------


def journey_rows(journey: Journey) -> dict[str, list[tuple[Any, ...]]]:
    """The staging rows of a journey, by table (``patient`` is left to the caller)."""
    patient = journey.patient_id
    attributes: list[tuple[Any, ...]] = []
    evidence: list[tuple[Any, ...]] = []
    for ordinal, event in enumerate(journey.events):
        if event.patient_id != patient:
            raise ValueError(f"the journey of patient {patient!r} holds an event of patient {event.patient_id!r}")
        for position, (name, value) in enumerate(event.attributes.items()):
            attributes.append((patient, ordinal, position, name, *_value_cells(value)))
        evidence.extend((patient, ordinal, position, mention) for position, mention in enumerate(event.evidence))
    return {
        "note": [note_row(patient, ordinal, note, CURRENT, None) for ordinal, note in enumerate(journey.notes)],
        "mention": [_mention_row(patient, ordinal, mention) for ordinal, mention in enumerate(journey.mentions)],
        "relation": [
            (patient, ordinal, relation.note_id, relation.type, relation.head, relation.tail, relation.rule)
            for ordinal, relation in enumerate(journey.relations)
        ],
        "event": [_event_row(patient, ordinal, event) for ordinal, event in enumerate(journey.events)],
        "event_attribute": attributes,
        "evidence": evidence,
        "decision": [
            (
                patient,
                ordinal,
                decision.decision_id,
                decision.rule,
                list(decision.believed),
                list(decision.rejected),
                decision.explanation,
            )
            for ordinal, decision in enumerate(journey.decisions)
        ],
    }


def note_row(patient: str, ordinal: int, note: Note, status: str, superseded_by: str | None) -> tuple[Any, ...]:
    """The staging row of one version of a note."""
    if note.patient_id != patient:
        raise ValueError(f"the journey of patient {patient!r} holds a note of patient {note.patient_id!r}")
    return (
        patient,
        ordinal,
        note.note_id,
        note.doc_id,
        note.date,
        note.type,
        note.title,
        note.text,
        note.sha256,
        status,
        superseded_by,
    )


def older_row(ordinal: int, old: SupersededNote) -> tuple[Any, ...]:
    """The staging row of a version that is not current."""
    status = SUPERSEDED if old.superseded_by else RETRACTED
    return note_row(old.note.patient_id, ordinal, old.note, status, old.superseded_by or None)


def _context_cells(context: Context) -> tuple[str, str, str, str]:
    # The members themselves are texts; the property ``value`` is dear to ask.
    return context.polarity, context.temporality, context.experiencer, context.reason


def _value_cells(value: Value) -> tuple[str | None, float | None, str]:
    if isinstance(value, str):
        return value, None, "text"
    return None, float(value), "integer" if isinstance(value, int) else "float"


def _mention_row(patient: str, ordinal: int, mention: Mention) -> tuple[Any, ...]:
    return (
        patient,
        ordinal,
        mention.mention_id,
        mention.note_id,
        mention.start,
        mention.end,
        mention.text,
        mention.kind,
        mention.label,
        mention.concept,
        _json_of(mention.attributes),
        *_context_cells(mention.context),
        mention.day.low,
        mention.day.high,
        mention.source,
        mention.section,
        *mention.sentence,
        [{"span_start": cue.start, "span_end": cue.end, "rule": cue.rule} for cue in mention.cues],
        mention.confidence,
    )


def _json_of(attributes: Mapping[str, Value]) -> str:
    """As ``json.dumps`` writes it, which makes an encoder anew for each object."""
    if not attributes:
        return "{}"
    cells = []
    for name, value in attributes.items():
        if type(value) is str:
            cells.append(f"{_quoted(name)}: {_quoted(value)}")
        elif (type(value) is float and math.isfinite(value)) or type(value) is int:
            cells.append(f"{_quoted(name)}: {value!r}")
        else:
            return json.dumps(dict(attributes), ensure_ascii=False)
    return "{" + ", ".join(cells) + "}"


def _event_row(patient: str, ordinal: int, event: Event) -> tuple[Any, ...]:
    return (
        patient,
        ordinal,
        event.event_id,
        event.kind,
        event.concept,
        event.day.low,
        event.day.high,
        None if event.end is None else event.end.low,
        None if event.end is None else event.end.high,
        *_context_cells(event.context),
        int(event.world),
        event.tumor,
        event.tumor_rule,
        event.sources,
        list(event.anchors),
        event.confidence,
    )


# --- from rows -------------------------------------------------------------------------------------------------------

Row = Mapping[str, Any]


def note_from(patient_id: str, row: Row) -> Note:
    """A note from its row."""
    date: datetime.date | None = row["date"]
    return Note(patient_id, row["doc_id"], row["text"], date, row["type"], row["title"])


def mention_from(row: Row) -> Mention:
    """A mention from its row."""
    return Mention(
        note_id=row["note_id"],
        start=row["span_start"],
        end=row["span_end"],
        text=row["text"],
        kind=row["kind"],
        label=row["label"],
        concept=row["concept"],
        attributes=json.loads(row["attributes"]),
        context=_context_from(row),
        day=DayInterval(row["low"], row["high"]),
        source=row["source"],
        section=row["section"],
        sentence=(row["sentence_start"], row["sentence_end"]),
        cues=tuple(Cue(cue["span_start"], cue["span_end"], cue["rule"]) for cue in row["cues"]),
        confidence=row["confidence"],
    )


def relation_from(row: Row) -> Relation:
    """A relation from its row."""
    return Relation(row["note_id"], row["type"], row["head"], row["tail"], row["rule"])


def event_from(patient_id: str, row: Row, attributes: Mapping[str, Value], evidence: tuple[str, ...]) -> Event:
    """An event from its row, its attributes and the mention ids of its evidence."""
    return Event(
        patient_id=patient_id,
        kind=row["kind"],
        concept=row["concept"],
        day=DayInterval(row["low"], row["high"]),
        end=None if row["end_low"] is None else DayInterval(row["end_low"], row["end_high"]),
        attributes=attributes,
        context=_context_from(row),
        world=World(row["world"]),
        tumor=row["tumor"],
        tumor_rule=row["tumor_rule"],
        evidence=evidence,
        sources=row["sources"],
        anchors=tuple(row["anchors"]),
        confidence=row["confidence"],
    )


def value_from(row: Row) -> Value:
    """An attribute's value from its row."""
    if row["form"] == "text":
        text: str = row["text"]
        return text
    number: float = row["number"]
    return int(number) if row["form"] == "integer" else number


def decision_from(patient_id: str, row: Row) -> Decision:
    """A decision from its row."""
    return Decision(patient_id, row["rule"], tuple(row["believed"]), tuple(row["rejected"]), row["explanation"])


def _context_from(row: Row) -> Context:
    return Context(
        Polarity(row["polarity"]), Temporality(row["temporality"]), Experiencer(row["experiencer"]), row["reason"]
    )
