"""Notes that are about their patients, out of open corpora: what ``train zones --plain`` learns from.

    python -m benchmarks.reading.plain_notes DATA RECORDS --out plain.jsonl

``DATA``: the folder of the corpora; ``RECORDS``: development records (notes.jsonl). All texts of MTSamples but the 60
that stay unread (the smallest SHA-256), 150 of the first 376 pathology reports, 100 radiology reports of the seen part,
60 visits of ACI-Bench, drawn with a fixed seed, the development records and the shipped samples.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.reading.radiology import lines_of, part_of

SAMPLES: Final = Path(__file__).parents[2] / "ingest" / "samples" / "notes.jsonl"
_UNREAD_TEXTS: Final = 60
_SEEN_REPORTS: Final = 376
_SEED: Final = 5


def _notes(data: Path, records: Path) -> Iterator[Mapping[str, Any]]:
    drawn = random.Random(_SEED)
    csv.field_size_limit(10**9)
    with (data / "mtsamples" / "pt_notes.csv").open(encoding="utf-8", newline="") as file:
        texts = sorted(
            {row["text"] for row in csv.DictReader(file)}, key=lambda text: hashlib.sha256(text.encode()).digest()
        )
    yield from ({"text": text} for text in texts[_UNREAD_TEXTS:])
    yield from drawn.sample(lines_of(data / "tcga" / "notes.jsonl")[:_SEEN_REPORTS], 150)
    yield from drawn.sample(part_of(lines_of(data / "iu_xray" / "notes.jsonl"), "seen"), 100)
    with (data / "aci_bench" / "train.csv").open(encoding="utf-8", newline="") as file:
        yield from ({"text": row["note"]} for row in list(csv.DictReader(file))[:60])
    yield from lines_of(records)
    yield from lines_of(SAMPLES)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("records", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(arguments)
    with asked.out.open("w", encoding="utf-8") as file:
        for number, note in enumerate(_notes(asked.data, asked.records)):
            kept = {name: note[name] for name in ("type", "title") if note.get(name)}
            file.write(
                json.dumps({"patient_id": f"p{number}", "doc_id": str(number), "text": note["text"], **kept}) + "\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
