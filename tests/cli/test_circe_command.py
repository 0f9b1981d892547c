"""``import-circe``: the query, what it says, what was not carried."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from tests.places import ROOT

Command = Callable[..., Result]
DOCUMENTS = ROOT / "tests" / "query_lang" / "circe" / "documents"


def test_a_definition_is_told_as_a_query(run: Command, sample_kb: Path) -> None:
    """For people and as JSON; with a knowledge base also how many it finds, as the query itself does."""
    told = run("import-circe", DOCUMENTS / "lung_egfr.json")
    assert told.exit_code == 0, told.output
    assert "medication osimertinib within 180 days after first diagnosis lung adenocarcinoma" in told.stdout
    assert "not carried" in told.stdout
    found = json.loads(run("import-circe", DOCUMENTS / "lung_egfr.json", "--kb", sample_kb, "--format", "json").stdout)
    asked = json.loads(run("query", sample_kb, found["query"], "--format", "json").stdout)
    assert found["count"] == asked["count"]
    assert found["faithful"] is True
    assert {row["effect"] for row in found["not_carried"]} == {"none"}
    assert {row["how"] for row in found["mapped"]} == {"code"}


def test_what_is_no_definition_has_an_exit_code(run: Command, tmp_path: Path) -> None:
    """3 for a definition of which nothing can be asked or that is none, 2 for a file that is not there."""
    assert run("import-circe", DOCUMENTS / "nothing_known.json").exit_code == 3
    (tmp_path / "x.json").write_text("[]")
    assert run("import-circe", tmp_path / "x.json").exit_code == 3
    assert run("import-circe", tmp_path / "none.json").exit_code == 2
