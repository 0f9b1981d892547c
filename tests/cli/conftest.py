"""What the command-line tests share: a runner, and one knowledge base made of the sample records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cohortium.__main__ import app
from tests.places import SAMPLES

Command = Callable[..., Result]


def invoke(*words: object, stdin: str | bytes | None = None) -> Result:
    """Run ``cohortium`` with these words; the result has exit_code, stdout and stderr."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin, prog_name="cohortium")


@pytest.fixture(scope="session")
def run() -> Command:
    """The command line, in this process."""
    return invoke


@pytest.fixture(scope="session")
def sample_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base of the sample records, made by the command line."""
    kb = tmp_path_factory.mktemp("samples") / "samples.kb"
    result = invoke("ingest", SAMPLES, "--kb", kb)
    assert result.exit_code == 0, result.output
    return kb


@pytest.fixture
def notes_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes notes to a JSONL file; a ``str`` or ``bytes`` goes in as a line as it is."""

    def write(lines: Sequence[Mapping[str, object] | str | bytes], name: str = "notes.jsonl") -> Path:
        path = tmp_path / name
        with path.open("wb") as file:
            for line in lines:
                text = json.dumps(line) if isinstance(line, Mapping) else line
                file.write((text.encode() if isinstance(text, str) else text) + b"\n")
        return path

    return write
