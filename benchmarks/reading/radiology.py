"""Findings of real chest radiology reports against those that human indexers assigned, in two parts.

    python -m benchmarks.reading.radiology --folder iu_xray --part seen|unread|all [--kb KB] [--errors N]

The folder holds ``notes.jsonl``, ``labels.jsonl`` and ``score.py``, which brings the questions and the score; it does
not ship. The 400 reports with the smallest SHA-256 of patient and text are *unread*: of them only the score is told.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest import mock

from benchmarks.signature import command_line, signature
from cohortium.ingest.run.pipeline import run_ingest

#: So many reports stay unread.
UNREAD: Final = 400
PARTS: Final = ("seen", "unread", "all")


def part_of(notes: Sequence[Mapping[str, Any]], part: str) -> list[Mapping[str, Any]]:
    """The notes of a part, in their order."""

    def digest(note: Mapping[str, Any]) -> str:
        return hashlib.sha256((note["patient_id"] + note["text"]).encode()).hexdigest()

    unread = {note["patient_id"] for note in sorted(notes, key=digest)[:UNREAD]}
    return [note for note in notes if part == "all" or (note["patient_id"] in unread) == (part == "unread")]


def questions_of(folder: Path) -> ModuleType:
    """``score.py`` of the folder as a module."""
    spec = importlib.util.spec_from_file_location("score_of_folder", folder / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    """Read a part and ask the questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--part", choices=PARTS, default="seen")
    parser.add_argument("--kb", type=Path, help="keep the knowledge base here")
    parser.add_argument("--errors", type=int, default=0, help="so many patients missed and wrongly found a question")
    arguments = parser.parse_args()
    if arguments.errors and arguments.part != "seen":
        parser.error("errors are shown of the seen part alone")
    notes = part_of(lines_of(arguments.folder / "notes.jsonl"), arguments.part)
    patients = {note["patient_id"] for note in notes}
    labels = [row for row in lines_of(arguments.folder / "labels.jsonl") if row["patient_id"] in patients]
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        _write(here / "notes.jsonl", notes)
        _write(here / "labels.jsonl", labels)
        kb = arguments.kb or here / "radiology.kb"
        run_ingest([here / "notes.jsonl"], kb)
        options = [str(here), str(kb)] + (["--misses", str(arguments.errors)] if arguments.errors else [])
        with mock.patch.object(sys, "argv", ["score.py", *options]):
            questions_of(arguments.folder).main()
    print(f"{len(notes)} reports, part {arguments.part}")
    print(json.dumps(signature(command_line(), 0)))


if __name__ == "__main__":
    main()
