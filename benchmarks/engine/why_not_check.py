"""``why_not`` on generated knowledge bases: does the edit admit the patient, and is there no cheaper one? With a seed.

    python -m benchmarks.engine.why_not_check --cases 2000 --seed 1 --json why_not.json

A case is a patient whom a query does not find. The edited query is asked of the whole knowledge base by the fast
engine. Then every edit that costs less is written out (:mod:`tests.generated.edit_enumeration`) and tried;
cases with too many of them to write out are counted apart. One case in ten also tries the edits up to the cost that was
found, to see that the enumeration reaches it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.signature import command_line, markdown, signature
from cohortium.engine.cohort import Cohort
from cohortium.engine.reference.meaning import Meaning
from cohortium.engine.why_not.answer import WhyNot
from cohortium.kb.model import Journey
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang import nodes
from tests.generated.edit_enumeration import Enumeration
from tests.generated.enumerated_facts import Cost, TooMany
from tests.generated.queries import dividing_query
from tests.generated.records import CONCEPTS, NARROW_SHAPES, SCALES, SHAPES, records

PATIENTS: Final = 6
QUERIES_OF_A_KB: Final = 10


def check(
    tally: Counter[str], wrong: list[dict[str, Any]], query: nodes.Query, journeys: list[Journey], kb: KnowledgeBase
) -> None:
    """All patients whom one query does not find."""
    cohort = Cohort(kb, query)
    for journey in journeys:
        if journey.patient_id in cohort:
            continue
        tally["cases"] += 1
        found = cohort.why_not(journey.patient_id)
        assert found.edit is not None
        spent = found.edit.cost
        tally[next(name for name, number in spent.items() if number)] += 1
        problems = _problems(found, query, journey, kb, tally)
        wrong += [{"patient": journey.patient_id, "query": cohort.resolved, "what": what} for what in problems]


def _problems(found: WhyNot, query: nodes.Query, journey: Journey, kb: KnowledgeBase, tally: Counter[str]) -> list[str]:
    assert found.edit is not None
    problems = []
    if not found.failing:
        problems.append("no failing part is named")
    if found.edit.tree is not None:
        tally["edited queries asked"] += 1
        edited = Cohort(kb, found.edit.tree)
        if found.patient_id not in edited:
            problems.append(f"not admitted by: {found.edit.query}")
        if len(edited.numbers - Cohort(kb, query).numbers) != found.edit.admits + 1:
            problems.append("another number of others is admitted")
    cost: Cost = tuple(found.edit.cost.values())  # type: ignore[assignment]
    meaning = Meaning(kb.concepts, kb.scales, query.definitions)
    try:
        cheaper = Enumeration(query, journey, meaning, cost).cheaper()
        tally["enumerated"] += 1
        if cheaper is not None:
            problems.append(f"a cheaper edit exists: {cheaper[0]}")
        if not tally["enumerated"] % 10:
            above: Cost = (*cost[:-1], cost[-1] + 1)
            tally["reached by the enumeration, tried"] += 1
            tally["reached by the enumeration"] += Enumeration(query, journey, meaning, above).cheaper() is not None
    except TooMany:
        tally["too many to write out"] += 1
    return problems


def run(seed: int, cases: int) -> tuple[Counter[str], list[dict[str, Any]]]:
    """So many cases, or a few more."""
    tally: Counter[str] = Counter()
    wrong: list[dict[str, Any]] = []
    number = 0
    while tally["cases"] < cases:
        random = Random(f"why not/{seed}/{number}")
        journeys = records(random, PATIENTS, NARROW_SHAPES if number % 2 else SHAPES)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "generated.kb"
            build_generation(path, journeys, concepts=CONCEPTS, scales=SCALES)
            with KnowledgeBase.open(path) as kb:
                for position in range(QUERIES_OF_A_KB):
                    drawn = Random(f"why not/{seed}/{number}/{position}")
                    query = dividing_query(drawn, journeys, deepest=1 + position % 2)
                    tally["queries"] += 1
                    check(tally, wrong, query, journeys, kb)
        number += 1
    return tally, wrong


def main() -> int:
    """0 when every edit admits its patient and none is dearer than need be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    started = time.perf_counter()
    tally, wrong = run(asked.seed, asked.cases)
    signed = {**signature(command_line(), asked.seed), "seconds": round(time.perf_counter() - started, 1)}
    if asked.json:
        found = {"signature": signed, "counts": dict(tally), "wrong": wrong}
        asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(markdown(("what", "number"), [*tally.items(), ("wrong", len(wrong))]))
    print("\n" + ", ".join(f"{name} {value}" for name, value in signed.items()))
    for one in wrong[:20]:
        print(f"\n{one['patient']}: {one['what']}\n{one['query']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
