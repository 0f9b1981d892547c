"""How long queries take, from text to cohort size, by shape, world and number of patients; and against plain SQL.

The knowledge bases are made up (:mod:`.generated_kb`, seed 1): about 20 events a patient. Machines differ and are
shared, so what counts are ratios within one run; they are written to ``build/query_speed.json`` (or to the file that
``COHORTIUM_QUERY_SPEED`` names).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import cohortium
from benchmarks.scale import generated_kb
from cohortium.kb.storage.layout import DATABASE, Layout

SIZES = (2_000, 20_000)
WORLDS = ("certain", "believed", "possible")
BROAD, SINGLE = "procedure 'made-up class'", "procedure 'made-up code'"
BOOLEAN = (
    "diagnosis 'breast cancer' and (medication 'platinum agent' or medication 'targeted therapy') "
    "and not comorbidity 'diabetes mellitus' and not metastasis to brain"
)
BEFORE = "medication 'platinum agent' before medication 'targeted therapy'"
SHAPES = {
    "single concept": "diagnosis 'breast cancer'",
    "10,000 descendants": BROAD,
    "single code": SINGLE,
    "five-way boolean": BOOLEAN,
    "one class other than another": "any 'systemic therapy' other than 'targeted therapy'",
    "ordered range": "T between T2b and T3c",
    "ordered bound": "stage >= IIC",
    "latest": "latest ECOG <= 1",
    "window": "medication tamoxifen since 2018-01-01",
    "same tumor": "same tumor (diagnosis 'breast cancer' and biomarker HER2 = positive and stage >= II)",
    "before": BEFORE,
    "within": "diagnosis 'breast cancer' within 90 days of medication 'systemic therapy'",
}
#: Rounds of each measurement; the first ones warm up.
ROUNDS, WARM_UP = 15, 2

Medians = dict[tuple[str, str, int], float]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A knowledge base of each size."""
    concepts, folder = generated_kb.ontology(), tmp_path_factory.mktemp("query_speed")
    found = {size: folder / f"{size}.kb" for size in SIZES}
    for size, path in found.items():
        generated_kb.make_kb(path, size, concepts=concepts)
    return found


@pytest.fixture(scope="module")
def kbs(paths: dict[int, Path]) -> Iterator[dict[int, Any]]:
    """The knowledge bases, open."""
    found = {size: cohortium.open(path) for size, path in paths.items()}
    yield found
    for kb in found.values():
        kb.close()


@pytest.fixture(scope="module")
def times() -> Iterator[Medians]:
    """What was measured, in milliseconds, by (what, world, patients); written with its ratios at the end."""
    found: Medians = {}
    yield found
    report = {"milliseconds": _rows(found), "ratios": _ratios(found)}
    path = Path(os.environ.get("COHORTIUM_QUERY_SPEED", "build/query_speed.json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _rows(times: Medians) -> list[dict[str, Any]]:
    return [
        {"what": what, "world": world, "patients": size, "median": round(value, 3)}
        for (what, world, size), value in times.items()
    ]


def _ratios(times: Medians) -> dict[str, float]:
    """Growth of each shape from the small to the large knowledge base, and pairs on the large one."""
    small, large = SIZES
    found = {
        f"{what}, {world}: {large} against {small} patients": times[what, world, large] / value
        for (what, world, size), value in times.items()
        if size == small and (what, world, large) in times
    }
    for one, other in (
        ("10,000 descendants", "single code"),
        ("plain SQL: boolean", "five-way boolean"),
        ("plain SQL: before", "before"),
    ):
        keys = (one, "believed", large), (other, "believed", large)
        if all(key in times for key in keys):
            found[f"{one} against {other}, {large} patients"] = times[keys[0]] / times[keys[1]]
    return {what: round(value, 2) for what, value in found.items()}


def measure(
    benchmark: Any, times: Medians, key: tuple[str, str, int], call: Callable[[], Any], rounds: int = ROUNDS
) -> Any:
    """The result of the call, its median kept."""
    result = benchmark.pedantic(call, rounds=rounds, warmup_rounds=min(WARM_UP, rounds))
    if benchmark.stats is not None:  # None with --benchmark-disable
        times[key] = benchmark.stats.stats.median * 1000
    return result


@pytest.mark.benchmark(group="from text to cohort size")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shape(benchmark: Any, kbs: dict[int, Any], times: Medians, shape: str, world: str, size: int) -> None:
    """Text to cohort size in an open knowledge base, plan and answer made anew each time."""
    kb, text = kbs[size], SHAPES[shape]
    count = measure(benchmark, times, (shape, world, size), lambda: len(getattr(kb.find(text), world)))
    assert 0 < count < size


@pytest.mark.benchmark(group="explain one patient")
@pytest.mark.parametrize("size", SIZES)
def test_explain(benchmark: Any, kbs: dict[int, Any], times: Medians, size: int) -> None:
    """A member of the same-tumor cohort, with its quoted evidence."""
    cohort = kbs[size].find(SHAPES["same tumor"])
    member = next(iter(cohort))
    explanation = measure(benchmark, times, ("explain", "believed", size), lambda: cohort.explain(member))
    assert "Made-up finding" in explanation.as_text()


@pytest.mark.benchmark(group="plain SQL")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", ["boolean", "before"])
def test_plain_sql(
    benchmark: Any, paths: dict[int, Path], kbs: dict[int, Any], times: Medians, what: str, size: int
) -> None:
    """The same answers by DuckDB on the same file, the descendants of each concept being at hand in a table."""
    layout = Layout(paths[size])
    database = duckdb.connect(str(layout.generation(layout.require_current()) / DATABASE), read_only=True)
    database.execute("CREATE TEMP TABLE below (root VARCHAR, concept VARCHAR)")
    for root in ("breast_cancer", "platinum_agent", "targeted_therapy", "diabetes_mellitus", "brain"):
        below = sorted(kbs[size].concepts.below(root))
        database.execute("INSERT INTO below SELECT $1, unnest($2::VARCHAR[])", [root, below])
    text, statement = {"boolean": (BOOLEAN, _SQL_BOOLEAN), "before": (BEFORE, _SQL_BEFORE)}[what]
    count = measure(
        benchmark,
        times,
        (f"plain SQL: {what}", "believed", size),
        lambda: database.execute(statement).fetchall()[0][0],
    )
    database.close()
    assert count == len(kbs[size].find(text))


@pytest.mark.benchmark(group="a whole process")
@pytest.mark.parametrize("size", SIZES)
def test_whole_process(benchmark: Any, paths: dict[int, Path], times: Medians, size: int) -> None:
    """``cohortium query`` on the command line: start-up, ontology, grammar and answer."""
    command = [
        sys.executable,
        "-m",
        "cohortium",
        "query",
        str(paths[size]),
        SHAPES["single concept"],
        "--format",
        "json",
    ]
    done = measure(
        benchmark,
        times,
        ("whole process", "believed", size),
        lambda: subprocess.run([*command, "--limit", "0"], capture_output=True, check=True),
        rounds=3,
    )
    assert json.loads(done.stdout)["count"] > 0


def test_descendants_cost_little(kbs: dict[int, Any], times: Medians) -> None:
    """A concept with 10,000 descendants takes at most 1.5 times what a single code of an equal cohort takes."""
    kb = kbs[SIZES[-1]]
    assert len(kb.find(BROAD)) == pytest.approx(len(kb.find(SINGLE)), rel=0.05)
    keys = ("10,000 descendants", "believed", SIZES[-1]), ("single code", "believed", SIZES[-1])
    if not all(key in times for key in keys):
        pytest.skip("nothing was measured")
    assert times[keys[0]] <= 1.5 * times[keys[1]]


_SQL_BOOLEAN = """
    WITH has AS (
        SELECT DISTINCT e.patient, e.kind, b.root FROM event AS e JOIN below AS b USING (concept) WHERE e.world >= 2
    )
    SELECT count(*) FROM patient
    WHERE patient IN (SELECT patient FROM has WHERE kind = 'diagnosis' AND root = 'breast_cancer')
      AND patient IN (
          SELECT patient FROM has WHERE kind = 'medication' AND root IN ('platinum_agent', 'targeted_therapy')
      )
      AND patient NOT IN (SELECT patient FROM has WHERE kind = 'comorbidity' AND root = 'diabetes_mellitus')
      AND patient NOT IN (SELECT patient FROM has WHERE kind = 'metastasis' AND root = 'brain')
"""
_SQL_BEFORE = """
    WITH has AS (
        SELECT e.patient, b.root, (e.low + e.high) // 2 AS day FROM event AS e JOIN below AS b USING (concept)
        WHERE e.world >= 2 AND e.kind = 'medication'
    )
    SELECT count(DISTINCT one.patient) FROM has AS one JOIN has AS other USING (patient)
    WHERE one.root = 'platinum_agent' AND other.root = 'targeted_therapy' AND other.day - one.day >= 1
"""
