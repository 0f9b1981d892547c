"""The generated attacks of the tests, run for hours: readers, parsers and loaders upon what nobody would write.

    python -m benchmarks.durability.fuzzing [--minutes 60] [--examples 2000] [--seed 1] [--only WORD ...] [--json OUT]

The tests in files called ``test_fuzz_*.py`` are run round after round, each round with another seed, until the time is
up; the executions are those that Hypothesis counts. A failure ends nothing: it is told with the seed that repeats it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.signature import command_line, markdown, signature

_ROOT: Final = Path(__file__).parents[2]
_TESTS: Final = _ROOT / "tests"
#: What the statistics of Hypothesis say: the test they are about, then a line for each phase.
_ABOUT: Final = re.compile(r"^(tests/\S+::[^\n]+?):$")
_EXAMPLES: Final = re.compile(r"(\d+) passing, (\d+) failing, and (\d+) invalid test cases")
_FAILED: Final = re.compile(r"^FAILED (\S+)")


def files(only: Sequence[str] = ()) -> tuple[Path, ...]:
    """The files of generated attacks, or those of them whose path has one of these words."""
    found = sorted(_TESTS.rglob("test_fuzz_*.py"))
    return tuple(path for path in found if not only or any(word in str(path.relative_to(_TESTS)) for word in only))


def executions(output: str) -> Iterator[tuple[str, int]]:
    """Each test with the number of its executions, from what a run has printed; once for each phase."""
    test = ""
    for line in output.splitlines():
        if about := _ABOUT.match(line.strip()):
            test = about[1].removeprefix("tests/")
        elif test and (counted := _EXAMPLES.search(line)):
            yield test, sum(map(int, counted.groups()))


def run_round(path: Path, examples: int, seed: int, seconds: float) -> tuple[str, bool]:
    """One file, run once: what it printed, and whether it came to its end in time."""
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-show-statistics",
        f"--hypothesis-seed={seed}", str(path.relative_to(_ROOT)),
    ]  # fmt: skip
    environment = {**os.environ, "COHORTIUM_TESTS": "all", "COHORTIUM_EXAMPLES": str(examples)}
    try:
        done = subprocess.run(
            command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace"), False
    return done.stdout, True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the time is up; 1 when a test failed or did not end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--examples", type=int, default=2000, help="of each test, a round")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="files whose path has one of these")
    parser.add_argument("--json", metavar="OUT")
    options = parser.parse_args(arguments)
    chosen = files(options.only)
    if not chosen:
        parser.error("no file is called test_fuzz_*.py with such a word in its path")
    begun, found, failures, seed = time.monotonic(), Counter[str](), list[str](), options.seed
    until = begun + 60 * options.minutes
    while time.monotonic() < until:
        for path in chosen:
            # A file that has begun may end: what it was put through would be lost.
            output, ended = run_round(path, options.examples, seed, max(600.0, 3 * (until - begun)))
            if not ended:
                failures.append(f"{path.relative_to(_TESTS)} with seed {seed}: not at its end in time")
            failures += [f"{line[1]} with seed {seed}" for text in output.splitlines() if (line := _FAILED.match(text))]
            for test, number in executions(output):
                found[test] += number
            if time.monotonic() >= until:
                break
        seed += 1
    minutes = (time.monotonic() - begun) / 60
    print(markdown(("test", "executions"), sorted(found.items())))
    print(f"\n{found.total():,} executions of {len(found)} tests in {minutes:.1f} minutes; {len(failures)} failures")
    for failure in failures:
        print(f"FAILED {failure}")
    signed = signature(command_line(), options.seed)
    print(json.dumps(signed))
    if options.json:
        payload = {"minutes": round(minutes, 1), "tests": dict(sorted(found.items())), "failures": failures, **signed}
        Path(options.json).write_text(json.dumps(payload, indent=2) + "\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
