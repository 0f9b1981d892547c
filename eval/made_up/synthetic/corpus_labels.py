"""The labels of a synthetic corpus: what the bank's formal queries answer about its true facts."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ....engine import api
from ....ingest.abstraction.load import load_abstractions
from ...bank.acr.bank import load_bank


def write_labels(facts: Path, labels: Path, *, progress: bool | None = None) -> dict[str, Any]:
    """Ask every query of the bank about the facts and write one line a patient; the numbers of what was found.

    None is ambiguous: who wrote the facts knows them all. A query's answer rests on the same engine and ontology that
    are tested with the labels, so they tell errors of reading notes, not of reasoning; that is said in the docs.
    """
    patients = [json.loads(line)["patient_id"] for line in facts.read_bytes().splitlines()]
    matching: dict[str, list[int]] = {one: [] for one in patients}
    bank = load_bank()
    with tempfile.TemporaryDirectory(prefix="labels-", dir=labels.parent) as folder:
        report = load_abstractions(facts, Path(folder) / "facts.kb", progress=progress)
        with api.open(Path(folder) / "facts.kb") as kb:
            for one in bank:
                for patient in kb.find(one.query):
                    matching[patient].append(one.id)
    part = labels.with_name(labels.name + ".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        for patient, ids in matching.items():
            file.write(json.dumps({"patient_id": patient, "match": sorted(ids), "ambiguous": []}) + "\n")
    part.replace(labels)
    sizes = {one.id: sum(one.id in ids for ids in matching.values()) for one in bank}
    return {
        "queries": len(bank),
        "pairs": sum(sizes.values()),
        "empty": sum(size == 0 for size in sizes.values()),
        "sizes": {str(key): size for key, size in sizes.items()},
        "facts unresolved": len(report.unresolved),
        "facts of kind only": sum(report.kind_only.values()),
    }
