"""What separates the answers from notes from those from right facts: errors of the bank by class.

    python -m benchmarks.reading.gap --kb notes.kb --facts facts.kb --labels labels.jsonl [--json OUT]

``--facts`` is the knowledge base of an abstraction of the same patients. Each error of the knowledge base of notes is
asked again with the scope *same tumor* dissolved. A patient who is then found was missed because facts hang on several
tumors; a patient wrongly found whom the right facts give as well, once the scope is dissolved, was found by facts of
different tumors. All others lack a fact, or have one too many.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import signature
from cohortium.eval.bank.acr.run import run_acr
from cohortium.query_lang import nodes


def dissolved(node: Any) -> Any:
    """The tree without the scope of one tumor."""
    if isinstance(node, nodes.SameTumor):
        return dissolved(node.body)
    if isinstance(node, tuple):
        return tuple(map(dissolved, node))
    if is_dataclass(node) and not isinstance(node, type):
        return replace(node, **{one.name: dissolved(getattr(node, one.name)) for one in fields(node)})
    return node


def classes(kb: Path, facts: Path, labels: Path) -> dict[str, Any]:
    """Errors of ``kb`` by class and by complexity of the query."""
    table: dict[str, Counter[str]] = {}
    with cohortium.open(kb) as notes, cohortium.open(facts) as right:
        report = run_acr(notes, labels)
        for one in report.queries:
            if not (one.missed or one.wrongly_found):
                continue
            loose = dissolved(notes.find(one.query).query)
            found = frozenset(notes.find(loose))
            given = frozenset(right.find(dissolved(right.find(one.query).query)))
            row = table.setdefault(one.complexity, Counter())
            for patient in one.missed:
                row["missed: facts hang on different tumors" if patient in found else "missed: a fact is not read"] += 1
            for patient in one.wrongly_found:
                other = patient in given
                row["found: facts of different tumors" if other else "found: a fact that is not so"] += 1
    return {
        "micro": report.as_dict()["micro"],
        "by_complexity": {name: dict(row) for name, row in table.items()},
        "all": dict(sum(table.values(), Counter())),
    }


def main() -> None:
    """The table, and its JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("--kb", "--facts", "--labels"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    result = classes(given.kb, given.facts, given.labels)
    kinds = sorted(result["all"])
    print("| complexity | " + " | ".join(kinds) + " |")
    print("| --- " * (len(kinds) + 1) + "|")
    for name, row in (*result["by_complexity"].items(), ("all", result["all"])):
        print(f"| {name} | " + " | ".join(str(row.get(kind, 0)) for kind in kinds) + " |")
    if given.json:
        command = f"python -m benchmarks.reading.gap --kb {given.kb.name} --facts {given.facts.name}"
        given.json.write_text(json.dumps(result | {"signature": signature(command, 0)}, indent=1))


if __name__ == "__main__":
    main()
