"""A write that is killed before any of its steps leaves a whole knowledge base, and can be done again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from cohortium.kb.ontology.concepts import ConceptTable
from tests.places import ROOT


def test_a_write_killed_at_its_steps(tmp_path: Path, concepts: ConceptTable) -> None:
    """Killed before the first, the last and some steps between, the old or the new generation opens with its answers;
    the same write then ends as one that was never killed: equal tables, equal index, equal id."""
    words = [sys.executable, "-m", "tests.kb.killed_writer", str(tmp_path / "ontology"), str(tmp_path), "6"]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["steps"] > 20
    assert {one["code"] for one in told["tried"]} == {-9}
    assert [one for one in told["tried"] if not (one["opens"] and one["same"])] == []
