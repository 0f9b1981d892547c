"""Two ways from a concept to the events at or below it: ranges of rows, or a list of rows for each ancestor.

The index has the first (`docs/internals/event_index.md`); this driver makes the second beside it, on the same rows of
the same knowledge base, and compares bytes, the time to make them, and the time to find the rows of candidates: all
patients of the concept, and a tenth of them.

    python -m benchmarks.scale.event_layout KB [--concepts 40] [--seed 1] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from pyroaring import BitMap

from benchmarks.signature import command_line, signature
from cohortium.kb.index.columns import EventIndex
from cohortium.kb.index.event_rows import spread
from cohortium.kb.model import World
from cohortium.kb.storage.reader import KnowledgeBase

Array = np.ndarray[Any, np.dtype[Any]]
Lists = dict[tuple[str, str], tuple[Array, Array]]
_ROUNDS: Final = 9
_ROW_BYTES: Final = 4


def ancestors(kb: KnowledgeBase) -> list[tuple[str, str]]:
    """Each kind with each concept at or below which it has an event."""
    index, found = kb.event_index, []
    for kind in index.kinds:
        held: set[str] = set()
        first, last = index.array("kind_slices")[index.kinds.index(kind) :][:2].tolist()
        for at in index.array("slice_concepts")[first:last].tolist():
            concept = index.concepts[at]
            held |= kb.concepts.at_or_above(concept)
        found += [(kind, concept) for concept in sorted(held)]
    return found


def lists_of(kb: KnowledgeBase, keys: list[tuple[str, str]]) -> Lists:
    """For each kind and ancestor its rows, in the order of patients, and beside them those patients."""
    owner, found = kb.event_index.array("patient"), {}
    for kind, concept in keys:
        rows = spread(kb.event_index.ranges(kind, kb.concepts.at_or_below(concept))).astype(np.uint32)
        rows = rows[np.argsort(owner[rows], kind="stable")]
        found[kind, concept] = rows, owner[rows]
    return found


def by_lists(lists: Lists, key: tuple[str, str], patients: BitMap, everybody: int) -> Array:
    """The rows of the patients, by list."""
    rows, owner = lists[key]
    mask = np.zeros(everybody, dtype=bool)
    mask[patients.to_array()] = True
    found: Array = rows[np.flatnonzero(mask[owner])]
    return found


def by_ranges(index: EventIndex, kb: KnowledgeBase, key: tuple[str, str], patients: BitMap) -> Array:
    """The rows of the patients, by ranges."""
    kind, concept = key
    return index.rows([(kind, kb.concepts.at_or_below(concept))], patients).at


def seconds(call: Callable[[], Any]) -> float:
    """The median processor time of some calls."""
    found = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return statistics.median(found)


def compared(kb: KnowledgeBase, concepts: int, seed: int) -> dict[str, Any]:
    """Both ways, for so many of the kinds and concepts: those that have the most events."""
    index, keys, everybody = kb.event_index, ancestors(kb), len(kb.all_patients)
    counts = {key: index.ranges(key[0], kb.concepts.at_or_below(key[1])) for key in keys}
    held = {key: int((ranges[:, 1] - ranges[:, 0]).sum()) for key, ranges in counts.items()}
    random = Random(seed)
    chosen = sorted(keys, key=lambda key: -held[key])[:concepts]
    started = time.process_time()
    lists = lists_of(kb, chosen)
    made = time.process_time() - started
    share = sum(held[key] for key in chosen) / max(1, sum(held.values()))
    times: dict[str, list[float]] = {name: [] for name in ("ranges", "lists", "ranges, a tenth", "lists, a tenth")}
    for key in chosen:
        everyone = kb.posting(*key, World.NONE)
        tenth = BitMap(random.sample(list(everyone), len(everyone) // 10))
        for name, patients in (("", everyone), (", a tenth", tenth)):
            found = np.sort(by_lists(lists, key, patients, everybody))
            if not np.array_equal(found, by_ranges(index, kb, key, patients)):
                raise AssertionError(f"the two ways differ on {key}")
            times[f"ranges{name}"].append(seconds(lambda key=key, who=patients: by_ranges(index, kb, key, who)))
            times[f"lists{name}"].append(seconds(lambda key=key, who=patients: by_lists(lists, key, who, everybody)))
    directory = sum(index.array(name).nbytes for name in ("slice_starts", "slice_concepts", "kind_slices"))
    ranges = [len(found) for found in counts.values()]
    return {
        "patients": everybody,
        "events": index.events,
        "kinds_and_concepts": len(keys),
        "ranges_of_one": {"mean": statistics.mean(ranges), "most": max(ranges), "one": ranges.count(1) / len(ranges)},
        "bytes_an_event": {
            "ranges": directory / index.events,
            "lists of rows": sum(held.values()) * _ROW_BYTES / index.events,
            "lists of rows and patients": 2 * sum(held.values()) * _ROW_BYTES / index.events,
        },
        "seconds_to_make_all_lists": made / share,
        "milliseconds": {name: 1000 * statistics.median(of) for name, of in times.items()},
        "ratio_lists_to_ranges": {
            name: statistics.median(
                [one / other for one, other in zip(times[f"lists{name}"], times[f"ranges{name}"], strict=True)]
            )
            for name in ("", ", a tenth")
        },
        "concepts_timed": len(chosen),
    }


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("--concepts", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    with KnowledgeBase.open(asked.kb) as kb:
        found = {"signature": signature(command_line(), asked.seed), **compared(kb, asked.concepts, asked.seed)}
    text = json.dumps(found, indent=1)
    if asked.json:
        asked.json.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
