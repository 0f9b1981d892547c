"""The benchmark of scale: its SQL means what the queries mean, contenders take turns, the report shows what is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import cohortium
from benchmarks.scale import generated_kb
from benchmarks.scale import questions as scale_questions
from benchmarks.scale.atoms import Atom, Common
from benchmarks.scale.openmed import both, criterion, no, phenotype
from benchmarks.scale.queries import Differs, _row
from benchmarks.scale.questions import Chosen, Question, has
from benchmarks.scale.report import joined, page
from benchmarks.scale.rival_process import HINT, RivalFailed, RivalMissing, RivalProcess
from benchmarks.scale.sql import SqlSide
from benchmarks.scale.turns import Patience, Spent, by_turns, spread
from cohortium.kb.storage.layout import DATABASE, Layout

PATIENTS = 1_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small made-up knowledge base."""
    path = tmp_path_factory.mktemp("scale") / "x.kb"
    generated_kb.make_kb(path, PATIENTS)
    return path


def test_sql_finds_the_patients_that_the_queries_find(made: Path, tmp_path: Path) -> None:
    """Both variants of SQL give the same sets of patients for every shape; another question's SQL is found out."""
    layout = Layout(made)
    with cohortium.open(made) as kb:
        sql = SqlSide(layout.generation(layout.require_current()) / DATABASE, tuned=True, folder=tmp_path)
        chosen = Chosen.of(Common.of(kb, sql.database))
        asked = list(scale_questions.questions(kb, sql, chosen))
        found = {question.name: _row(kb, sql, question)["count"] for question in asked}
        assert {question.shape for question in asked} == {
            "single concept", "descendants", "and, or, not", "attribute range", "same tumor", "before", "after",
            "within", "count", "sequence",
        }  # fmt: skip
        assert found["single concept"] > found["five-way and/or/not"] > 0
        wrong = Question("single concept", "wrong", chosen.many.text, has(chosen.broad))
        with pytest.raises(Differs, match="patients are ours alone"):
            _row(kb, sql, wrong)
        sql.close()
    assert not list(tmp_path.iterdir())


def test_contenders_take_turns_until_each_has_had_enough() -> None:
    """A quick one is asked most often, a slow one at least so often; nobody twice before everybody once."""
    order: list[str] = []

    def taking(name: str, seconds: float) -> Any:
        def call() -> Spent:
            order.append(name)
            return Spent(seconds, 2 * seconds)

        return call

    patience = Patience(least=2, most=5, seconds=1.0, warm_up=1)
    found = by_turns({"quick": taking("quick", 0.01), "slow": taking("slow", 5.0)}, patience)
    assert {name: one.rounds for name, one in found.items()} == {"quick": 5, "slow": 2}
    assert order == ["quick", "slow", "quick", "slow", "quick", "slow", "quick", "quick", "quick"]
    assert found["slow"].median == 5000
    assert found["slow"].processor == 10_000


def test_a_spread_has_the_middle_and_the_quarters() -> None:
    """Of five rounds: the third, the second and fourth, the first and last."""
    found = spread([Spent(one / 1000, 0) for one in (5, 1, 3, 2, 4)])
    assert (found.median, *found.quartiles, *found.extremes) == pytest.approx((3, 2, 4, 1, 5))


def test_a_phenotype_has_the_set_of_each_criterion() -> None:
    """Sets are gathered from wherever the criteria stand, and criteria name them."""
    one, other = (Atom("medication", name, name, 0.1, 1) for name in ("a", "b"))
    made = phenotype(both(criterion("x", one, relative=("y", 90, 0)), no(criterion("y", other, minimum=2))))
    assert [(one["id"], one["concept_ids"]) for one in made["concept_sets"]] == [
        ("set_x", [("medication", "a")]),
        ("set_y", [("medication", "b")]),
    ]
    first, second = made["expression"]["children"]
    assert first["criterion"]["temporal"] == {"anchor_criterion": "y", "days_before": 90, "days_after": 0}
    assert second["children"][0]["criterion"]["occurrence"] == {"minimum": 2}
    assert "concept_set" not in first


def test_a_missing_rival_is_told_with_how_to_get_it(tmp_path: Path) -> None:
    """No interpreter, and one that cannot do what is asked: an error that says so."""
    with pytest.raises(RivalMissing, match="no interpreter") as caught:
        RivalProcess(tmp_path / "python")
    assert HINT in str(caught.value)
    with RivalProcess(sys.executable) as rivals, pytest.raises(RivalFailed, match="keep_texts"):
        rivals.ask("keep_texts", nothing="of the kind")


def report(patients: int, median: float, name: str = "single <concept>") -> dict[str, Any]:
    """What a run tells of one question in one knowledge base."""
    times = {"quartiles_ms": [1.0, 2.0], "extremes_ms": [1.0, 2.0], "processor_ms": 1.0, "rounds": 3}
    measured = {"cohortium": {"median_ms": median, **times}, "plain SQL": {"median_ms": 10 * median, **times}}
    return {
        "machine": {"cores": 2},
        "signatures": [{"command": f"python -m benchmarks.scale.benchmark {patients}"}],
        "ingest": [],
        "knowledge_bases": [
            {
                "patients": patients,
                "events": 60 * patients,
                "storage": {"database_bytes": 6000 * patients, "index_bytes": 600 * patients},
                "tuned_sql": {},
                "facts": {},
                "cold": {
                    "first_ms": {name: 7.0},
                    "open_ms": 20.0,
                    "whole_process_ms": {"median": 900.0},
                    "peak_memory_bytes": {"one query": 1e8, "all": 2e8},
                },
                "questions": [
                    {"shape": "x", "name": name, "text": "a & b", "count": 5, "measured": measured},
                ],
            }
        ],
    }


def test_runs_are_joined_and_the_later_one_stands() -> None:
    """Of a size that was measured twice the later figures are shown; other sizes are kept, and all signatures."""
    found = joined([report(10_000, 1.0), report(100_000, 3.0), report(10_000, 2.0)])
    assert [
        (kb["patients"], kb["questions"][0]["measured"]["cohortium"]["median_ms"]) for kb in found["knowledge_bases"]
    ] == [
        (100_000, 3.0),
        (10_000, 2.0),
    ]
    assert len(found["signatures"]) == 3


def test_the_page_shows_times_growth_and_ratios() -> None:
    """Medians by size, growth from one to the next, times faster than SQL; all text escaped, drawings in the page."""
    shown = page(joined([report(10_000, 1.5), report(100_000, 6.0)]))
    assert "single &lt;concept&gt;" in shown
    assert "single <concept>" not in shown
    assert "1.5 (1–2)" in shown
    assert "100,000 against 10,000 (× 10)" in shown
    assert '<td class="number">4</td>' in shown
    assert shown.count("<svg") >= 2
    assert "http" not in shown
