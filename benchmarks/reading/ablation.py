"""What each part of reading adds to the answers of the query bank: the part is taken away, all else stays.

    python -m benchmarks.reading.ablation --notes notes.jsonl --labels labels.jsonl [--part NAME ...] [--json OUT]

Each row is a knowledge base of its own, made without the part and asked the whole bank. The difference is that of micro
F1 to the whole reading, with the 95% interval of a bootstrap in which both draw the same patients. Notes a second are
of reading and building journeys in one process, without loading: the best of ``--rounds``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.bank.acr.run import run_acr
from cohortium.eval.measures.bootstrap import paired_interval
from cohortium.eval.measures.metrics import F1, PRECISION, RECALL
from cohortium.eval.measures.scoring import micro
from cohortium.eval.measures.terms import Terms
from cohortium.ingest.binding.placing import Placement, TumorComposer
from cohortium.ingest.context.cues import CueTable, cue_table_of, shipped_cues
from cohortium.ingest.journey.bench import Workbench, is_own
from cohortium.ingest.journey.build import STEPS, Step, build_journey, compose, fold, fold_by, separate_tumors
from cohortium.ingest.journey.conflicts import retract, supersede
from cohortium.ingest.journey.treatments import give_components, weigh_treatments
from cohortium.ingest.note import steps as note_steps
from cohortium.ingest.note.read import NoteReader, Parts
from cohortium.ingest.note.steps import Page, Tools
from cohortium.ingest.note.steps import Step as NoteStep
from cohortium.ingest.text.cue_files import cue_file
from cohortium.ingest.text.frame import Frame, Span
from cohortium.ingest.text.shape import Section
from cohortium.kb.model import Journey, Note, content_id
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.writer import build_generation

#: Group of cues -> the cues of ``context.toml`` that are in it.
CUES: Mapping[str, frozenset[str]] = {
    "negation": frozenset({"negation", "negation_behind"}),
    "uncertainty": frozenset(
        {
            "uncertainty",
            "uncertainty_behind",
            "certainty",
            "certainty_behind",
            "referring",
            "hearsay",
            "pending",
            "asked",
            "fear",
        }
        | {"not_tested"}
    ),
    "plans and hypotheses": frozenset(
        {"plan", "plan_behind", "hypothetical", "hypothetical_behind", "condition"}
        | {"read_about", "information", "information_behind"}
    ),
    "given, declined, never given": frozenset(
        {"never_given", "never_given_behind", "declined", "declined_behind", "given", "given_amount", "given_behind"}
        | {"begun", "mentioned", "mentioned_behind"}
    ),
    "history": frozenset({"historical", "was", "complaint"}),
    "other persons": frozenset(
        {"family", "descendant", "spouse", "kin_by_marriage", "subject_of_kin", "subject_of_other"}
        | {"other_person", "someone_else"}
    ),
    "taking back": frozenset({"retraction", "retraction_before", "retraction_around"}),
}


@dataclass(frozen=True)
class Ablation:
    """A reading without one part: what its notes are read with, and the steps of its journeys."""

    name: str
    parts: Parts = Parts()
    steps: Sequence[Step] = STEPS

    def reader(self, concepts: ConceptTable) -> NoteReader:
        """A reader of notes without the part."""
        return NoteReader(concepts, self.parts)

    def journeys(self, reader: NoteReader, notes: Mapping[str, Sequence[Note]]) -> list[Journey]:
        """The journeys of the patients, read by :meth:`reader`."""
        return [
            build_journey(patient, [reader.read(note) for note in of_patient], reader.concepts, self.steps)
            for patient, of_patient in notes.items()
        ]


# --- parts that do nothing -------------------------------------------------------------------------------------------


def one_section(text: str) -> list[Section]:
    """The whole text as a section of no effect."""
    return [Section(0, len(text), "body", "narrative", 0)]


def cues_without(*groups: str) -> CueTable:
    """The shipped cues without those of these groups; without any group none at all, nor words that end a cue."""
    table = shipped_cues()
    if not groups:
        return cue_table_of(
            {
                "cue": [],
                "pseudo": {"phrases": []},
                "terminators": {"hard": [], "negation": []},
                "general": {"phrases": [], "handed": [], "trial": []},
            }
        )
    silent = frozenset().union(*(CUES[group] for group in groups))
    if "plans and hypotheses" in groups:
        table["general"] = {"phrases": [], "handed": [], "trial": []}
    return cue_table_of(table | {"cue": [cue for cue in table["cue"] if cue["name"] not in silent]})


class NearestResult:
    """Binds each marker or gene to the nearest result word or change of its sentence, and nothing else."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts

    def bind(self, frame: Frame, spans: Sequence[Span]) -> list[Span]:
        """A biomarker or variant for each marker or gene that has a result in its sentence."""
        bound = []
        for _, here in frame.by_sentence(spans):
            results = [span for span in here if span.kind in ("value", "molecular")]
            for marker in here:
                if results and marker.kind in ("gene", "biomarker"):
                    nearest = min(
                        results, key=lambda one: min(abs(one.start - marker.end), abs(marker.start - one.end))
                    )
                    bound.append(self._bound(marker, nearest))
        return bound

    def _bound(self, marker: Span, result: Span) -> Span:
        attributes = dict(result.attributes)
        kind = "variant" if marker.kind == "gene" else "biomarker"
        decided = "present"
        if result.kind == "value":
            if kind == "biomarker":
                attributes["result"] = result.concept
            else:
                attributes.setdefault("alteration", "mutation")
                decided = "absent" if self._concepts.is_a(result.concept, "result_negative") else "present"
        return Span(marker.start, marker.end, kind, marker.concept, "nearest", attributes, decided=decided)


class AsNamed(TumorComposer):
    """A tumor is what it is called, wherever it is."""

    def compose(self, morphology: str, site: str) -> str:
        """The morphology."""
        return morphology


# --- steps of a note that do less ------------------------------------------------------------------------------------


def in_place_of(name: str, other: NoteStep) -> tuple[NoteStep, ...]:
    """The steps of a note with another in the place of one."""
    return tuple(other if note_steps.name_of(step) == name else step for step in note_steps.STEPS)


def bind_nearest(page: Page) -> None:
    """Markers and genes with the nearest result."""
    nearest = replace(page.tools, binder=NearestResult(page.tools.concepts))  # type: ignore[arg-type]
    with_tools(page, nearest, note_steps.bind_results)


@lru_cache(maxsize=1)
def uncomposed(concepts: ConceptTable) -> Placement:
    """What gives sites and sides, and joins no morphology with its site."""
    placement = Placement(concepts, cue_file("implied"))
    placement.composer = AsNamed(concepts)
    return placement


def place_as_named(page: Page) -> None:
    """Diagnoses get sites and sides, and no concept that means morphology and site together."""
    with_tools(page, replace(page.tools, placement=uncomposed(page.tools.concepts)), note_steps.place_diagnoses)


def with_tools(page: Page, tools: Tools, step: NoteStep) -> None:
    """One step with other tools."""
    page.tools, kept = tools, page.tools
    step(page)
    page.tools = kept


def leave_spread_unplaced(page: Page) -> None:
    """Words of spread are states without a place."""
    for one in page.apart.get("spread", ()):
        page.events.append(Span(one.start, one.end, "state", "metastatic_disease", "pattern:metastasis"))


#: No site and no side is given to anything.
UNPLACED: tuple[NoteStep, ...] = tuple(
    step
    for step in in_place_of("place spread", leave_spread_unplaced)
    if step not in note_steps.chosen("place diagnoses", "place findings")
)


# --- steps of a journey that do less ---------------------------------------------------------------------------------


def without(*steps: Step) -> tuple[Step, ...]:
    """The steps of a journey but these."""
    return tuple(step for step in STEPS if step not in steps)


def instead(old: Step, new: Step) -> tuple[Step, ...]:
    """The steps of a journey with one in the place of another."""
    return tuple(new if step is old else step for step in STEPS)


def leave_unlinked(bench: Workbench) -> None:
    """No fact has a tumor."""


def link_to_one(bench: Workbench) -> None:
    """Every fact of the patient is of one tumor: *same tumor* asks for nothing."""
    for fact in bench.facts:
        if is_own(fact):
            fact.tumor, fact.tumor_rule = content_id("tumor", bench.patient_id), 3


def leave_apart(bench: Workbench) -> None:
    """Each fact is an event."""
    fold_by(bench, id)


def take_copies_for_statements(bench: Workbench) -> None:
    """What is copied counts as if it were said anew."""
    for fact in bench.facts:
        fact.copied = False


#: The rows of the table, the whole reading first.
ABLATIONS: tuple[Ablation, ...] = (
    Ablation("nothing"),
    Ablation("sections", Parts(sections=one_section)),
    Ablation("context: all cues", Parts(cues=cues_without)),
    *(
        Ablation(f"context: {group}", Parts(cues=lambda group=group: cues_without(group)))  # type: ignore[misc]
        for group in CUES
    ),
    Ablation("relations: results", Parts(steps=note_steps.without("bind results"))),
    Ablation("relations: results, but the nearest", Parts(steps=in_place_of("bind results", bind_nearest))),
    Ablation("relations: sites and sides", Parts(steps=UNPLACED)),
    Ablation("relations: tumors, none linked", steps=instead(separate_tumors, leave_unlinked)),
    Ablation("relations: tumors, all one", steps=instead(separate_tumors, link_to_one)),
    Ablation("relations: drugs of a regimen", steps=without(give_components)),
    Ablation(
        "merge: site and morphology", Parts(steps=in_place_of("place diagnoses", place_as_named)), without(compose)
    ),
    Ablation("merge: folding", steps=instead(fold, leave_apart)),
    Ablation("merge: copies known", steps=(STEPS[0], take_copies_for_statements, *STEPS[1:])),
    Ablation("conflicts: retract and supersede", steps=without(retract, supersede)),
    Ablation(
        "conflicts: and the cues of taking back",
        Parts(cues=lambda: cues_without("taking back")),
        without(retract, supersede),
    ),
    Ablation("conflicts: mentioned is not given", steps=without(weigh_treatments)),
)


# --- measuring -------------------------------------------------------------------------------------------------------


def read_notes(path: Path) -> dict[str, list[Note]]:
    """The notes of a JSONL file by patient."""
    notes: dict[str, list[Note]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        note = Note(
            row["patient_id"],
            row["doc_id"],
            row["text"],
            datetime.date.fromisoformat(row["date"]),
            row.get("type") or "",
            row.get("title") or "",
        )
        notes.setdefault(note.patient_id, []).append(note)
    return notes


def measure(
    ablations: Iterable[Ablation], notes: Path, labels: Path, *, seed: int = 0, rounds: int = 1
) -> list[dict[str, Any]]:
    """A row an ablation; the first is what the others are held against."""
    concepts = ConceptTable.from_files()
    of_patients = read_notes(notes)
    number = sum(map(len, of_patients.values()))
    whole = None
    rows = []
    for ablation in ablations:
        journeys, seconds = _timed(ablation, concepts, of_patients, rounds)
        with tempfile.TemporaryDirectory(prefix="cohortium-") as folder:
            kb = Path(folder) / "ablation.kb"
            build_generation(kb, journeys)
            with cohortium.open(kb) as session:
                report = run_acr(session, labels, terms=Terms(seed=seed))
        counts = [one.counts for one in report.queries]
        whole = report.by_patient if whole is None else whole
        rows.append(
            {
                "without": ablation.name,
                **{one.name: micro(one, counts) for one in (PRECISION, RECALL, F1)},
                "difference": micro(F1, report.by_patient) - micro(F1, whole),  # type: ignore[operator]
                "ci": paired_interval(F1, report.by_patient, whole, seed=seed),
                "zero_result_false_positives": sum(one.fp for one in counts if one.wanted == 0),
                "events": sum(len(journey.events) for journey in journeys),
                "notes_per_second": number / seconds,
            }
        )
    return rows


def _timed(
    ablation: Ablation, concepts: ConceptTable, notes: Mapping[str, Sequence[Note]], rounds: int
) -> tuple[list[Journey], float]:
    """The journeys, and the seconds of the quickest round."""
    reader = ablation.reader(concepts)
    seconds = math.inf
    for _ in range(rounds):
        began = time.perf_counter()
        journeys = ablation.journeys(reader, notes)
        seconds = min(seconds, time.perf_counter() - began)
    return journeys, seconds


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as Markdown."""
    header = ("without", "precision", "recall", "micro F1", "difference (95% interval)", "events", "notes a second")
    shown: list[tuple[object, ...]] = []
    for row in rows:
        ci = row["ci"]
        apart = f"{row['difference']:+.3f} ({ci[0]:+.3f} to {ci[1]:+.3f})" if row is not rows[0] and ci else "–"
        scores = (f"{row[one.name]:.3f}" for one in (PRECISION, RECALL, F1))
        shown.append((row["without"], *scores, apart, row["events"], f"{row['notes_per_second']:.0f}"))
    return markdown(header, shown)


def main() -> None:
    """The table, and its JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("--notes", "--labels"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--part", action="append", help="only rows whose name begins so (repeat for several)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each reading is timed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    begins = tuple(given.part or ("",))
    rows = measure(
        [ABLATIONS[0], *(one for one in ABLATIONS[1:] if one.name.startswith(begins))],
        given.notes,
        given.labels,
        seed=given.seed,
        rounds=given.rounds,
    )
    print(table(rows))
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "signature": signature(command_line(), given.seed)}, indent=1))


if __name__ == "__main__":
    main()
