"""Retrievers on labelled records: flat, IVF, HNSW and BM25, tuned on some patients, scored on the others and on all.

    python -m benchmarks.learning.retrievers --notes notes.jsonl --labels labels.jsonl --development D1,D3,D4
        [--encoder minilm] [--directory DIR] [--precision float32] [--kinds flat,ivf,hnsw,bm25] [--way share]
        [--average macro] [--best-of 1] [--folder DIR] [--json OUT]

Patients whose ids begin with one of the ``--development`` words tune; the development, the other and all patients each
have an index of their own, and the share of it that is retrieved is taken over. Oracle top-k takes from the ranking as
many patients as match. Seconds are of one question, in the middle of all.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.bank.acr.run import labels_for
from cohortium.eval.baselines.retrieval.chunks import split
from cohortium.eval.baselines.retrieval.configured import encoder_named
from cohortium.eval.baselines.retrieval.encoders import Encoder, Machine
from cohortium.eval.baselines.retrieval.nearest import IndexSettings
from cohortium.eval.baselines.retrieval.retriever import Retriever, dense, lexical
from cohortium.eval.baselines.retrieval.tuning import AVERAGES, WAYS, labels_of, tune
from cohortium.eval.baselines.systems.contract import Question
from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.eval.benchmark.grades import grade
from cohortium.eval.measures.metrics import F1, PRECISION, RECALL
from cohortium.eval.measures.scoring import macro, micro

QUESTIONS = [Question(str(one.id), one.text, of=one.id) for one in load_bank()]
HEADER = ("retriever", "patients", "chunks", "P", "R", "micro F1", "macro F1", "oracle top-k, micro", "macro", "ms")


def main() -> None:
    """Tunes, asks, scores, prints."""
    asked = _arguments().parse_args()
    encoder = encoder_named(asked.encoder, asked.directory, Machine(precision=asked.precision))
    corpus, labels = Corpus.load([asked.notes]), labels_for(asked.labels)
    tuning = tuple(one for one in labels.patients if one.startswith(tuple(asked.development.split(","))))
    others = tuple(one for one in labels.patients if one not in tuning)
    rows: list[Sequence[Any]] = []
    runs = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        for kind in asked.kinds.split(","):
            choice = tune(
                _made(kind, _of(corpus, tuning), encoder, folder),
                QUESTIONS,
                labels_of(labels, tuning),
                way=asked.way,
                average=asked.average,
                best_of=asked.best_of,
            )
            for called, patients in (("development", tuning), ("others", others), ("all", labels.patients)):
                retriever = _made(kind, _of(corpus, patients), encoder, folder)
                retriever = retriever.with_cut(choice.cut, choice.signature())
                figures = _scored(retriever, labels_of(labels, patients))
                rows.append((retriever.name, f"{called} ({len(patients)})", len(retriever.chunks), *figures.values()))
                runs.append({"patients": called, "signature": retriever.signature(), **figures, **retriever.cost()})
    print(markdown(HEADER, rows))
    told = {"signature": signature(command_line(), 0), "labels_sha256": labels.sha256, "runs": runs}
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps(told["signature"]))


def _of(corpus: Corpus, patients: Sequence[str]) -> Corpus:
    held = frozenset(patients)
    return Corpus(tuple(note for note in corpus.notes if note.patient_id in held))


def _made(kind: str, corpus: Corpus, encoder: Encoder, folder: Path) -> Retriever:
    chunks = split(corpus, encoder)
    if kind == "bm25":
        return lexical(chunks)
    return dense(chunks, encoder, folder / "vectors", IndexSettings(kind))


def _scored(retriever: Retriever, labels: Labels) -> dict[str, Any]:
    answers = {question.id: retriever.answer(question) for question in QUESTIONS}
    graded = grade(answers, QUESTIONS, labels).questions
    counts = [one.counts for one in graded]
    tops = [one.top for one in graded if one.top.wanted]
    return {
        "precision": micro(PRECISION, counts),
        "recall": micro(RECALL, counts),
        "micro_f1": micro(F1, counts),
        "macro_f1": macro(F1, [one for one in counts if one.wanted]),
        "oracle_micro_f1": micro(F1, tops),
        "oracle_macro_f1": macro(F1, tops),
        "milliseconds": f"{1000 * statistics.median(one.spent.seconds for one in answers.values()):.1f}",
    }


def _arguments() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    found.add_argument("--notes", type=Path, required=True)
    found.add_argument("--labels", type=Path, required=True)
    found.add_argument("--development", required=True)
    found.add_argument("--encoder", default="minilm")
    found.add_argument("--directory", type=Path)
    found.add_argument("--precision", default="float32")
    found.add_argument("--kinds", default="flat,ivf,hnsw,bm25")
    found.add_argument("--way", choices=WAYS, default="share")
    found.add_argument("--average", choices=AVERAGES, default="macro")
    found.add_argument("--best-of", type=int, default=1)
    found.add_argument("--folder", type=Path)
    found.add_argument("--json", type=Path)
    return found


if __name__ == "__main__":
    main()
