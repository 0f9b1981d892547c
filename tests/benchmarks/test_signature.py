"""What a measurement says of itself: a command that can be given again elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.signature import command_line
from tests.places import ROOT


def test_the_command_tells_no_place_of_one_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of an absolute path its last part is recorded, also behind an equals sign; every other word as it was given."""
    words = [
        str(ROOT / "benchmarks" / "reading" / "gap.py"),
        "--seed",
        "1",
        "--json",
        str(tmp_path / "a.json"),
        f"--out={tmp_path / 'b'}",
        "c/d",
    ]
    monkeypatch.setattr(sys, "argv", words)
    assert command_line() == "python -m benchmarks.reading.gap --seed 1 --json a.json --out=b c/d"
