"""Speed at scale: twelve shapes of query by number of patients, beside SQL and openmed; reading beside medspaCy.

    python -m benchmarks.scale.benchmark --out DIR [--kb KB ...] [--patients N ...] [--rivals PYTHON]
        [--notes NOTES.jsonl] [--no-reading] [--ingest-rate RATE.json ...] [--join REPORT.json ...]

Measures the knowledge bases that are named, and those that ``cohortium bench make-kb`` makes of so many patients.
``--rivals`` is an interpreter in which openmed and medspaCy are installed (docs/results/speed_at_scale.md); without it
they are left out. ``DIR/scale.json`` has everything, ``DIR/scale.html`` shows it; ``--join`` takes in the former of
other runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, Final

from benchmarks.scale import queries as scale_queries
from benchmarks.scale import reading as scale_reading
from benchmarks.scale.atoms import NotFound
from benchmarks.scale.ingest_rate import SAMPLES
from benchmarks.scale.queries import Differs, Plan
from benchmarks.scale.report import joined, page
from benchmarks.scale.rival_process import RivalFailed, RivalMissing, RivalProcess
from benchmarks.scale.turns import Patience
from benchmarks.signature import command_line, signature
from cohortium.eval.report.signature import versions
from cohortium.kb.errors import CohortiumError

#: Patients up to which openmed is asked: its statements look at all events of all patients.
OPENMED_MOST: Final = 100_000


def main() -> int:
    """Measure, write the JSON and the page; 1 when an answer was wrong."""
    asked = _parser().parse_args()
    # What is stopped takes its copies along: they are large.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asked.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()

    def tell(line: str) -> None:
        print(f"{time.monotonic() - begun:7.0f} s  {line}", file=sys.stderr, flush=True)

    try:
        run(asked, tell)
    except (Differs, NotFound, RivalFailed) as error:
        print(error, file=sys.stderr)
        return 1
    except RivalMissing as error:
        print(error, file=sys.stderr)
        return 2
    except CohortiumError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    tell(f"written: scale.json, scale.html in {asked.out.name}")
    return 0


def _write(asked: argparse.Namespace, reports: list[dict[str, Any]]) -> None:
    report = joined(reports)
    for kb in report["knowledge_bases"]:
        kb["storage"] |= _built(kb, asked.made)
    text = json.dumps(report, indent=1, ensure_ascii=False)
    (asked.out / "scale.json").write_text(text + "\n", encoding="utf-8")
    (asked.out / "scale.html").write_text(page(report), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kb", type=Path, action="append", default=[], help="a knowledge base that there is")
    parser.add_argument("--patients", type=int, action="append", default=[], help="make one of so many patients")
    parser.add_argument("--made", type=Path, action="append", default=[], help="JSON of bench make-kb, of a --kb")
    parser.add_argument("--rivals", metavar="PYTHON", help="an interpreter that has openmed and medspaCy")
    parser.add_argument("--openmed-most", type=int, default=OPENMED_MOST, help="patients up to which it is asked")
    parser.add_argument("--no-tuned", action="store_true", help="leave out the second variant of SQL")
    parser.add_argument("--notes", type=Path, default=SAMPLES, help="notes to read (by default the sample notes)")
    parser.add_argument("--words", type=int, action="append", default=[], help="lengths of notes (50, 200, 400, 800)")
    parser.add_argument("--no-reading", action="store_true")
    parser.add_argument("--ingest-rate", type=Path, action="append", default=[], help="JSON of ingest_rate.py")
    parser.add_argument("--join", type=Path, action="append", default=[], help="scale.json of an earlier run")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each contender at each question, about")
    parser.add_argument("--scratch", type=Path, help="where copies for the rivals are put meanwhile")
    return parser


def run(asked: argparse.Namespace, tell: scale_queries.Tell) -> None:
    """Measure, and write the report anew after each part, so that what was measured stays whatever comes then."""
    report: dict[str, Any] = {
        "machine": machine(),
        "signatures": [
            {
                **signature(command_line(), 1),
                "versions": versions(["duckdb", "pyarrow", "pyroaring"]),
                "date": time.strftime("%Y-%m-%d", time.gmtime()),
            }
        ],
        "knowledge_bases": [],
        "ingest": [json.loads(path.read_text(encoding="utf-8")) for path in asked.ingest_rate],
    }
    patience = Patience(seconds=asked.seconds)
    slow = Patience(least=3, most=7, seconds=2 * asked.seconds, warm_up=1)
    # What is compared first has warmed it.
    rival = Patience(least=2, most=7, seconds=3 * asked.seconds, warm_up=0)
    earlier = [json.loads(path.read_text(encoding="utf-8")) for path in asked.join]
    facts = next((kb["facts"] for one in earlier for kb in one["knowledge_bases"]), {})
    made = (_made(number, asked, tell) for number in asked.patients)
    for path in chain(asked.kb, made):
        with _rivals(asked, _patients(path) <= asked.openmed_most) as rivals:
            plan = Plan(patience, not asked.no_tuned, rivals, rival, asked.scratch, facts)
            found = scale_queries.measure(path, plan, tell)
        facts = facts or found["facts"]
        found["commit"] = report["signatures"][0]["commit"]
        report["knowledge_bases"].append(found)
        report["openmed"] = found.get("openmed", {}).get("versions") or report.get("openmed")
        _write(asked, [*earlier, report])
    if not asked.no_reading:
        with _rivals(asked, True) as rivals:
            lengths = asked.words or scale_reading.LENGTHS
            report["reading"] = scale_reading.measure(asked.notes, lengths, rivals, slow, tell)
    _write(asked, [*earlier, report])


def _rivals(asked: argparse.Namespace, wanted: bool) -> RivalProcess | nullcontext[None]:
    """Their interpreter, anew; none where they are not wanted or not there."""
    return RivalProcess(asked.rivals) if asked.rivals and wanted else nullcontext()


def _made(patients: int, asked: argparse.Namespace, tell: scale_queries.Tell) -> Path:
    """A knowledge base of so many patients in the folder of the run, made unless it is there."""
    path: Path = asked.out / f"{patients}.kb"
    told: Path = asked.out / f"{patients}.json"
    if not path.exists():
        tell(f"making {patients:,} patients")
        options = ["--patients", str(patients), "--json", str(told), "--no-progress"]
        command = [sys.executable, "-m", "cohortium", "bench", "make-kb", str(path), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    asked.made.append(told)
    return path


def _built(kb: Mapping[str, Any], made: list[Path]) -> dict[str, float]:
    """Seconds until the knowledge base stood, and those of the index, from what its making told."""
    for path in made:
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if told.get("rows", {}).get("patient") == kb["patients"] and told["rows"]["event"] == kb["events"]:
            return {"build_seconds": told["seconds"]["all"], "index_seconds": told["seconds"].get("index", 0.0)}
    return {}


def _patients(path: Path) -> int:
    import cohortium

    with cohortium.open(path) as kb:
        return len(kb.patients)


def machine() -> dict[str, Any]:
    """What the figures depend on besides the software."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": f"{memory / 1e9:.0f} GB",
        "system": platform.system(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    sys.exit(main())
