"""Small records written as tables: one line an event, so that a test reads like a page of a chart."""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Mapping
from dataclasses import replace

from cohortium.kb.model import (
    Context,
    DayInterval,
    Decision,
    Event,
    Experiencer,
    Journey,
    Mention,
    Note,
    Polarity,
    Temporality,
    Value,
    World,
)
from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable

#: A word of the context column -> what it changes, and the world that an event so described is in.
CONTEXTS: Mapping[str, tuple[dict[str, object], World]] = {
    "": ({}, World.CERTAIN),
    "historical": ({"temporality": Temporality.HISTORICAL}, World.CERTAIN),
    "uncertain": ({"polarity": Polarity.UNCERTAIN}, World.POSSIBLE),
    "absent": ({"polarity": Polarity.ABSENT}, World.NONE),
    "planned": ({"temporality": Temporality.PLANNED}, World.NONE),
    "hypothetical": ({"temporality": Temporality.HYPOTHETICAL}, World.NONE),
    "family": ({"experiencer": Experiencer.FAMILY}, World.NONE),
    "declined": ({"polarity": Polarity.ABSENT, "reason": "declined"}, World.NONE),
    "someone else": ({"experiencer": Experiencer.OTHER}, World.NONE),
    # Disputed facts: present as the text tells them, kept or rejected by a decision.
    "kept": ({}, World.BELIEVED),
    "rejected": ({}, World.POSSIBLE),
    # A birth on no known day.
    "open": ({}, World.POSSIBLE),
}

COLUMNS = ("patient", "kind", "concept", "day", "until", "attributes", "context", "tumor", "told")
#: A line of this kind is a note: its concept is the note's type.
NOTE = "note"


def journeys(table: str) -> list[Journey]:
    """The records in a table.

    ::

        patient | kind      | concept       | day                    | attributes      | context   | tumor
        P1      | diagnosis | breast_cancer | 2020-01-05             | laterality=left |           | t1
        P1      | stage     |               | 2020-01-01..2020-01-31 | stage=IIA       | uncertain | t1
        P2      |

    The header names the columns; those after the patient may be missing. ``until`` is the day of the end. ``told``
    names the types of the notes, of the event's own day, that tell of it (one each, independent); a line of kind
    ``note`` is a note that tells of nothing. What is *kept* or *rejected* was weighed by a decision. A day is a date, a
    month, a year, two dates
    with ``..`` between, or nothing. Attributes stand side by side with commas; numbers are numbers. The context is a
    word of CONTEXTS, or several with commas. A line with a patient alone is a patient without events. ValueError for a
    column or context that is not known.
    """
    found: dict[str, list[dict[str, str]]] = {}
    for cells in rows(table):
        found.setdefault(cells["patient"], []).append(cells)
    return [_journey(patient, lines) for patient, lines in found.items()]


def _journey(patient: str, lines: list[dict[str, str]]) -> Journey:
    notes: dict[tuple[str, str], Note] = {}
    mentions: list[Mention] = []
    events: list[Event] = []
    decisions: list[Decision] = []
    for cells in lines:
        day = cells.get("day", "")
        if cells.get("kind") == NOTE:
            _note(notes, patient, cells["concept"], day)
            continue
        if not cells.get("kind"):
            continue
        told = [_note(notes, patient, type_.strip(), day) for type_ in cells.get("told", "").split(",") if type_]
        own = [
            Mention(note.note_id, at, at + 1, ".", cells["kind"], "", cells.get("concept", ""))
            for at, note in enumerate(told, len(mentions))
        ]
        mentions += own
        event = _event(cells)
        event = replace(event, evidence=tuple(one.mention_id for one in own), sources=max(1, len(own)))
        events.append(event)
        if {"kept", "rejected"} & {word.strip() for word in cells.get("context", "").split(",")}:
            sides = ((event.event_id,), ()) if event.world is World.BELIEVED else ((), (event.event_id,))
            decisions.append(Decision(patient, "made up", *sides, "made up"))
    return Journey(patient, tuple(notes.values()), tuple(mentions), events=tuple(events), decisions=tuple(decisions))


def _note(notes: dict[tuple[str, str], Note], patient: str, type_: str, day: str) -> Note:
    date = datetime.date.fromordinal(day_interval(day).low) if day else None
    return notes.setdefault((type_, day), Note(patient, f"{type_} {day}", "." * 100, date, type_))


def rows(table: str) -> list[dict[str, str]]:
    """The lines of a table below its header, each as column name -> cell."""
    header, *lines = [line for line in table.strip().splitlines() if line.strip()]
    names = [cell.strip() for cell in header.split("|")]
    if unknown := set(names) - set(COLUMNS):
        raise ValueError(f"no column is called {', '.join(sorted(unknown))}; they are {', '.join(COLUMNS)}")
    return [dict(zip(names, (cell.strip() for cell in line.split("|")), strict=False)) for line in lines]


def day_interval(text: str) -> DayInterval:
    """``2020-01-05``, ``2020-01``, ``2020``, ``2020-01-05..2020-02-10``, or empty for no date."""
    if not text:
        return DayInterval()
    first, _, last = text.partition("..")
    return DayInterval(_bounds(first)[0], _bounds(last or first)[1])


def _bounds(text: str) -> tuple[int, int]:
    parts = [int(part) for part in text.strip().split("-")]
    low = datetime.date(*[*parts, 1, 1][:3])
    high = {
        1: lambda: datetime.date(low.year, 12, 31),
        2: lambda: datetime.date(low.year, low.month, calendar.monthrange(low.year, low.month)[1]),
        3: lambda: low,
    }[len(parts)]()
    return low.toordinal(), high.toordinal()


def _event(cells: Mapping[str, str]) -> Event:
    changes, world = _context(cells.get("context", ""))
    return Event(
        cells["patient"],
        cells["kind"],
        cells.get("concept", ""),
        day_interval(cells.get("day", "")),
        attributes=dict(_attribute(pair) for pair in cells.get("attributes", "").split(",") if pair),
        context=Context(**changes),  # type: ignore[arg-type]
        world=world,
        tumor=cells.get("tumor", ""),
        end=day_interval(cells["until"]) if cells.get("until") else None,
    )


def _context(text: str) -> tuple[dict[str, object], World]:
    """What several words change together; the event is in the lowest of their worlds."""
    changes: dict[str, object] = {}
    world = World.CERTAIN
    for word in (part.strip() for part in text.split(",")):
        if word not in CONTEXTS:
            raise ValueError(f"no context is called {word!r}; they are {', '.join(filter(None, CONTEXTS))}")
        changes |= CONTEXTS[word][0]
        world = min(world, CONTEXTS[word][1])
    return changes, world


def _attribute(pair: str) -> tuple[str, Value]:
    name, _, text = (part.strip() for part in pair.partition("="))
    try:
        return name, float(text)
    except ValueError:
        return name, text


def small_ontology(text: str) -> ConceptTable:
    """``id: kind < parent parent`` a line; the name is the id with spaces."""
    rows = []
    for line in filter(str.strip, text.splitlines()):
        id_, _, rest = (part.strip() for part in line.partition(":"))
        kind, _, parents = (part.strip() for part in rest.partition("<"))
        rows.append(ConceptRow(id_, kind, id_.replace("_", " "), tuple(parents.split())))
    return ConceptTable(rows)
