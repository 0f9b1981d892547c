"""Copied sentences that were edited: how many are recognised, and how many sentences of others pass for copies.

    python -m benchmarks.reading.edited_copies NOTES.jsonl ... [--seed 1]

Every long sentence that states something is edited (1 to 4 of its words changed, added or left out, at random) and held
against itself among all the sentences of all patients; then each, unedited, against those of all other patients.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from cohortium.ingest.journey.copies import Copies, long_sentences
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import Note


def sentences_of(path: Path) -> Iterator[tuple[str, str]]:
    """Patient and text of each long sentence that holds a mention."""
    reader = shared_reader()
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        read = reader.read(Note(row["patient_id"], row["doc_id"], row["text"]))
        for start, end in sorted({mention.sentence for mention in read.mentions}):
            text = row["text"][start:end]
            if long_sentences(text, [(0, len(text))]):
                yield row["patient_id"], text


def edited(text: str, edits: int, chance: random.Random) -> str:
    """``text`` with so many words changed, added or left out."""
    words = text.split()
    for _ in range(edits):
        at = chance.randrange(len(words))
        words[at : at + 1] = chance.choice(([], ["altered"], [words[at], "added"]))
        words = words or ["altered"]
    return " ".join(words)


def is_copied(copies: Copies, text: str) -> bool:
    """Whether the sentence is a copy of one that ``copies`` holds; it is held from now on."""
    return bool(copies.copied(text, {(0, len(text)): [("said",)]}))


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notes", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    by_text: dict[str, str] = {}
    for path in asked.notes:
        for patient, text in sentences_of(path):
            by_text.setdefault(text, patient)
    print(f"{len(by_text)} different long sentences")
    for edits in range(1, 5):
        copies, found = Copies(), 0
        for text in by_text:
            is_copied(copies, text)
        for text in by_text:
            found += is_copied(copies, edited(text, edits, chance))
        print(f"{edits} edited words: {found / len(by_text):.1%} recognised")
    copies, found = Copies(), 0
    for text in by_text:
        found += is_copied(copies, text)
    print(f"unedited, against the earlier ones of everybody: {found / len(by_text):.1%} pass for copies")


if __name__ == "__main__":
    main()
