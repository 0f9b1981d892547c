"""Open corpora beside the checkout, no part of it: where they lie, and a skip that says so when they do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from tests.places import SHARED

# The measurement of coverage is a script of the benchmarks.
PARTS = ("stored", "unchanged", "superseding", "quarantined")

Corpus = Callable[[str], Path]
Told = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The path of a corpus below the shared folder; the test is skipped when it is not there."""

    def find(name: str) -> Path:
        path = SHARED / "data" / name
        if not path.exists():
            pytest.skip(f"no data/{name} in the shared folder; set COHORTIUM_SHARED to the folder that holds data/")
        return path

    return find


@pytest.fixture(scope="session")
def terminology() -> Corpus:
    """The path of a terminology's file below the shared folder; the test is skipped when it is not there."""

    def find(name: str) -> Path:
        path = SHARED / "ontology" / name
        if not path.exists():
            pytest.skip(
                f"no ontology/{name} in the shared folder; set COHORTIUM_SHARED to the folder that holds ontology/"
            )
        return path

    return find


@pytest.fixture(scope="session")
def told() -> Told:
    """Runs a command with --format json and gives its object; a sum of notes in it is checked."""

    def run(*words: object) -> dict[str, Any]:
        result = CliRunner().invoke(app, [*map(str, words), "--format", "json"], prog_name="cohortium")
        assert result.exit_code == 0, result.output
        answer: dict[str, Any] = json.loads(result.stdout)
        if "notes_in" in answer:
            assert answer["notes_in"] == sum(answer[part] for part in PARTS)
        return answer

    return run
