"""What a model that reads along adds to the answers of the query bank, part by part, and what it costs.

    python -m benchmarks.reading.learned_ablation --model DIR --notes notes.jsonl --labels labels.jsonl
                                          [--aside PREFIX ...] [--json OUT]

Each row is a reading of the same notes: by rules alone; with the model's proposals left unlinked; with those linked;
with those that hold a reading of the rules left out. Each is asked the whole
bank. Differences are to the rules, with the 95% interval of a bootstrap in which both draw the same patients.
``--aside`` names patients (by the beginning of their ids) whom the model has not seen: they are scored by themselves as
well. The events that are new or gone, and who came into a cohort of the bank or went, are told by query.

Notes a second are of reading and building journeys in one process with one thread, without loading; the readings take
turns, and the ratio is that of their quickest rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.reading.ablation import read_notes
from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.bank.acr.report import Report
from cohortium.eval.bank.acr.run import run_acr
from cohortium.eval.measures.bootstrap import interval, paired_interval
from cohortium.eval.measures.metrics import F1, PRECISION, RECALL
from cohortium.eval.measures.scoring import micro
from cohortium.eval.measures.terms import Terms
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.models.tagging.choice import ModelChoice, chosen_model
from cohortium.ingest.note.proposals import Proposals
from cohortium.ingest.note.read import NoteReader, Parts
from cohortium.ingest.text.frame import Span
from cohortium.kb.model import Event, Journey, Note, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.writer import build_generation

#: Patients whose notes the model sees at once.
BATCH = 40


class Apart(Proposals):
    """Proposals that touch no reading of the rules at all: none is taken because it says more."""

    def _beside(self, span: Span, beneath: Sequence[tuple[int, int, str, str]]) -> bool:
        return super()._beside(replace(span, concept=""), beneath)


@dataclass(frozen=True)
class Variant:
    """A reading: its name, the model, and how its reader differs from that of the commands."""

    name: str
    model: ModelChoice | None = None
    change: Callable[[NoteReader], None] = field(default=lambda _: None)

    def reader(self, concepts: ConceptTable) -> NoteReader:
        """The reader of notes."""
        made = NoteReader(concepts, Parts(learned=self.model and self.model.recognizer))
        self.change(made)
        return made


def left_apart(reader: NoteReader) -> None:
    """Take no proposal that holds a reading of the rules."""
    if reader.proposals is not None:
        reader.proposals.__class__ = Apart


def variants(model: ModelChoice) -> list[Variant]:
    """The rows, the rules first."""
    return [
        Variant("rules alone"),
        Variant("+ model, unlinked", replace(model, linked=False)),
        Variant("+ model and linker", model),
        Variant("+ model and linker, none round a reading of the rules", model, left_apart),
    ]


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """What a reading gave: the journeys, and the seconds of its quickest round."""

    variant: Variant
    reader: NoteReader
    journeys: list[Journey] = field(default_factory=list)
    seconds: float = math.inf
    processor: float = math.inf

    def round(self, notes: Mapping[str, Sequence[Note]]) -> None:
        """Read everything once more."""
        began, began_here = time.perf_counter(), time.process_time()
        journeys = []
        patients = list(notes.items())
        for first in range(0, len(patients), BATCH):
            batch = patients[first : first + BATCH]
            self.reader.prepare([note for _, own in batch for note in own])
            journeys += [
                build_journey(patient, [self.reader.read(note) for note in own], self.reader.concepts)
                for patient, own in batch
            ]
        self.seconds = min(self.seconds, time.perf_counter() - began)
        self.processor = min(self.processor, time.process_time() - began_here)
        self.journeys = journeys


def report_of(journeys: Sequence[Journey], labels: Path, begins: tuple[str, ...], seed: int) -> Report:
    """The bank asked of the patients whose ids begin so, scored by their labels."""
    with tempfile.TemporaryDirectory(prefix="cohortium-") as folder:
        kb, own = Path(folder) / "ablation.kb", Path(folder) / "labels.jsonl"
        rows = [line for line in labels.read_text(encoding="utf-8").splitlines() if line.strip()]
        kept = [row for row in rows if str(json.loads(row)["patient_id"]).startswith(begins)]
        own.write_text("\n".join(kept) + "\n", encoding="utf-8")
        build_generation(kb, [one for one in journeys if one.patient_id.startswith(begins)])
        with cohortium.open(kb) as session:
            return run_acr(session, own, terms=Terms(seed=seed))


def scores(report: Report, base: Report, seed: int) -> dict[str, Any]:
    """Micro scores, their interval, and the difference to the rules with its own."""
    counts = [one.counts for one in report.queries]
    return {
        **{one.name: micro(one, counts) for one in (PRECISION, RECALL, F1)},
        "ci": interval(F1, report.by_patient, seed=seed),
        "difference": (micro(F1, report.by_patient) or 0.0) - (micro(F1, base.by_patient) or 0.0),
        "difference_ci": paired_interval(F1, report.by_patient, base.by_patient, seed=seed),
        "tp": sum(one.tp for one in counts),
        "fp": sum(one.fp for one in counts),
        "fn": sum(one.fn for one in counts),
        "zero_result_false_positives": sum(one.fp for one in counts if one.wanted == 0),
    }


def changes(report: Report, base: Report) -> list[dict[str, Any]]:
    """Of each query whose answer is another: who is found wrongly or missed now, and was not."""
    told = []
    for now, before in zip(report.queries, base.queries, strict=True):
        row = {
            "id": now.id,
            "new_false": sorted(set(now.wrongly_found) - set(before.wrongly_found)),
            "no_longer_false": sorted(set(before.wrongly_found) - set(now.wrongly_found)),
            "newly_missed": sorted(set(now.missed) - set(before.missed)),
            "newly_found": sorted(set(before.missed) - set(now.missed)),
        }
        if any(row[name] for name in row if name != "id"):
            told.append(row)
    return told


def moved(now: Iterable[Journey], before: Iterable[Journey]) -> dict[str, Any]:
    """Events that are new and gone, by kind and world. One that has only more evidence is the same."""

    def told(event: Event) -> tuple[str, str, str, str]:
        return (event.patient_id, event.kind, event.concept, event.world.name.lower())

    new, old = (
        {replace(event, evidence=()).event_id: event for one in some for event in one.events} for some in (now, before)
    )
    added = [event for key, event in new.items() if key not in old]
    gone = [event for key, event in old.items() if key not in new]
    return {
        "new": len(added),
        "gone": len(gone),
        "new_by": dict(Counter(f"{event.kind} {event.world.name.lower()}" for event in added).most_common()),
        "gone_events": sorted(map(told, gone)),
        "new_events": sorted(told(event) for event in added if event.world > World.NONE),
    }


def mentions_of(journeys: Iterable[Journey]) -> dict[str, int]:
    """How many mentions the model added, linked and not."""
    proposed = [one for journey in journeys for one in journey.mentions if one.model]
    return {"linked": sum(bool(one.concept) for one in proposed), "unlinked": sum(one.unlinked for one in proposed)}


def measure(
    rows: Sequence[Variant],
    notes: Mapping[str, Sequence[Note]],
    labels: Path,
    aside: tuple[str, ...],
    *,
    rounds: int,
    seed: int,
) -> list[dict[str, Any]]:
    """A row a variant; the first is what the others are held against."""
    concepts = ConceptTable.from_files()
    measured = [Measured(variant, variant.reader(concepts)) for variant in rows]
    for _ in range(rounds):
        for one in measured:
            one.round(notes)
    number = sum(map(len, notes.values()))
    groups = {"all": ("",)} | ({"aside": aside} if aside else {})
    told: list[dict[str, Any]] = []
    bases: dict[str, Report] = {}
    for one in measured:
        row: dict[str, Any] = {"reading": one.variant.name}
        for group, begins in groups.items():
            report = report_of(one.journeys, labels, begins, seed)
            base = bases.setdefault(group, report)
            row[group] = scores(report, base, seed) | {"queries": changes(report, base)}
        row["mentions"] = mentions_of(one.journeys)
        row["events"] = moved(one.journeys, measured[0].journeys)
        row["notes_per_second"] = number / one.seconds
        row["slower"] = one.processor / measured[0].processor
        told.append(row)
    return told


# --- telling ----------------------------------------------------------------------------------------------------------


def table(rows: Sequence[Mapping[str, Any]], group: str) -> str:
    """The rows of one group of patients as Markdown."""
    header = ("reading", "P", "R", "micro F1 (95%)", "difference (95%)", "FP", "FN", "linked", "unlinked", "new events",
              "gone", "notes a second", "times the processor time")  # fmt: skip
    shown: list[tuple[object, ...]] = []
    for row in rows:
        told = row[group]
        apart = f"{told['difference']:+.4f}{_between(told['difference_ci'], '+.4f')}" if row is not rows[0] else "–"
        shown.append(
            (
                row["reading"],
                *(f"{told[one.name]:.4f}" for one in (PRECISION, RECALL)),
                f"{told[F1.name]:.4f}{_between(told['ci'], '.3f')}",
                apart,
                told["fp"],
                told["fn"],
                row["mentions"]["linked"],
                row["mentions"]["unlinked"],
                row["events"]["new"],
                row["events"]["gone"],
                f"{row['notes_per_second']:.1f}",
                f"{row['slower']:.2f}",
            )
        )
    return markdown(header, shown)


def _between(ci: tuple[float, float] | None, form: str) -> str:
    return f" ({ci[0]:{form}} to {ci[1]:{form}})" if ci else ""


def told_changes(rows: Sequence[Mapping[str, Any]]) -> str:
    """By reading and query, who came and went."""
    lines = []
    for row in rows[1:]:
        lines.append(f"\n{row['reading']}: new events {row['events']['new_by']}")
        for one in row["all"]["queries"]:
            parts = [f"{name} {', '.join(one[name])}" for name in one if name != "id" and one[name]]
            lines.append(f"  query {one['id']}: {'; '.join(parts)}")
    return "\n".join(lines)


def main() -> None:
    """The tables, and their JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", required=True, help="a model directory, or 'shipped'")
    for name in ("--notes", "--labels"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--aside", action="append", default=[], help="beginning of the ids of patients set aside")
    parser.add_argument("--rounds", type=int, default=1, help="how often each reading is timed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    model = chosen_model(given.model)
    if model is None:
        parser.error("--model: name a directory")
    rows = measure(
        variants(model),
        read_notes(given.notes),
        given.labels,
        tuple(given.aside),
        rounds=given.rounds,
        seed=given.seed,
    )
    print(f"model {model.version}")
    for group in ("all", "aside"):
        if group in rows[0]:
            print(f"\n{group}:\n\n{table(rows, group)}")
    print(told_changes(rows))
    if given.json:
        made = {"model": model.version, "rows": rows, "signature": signature(command_line(), given.seed)}
        given.json.write_text(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
