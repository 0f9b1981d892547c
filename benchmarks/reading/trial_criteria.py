"""Criteria of real trials put to the translator from English: how many it reads, offers in several readings, declines.

    python -m benchmarks.reading.trial_criteria criteria_to_logic_train.json --sample 200 --seed 1 --out criteria.json

The file is a list of objects with the text of a criterion as ``intent``. The sample is written with what became of
each; whether a reading is right is a person's to judge: put ``"verdict": "right"`` or ``"wrong"`` into it,
and give it back with ``--judged`` for the table.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.signature import command_line, markdown, signature
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.english.translate import translate


def main() -> None:
    """Translate the sample, or count the verdicts on one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("criteria", type=Path)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--judged", type=Path)
    options = parser.parse_args()
    if options.judged is None:
        rows = read(drawn(options.criteria, options.sample, options.seed))
        if options.out is not None:
            options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    else:
        rows = json.loads(options.judged.read_text(encoding="utf-8"))
    print(table(rows))
    print(json.dumps(signature(command_line(), options.seed)))


def drawn(file: Path, sample: int, seed: int) -> list[tuple[int, str]]:
    """Criteria drawn at random, each with its place in the file; each text once."""
    texts = {one["intent"].strip(): at for at, one in enumerate(json.loads(file.read_text(encoding="utf-8")))}
    told = sorted((at, text) for text, at in texts.items() if text)
    return sorted(Random(seed).sample(told, min(sample, len(told))))


def read(criteria: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """What became of each criterion."""
    concepts, scales = ConceptTable.from_files(), Scales.from_files()
    rows = []
    for place, text in criteria:
        found = translate(text, concepts, scales)
        outcome = "read" if len(found.readings) == 1 else "several readings" if found.readings else "declined"
        rows.append(
            {
                "place": place,
                "text": text,
                "outcome": outcome,
                "queries": [reading.text for reading in found.readings],
                "understood": found.understood,
                "unread": list(found.unread),
                "reason": found.reason,
            }
        )
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Counts and shares of the outcomes, those that are read by verdict where there is one."""
    counts = Counter(" ".join(filter(None, (row["outcome"], row.get("verdict", "")))) for row in rows)
    total = max(1, len(rows))
    return markdown(("outcome", "criteria", "share"), [(name, n, n / total) for name, n in sorted(counts.items())])


if __name__ == "__main__":
    main()
