"""Ids and hashes derived once more from what they name: notes, mentions, events, decisions, patients' digests."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from ..model import Journey, Value
from ..storage.rows import (
    CURRENT,
    decision_from,
    event_from,
    journey_rows,
    mention_from,
    note_from,
    note_row,
    relation_from,
    rows_digest,
    value_from,
)
from .looked_at import LookedAt
from .rules import Faults, Rule

#: The rows of a part become objects: fewer at a time than a statement looks at.
_PART: Final = 20_000
#: What ids and digests look like that derive from content; made-up knowledge bases have others, which tell nothing.
_DERIVED_ID: Final = re.compile(r"[0-9a-f]{16}")
_DERIVED_DIGEST: Final = re.compile(r"[0-9a-f]{32}")

Row = Mapping[str, Any]
Rows = Mapping[Hashable, list[dict[str, Any]]]


def content_rules() -> tuple[Rule, ...]:
    """The rules, in the order in which ids build upon each other."""
    return tuple(
        Rule(name, "content", finds, look, slow=True)
        for name, finds, look in (
            ("hashes and ids of notes", "notes whose hash or id does not derive from them", _notes),
            ("derived ids of mentions", "mentions whose id does not derive from them", _mentions),
            ("derived ids of events", "events whose id does not derive from them and their evidence", _events),
            ("derived ids of decisions", "decisions whose id does not derive from them", _decisions),
            ("digests of patients", "patients whose digest does not derive from their rows", _digests),
        )
    )


def _notes(looked_at: LookedAt) -> Iterator[Faults]:
    for _ in looked_at.parts(_PART):
        found = []
        for row in looked_at.dicts("SELECT * FROM notes JOIN patients USING (patient)"):
            note = note_from(row["patient_id"], row)
            found.append((row["note_id"], note.sha256 == row["sha256"] and note.note_id == row["note_id"]))
        yield from _differing(found)


def _mentions(looked_at: LookedAt) -> Iterator[Faults]:
    for _ in looked_at.parts(_PART):
        yield from _differing(
            (row["mention_id"], _same_id(mention_from, row, "mention_id"))
            for row in looked_at.dicts("SELECT * FROM mentions")
        )


def _events(looked_at: LookedAt) -> Iterator[Faults]:
    for _ in looked_at.parts(_PART):
        attributes, evidence = _of_events(looked_at)

        def derived(
            row: Row,
            attributes: Mapping[int, dict[str, Value]] = attributes,
            evidence: Mapping[int, tuple[str, ...]] = evidence,
        ) -> Any:
            number = row["event"]
            return event_from(row["patient_id"], row, attributes.get(number, {}), evidence.get(number, ()))

        rows = looked_at.dicts("SELECT * FROM events JOIN (SELECT patient, patient_id FROM patients) USING (patient)")
        checked = [row for row in rows if _DERIVED_ID.fullmatch(row["event_id"])]
        looked_at.leave("derived ids of events", len(rows) - len(checked))
        yield from _differing((f"event {row['event']}", _same_id(derived, row, "event_id")) for row in checked)


def _decisions(looked_at: LookedAt) -> Iterator[Faults]:
    for _ in looked_at.parts(_PART):
        yield from _differing(
            (f"decision {row['decision_id']}", decision_from(row["patient_id"], row).decision_id == row["decision_id"])
            for row in looked_at.dicts("SELECT * FROM decisions JOIN patients USING (patient)")
        )


def _digests(looked_at: LookedAt) -> Iterator[Faults]:
    for _ in looked_at.parts(_PART):
        attributes, evidence = _of_events(looked_at)
        ordered = "SELECT * FROM notes ORDER BY patient, status <> 'current', ordinal, note_id"
        notes = _grouped(looked_at.dicts(ordered), "patient")
        tables = {
            name: _grouped(looked_at.dicts(f"SELECT * FROM {name} ORDER BY patient, {order}"), "patient")
            for name, order in (
                ("mentions", "ordinal"),
                ("relations", "ordinal"),
                ("events", "event"),
                ("decisions", "ordinal"),
            )
        }
        found = []
        for row in looked_at.dicts("SELECT * FROM patients ORDER BY patient"):
            if not _DERIVED_DIGEST.fullmatch(row["digest"]):
                looked_at.leave("digests of patients", 1)
                continue
            own = {name: table.get(row["patient"], []) for name, table in tables.items()}
            versions = notes.get(row["patient"], [])
            # A patient's id may be a name or a number of a hospital: the dense number is told.
            place = f"patient {row['patient']}"
            found.append((place, row["digest"] in _derived(row, versions, own, attributes, evidence)))
        yield from _differing(found)


def _derived(
    patient: Row,
    versions: list[dict[str, Any]],
    own: Mapping[str, list[dict[str, Any]]],
    attributes: Mapping[int, dict[str, Value]],
    evidence: Mapping[int, tuple[str, ...]],
) -> Iterator[str]:
    """The digests that the patient may have: over all versions of the notes, or, when older versions were carried over
    from another generation, over the current ones alone."""
    name = patient["patient_id"]
    try:
        journey = Journey(
            name,
            tuple(note_from(name, row) for row in versions if row["status"] == CURRENT),
            tuple(map(mention_from, own["mentions"])),
            tuple(map(relation_from, own["relations"])),
            tuple(
                event_from(name, row, attributes.get(row["event"], {}), evidence.get(row["event"], ()))
                for row in own["events"]
            ),
            tuple(decision_from(name, row) for row in own["decisions"]),
        )
    except ValueError:
        return
    rows = journey_rows(journey)
    yield rows_digest(rows, name)
    old = [row for row in versions if row["status"] != CURRENT]
    if old:
        rows["note"].extend(
            note_row(name, row["ordinal"], note_from(name, row), row["status"], row["superseded_by"]) for row in old
        )
        yield rows_digest(rows, name)


def _of_events(looked_at: LookedAt) -> tuple[dict[int, dict[str, Value]], dict[int, tuple[str, ...]]]:
    attributes: dict[int, dict[str, Value]] = {}
    for row in looked_at.dicts("SELECT * FROM attributes ORDER BY event, position"):
        attributes.setdefault(row["event"], {})[row["name"]] = value_from(row)
    evidence = {
        event: tuple(row["mention_id"] for row in rows)
        for event, rows in itertools.groupby(
            looked_at.dicts("SELECT * FROM evidence_rows ORDER BY event, position"), key=lambda row: row["event"]
        )
    }
    return attributes, evidence


def _grouped(rows: Iterable[dict[str, Any]], key: str) -> Rows:
    return {value: list(own) for value, own in itertools.groupby(rows, key=lambda row: row[key])}


def _same_id(derived: Callable[[Row], Any], row: Row, name: str) -> bool:
    try:
        return bool(getattr(derived(row), name) == row[name])
    except ValueError:
        # The model refuses such a value.
        return False


def _differing(checked: Iterable[tuple[str, bool]]) -> Iterator[Faults]:
    faults = [example for example, same in checked if not same]
    if faults:
        yield Faults(len(faults), faults[0])
