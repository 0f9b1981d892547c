"""How many sentences, words and notes a second a tagger reads: ONNX int8 against torch, by threads; memory; size.

    python -m benchmarks.learning.tagger_speed --model DIR [--corpus FILE] [--notes 60] [--threads 1,2] [--rounds 3]
                                      [--device cuda] [--precision bfloat16] [--json OUT]

Without ``--corpus`` the notes are made up: sentences of the shipped sample notes, in an order that the seed draws, 400
words a note. Every way of computing has a process of its own, so that its memory is its own; the best of the rounds
counts. ``alone`` is one window at a time, as the tagger reads on the processor; ``batches`` is of like length together.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.ingest.models.tagging.model_directory import ModelDirectory
from cohortium.ingest.models.tagging.tagger import Tagger, Words
from cohortium.ingest.models.tagging.words import word_spans
from cohortium.ingest.text.shape import sentences_of
from cohortium.kb.errors import CohortiumError
from tests.places import SAMPLES

WORDS_A_NOTE = 400
BATCH = {"cpu": 4096, "cuda": 65536, "mps": 16384}


def made_up_notes(number: int, seed: int) -> list[str]:
    """Notes of about ``WORDS_A_NOTE`` words, of sentences of the fictional sample notes."""
    lines = SAMPLES.read_text(encoding="utf-8").splitlines()
    sentences = [
        text[one.start : one.end] for text in (json.loads(line)["text"] for line in lines) for one in sentences_of(text)
    ]
    drawn = random.Random(seed)
    notes = []
    for _ in range(number):
        note: list[str] = []
        words = 0
        while words < WORDS_A_NOTE:
            note.append(drawn.choice(sentences))
            words += len(word_spans(note[-1]))
        notes.append("\n".join(note))
    return notes


def measured(folder: str, choice: dict[str, Any], texts: Sequence[Words], rounds: int) -> dict[str, Any]:
    """One way of computing: seconds to load and to read (best of the rounds), and memory. Runs in its own process."""
    began = time.perf_counter()
    try:
        tagger = Tagger.load(folder, **choice)
    except CohortiumError as error:
        return {"error": str(error)}
    loaded = time.perf_counter() - began
    tagger.tag_words(texts[:2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    best: tuple[float, float] = (float("inf"), float("inf"))
    entities = 0
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        entities = sum(map(len, tagger.tag_words(texts)))
        best = min(best, (time.perf_counter() - began, time.process_time() - used))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kilo = 1 if sys.platform != "darwin" else 1024
    return {
        "load_seconds": round(loaded, 3),
        "seconds": round(best[0], 3),
        "processor_seconds": round(best[1], 3),
        "entities": entities,
        "memory_mb": round(after / kilo / 1024),
        "memory_before_reading_mb": round(before / kilo / 1024),
        "computed_by": tagger.signature().get("runtime", ""),
    }


def ways(asked: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    """What is compared, by name."""
    found: list[tuple[str, dict[str, Any]]] = []
    for threads in map(int, asked.threads.split(",")):
        found.append((f"onnx int8, alone, {threads} threads", {"runtime": "onnx", "threads": threads}))
        torch: dict[str, Any] = {"runtime": "torch", "threads": threads}
        found.append((f"torch, alone, {threads} threads", torch))
        found.append((f"torch, batches, {threads} threads", {**torch, "batch": BATCH["cpu"]}))
    if asked.device != "cpu":
        kind = asked.device.partition(":")[0]
        choice = {"runtime": "torch", "device": asked.device, "batch": BATCH.get(kind, BATCH["mps"])}
        for precision in dict.fromkeys(("float32", asked.precision)):
            found.append((f"torch, {asked.device}, {precision}", {**choice, "precision": precision}))
    return found


def main() -> None:
    """Measures each way after the other, prints a table."""
    found = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    found.add_argument("--model", type=Path, required=True)
    found.add_argument("--corpus", type=Path)
    found.add_argument("--notes", type=int, default=60)
    found.add_argument("--threads", default="1,2")
    found.add_argument("--rounds", type=int, default=3)
    found.add_argument("--device", default="cpu")
    found.add_argument("--precision", default="bfloat16")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--json", type=Path)
    asked = found.parse_args()
    if asked.corpus:
        documents = read_annotated(asked.corpus).documents
        texts = [Words(one.text, one.words, one.breaks) for one in documents]
        sentences = sum(len(one.breaks) + 1 for one in documents)
    else:
        notes = made_up_notes(asked.notes, asked.seed)
        texts = [Words.in_text(one) for one in notes]
        sentences = sum(sum(1 for _ in sentences_of(one)) for one in notes)
    words = sum(len(one.spans) for one in texts)
    model = ModelDirectory.open(asked.model)
    told: dict[str, Any] = {
        "texts": len(texts),
        "sentences": sentences,
        "words": words,
        "directory_mb": round(model.bytes / 1e6, 1),
        "files_mb": {name: round(one.bytes / 1e6, 2) for name, one in model.card.files.items()},
        "ways": {},
    }
    print(json.dumps(told))
    rows = []
    context = multiprocessing.get_context("spawn")
    for name, choice in ways(asked):
        with context.Pool(1) as pool:
            one = pool.apply(measured, (str(asked.model), choice, texts, asked.rounds))
        told["ways"][name] = one
        if "error" in one:
            rows.append((name, one["error"], *[""] * 5))
            continue
        seconds = one["seconds"] or float("inf")
        rates = [round(part / seconds) for part in (sentences, words)]
        rows.append(
            (
                name,
                *rates,
                f"{len(texts) / seconds:.1f}",
                round(words / (one["processor_seconds"] or float("inf"))),
                one["memory_mb"],
                f"{one['load_seconds']:.2f} s",
            )
        )
    header = ("", "sentences/s", "words/s", "texts/s", "words by second of processor", "memory, MB", "loading")
    print(markdown(header, rows))
    told["signature"] = {**signature(command_line(), asked.seed), "model": model.identity()}
    print(json.dumps(told["signature"]))
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
