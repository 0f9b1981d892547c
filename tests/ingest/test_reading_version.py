"""The version of the reading covers every file that reading a note opens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cohortium
from cohortium.ingest.run.batches import version_files

TREE = Path(cohortium.__file__).parent
WATCHED = """
import sys
opened = set()
sys.addaudithook(lambda event, given: opened.add(given[0]) if event == "open" and isinstance(given[0], str) else None)
import cohortium
from cohortium.ingest.run.batches import ShippedReader
ShippedReader()
cohortium.read("ER+ breast cancer with bone metastases, stage IV, on letrozole since 3/4/2020.", "2020-05-01")
print("\\n".join(sorted(opened)))
"""


def test_every_data_file_that_reading_opens_is_part_of_the_version() -> None:
    """A kb is read again when one of them changes; one that is left out leaves old facts standing."""
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    known = {path.resolve() for path in version_files()}
    opened = {
        Path(name).resolve() for name in done.stdout.splitlines() if name.endswith((".toml", ".tsv", ".json", ".npz"))
    }
    read = {path for path in opened if TREE.resolve() in path.parents}
    assert len(read) > 20
    #: What a query, a file or a terminal asks for says nothing of how a note is read.
    others = {"limits.toml"}
    missing = {path.relative_to(TREE.resolve()).as_posix() for path in read - known if path.name not in others}
    assert not missing
