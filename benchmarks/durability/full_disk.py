"""A disk that is full at one moment of a run or another: the message, the knowledge base as before, the run again.

    python -m benchmarks.durability.full_disk [--levels 24] [--json OUT]

The sample notes are read over a knowledge base that holds half of them, and its index is made again, on a file system
that has so little space left that the run ends at one moment or another. Then space is made, and the same run must end
as one that was never short of it. As root on a tmpfs of its own; otherwise each file alone is limited.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.durability.killed_runs import answers_of, write_notes
from benchmarks.signature import command_line, markdown, signature
from cohortium.ingest.run.batches import Reading, ShippedReader, shipped_reading
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.check.checking import check_kb
from cohortium.kb.check.repair import repair_index
from tests.kb.kb_states import state_of
from tests.kb.process_groups import Group, in_child

_NO_SPACE = "is there space left on the disk?"


class Disk:
    """A place whose space can be limited: ``limited`` leaves so many bytes for the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mounted = False

    @contextlib.contextmanager
    def made(self) -> Iterator[Path]:
        """A tmpfs where that is allowed, else a plain folder."""
        self.folder.mkdir()
        if os.geteuid() == 0:
            mount = ["mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", str(self.folder)]
            self.mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
        try:
            yield self.folder
        finally:
            if self.mounted:
                subprocess.run(["umount", str(self.folder)], check=True)

    def limited(self, left: int, run: Callable[[], Any]) -> Callable[[], Any]:
        """The run with so little space."""
        if self.mounted:
            self._resize(str(shutil.disk_usage(self.folder).used + left))
            return run

        def small() -> Any:
            resource.setrlimit(resource.RLIMIT_FSIZE, (left, resource.RLIM_INFINITY))
            return run()

        return small

    def widened(self) -> None:
        """Space is made."""
        if self.mounted:
            self._resize("512m")

    def _resize(self, size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], check=True)


def tried(disk: Disk, kb: Path, run: Callable[[], Any], left: int, held: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """One run with so little space, and again with enough."""
    faults = []
    short = Group(run=disk.limited(left, run)).start()
    code = short.wait()
    said = short.said()
    if code not in (0, 2) or "Traceback" in said or (code and _NO_SPACE not in said):
        faults.append(f"{left} bytes left: exit code {code}: {said[-400:]}")
    disk.widened()
    try:
        generation, answers = in_child(functools.partial(answers_of, kb))
        if held is not None and code and (generation, answers) != held:
            faults.append(f"{left} bytes left: another knowledge base than before")
    except RuntimeError as error:
        if held is not None:
            faults.append(f"{left} bytes left: {str(error)[:300]}")
    again = Group(run=run)
    # What ended well is not run again: that would be a run without anything new, which the manifest tells.
    if code and again.start().wait():
        faults.append(f"{left} bytes left, then enough: {again.said()[-300:]}")
    elif in_child(functools.partial(state_of, kb)) != wanted:
        faults.append(f"{left} bytes left, then enough: another end")
    elif findings := in_child(lambda: check_kb(kb, quick=True, progress=False).findings):
        faults.append(f"{left} bytes left, then enough: {findings}")
    short.forget()
    again.forget()
    return {"left": left, "code": code, "faults": faults}


def main() -> int:
    """0 when every run with too little space said so, changed nothing, and ended well with enough."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--levels", type=int, default=24)
    parser.add_argument("--most", type=int, default=24_000_000, help="bytes left at the highest level")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    begun = time.monotonic()
    reader = ShippedReader()
    reading = Reading(lambda: reader, shipped_reading().versions)
    results: dict[str, list[dict[str, Any]]] = {"update": [], "index made again": []}
    with tempfile.TemporaryDirectory(prefix="cohortium-full-") as name:
        folder = Path(name)
        fewer, notes = write_notes(folder / "fewer.jsonl", 1, share=0.5), write_notes(folder / "notes.jsonl", 1)
        begin, disk = folder / "begin.kb", Disk(folder / "disk")
        ingest = functools.partial(run_ingest, reading=reading, progress=False)
        in_child(lambda: ingest([fewer], begin) and None)
        held = in_child(functools.partial(answers_of, begin))
        with disk.made() as place:
            kb = place / "full.kb"
            for what, run, before in (
                ("update", lambda: ingest([notes], kb), held),
                ("index made again", lambda: repair_index(kb), held),
            ):
                shutil.copytree(begin, kb)
                in_child(lambda run=run: run() and None)
                wanted = in_child(functools.partial(state_of, kb))
                for level in range(asked.levels):
                    shutil.rmtree(kb)
                    shutil.copytree(begin, kb)
                    # Closer together where there is little: there each file more is a moment more.
                    left = int(asked.most * ((level + 1) / asked.levels) ** 2)
                    results[what].append(tried(disk, kb, run, left, before, wanted))
                shutil.rmtree(kb)
    faults = [fault for runs in results.values() for run in runs for fault in run["faults"]]
    signed = {
        **signature(command_line(), 0),
        "limited": "tmpfs" if disk.mounted else "size of a file",
        "seconds": round(time.monotonic() - begun, 1),
    }
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, **results}, indent=1) + "\n", encoding="utf-8")
    print(
        markdown(
            ("run", "levels", "ended for want of space", "ended well", "faults"),
            [
                (
                    what,
                    len(runs),
                    sum(run["code"] == 2 for run in runs),
                    sum(run["code"] == 0 for run in runs),
                    sum(len(run["faults"]) for run in runs),
                )
                for what, runs in results.items()
            ],
        )
    )
    print("\n".join(faults))
    print(", ".join(f"{key} {value}" for key, value in signed.items()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
