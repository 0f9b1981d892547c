"""Short forms that texts define themselves: how many definitions are found, how many long forms the ontology names.

    python -m benchmarks.reading.local_abbreviations FILE.csv FOLDER ... [--sample 50] [--seed 1]

A CSV file has its texts in the column ``text`` (or the one that ``--column`` names), a folder in its ``.txt`` files;
equal texts count once. ``--sample`` prints so many definitions, drawn with the seed, to be judged by eye.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Iterator
from pathlib import Path

from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.recognizers.short_forms import Abbreviations, definitions
from cohortium.ingest.text.frame import Frame
from cohortium.kb.model import Note


def texts_of(source: Path, column: str) -> Iterator[str]:
    """The texts of a CSV file or a folder."""
    if source.is_dir():
        for path in sorted(source.glob("*.txt")):
            yield path.read_text("utf-8-sig")
        return
    csv.field_size_limit(100_000_000)
    with source.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield row[column]


def main() -> None:
    """Print a line for each source, and the sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    recognizer = Abbreviations(shared_reader().lexicon)
    found = []
    for source in asked.sources:
        texts = sorted(set(texts_of(source, asked.column)))
        here = [(text[one.start : one.end], one.short) for text in texts for one in definitions(text)]
        named = sum(recognizer.meaning(long) is not None for long, _ in here)
        places = sum(1 for text in texts for _ in recognizer.find(Frame(Note("", "", text))))
        print(f"{source.name}: {len(texts)} texts, {len(here)} definitions, {named} of known names, {places} places")
        found += here
    for long, short in sorted(random.Random(asked.seed).sample(found, min(asked.sample, len(found)))):
        print(f"  {short:12} {' '.join(long.split())}")


if __name__ == "__main__":
    main()
