"""What two versions of the program take for the same work, in turn, so that both meet the same load.

    python benchmarks/engine/two_checkouts.py --before FOLDER --after FOLDER --notes N.jsonl --queries Q.json
        [--rounds 5] [--json OUT]

Processor time (its own and that of its processes) of: ``ingest`` with one worker, opening, the first query on an open
knowledge base, all queries (JSON, id -> text) in the believed world and in all three, and one explanation. Each
measurement is a process of its own, and reads a knowledge base that the same version made. Least and median of the
rounds; exit 0. A refused query counts the time that refusing it takes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_INGEST: Final = """
import sys
sys.argv = ["cohortium", "ingest", sys.argv[1], "--kb", sys.argv[2], "--workers", "1", "--format", "json"]
from cohortium.__main__ import main
main()
"""
_ANSWERS: Final = """
import json, pathlib, sys, time
import cohortium
kb, queries = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text("utf-8"))
clock, took = time.process_time, {}
def timed(name, work, times=1):
    best = None
    for _ in range(times):
        begun = clock()
        work()
        best = min(best or 1e9, clock() - begun)
    took[name] = best
cohortium.open(kb).close()
timed("opening", lambda: cohortium.open(kb).close(), 20)
opened = cohortium.open(kb)
def believed():
    for text in queries.values():
        try:
            len(opened.find(text))
        except cohortium.CohortiumError:
            pass
def worlds():
    for text in queries.values():
        try:
            found = opened.find(text)
            len(found), len(found.certain), len(found.possible)
        except cohortium.CohortiumError:
            pass
timed("first query", lambda: sorted(opened.find("lung cancer and not metastasis to brain")))
timed("queries, believed", believed, 3)
timed("queries, three worlds", worlds, 3)
found = opened.find("any EGFR inhibitor or breast cancer")
timed("explanation", lambda: found.explain(sorted(found)[0]), 3)
print(json.dumps(took))
"""


def run(checkout: Path, code: str, *arguments: str) -> tuple[str, float]:
    """What the code printed under that version, and the processor time that it took, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "cohortium").symlink_to(checkout.absolute(), target_is_directory=True)
        begun = os.times()
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "PYTHONPATH": folder},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            cwd=folder,
        )
        ended = os.times()
    took = ended.children_user + ended.children_system - begun.children_user - begun.children_system
    return done.stdout, took


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, required=True)
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)
    checkouts = {"before": asked.before, "after": asked.after}
    took: dict[str, dict[str, list[float]]] = {name: {} for name in checkouts}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.rounds):
            for name, checkout in checkouts.items():
                kb = Path(folder) / f"{name}-{number}.kb"
                _, seconds = run(checkout, _INGEST, str(asked.notes.absolute()), str(kb))
                took[name].setdefault("ingest", []).append(seconds)
                printed, _ = run(checkout, _ANSWERS, str(kb), str(asked.queries.absolute()))
                for what, value in json.loads(printed).items():
                    took[name].setdefault(what, []).append(value)
    rows = {
        what: {
            "before": min(before),
            "after": min(took["after"][what]),
            "least": min(took["after"][what]) / min(before) - 1,
            "middle": statistics.median(took["after"][what]) / statistics.median(before) - 1,
        }
        for what, before in took["before"].items()
    }
    print("| | before, ms | after, ms | least | middle |\n| --- | ---: | ---: | ---: | ---: |")
    for what, row in rows.items():
        print(
            f"| {what} | {1000 * row['before']:,.2f} | {1000 * row['after']:,.2f} "
            f"| {row['least']:+.0%} | {row['middle']:+.0%} |"
        )
    if asked.json:
        asked.json.write_text(json.dumps({"took": took, "rows": rows}, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
