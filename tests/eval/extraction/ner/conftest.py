"""Invented trials for the scoring of entities, and the corpus beside the checkout where it lies there."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from tests.places import SHARED

PLACE = SHARED / "data" / "neurotrialner"

Table = Callable[..., Path]
Told = Callable[..., dict[str, Any]]

#: Fictional trials: tokens, tags, text, tuples.
TRIALS: tuple[Mapping[str, str], ...] = (
    {
        "nct_id": "NCT1",
        "text": "Larkadol for restless legs syndrome (RLS) | RLS is common.",
        "tokens": repr(
            ["Larkadol", "for", "restless", "legs", "syndrome", "(", "RLS", ")", "|", "RLS", "is", "common", "."]
        ),
        "ner_tags": repr(
            ["B-DRUG", "O", "B-COND", "I-COND", "I-COND", "O", "B-COND", "O", "O", "B-COND", "O", "O", "O"]
        ),
        "ner_manual_ct_target": repr(
            [
                (0, 8, "DRUG", "Larkadol"),
                (13, 35, "CONDITION", "restless legs syndrome"),
                (37, 40, "CONDITION", "RLS"),
                (44, 47, "CONDITION", "RLS"),
            ]
        ),
    },
    {
        "nct_id": "NCT2",
        "text": "Chair yoga versus usual care",
        "tokens": repr(["Chair", "yoga", "versus", "usual", "care"]),
        "ner_tags": repr(["B-PHYS", "I-PHYS", "O", "B-CTRL", "I-CTRL"]),
        "ner_manual_ct_target": repr([(0, 10, "PHYSICAL", "Chair yoga"), (18, 28, "CONTROL", "usual care")]),
    },
)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes rows as a table and gives its path."""

    def write(rows: list[Mapping[str, str]], name: str = "predictions.csv") -> Path:
        path = tmp_path / name
        header = list(dict.fromkeys(key for row in rows for key in row))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture
def trials(table: Table) -> Path:
    """The invented corpus as a table."""
    return table(list(TRIALS), "corpus.csv")


@pytest.fixture
def told() -> Told:
    """Runs ``eval ner`` and gives its object."""

    def run(corpus: Path, predictions: Path, *words: object) -> dict[str, Any]:
        given = ["eval", "ner", "--corpus", corpus, "--predictions", predictions, *words, "--format", "json"]
        result = CliRunner().invoke(app, [str(word) for word in given], prog_name="cohortium")
        assert result.exit_code == 0, result.output
        told: dict[str, Any] = json.loads(result.output)
        return told

    return run


def _done(words: tuple[object, ...]) -> Any:
    return CliRunner().invoke(app, ["eval", *map(str, words), "--format", "json"], prog_name="cohortium")


@pytest.fixture
def run() -> Told:
    """Runs a command of ``eval`` and gives its object."""

    def run(*words: object) -> dict[str, Any]:
        result = _done(words)
        assert result.exit_code == 0, result.output
        told: dict[str, Any] = json.loads(result.stdout)
        return told

    return run


@pytest.fixture
def refused() -> Callable[..., str]:
    """Runs a command of ``eval`` that is refused as a wrong use, and gives what it says."""

    def refused(*words: object) -> str:
        result = _done(words)
        assert result.exit_code == 2, result.output
        return str(result.stderr or result.output)

    return refused


@pytest.fixture(scope="session")
def authors() -> Callable[[str], Path]:
    """A file of the corpus beside the checkout; the test is skipped when it is not there."""

    def find(name: str) -> Path:
        path = PLACE / name
        if not path.exists():
            pytest.skip(
                f"no data/neurotrialner/{name} in the shared folder;"
                " set COHORTIUM_SHARED to the folder that holds data/"
            )
        return path

    return find
