"""How long explaining, why-not, the funnel and ranking take beside the query itself, on made-up knowledge bases.

As in :mod:`.test_query_speed`, what counts are ratios within one run; they are written to ``build/answer_speed.json``
(or to the file that ``COHORTIUM_ANSWER_SPEED`` names).
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cohortium
from benchmarks.scale import generated_kb

SIZES = (2_000, 20_000)
#: Ten criteria each: posting lists alone; with a window, a condition, a pick and a time relation among them.
FUNNELS = {
    "ten criteria, boolean": (
        "diagnosis 'malignant neoplasm' and medication 'systemic therapy' and biomarker and stage and performance "
        "and comorbidity and not metastasis to brain and not metastasis to liver and variant "
        "and not comorbidity 'diabetes mellitus'"
    ),
    "ten criteria, with events": (
        "diagnosis 'malignant neoplasm' and medication 'systemic therapy' and biomarker and stage >= IIA "
        "and latest ECOG <= 2 and not metastasis to brain and medication 'platinum agent' since 2014 "
        "and T >= T1 and not variant TP53 and medication 'platinum agent' before medication 'targeted therapy'"
    ),
    "ten criteria, events first": (
        "latest ECOG <= 2 and medication 'platinum agent' before medication 'targeted therapy' and stage >= IIA "
        "and diagnosis 'malignant neoplasm' and medication 'systemic therapy' and biomarker "
        "and not metastasis to brain and medication 'platinum agent' since 2014 and T >= T1 and not variant TP53"
    ),
}
SCOPED = "same tumor (diagnosis 'breast cancer' and biomarker HER2 = positive and stage >= II)"
ROUNDS, WARM_UP = 15, 2

Medians = dict[tuple[str, int], float]


@pytest.fixture(scope="module")
def kbs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Any]]:
    """A knowledge base of each size, open."""
    concepts, folder = generated_kb.ontology(), tmp_path_factory.mktemp("answer_speed")
    for size in SIZES:
        generated_kb.make_kb(folder / f"{size}.kb", size, concepts=concepts)
    found = {size: cohortium.open(folder / f"{size}.kb") for size in SIZES}
    yield found
    for kb in found.values():
        kb.close()


@pytest.fixture(scope="module")
def times() -> Iterator[Medians]:
    """What was measured, in milliseconds, by (what, patients); written with its ratios at the end."""
    found: Medians = {}
    yield found
    ratios = {
        f"funnel against query: {what}, {size} patients": round(found[f"funnel: {what}", size] / value, 2)
        for (name, size), value in found.items()
        for what in FUNNELS
        if name == f"query: {what}" and (f"funnel: {what}", size) in found
    }
    rows = [{"what": what, "patients": size, "median": round(value, 3)} for (what, size), value in found.items()]
    path = Path(os.environ.get("COHORTIUM_ANSWER_SPEED", "build/answer_speed.json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"milliseconds": rows, "ratios": ratios}, indent=2) + "\n", encoding="utf-8")


def measure(benchmark: Any, times: Medians, key: tuple[str, int], call: Callable[[], Any], rounds: int = ROUNDS) -> Any:
    """The result of the call, its median kept."""
    result = benchmark.pedantic(call, rounds=rounds, warmup_rounds=min(WARM_UP, rounds))
    if benchmark.stats is not None:  # None with --benchmark-disable
        times[key] = benchmark.stats.stats.median * 1000
    return result


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", FUNNELS)
def test_funnel_beside_the_query(kbs: dict[int, Any], times: Medians, what: str, size: int) -> None:
    """From text to the three counts of the query, and from text to the funnel that ends in them, by turns: so that what
    else the machine does falls on both. Processor time."""
    spent: dict[str, list[float]] = {"query": [], "funnel": []}
    for turn in range(WARM_UP + ROUNDS):
        begun = time.process_time()
        cohort = kbs[size].find(FUNNELS[what])
        counts = len(cohort), len(cohort.certain), len(cohort.possible)
        between = time.process_time()
        funnel = kbs[size].find(FUNNELS[what]).funnel()
        if turn >= WARM_UP:
            spent["query"].append(between - begun)
            spent["funnel"].append(time.process_time() - between)
        assert 0 < counts[0] <= counts[2] < size
        assert (len(funnel.rows), funnel.rows[-1].remain) == (10, counts)
    for name, seconds in spent.items():
        times[f"{name}: {what}", size] = statistics.median(seconds) * 1000


@pytest.mark.benchmark(group="one patient")
@pytest.mark.parametrize("size", SIZES)
def test_explain(benchmark: Any, kbs: dict[int, Any], times: Medians, size: int) -> None:
    """A member, with quoted evidence."""
    cohort = kbs[size].find(SCOPED)
    member = next(iter(cohort))
    explained = measure(benchmark, times, ("explain", size), lambda: cohort.explain(member))
    assert "Made-up finding" in explained.as_text()


@pytest.mark.benchmark(group="one patient")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", ["scoped", *FUNNELS])
def test_why_not(benchmark: Any, kbs: dict[int, Any], times: Medians, what: str, size: int) -> None:
    """A patient who is not found: failing parts, near evidence, cheapest edit, and whom else it admits."""
    cohort = kbs[size].find(FUNNELS.get(what, SCOPED))
    outside = next(patient for patient in kbs[size].patients if patient not in cohort)
    found = measure(benchmark, times, (f"why_not: {what}", size), lambda: cohort.why_not(outside))
    assert not found.admitted


@pytest.mark.benchmark(group="ranking")
@pytest.mark.parametrize("size", SIZES)
def test_rank(benchmark: Any, kbs: dict[int, Any], times: Medians, size: int) -> None:
    """The first twenty of a cohort; each certain member is read."""
    cohort = kbs[size].find(SCOPED)
    ranked = measure(benchmark, times, (f"rank of {len(cohort)}", size), lambda: cohort.rank(20), rounds=3)
    assert len(ranked) == min(20, len(cohort))
