"""How far treatments read from notes agree with those that people abstracted: attributes, days of start and end.

    python -m benchmarks.reading.treatment_agreement --kb notes.kb --facts facts.jsonl [--patients D1,D3] [--json OUT]

For each abstracted medication, regimen or radiation of a patient that happened, the event of the same kind whose
concept is the same, above or below, and whose days are nearest. A fact whose treatment the notes' knowledge base does
not have counts as not agreeing. Of an attribute: facts that hold it, those whose event has any value, those whose event
has the same.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.ingest.abstraction.records import AbstractedFact, Abstraction, read_abstractions
from cohortium.ingest.abstraction.terms import FactReader
from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.treatments.courses import dose_of, reason_in
from cohortium.kb.model import DayInterval, Event, World
from cohortium.kb.ontology.regimens import shipped_components

KINDS = ("medication", "regimen", "radiation")
ATTRIBUTES = ("line", "intent", "status", "reason", "dose", "fractions")
#: What abstracted statuses mean, by a word in them, in this order.
STATUSES = (
    ("not given", "never_started"), ("never", "never_started"), ("declin", "declined"), ("plan", "planned"),
    ("held", "held"), ("ongoing", "ongoing"), ("started", "ongoing"), ("discontinued", "discontinued"),
    ("stopped", "discontinued"), ("completed", "completed"),
)  # fmt: skip


def expected(fact: AbstractedFact) -> dict[str, Any]:
    """The attributes of a fact as events have them."""
    told: dict[str, Any] = {}
    written = fact.attributes
    if written.get("line", "").strip().isdigit():
        told["line"] = float(written["line"])
    if "intent" in written:
        told["intent"] = written["intent"].strip().casefold()
    if "status" in written:
        status = written["status"].casefold()
        told["status"] = next((meaning for word, meaning in STATUSES if word in status), status)
    if "reason" in written and fact.assertion in ("present", "historical"):
        told["reason"] = reason_class(written["reason"])
    if fact.kind == "radiation":
        dose, fractions = dose_of(" ".join((written.get("dose", ""), "" if "dose" in written else fact.value)))
        told |= {name: value for name, value in (("dose", dose), ("fractions", fractions)) if value is not None}
    return told


def reason_class(text: str) -> str:
    """The class of a reason that somebody wrote; what is in none is a toxicity by its own name."""
    return reason_in(text) or "toxicity"


def overlap(one: DayInterval | None, other: DayInterval | None) -> bool:
    """Whether two intervals share a day."""
    return one is not None and other is not None and one.low <= other.high and other.low <= one.high


def gap(one: DayInterval | None, other: DayInterval | None) -> int:
    """Days between two intervals; many where one is not known."""
    if one is None or other is None:
        return 1_000_000
    return max(0, one.low - other.high, other.low - one.high)


def candidates(events: Iterable[Event], fact: AbstractedFact, concept: str, kind: str) -> list[Event]:
    """The events that may be what a fact tells of, the nearest in time first."""
    is_a = shared_reader().concepts.is_a
    really = fact.assertion in ("present", "historical")
    fitting = [
        event
        for event in events
        if event.kind == kind
        and (event.world > World.POSSIBLE) == really
        and (event.concept == concept or is_a(event.concept, concept) or is_a(concept, event.concept))
    ]
    return sorted(fitting, key=lambda event: (event.concept != concept, gap(event.day, fact.day)))


def compare(kb: Any, people: Sequence[Abstraction]) -> dict[str, dict[str, Counter[str]]]:
    """Counts by kind and attribute: facts, read, same."""
    reader = FactReader(shared_reader())
    table: dict[str, dict[str, Counter[str]]] = {kind: {} for kind in KINDS}
    for person in people:
        events = kb.journey(person.patient_id).events if person.patient_id in kb.patients else ()
        for fact in person.facts:
            if fact.kind not in KINDS:
                continue
            named = [m for m in reader.read(person.patient_id, fact).mentions if m.kind in KINDS]
            found = [next(iter(candidates(events, fact, m.concept, m.kind)), None) for m in named] or [None]
            if found == [None]:
                # A combination that the notes name by its drugs alone.
                drugs = [one.drug for m in named for one in shipped_components().get(m.concept, ()) if not one.optional]
                found = [next(iter(candidates(events, fact, one, "medication")), None) for one in drugs] or [None]
            wanted = expected(fact)
            if fact.assertion in ("present", "historical"):
                wanted |= {"start": fact.day, "end": fact.end}
            for name, value in wanted.items():
                if value is None:
                    continue
                row = table[fact.kind].setdefault(name, Counter())
                row["facts"] += 1
                got = [held(event, name) for event in found]
                row["read"] += any(one is not None for one in got)
                same = [overlap(one, value) if name in ("start", "end") else one == value for one in got]
                row["same"] += 2 * sum(same) >= len(same)
    return table


def held(event: Event | None, name: str) -> Any:
    """What an event holds of that name; None for nothing."""
    if event is None:
        return None
    return {"start": event.day, "end": event.end}.get(name) if name in ("start", "end") else event.attributes.get(name)


def main() -> None:
    """The table, and its JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--facts", type=Path, required=True)
    parser.add_argument("--patients", default="", help="Beginnings of patient ids, parted by commas; all by default.")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    begins = tuple(given.patients.split(",")) if given.patients else ("",)
    people = [
        record
        for record in read_abstractions(given.facts)
        if isinstance(record, Abstraction) and record.patient_id.startswith(begins)
    ]
    with cohortium.open(given.kb) as kb:
        table = compare(kb, people)
    rows = [
        (kind, name, row["facts"], row["read"] / row["facts"], row["same"] / row["facts"])
        for kind, by_name in table.items()
        for name, row in by_name.items()
    ]
    total: dict[str, Counter[str]] = {}
    for by_name in table.values():
        for name, row in by_name.items():
            total.setdefault(name, Counter()).update(row)
    rows += [
        ("all", name, row["facts"], row["read"] / row["facts"], row["same"] / row["facts"])
        for name, row in total.items()
    ]
    print(markdown(("kind", "attribute", "facts", "read", "the same"), rows))
    if given.json:
        told = {"rows": rows, "signature": signature(command_line(), 0)}
        given.json.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
