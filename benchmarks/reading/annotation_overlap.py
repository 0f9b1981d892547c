"""How often annotations overlap those of people, by type: MACCROBAT case reports against ``cohortium.read``.

    python -m benchmarks.reading.annotation_overlap FOLDER [--files odd|even|all] [--model DIR]
        [--aside SHARE] [--json OUT]

``FOLDER`` holds ``.txt`` and ``.ann`` files; ``odd`` and ``even`` are every other of them. ``--model`` lets a model
read along; ``--aside`` takes those documents alone that a recipe of training holds aside with that share. MACCROBAT's
types are wider than those of the CORAL schema and of all medicine, so each is compared with a set of ours (``SAME``).
Recall: the share of its entities that an annotation of that set overlaps. Precision: the share of our annotations of
that set that one of its entities of that type overlaps; given where the sets mean the same on both sides.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.eval.extraction.corpora.splits import split

PROBLEMS = frozenset(
    """Symptom ClinicalCondition Histology Metastasis DiseaseState LymphNodeInvolvement Allergy RadPathResult
    LocalInvasion TumorCharacteristics""".split()
)
TESTS = frozenset("Radiology Pathology GenomicTest DiagnosticLabTest TumorTest ProcedureName BiomarkerName".split())
TREATMENTS = frozenset("ProcedureName RadiationTherapyName TreatmentType MedicationRegimen MedicationName".split())
#: Type of MACCROBAT -> ours, and whether precision can be told.
SAME: dict[str, tuple[frozenset[str], bool]] = {
    "Age": (frozenset({"Age"}), True),
    "Date": (frozenset({"Datetime"}), True),
    "Duration": (frozenset({"Duration"}), True),
    "Frequency": (frozenset({"Frequency"}), False),
    "Dosage": (frozenset({"TreatmentDosage", "Frequency"}), False),
    "Medication": (frozenset({"MedicationName", "MedicationRegimen", "TreatmentType"}), True),
    "Sign_symptom": (PROBLEMS, False),
    "Disease_disorder": (PROBLEMS, False),
    "Biological_structure": (frozenset({"Site", "Laterality"}), True),
    "Diagnostic_procedure": (TESTS, False),
    "Therapeutic_procedure": (TREATMENTS, False),
    "Lab_value": (frozenset({"LabTestResult", "BiomarkerResult", "RadPathResult", "Size"}), False),
    "Family_history": (PROBLEMS, False),
}


def counted(places: list[Path], model: str | None = None) -> dict[str, dict[str, int]]:
    """For each type: entities, those overlapped; ours, those overlapped. ``model``: a model directory, or none."""
    sums = {name: {"gold": 0, "found": 0, "ours": 0, "right": 0} for name in SAME}
    for place in places:
        gold = cohortium.read_brat(place)
        ours = cohortium.read(gold.text or "", model=model).mentions
        for name, (labels, _) in SAME.items():
            theirs = [span for one in gold.entities if one.type == name for span in [(one.start, one.end)]]
            same = [(one.start, one.end) for one in ours if one.label in labels]
            row = sums[name]
            row["gold"] += len(theirs)
            row["found"] += sum(_met(span, same) for span in theirs)
            row["ours"] += len(same)
            row["right"] += sum(_met(span, theirs) for span in same)
    return sums


def held_aside(folder: Path, share: float) -> set[str]:
    """The documents, by the name of their files, that a recipe with this share trains nothing on."""
    corpus = read_annotated(folder)
    return {one.id for one in split(corpus, {"train": 1 - share, "dev": share}).divide(corpus)["dev"].documents}


def _met(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def main() -> None:
    """The table, and its JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", choices=("odd", "even", "all"), default="all")
    parser.add_argument("--model", help="a model directory")
    parser.add_argument("--aside", type=float, metavar="SHARE", help="only documents that training holds aside")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    places = sorted(given.folder.glob("*.ann"))
    places = {"odd": places[::2], "even": places[1::2], "all": places}[given.files]
    if given.aside is not None:
        kept = held_aside(given.folder, given.aside)
        places = [place for place in places if place.stem in kept]
    sums = counted(places, given.model)
    rows: list[tuple[Any, ...]] = []
    for name, row in sums.items():
        precision: object = row["right"] / max(1, row["ours"]) if SAME[name][1] else ""
        rows.append((name, row["gold"], row["found"] / max(1, row["gold"]), precision))
    print(markdown(("type", "entities", "recall", "precision"), rows))
    if given.json:
        given.json.write_text(json.dumps(sums | {"signature": signature(command_line(), 0)}, indent=1))


if __name__ == "__main__":
    main()
