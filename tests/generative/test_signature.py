"""What a measurement says of itself: a command that can be given again elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from signature import command_line


def test_the_command_tells_no_place_of_one_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of an absolute path its last part is recorded, also behind an equals sign; every other word as it was given."""
    words = [
        str(tmp_path / "script.py"),
        "--seed",
        "1",
        "--json",
        str(tmp_path / "a.json"),
        f"--out={tmp_path / 'b'}",
        "c/d",
    ]
    monkeypatch.setattr(sys, "argv", words)
    assert command_line() == "python benchmarks/script.py --seed 1 --json a.json --out=b c/d"
