"""The files of the package that the reading of one short note enters: how far its code lies scattered.

    python -m benchmarks.reading.entered_files --notes notes.jsonl [--most 50] [--length 500] [--list]

Of each note the first so many characters are read. A file counts as entered when one of its functions runs while
``NoteReader.read`` does; the reader is built, and has read the same notes once, before that: what is read once a
process (word lists, patterns) is left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import cohortium
from benchmarks.reading.ablation import read_notes
from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import Note

PACKAGE = Path(cohortium.__file__).resolve().parent


def entered(reader: NoteReader, note: Note) -> frozenset[str]:
    """The files of the package of which a function runs while the note is read, as paths from its root."""
    names: set[str] = set()

    def called(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            names.add(frame.f_code.co_filename)

    sys.setprofile(called)
    try:
        reader.read(note)
    finally:
        sys.setprofile(None)
    paths = (Path(name).resolve() for name in names if not name.startswith("<"))
    return frozenset(str(path.relative_to(PACKAGE)) for path in paths if path.is_relative_to(PACKAGE))


def shortened(notes: Path, most: int, length: int) -> list[Note]:
    """The first so many notes that are long enough, cut to this length."""
    every = [note for of_patient in read_notes(notes).values() for note in of_patient if len(note.text) >= length]
    return [dataclasses.replace(note, text=note.text[:length]) for note in every[:most]]


def measure(notes: Sequence[Note]) -> list[frozenset[str]]:
    """The files that each note enters."""
    reader = NoteReader.from_ontology()
    for note in notes:
        reader.read(note)
    return [entered(reader, note) for note in notes]


def main() -> None:
    """Mean, least and most; with ``--list`` each file with the share of the notes that enter it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--most", type=int, default=50, help="so many notes")
    parser.add_argument("--length", type=int, default=500, help="characters of each")
    parser.add_argument("--list", action="store_true", help="name the files")
    given = parser.parse_args()
    found = measure(shortened(given.notes, given.most, given.length))
    sizes = [len(files) for files in found]
    print(f"{len(sizes)} notes: {statistics.mean(sizes):.1f} files entered ({min(sizes)} to {max(sizes)})")
    if given.list:
        for path, times in Counter(path for files in found for path in files).most_common():
            print(f"{times / len(found):5.0%}  {path}")


if __name__ == "__main__":
    main()
