"""The reader of notes as it is, on NeuroTrialNER, scored by ``eval ner``.

    python -m benchmarks.reading.ner_baseline --corpus ct_neuro_dev_merged_153.csv [--csv OUT]

The mentions of ``cohortium.read``, their labels mapped by ``ner_labels.toml``. Without ``--csv`` the predictions are
kept in a temporary folder. The paper's own baselines are ``cohortium eval ner-baseline``.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.extraction.ner.documents import Document, read_corpus, read_predictions
from cohortium.eval.extraction.ner.scores import score
from cohortium.eval.extraction.ner.terminology import find_folder, no_terminology, read_terminology

LABELS = Path(__file__).with_name("ner_labels.toml")


def read_by_reader(document: Document) -> list[tuple[int, int, str, str]]:
    """The reader's mentions as tuples, longest first where two lie over one another."""
    types = {
        label: kind for kind, labels in tomllib.loads(LABELS.read_text(encoding="utf-8")).items() for label in labels
    }
    text = document.text or " ".join(document.tokens)
    mentions = sorted(cohortium.read(text).mentions, key=lambda one: (one.start - one.end, one.start))
    kept: list[tuple[int, int, str, str]] = []
    for one in mentions:
        if one.label in types and all(one.end <= start or end <= one.start for start, end, _, _ in kept):
            kept.append((one.start, one.end, types[one.label], text[one.start : one.end]))
    return sorted(kept)


def write(path: Path, column: str, documents: Sequence[Document]) -> None:
    """A table of predictions in the authors' format: ``nct_id``, ``text`` and the column."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["nct_id", "text", column])
        rows.writerows([one.id, one.text, repr(read_by_reader(one))] for one in documents)


def table(told: dict[str, Any]) -> str:
    """The F1 of each level by type, with its interval."""
    header = ("type", "abstract, partial", "abstract, exact", "token", "places, exact", "places, partial")
    levels = [told["partial"], told["exact"], told["token"], told["entity"]["exact"], told["entity"]["partial"]]
    rows = [("micro", *[_f1(level["micro"]) for level in levels])]
    rows.append(("entities", *[_f1(level.get("entities")) for level in levels]))
    rows += [(kind, *[_f1(level["by_type"][kind]) for level in levels]) for kind in told["types"]]
    return markdown(header, rows)


def _f1(part: dict[str, Any] | None) -> str:
    if part is None or part["f1"] is None:
        return "–"
    low, high = part["ci"]
    return f"{part['f1']:.3f} ({low:.3f}–{high:.3f})"


def main() -> None:
    """Predict, score, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--csv", type=Path, help="keep the predictions here")
    parser.add_argument("--json", type=Path, help="also write the scores here")
    given = parser.parse_args()
    corpus = read_corpus(given.corpus)
    folder = find_folder(given.corpus)
    lists = read_terminology(folder) if folder else no_terminology()
    with tempfile.TemporaryDirectory() as kept:
        path = given.csv or Path(kept) / "reader.csv"
        write(path, "ner_prediction_reader_normalized", list(corpus.documents.values()))
        predictions = read_predictions(path, corpus)
    told = score(corpus, predictions, lists).as_dict()
    told["signature"] = signature(command_line(), 0)
    if given.json:
        given.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    print(table(told))
    print(", ".join(f"{name} {value}" for name, value in told["signature"].items()))


if __name__ == "__main__":
    main()
