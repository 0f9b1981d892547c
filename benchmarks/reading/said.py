"""How much is read of what clinicians say in their own words: invented sentences with their facts marked.

    python -m benchmarks.reading.said [--part seen|apart] [--list OUTCOME] [FILE.txt ...]

``benchmarks/reading/said/*.txt`` (inventions of clinicians who knew no rule of the reading): a sentence a line, each
fact marked in place as ``[[kind|status|plain name|words]]``, ``#`` before the name of a specialty. A quarter of the
sentences (by SHA-256) is *apart*: to be scored, not looked at. Each sentence is read as a note of its own; a mention is
right as in :mod:`benchmarks.reading.clinical_sentences`, whose verdicts count here as well.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import cohortium
from benchmarks.reading.clinical_sentences import Case, Judge, Sums, score_item, tell, verdicts
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales

FOLDER: Final = Path(__file__).with_name("said")
_MARK: Final = re.compile(r"\[\[(?P<kind>\w+)\|(?P<status>\w+)\|(?P<name>[^|]+)\|(?P<words>[^|\]]+)\]\]")


def unmarked(line: str) -> tuple[str, list[dict[str, Any]]]:
    """A sentence without its marks, and its facts."""
    text, facts, at = "", [], 0
    for mark in _MARK.finditer(line):
        text += line[at : mark.start()]
        name, _, value = mark["name"].partition("=")
        fact = {"kind": mark["kind"], "status": mark["status"], "name": name.strip(), "start": len(text)}
        text += mark["words"]
        facts.append({**fact, "end": len(text), **({"value": value} if value else {})})
        at = mark.end()
    return text + line[at:], facts


def is_apart(line: str) -> bool:
    """Whether a line is of the quarter that nobody looks at."""
    return hashlib.sha256(line.encode()).digest()[0] < 64


def lines_of(files: Sequence[Path], part: str) -> Iterator[tuple[str, str]]:
    """File and number, and line, of one part."""
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if line.strip() and not line.startswith("#") and is_apart(line) == (part == "apart"):
                yield f"{file.stem}.{number}", line.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--part", choices=("seen", "apart"), default="seen")
    parser.add_argument("--list", help="list what is wrong or missed, of one outcome or kind, or all")
    asked = parser.parse_args(arguments)
    judge = Judge(ConceptTable.from_files(), Scales.from_files(), verdicts())
    total: dict[str, Sums] = defaultdict(Sums)
    cases: list[Case] = []
    for key, line in lines_of(asked.files or sorted(FOLDER.glob("*.txt")), asked.part):
        text, facts = unmarked(line)
        item = {"id": key, "start": 0, "end": len(text), "facts": facts}
        sums, told = score_item(item, text, cohortium.read(text, "2020-01-01").mentions, judge)
        cases += told
        for kind, one in sums.items():
            total[kind].add(one)
            total["all"].add(one)
    tell(total)
    for case in cases:
        if asked.list in ("all", case.outcome, case.kind):
            print(f"{case.outcome:14}{case.kind:10} gold: {case.gold}  read: {case.read}\n      {case.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
