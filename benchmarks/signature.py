"""What a generated measurement says of itself: command, seed, versions, commit; and its tables as Markdown."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import cohortium
import cohortium.eval.report.signature
from tests.places import ROOT


def signature(command: str, seed: int) -> dict[str, Any]:
    """By which the run can be repeated. ``commit`` is empty outside a checkout; + after it: files were changed."""
    return {
        "command": command,
        "seed": seed,
        "cohortium": cohortium.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
    }


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"]
    try:
        return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; shares (floats from 0 to 1) as percentages."""
    lines = [header, ["---"] * len(header), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return f"{100 * cell:.1f}%"
    return f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|")


def command_line() -> str:
    """The command as it was given, without where on this machine the interpreter and the files lie."""
    script = Path(sys.argv[0]).resolve()
    inside = script.is_relative_to(ROOT)
    program = ("-m", ".".join(script.relative_to(ROOT).with_suffix("").parts)) if inside else (script.name,)
    return cohortium.eval.report.signature.command_line("python", *program)
