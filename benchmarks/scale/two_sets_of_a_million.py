"""Criteria about two concepts, that 10% and 5% of a million patients have, over event columns made in memory.

A criterion touches the rows of its own concepts and no others, so these rows stand for a knowledge base of any number
of events. The patients of the second concept are drawn from all patients, or (nested) from those of the first: then
every one of them has to be decided. The columns are made up; nothing of anyone is in them.

    python -m benchmarks.scale.two_sets_of_a_million [--patients 1000000] [--seed 1] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from pyroaring import BitMap

from benchmarks.signature import command_line, signature
from cohortium.engine.fast import evaluate as fast
from cohortium.kb.index.columns import EventIndex
from cohortium.kb.index.word_arrays import packed
from cohortium.kb.model import World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.query_lang import nodes

FIRST, SECOND = (nodes.Events("procedure", nodes.Under(nodes.Concept(name, name))) for name in ("first", "second"))
CRITERIA: Final[dict[str, nodes.PatientExpression]] = {
    "before": nodes.Ordered(FIRST, "before", SECOND, 1, None),
    "within 90 days": nodes.Ordered(FIRST, "within", SECOND, 0, 90),
    "latest before": nodes.Ordered(
        nodes.Events("procedure", FIRST.concept, pick=nodes.Pick("latest")), "before", SECOND, 1, None
    ),
    "same tumor": nodes.SameTumor(nodes.And((nodes.Exists(FIRST), nodes.Exists(SECOND)))),
}
#: Most patients of a concept have one event of it, or about three.
EACH: Final = (1, 3)
_ROUNDS: Final = 9


def made_up(patients: int, each: int, nested: bool, seed: int) -> Any:
    """What the fast engine reads of a knowledge base, with these two concepts alone."""
    random = np.random.default_rng(seed)
    first = np.sort(random.choice(patients, patients // 10, replace=False))
    second = np.sort(random.choice(first if nested else patients, patients // 20, replace=False))
    owners = [np.repeat(who, 1 + random.poisson(each - 1, len(who))) for who in (first, second)]
    rows = sum(map(len, owners))
    arrays = {
        "patient": np.concatenate(owners).astype("<u4"),
        "low": random.integers(735_000, 739_000, rows).astype("<u4"),
        "span": random.choice(3, rows, p=[0.7, 0.2, 0.1]).astype("u1"),
        "spans": np.array([0, 30, 365]),
        "world": np.full(rows, World.CERTAIN, dtype="i1"),
        "tumor": random.choice([-1, 0, 1], rows, p=[0.1, 0.6, 0.3]).astype("i1"),
        "first_tumor": np.arange(0, 2 * patients + 1, 2, dtype="<u4"),
        "tumor_world": np.full(2 * patients, World.CERTAIN, dtype="i1"),
        "slice_starts": np.array([0, len(owners[0]), rows]),
        "slice_concepts": np.array([0, 1]),
        "kind_slices": np.array([0, 2]),
        "concepts": packed(["first", "second"]),
    }
    told = {
        "events": 60 * patients,
        "patients": patients,
        "kinds": ["procedure"],
        "contexts": [],
        "attributes": [],
        "arrays": arrays,
    }
    lists = {"first": BitMap(first), "second": BitMap(second)}
    return SimpleNamespace(
        event_index=EventIndex(SimpleNamespace(header=told, array=arrays.__getitem__, column=arrays.__getitem__)),
        concepts=ConceptTable([]),
        scales=None,
        posting=lambda kind, concept, world: lists[concept].copy(),
        all_patients=BitMap(range(patients)),
        rows=rows,
    )


def measured(patients: int, seed: int) -> list[dict[str, Any]]:
    """The processor time of each criterion in the believed and the possible world."""
    found = []
    for each in EACH:
        for nested in (False, True):
            kb = made_up(patients, each, nested, seed)
            for name, criterion in CRITERIA.items():
                for world in (World.BELIEVED, World.POSSIBLE):
                    times = []
                    for _ in range(_ROUNDS):
                        started = time.process_time()
                        count = len(fast.evaluate(nodes.Query(criterion), kb, world))
                        times.append(time.process_time() - started)
                    found.append(
                        {
                            "criterion": name,
                            "world": world.name.lower(),
                            "events_of_one": each,
                            "nested": nested,
                            "rows": kb.rows,
                            "cohort": count,
                            "milliseconds": round(1000 * statistics.median(times), 2),
                        }
                    )
    return found


def main() -> int:
    """Print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--patients", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    found = measured(asked.patients, asked.seed)
    signed = signature(command_line(), asked.seed)
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, "times": found}, indent=1) + "\n", encoding="utf-8")
    for one in found:
        nested = "nested" if one["nested"] else "apart"
        print(
            f"{one['criterion']:15} {one['world']:9} {one['events_of_one']} each, {nested:6} "
            f"{one['rows']:9,} rows {one['cohort']:8,} patients {one['milliseconds']:8.2f} ms"
        )
    print(", ".join(f"{name} {value}" for name, value in signed.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
