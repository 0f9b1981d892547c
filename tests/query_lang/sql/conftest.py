"""What the tests of SQL share: the strategies of queries, and one knowledge base of the sample notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.engine.api import OpenKb
from cohortium.engine.api import open as open_kb
from tests.places import SAMPLES


@pytest.fixture(scope="session")
def sample_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the knowledge base of the sample notes."""
    path = tmp_path_factory.mktemp("sql") / "samples.kb"
    notes = SAMPLES
    done = CliRunner().invoke(app, ["ingest", str(notes), "--kb", str(path)], prog_name="cohortium")
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="session")
def kb(sample_path: Path) -> Iterator[OpenKb]:
    """The knowledge base of the sample notes, open."""
    with open_kb(sample_path) as opened:
        yield opened
