"""``import-circe``: the query, what it says, what was not carried."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
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


@pytest.mark.parametrize("command", ["query", "ask", "sql"])
def test_standard_input_without_end_is_refused(
    run: Command, sample_kb: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read as far as a query may go, and the exit code is 2."""

    class _Endless:
        taken = 0

        def read(self, amount: int = -1) -> bytes:
            assert 0 <= amount < 1 << 20, "all of it is asked for"
            self.taken += amount
            return b"a" * amount

    endless = _Endless()
    monkeypatch.setattr("cohortium.engine.commands.options.sys", SimpleNamespace(stdin=SimpleNamespace(buffer=endless)))
    found = run(command, sample_kb, "-")
    assert found.exit_code == 2, found.output
    assert 0 < endless.taken < 1 << 20


def test_a_device_is_no_definition(run: Command, sample_kb: Path) -> None:
    """It has no end: exit 2, for a definition of a cohort and for a file of definitions."""
    assert run("import-circe", "/dev/zero").exit_code == 2
    assert run("query", sample_kb, "sex female", "--definitions", "/dev/zero").exit_code == 2
