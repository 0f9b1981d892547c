"""How many chunks a second the packaged encoder makes vectors of, and what half the precision costs.

    python -m benchmarks.learning.encoding_speed --notes notes.jsonl [--chunks 512] [--rounds 3] [--threads N]
        [--json OUT]

The chunks of the notes are encoded as float32 and as bfloat16 in turn; the best of the rounds counts. Then the bank
is asked of both sets of vectors: how alike are the 10 nearest chunks, the best chunk, the scores?
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.baselines.retrieval.chunks import split
from cohortium.eval.baselines.retrieval.encoders import Machine
from cohortium.eval.baselines.retrieval.local_encoder import PRECISIONS, LocalEncoder
from cohortium.eval.baselines.systems.corpus import Corpus

NEAREST = 10


def main() -> None:
    """Encodes, compares, prints."""
    found = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    found.add_argument("--notes", type=Path, required=True)
    found.add_argument("--chunks", type=int, default=512)
    found.add_argument("--rounds", type=int, default=3)
    found.add_argument("--threads", type=int)
    found.add_argument("--device", default="cpu")
    found.add_argument("--json", type=Path)
    asked = found.parse_args()
    encoders = {one: LocalEncoder(machine=Machine(asked.device, one, asked.threads)) for one in reversed(PRECISIONS)}
    chunks = split(Corpus.load([asked.notes]), encoders["float32"])
    texts = list(dict.fromkeys(chunks.texts()))[: asked.chunks]
    tokens = sum(map(len, encoders["float32"].offsets(texts)))
    best = dict.fromkeys(encoders, float("inf"))
    vectors: dict[str, Any] = {}
    for _ in range(asked.rounds):
        for name, encoder in encoders.items():
            began = time.perf_counter()
            vectors[name] = encoder.encode(texts)
            best[name] = min(best[name], time.perf_counter() - began)
    rows = [
        (name, len(texts), round(tokens / len(texts)), f"{len(texts) / best[name]:.1f}", round(tokens / best[name]))
        for name in PRECISIONS
    ]
    print(markdown(("precision", "chunks", "tokens a chunk", "chunks a second", "tokens a second"), rows))
    questions = [one.text for one in load_bank()]
    full, half = (encoders[name].encode(questions, asked=True) @ vectors[name].T for name in PRECISIONS)
    head = [set(np.argsort(-row, kind="stable")[:NEAREST]) for row in full]
    other = [set(np.argsort(-row, kind="stable")[:NEAREST]) for row in half]
    told = {
        "smallest_cosine_of_a_chunk": float(np.sum(vectors["float32"] * vectors["bfloat16"], axis=1).min()),
        "largest_difference_of_a_score": float(np.abs(full - half).max()),
        f"shared_of_the_{NEAREST}_nearest": float(
            np.mean([len(one & two) / NEAREST for one, two in zip(head, other, strict=True)])
        ),
        "equal_best_chunk": float(np.mean(full.argmax(axis=1) == half.argmax(axis=1))),
        "questions": len(questions),
    }
    print(json.dumps(told, indent=1))
    held = {
        "signature": signature(command_line(), 0),
        "rates": rows,
        **told,
        "encoder": encoders["float32"].signature(),
    }
    print(json.dumps(held["signature"]))
    if asked.json:
        asked.json.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
