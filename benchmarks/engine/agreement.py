"""Both engines on generated knowledge bases and queries: do they agree, and what was asked? A script with a seed.

    python -m benchmarks.engine.agreement --seed 1 --pairs 10000 --json agreement.json

Each knowledge base is written and opened as any other; a pair is one knowledge base and one query, answered in the
three worlds. What is drawn depends on the seed and the numbers of the knowledge base and the query alone, so that one
pair is run again with ``--only KB:QUERY``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.signature import command_line, markdown, signature
from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import Journey, World
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang import nodes
from tests.generated.queries import NODE_CLASSES, dividing_query, features, wanted
from tests.generated.records import CONCEPTS, SCALES, records

WORLDS: Final = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
PATIENTS: Final = 12
QUERIES_OF_A_KB: Final = 50

Answers = dict[World, frozenset[str]]


@dataclass
class Tally:
    """Pairs that were run, those of which the engines disagree, and what the pairs contain."""

    pairs: int = 0
    disagreements: list[dict[str, Any]] = field(default_factory=list)
    contained: Counter[str] = field(default_factory=Counter)
    dividing: Counter[str] = field(default_factory=Counter)
    open_: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, asked: nodes.Query, defined: Answers, found: Answers, patients: int) -> None:
        """One pair: what the reference engine defines and what the fast engine finds."""
        self.pairs += 1
        for world in WORLDS:
            if defined[world] != found[world]:
                self.disagreements.append(
                    {
                        "pair": place,
                        "world": world.name.lower(),
                        "reference": sorted(defined[world]),
                        "fast": sorted(found[world]),
                        "query": repr(asked),
                    }
                )
        for feature in ("all", *features(asked)):
            self.contained[feature] += 1
            self.dividing[feature] += 0 < len(defined[World.BELIEVED]) < patients
            self.open_[feature] += defined[World.CERTAIN] != defined[World.POSSIBLE]


def generated_kb(seed: int, kb: int, patients: int = PATIENTS) -> list[Journey]:
    """The records of the ``kb``-th knowledge base."""
    return records(Random(f"agreement/{seed}/{kb}"), patients)


def generated_query(seed: int, kb: int, number: int, journeys: list[Journey]) -> nodes.Query:
    """The ``number``-th query about it."""
    return dividing_query(Random(f"agreement/{seed}/{kb}/{number}"), journeys)


@contextmanager
def stored(journeys: list[Journey]) -> Iterator[KnowledgeBase]:
    """The records as a knowledge base on disk, opened."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.kb"
        build_generation(path, journeys, concepts=CONCEPTS, scales=SCALES)
        with KnowledgeBase.open(path) as kb:
            yield kb


def compare(tally: Tally, seed: int, number: int, queries: range, patients: int = PATIENTS) -> None:
    """Ask both engines these queries about one knowledge base."""
    journeys = generated_kb(seed, number, patients)
    with stored(journeys) as kb:
        for position in queries:
            asked = generated_query(seed, number, position, journeys)
            defined = {world: reference.evaluate(asked, journeys, CONCEPTS, SCALES, world) for world in WORLDS}
            found = {
                world: frozenset(kb.patients[patient] for patient in fast.evaluate(asked, kb, world))
                for world in WORLDS
            }
            tally.add(f"{number}:{position}", asked, defined, found, patients)


def run(seed: int, pairs: int) -> Tally:
    """So many pairs."""
    tally = Tally()
    for kb in range(-(-pairs // QUERIES_OF_A_KB)):
        compare(tally, seed, kb, range(min(QUERIES_OF_A_KB, pairs - tally.pairs)))
    return tally


def report(tally: Tally) -> dict[str, Any]:
    """Counts, and of each feature how many pairs contain it, how many of those divide, and how many are open."""
    known = sorted(wanted() | set(tally.contained))
    return {
        "pairs": tally.pairs,
        "worlds": [world.name.lower() for world in WORLDS],
        "patients_of_a_kb": PATIENTS,
        "disagreements": tally.disagreements,
        "missing": sorted(wanted() - set(tally.contained)),
        "contained": {
            feature: {
                "pairs": tally.contained[feature],
                "dividing": tally.dividing[feature],
                "open": tally.open_[feature],
            }
            for feature in known
        },
    }


def tables(found: dict[str, Any]) -> str:
    """The report for people: nodes first, then everything else by family."""

    def row(name: str, feature: str) -> tuple[object, ...]:
        counts = found["contained"][feature]
        times = max(1, counts["pairs"])
        return name, counts["pairs"], counts["dividing"] / times, counts["open"] / times

    header = ("contains", "pairs", "neither nobody nor everybody", "certain and possible differ")
    rest = [name for name in found["contained"] if not name.startswith("node: ") and name != "all"]
    parts = [
        f"{found['pairs']:,} pairs, three worlds each: {len(found['disagreements'])} disagreements; "
        f"{len(NODE_CLASSES)} node classes; asked for and missing: {', '.join(found['missing']) or 'none'}",
        markdown(header, [row("all pairs", "all"), *(row(name, f"node: {name}") for name in NODE_CLASSES)]),
        markdown(header, [row(feature, feature) for feature in rest]),
    ]
    return "\n\n".join(parts)


def main() -> int:
    """0 when the engines agree on every pair."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--only", metavar="KB:QUERY", help="run this one pair of the seed")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    started = time.perf_counter()
    if asked.only:
        tally = Tally()
        kb, _, query = asked.only.partition(":")
        compare(tally, asked.seed, int(kb), range(int(query), int(query) + 1))
    else:
        tally = run(asked.seed, asked.pairs)
    found = report(tally)
    signed = {**signature(command_line(), asked.seed), "seconds": round(time.perf_counter() - started, 1)}
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, **found}, indent=1) + "\n", encoding="utf-8")
    print(tables(found))
    print("\n" + ", ".join(f"{name} {value}" for name, value in signed.items()))
    for one in found["disagreements"]:
        print(f"\npair {one['pair']}, {one['world']}: reference {one['reference']}, fast {one['fast']}\n{one['query']}")
    return 1 if tally.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
