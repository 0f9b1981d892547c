"""How much tighter the bounds are where a fact that a query asks twice is one fact; counted on generated records.

    python -m benchmarks.engine.equal_queries --seed 1 --json equal.json

*Tightness*: small records that leave much open, each with a query that joins a few criteria of single facts again and
again; every completion of the record is asked, so that the exact bounds are known. *Any criteria*: the same with picks,
orders, counts and scopes among them. *Laws*: of three criteria, two queries that the laws of sets make equal. Each is
told part by part, as the bounds were before, and together.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.signature import command_line, signature
from cohortium.engine.reference.meaning import Meaning
from cohortium.engine.reference.views import View
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes as q
from tests.generated.completions import completions, number_of_completions
from tests.generated.records import CONCEPTS, SCALES
from tests.generated.repeated_facts import equal_pairs, facts, joined, record, scoped

MOST_COMPLETIONS: Final = 1_000


def answers(body: q.PatientExpression, journey: Journey) -> dict[str, tuple[bool, bool]]:
    """Certain and possible, part by part and together."""
    meaning, view = Meaning(CONCEPTS, SCALES), View.from_journey(journey)
    return {
        "parts": (meaning.bounded(body, view, World.CERTAIN), meaning.bounded(body, view, World.POSSIBLE)),
        "together": (meaning.holds(body, view, World.CERTAIN), meaning.holds(body, view, World.POSSIBLE)),
    }


def tightness(seed: int, number: int, *, single: bool) -> Counter[str]:
    """So many pairs of record and query: how many bounds are exact, and how many are wrong."""
    random, counts = Random(f"{seed} {single}"), Counter[str]()
    while counts["pairs"] < number:
        journey = record(random, 4)
        if not 1 < number_of_completions(journey) <= MOST_COMPLETIONS:
            continue
        leaves = [q.Exists(facts(random)) if single else scoped(random) for _ in range(3)]
        body = joined(random, leaves, 2)
        meaning = Meaning(CONCEPTS, SCALES)
        views = [View.from_journey(one) for one in completions(journey)]
        truths = {meaning.holds(body, view, World.BELIEVED) for view in views}
        exact = (truths == {True}, True in truths)
        counts.update(pairs=1, completions=len(views))
        for how, found in answers(body, journey).items():
            counts[f"open {how}"] += found[0] != found[1]
            counts[f"exact {how}"] += found == exact
            counts[f"wrong {how}"] += found[0] > exact[0] or found[1] < exact[1]
    return counts


def laws(seed: int, number: int) -> Counter[str]:
    """So many records, each with every law: how often the two queries differ in a bound."""
    random, counts = Random(f"{seed} laws"), Counter[str]()
    for _ in range(number):
        journey = record(random, random.choice((3, 6, 12)))
        for left, right in equal_pairs(*(scoped(random) for _ in range(3))):
            counts["pairs"] += 1
            one, other = answers(left, journey), answers(right, journey)
            for how, found in one.items():
                counts[f"differ {how}"] += found != other[how]
    return counts


def main(arguments: list[str] | None = None) -> int:
    """Leaves with 1 where a bound was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=3_000, help="pairs of record and query of each sort")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {
        "single facts": dict(tightness(options.seed, options.pairs, single=True)),
        "any criteria": dict(tightness(options.seed, options.pairs // 3, single=False)),
        "laws": dict(laws(options.seed, options.pairs // 10)),
    }
    for name, counts in found.items():
        print(name, ", ".join(f"{what} {count:,}" for what, count in counts.items()))
    if options.json:
        report = {**found, "signature": signature(command_line(), options.seed)}
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return int(any(count for part in found.values() for what, count in part.items() if what.startswith("wrong")))


if __name__ == "__main__":
    sys.exit(main())
