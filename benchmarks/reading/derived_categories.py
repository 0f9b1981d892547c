"""Derived categories held against stated ones, and against a registry's labels.

    python -m benchmarks.reading.derived_categories NOTES.jsonl [--labels LABELS.jsonl] [--json OUT]

Every report is read and built as ever, but rules conclude also what a report states: where a tumor has a pathological T
or N both stated and derived, the two are compared. With labels, the precision of what is derived because nothing is
stated is told by itself (T, N: the first letter and figure).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from cohortium.ingest.journey.bench import Workbench
from cohortium.ingest.journey.build import STEPS, build_journey
from cohortium.ingest.journey.derivation import Derivation, derive
from cohortium.ingest.note.read import NoteReader
from cohortium.ingest.readers.note_dates import note_date
from cohortium.kb.derivation.rules import RULE
from cohortium.kb.model import Event, Note, World
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts

LETTERS = ("t", "n")


def also_stated(bench: Workbench) -> None:
    """The step that derives, with what is stated derived as well."""
    bench.events += Derivation(bench, also_stated=True).derived()


def _categories(events: Sequence[Event], letter: str, *, derived: bool) -> dict[str, set[str]]:
    """Tumor -> the main categories believed of it; clinical ones are left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for event in events:
        value = str(event.attributes.get(letter, ""))
        if event.kind != "tnm" or not value or value.upper().endswith("X") or event.world < World.BELIEVED:
            continue
        if (RULE in event.attributes) == derived and event.attributes.get("prefix") != "c":
            found[event.tumor].add(value[:2])
    return found


def compared(
    notes: Sequence[Note], reader: NoteReader, concepts: ConceptTable
) -> Iterator[tuple[str, str, str, set[str], set[str], list[str]]]:
    """Patient, letter, organ, stated, derived, the rules: of each tumor that has both."""
    steps = [also_stated if step is derive else step for step in STEPS]
    for note in notes:
        events = build_journey(note.patient_id, [reader.read(note)], concepts, steps).events
        for letter in LETTERS:
            stated = _categories(events, letter, derived=False)
            derived = _categories(events, letter, derived=True)
            for tumor in stated.keys() & derived.keys():
                rules = [
                    f"{event.attributes[RULE]} ({event.attributes.get('edition', 0):g})"
                    for event in events
                    if event.tumor == tumor and RULE in event.attributes and letter in event.attributes
                ]
                organ = rules[0].partition("_")[0]
                yield note.patient_id, letter, organ, stated[tumor], derived[tumor], rules


def main() -> None:
    """Prints and writes both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    concepts = shipped_concepts()
    reader = NoteReader(concepts)
    rows = [json.loads(line) for line in given.notes.read_text(encoding="utf-8").splitlines()]
    notes = [
        Note(row["patient_id"], row["doc_id"], row["text"], note_date(row["date"]), row["type"], row["title"])
        for row in rows
    ]
    told: Counter[tuple[str, bool]] = Counter()
    apart = []
    for patient, letter, organ, stated, derived, rules in compared(notes, reader, concepts):
        same = bool(stated & derived)
        told[letter, same] += 1
        if not same:
            apart.append([patient, letter, organ, sorted(stated), sorted(derived), rules])
    out: dict[str, object] = {"differ": apart}
    for letter in LETTERS:
        both = told[letter, True] + told[letter, False]
        share = told[letter, True] / max(1, both)
        print(f"{letter.upper()} stated and derived: {both}, agree: {told[letter, True]} ({share:.3f})")
        out[letter] = {"both": both, "agree": told[letter, True]}
    for row in apart:
        print("  ", *row)
    if given.labels:
        labels = {row["patient_id"]: row for row in map(json.loads, given.labels.read_text().splitlines())}
        for letter in LETTERS:
            right = wrong = 0
            for note in notes:
                events = build_journey(note.patient_id, [reader.read(note)], concepts).events
                label = str(labels.get(note.patient_id, {}).get(letter) or "")[:2].upper()
                found = set().union(*_categories(events, letter, derived=True).values())
                if label and not label.endswith("X"):
                    right += len(found & {label})
                    wrong += len(found - {label})
            print(f"{letter.upper()} derived alone: {right} right, {wrong} wrong ({right / max(1, right + wrong):.3f})")
            out[f"{letter} derived"] = {"right": right, "wrong": wrong}
    if given.json:
        given.json.write_text(json.dumps(out, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
