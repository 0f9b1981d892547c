"""Events of journeys drawn at random, to be judged by somebody who sees the notes and no rule.

    python -m benchmarks.reading.journey_sample FOLDER... --number 200 --seed 0 --out events.jsonl

Each folder holds ``notes.jsonl``. A line an event that is believed or denied of the patient: what it is, attributes,
its day and end, whether it is present or absent, and the sentences that it was read from. Derived events (those that a
rule of staging gives) are left out. The judge adds ``verdict``: right, attribute (all but a value or day), or wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cohortium
from cohortium.ingest.text.dates.intervals import days_text
from cohortium.kb.model import Event, Experiencer, Journey, Polarity, Temporality, World
from cohortium.kb.storage.reader import KnowledgeBase

#: Attributes that tell where an event comes from, and nothing of the patient.
_OF_ORIGIN: Final = frozenset({"rule", "edition", "premises", "course", "written"})
_AROUND: Final = 160


def is_of_patient(event: Event) -> bool:
    """Whether an event says something of the patient, as far as it is believed: that it is so, or that it is not."""
    if "rule" in event.attributes or event.context.experiencer is not Experiencer.PATIENT:
        return False
    if event.context.temporality in (Temporality.HYPOTHETICAL, Temporality.PLANNED):
        return False
    denied = event.context.polarity is Polarity.ABSENT and event.context.reason == "none"
    return denied or (event.world >= World.BELIEVED and event.context.polarity is Polarity.PRESENT)


def read_from(journey: Journey, texts: dict[str, str]) -> dict[str, dict[str, str]]:
    """By mention: its document, its words and what stands around them."""
    documents = {note.note_id: note.doc_id for note in journey.notes}
    places = {}
    for mention in journey.mentions:
        document = documents[mention.note_id]
        around = texts.get(document, "")[max(0, mention.start - _AROUND) : mention.end + _AROUND]
        places[mention.mention_id] = {"document": document, "words": mention.text, "around": around}
    return places


def described(patient: str, event: Event, places: dict[str, dict[str, str]], name: str) -> dict[str, Any]:
    """An event as its judge sees it."""
    return {
        "patient": patient,
        "event": event.event_id,
        "kind": event.kind,
        "is": name,
        "attributes": {key: value for key, value in event.attributes.items() if key not in _OF_ORIGIN},
        "day": days_text(event.day),
        "end": "" if event.end is None else days_text(event.end),
        "said": "absent" if event.context.polarity is Polarity.ABSENT else "present",
        "read_from": [places[one] for one in event.evidence[:3]],
        "verdict": "",
    }


def events_of(folder: Path) -> Iterator[dict[str, Any]]:
    """The events of the journeys of a folder."""
    texts = {note["doc_id"]: note["text"] for note in map(json.loads, (folder / "notes.jsonl").open(encoding="utf-8"))}
    with tempfile.TemporaryDirectory() as scratch:
        kb = Path(scratch) / "journeys.kb"
        cohortium.ingest([folder / "notes.jsonl"], kb, progress=False)
        with KnowledgeBase.open(kb) as opened:
            for patient in sorted(opened.patients):
                journey = opened.journey(patient)
                places = read_from(journey, texts)
                for event in journey.events:
                    if is_of_patient(event):
                        known = event.concept in opened.concepts
                        name = opened.concepts.name(event.concept) if known else event.concept
                        yield described(patient, event, places, name)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    events = [event for folder in options.folders for event in events_of(folder)]
    drawn = random.Random(options.seed).sample(events, min(options.number, len(events)))
    with options.out.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in drawn)
    print(f"{len(drawn)} of {len(events)} events in {options.out}")


if __name__ == "__main__":
    main()
