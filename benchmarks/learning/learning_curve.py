"""The learning curve of the tagger on NeuroTrialNER: shares of the training abstracts, scored on the development ones.

    python -m benchmarks.learning.learning_curve TRAIN DEV --out DIR [--share S ...] [--seeds N]
        [--from-scratch] [--base DIR] [--epochs N] [--patience N] [--threads N] [--terminology DIR] [--json OUT]

``TRAIN`` and ``DEV`` are the corpus's tables or JSON. Smaller shares lie in larger ones, by abstract. A tenth of each
share tells when to stop, so that the abstracts that are scored decide nothing. ``DIR`` keeps the answers as tables that
``cohortium eval ner --predictions`` scores; the same command again goes on with what is missing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.learning.curve import SHARES, Curve, Point
from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.eval.extraction.ner.documents import read_corpus
from cohortium.eval.extraction.ner.terminology import find_folder, no_terminology, read_terminology
from cohortium.eval.training.few.command import learner_of
from cohortium.kb.errors import CohortiumError

HEADER = (
    "share",
    "abstracts",
    "partial micro F1",
    "by seed",
    "95% (seed 0)",
    "exact micro F1",
    "by seed",
    "95% (seed 0)",
)


def main() -> int:
    """Run the points, print the curve, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--share", type=float, action="append", default=[])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--from-scratch", action="store_true")
    parser.add_argument("--base", type=Path)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--patience", type=int)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--terminology", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        return run(arguments)
    except CohortiumError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def run(arguments: argparse.Namespace) -> int:
    """What ``main`` does, with the options read."""
    folder = arguments.terminology or find_folder(arguments.dev, arguments.train)
    lists = no_terminology() if folder is None else read_terminology(folder)
    learner = learner_of(
        arguments.from_scratch,
        arguments.base,
        arguments.epochs,
        arguments.patience,
        arguments.threads,
        arguments.device,
    )
    curve = Curve(read_annotated(arguments.train), read_corpus(arguments.dev), lists, learner, arguments.out)
    points = [Point(share, seed) for share in arguments.share or SHARES for seed in range(arguments.seeds)]
    began = time.monotonic()

    def told(line: str) -> None:
        print(f"{time.monotonic() - began:7.0f} s  {line}", file=sys.stderr, flush=True)

    rows = curve.run(points, told)
    print(table(rows))
    if arguments.json:
        found = {"signature": signature(command_line(), 0), "terminology": lists.source, "points": rows}
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def table(rows: list[dict[str, Any]]) -> str:
    """A line a share: mean over the seeds, each seed, the interval of the first."""
    lines = []
    for share in sorted({row["share"] for row in rows}):
        some = [row for row in rows if row["share"] == share]
        cells: list[Any] = [f"{share:g}", some[0]["abstracts"]]
        for level in ("partial", "exact"):
            scores = [row[level]["micro"]["f1"] or 0.0 for row in some]
            low, high = some[0][level]["micro"]["ci"] or (None, None)
            cells += [
                f"{statistics.mean(scores):.3f}",
                " ".join(f"{one:.3f}" for one in scores),
                "–" if low is None else f"{low:.3f} to {high:.3f}",
            ]
        lines.append(cells)
    return markdown(HEADER, lines)


if __name__ == "__main__":
    raise SystemExit(main())
