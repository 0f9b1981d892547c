"""Cohorts of real pathology reports against a registry's labels, by area, and what each part of the reading adds.

    python -m benchmarks.reading.pathology --folder tcga [--questions FOLDER] [--part seen|unread|all]
        [--without NAME ...] [--json OUT]

The folder holds ``notes.jsonl``, ``labels.jsonl`` and ``score.py``, which brings the questions and the score; it does
not ship. Other reports with labels of that form are asked the same questions with ``--questions``. The last 150 reports
are a part of their own, which was *unread* until it was measured once. ``--without`` takes a part of the reading away
(``derivation``, ``totals``, ``alignment``, ``specimens``); each makes a row of its own.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import cohortium
from benchmarks.reading.ablation import Ablation, in_place_of, read_notes, with_tools, without
from benchmarks.reading.radiology import PARTS, lines_of, questions_of
from benchmarks.signature import command_line, signature
from cohortium.eval.measures.metrics import F1, PRECISION, RECALL
from cohortium.eval.measures.scoring import Counts, count, value
from cohortium.ingest.journey.derivation import derive
from cohortium.ingest.journey.node_totals import total_nodes
from cohortium.ingest.note import steps as note_steps
from cohortium.ingest.note.read import Parts
from cohortium.ingest.note.steps import Page
from cohortium.kb.model import Note
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.storage.writer import build_generation

#: So many reports were unread until they were measured.
UNREAD: Final = 150
MEASURES: Final = (PRECISION, RECALL, F1)


class NoSpecimens:
    """Places no tumor by the specimen that it lies in."""

    def place(self, *_: object) -> None:
        """Nothing."""


def place_without_specimens(page: Page) -> None:
    """Diagnoses have the organ and side of their own line."""
    with_tools(page, replace(page.tools, specimens=NoSpecimens()), note_steps.place_diagnoses)  # type: ignore[arg-type]


ROWS: Final[Mapping[str, Ablation]] = {
    "": Ablation("nothing"),
    "derivation": Ablation("derivation", steps=without(derive)),
    "totals": Ablation("totals of nodes", steps=without(total_nodes)),
    "alignment": Ablation("alignment", Parts(scans=False)),
    "specimens": Ablation("specimens", Parts(steps=in_place_of("place diagnoses", place_without_specimens))),
}


def part_of(patients: Sequence[str], part: str) -> set[str]:
    """The patients of a part: the unread ones stand last in the file."""
    cut = len(patients) - UNREAD
    return set(patients if part == "all" else patients[:cut] if part == "seen" else patients[cut:])


def counts_by_area(
    ablation: Ablation, notes: Mapping[str, Sequence[Note]], labels: Iterable[Mapping[str, Any]], score: ModuleType
) -> dict[str, Counts]:
    """What the questions of each area find among the patients whose label is known."""
    reader = ablation.reader(shipped_concepts())
    found: dict[str, Counts] = {}
    rows = list(labels)
    with tempfile.TemporaryDirectory(prefix="cohortium-") as folder:
        kb = Path(folder) / "pathology.kb"
        build_generation(kb, ablation.journeys(reader, notes))
        with cohortium.open(kb) as session:
            for area, query, predicate in score.questions():
                truth = {row["patient_id"]: predicate(row) for row in rows}
                known = {patient for patient, told in truth.items() if told is not None}
                wanted = {patient for patient in known if truth[patient]}
                one = count({str(patient) for patient in session.find(query)}, wanted, known)
                if one.wanted or one.found:
                    found[area] = found.get(area, Counts()) + one
    found["all"] = sum(found.values(), Counts())
    return found


def main() -> None:
    """Read a part, ask the questions, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--questions", type=Path, help="the folder of score.py, if it is another")
    parser.add_argument("--part", choices=PARTS, default="seen")
    parser.add_argument("--without", choices=[name for name in ROWS if name], nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    every = read_notes(options.folder / "notes.jsonl")
    chosen = part_of(list(every), options.part)
    labels = [row for row in lines_of(options.folder / "labels.jsonl") if row["patient_id"] in chosen]
    notes = {patient: some for patient, some in every.items() if patient in chosen}
    score, told = questions_of(options.questions or options.folder), {}
    for name in ("", *options.without):
        counts = counts_by_area(ROWS[name], notes, labels, score)
        rates = {area: [value(one, measured) or 0.0 for one in MEASURES] for area, measured in counts.items()}
        told[ROWS[name].name] = {area: (one.tp, one.found, one.wanted, *rates[area]) for area, one in counts.items()}
        print(f"\n{options.part} ({len(notes)}), without {ROWS[name].name}\n")
        print("| area | gold | P | R | F1 |\n| --- | --- | --- | --- | --- |")
        for area, one in counts.items():
            precision, recall, f1 = rates[area]
            print(f"| {area} | {one.wanted} | {precision:.3f} | {recall:.3f} | {f1:.3f} |")
    print("\n" + command_line())
    if options.json:
        document = {**signature(command_line(), 0), "part": options.part, "rows": told}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
