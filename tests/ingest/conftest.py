"""What the tests of the run share: source files, and the run with the stub reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Writes a JSONL file."""

    from tests.ingest.made_notes import as_bytes

    def write(lines: Sequence[Mapping[str, object] | str | bytes], name: str = "notes.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(as_bytes(lines))
        return path

    return write


@pytest.fixture
def ingest(tmp_path: Path) -> Callable[..., Any]:
    """Runs the ingest with the stub reading, into ``x.kb`` unless told otherwise; checks that the sum is right."""
    from cohortium.ingest.run.pipeline import run_ingest
    from tests.ingest.stub_reading import stub

    def run(*sources: Path, kb: str = "x.kb", **more: Any) -> Any:
        report = run_ingest(sources, tmp_path / kb, **{"reading": stub(), "progress": False, **more})
        assert report.balanced
        return report

    return run
