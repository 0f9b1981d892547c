"""Journeys read from records that other people wrote: the bank, facts by kind, their dates, treatments by attribute.

    python -m benchmarks.reading.journey_sets FOLDER... [--kinds] [--json OUT]

Each folder holds ``notes.jsonl``, ``facts.jsonl`` and ``labels.jsonl`` (see ``journeys/README.md``). A row a folder,
and one of all together; ``--kinds`` adds the tables of all folders by kind of fact and by attribute of treatment. Of
dated facts that were matched: those that share a day with their event, and those at most 31 days from it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import cohortium
from benchmarks.reading.treatment_agreement import compare
from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.bank.acr.run import run_acr
from cohortium.eval.extraction.fact_level.gold import load_gold
from cohortium.eval.extraction.fact_level.matching import Matcher
from cohortium.ingest.abstraction.records import Abstraction, read_abstractions
from cohortium.kb.storage.reader import KnowledgeBase

#: Days within which a date is near.
NEAR: Final = 31
Tally = dict[str, Counter[str]]


def facts_of(kb: Path, facts: Path) -> Tally:
    """By kind of fact (and ``all``): facts that resolve, held, held with value, dated, met, near."""
    table: Tally = {}
    with KnowledgeBase.open(kb) as opened:
        gold = load_gold(facts)
        for patient, some in gold.patients.items():
            journey = opened.journey(patient) if patient in opened.patients else None
            matcher = Matcher(journey, opened.concepts, opened.scales)
            for fact in some:
                verdicts = [matcher.verdict(statement) for statement in fact.statements]
                if not verdicts:
                    continue
                held = all(verdict.matched for verdict in verdicts)
                days = [one.days_apart for one in verdicts if one.days_apart is not None] if held else []
                for row in (table.setdefault(name, Counter()) for name in (fact.kind, "all")):
                    row["facts"] += 1
                    row["held"] += held
                    row["with value"] += all(verdict.with_value for verdict in verdicts)
                    row["dated"] += bool(days)
                    row["met"] += bool(days) and max(days) <= 0
                    row["near"] += bool(days) and max(days) <= NEAR
    return table


def measured(folder: Path) -> dict[str, Any]:
    """What one set gives: counts of the bank, facts, and treatments by attribute."""
    with tempfile.TemporaryDirectory(prefix="cohortium-") as work:
        kb = Path(work) / "notes.kb"
        cohortium.ingest([folder / "notes.jsonl"], kb)
        bank = run_acr(kb, folder / "labels.jsonl").as_dict()
        with cohortium.open(kb) as session:
            people = [one for one in read_abstractions(folder / "facts.jsonl") if isinstance(one, Abstraction)]
            treatments = compare(session, people)
        facts = facts_of(kb, folder / "facts.jsonl")
    by_attribute: Tally = {}
    for rows in treatments.values():
        for name, row in rows.items():
            by_attribute.setdefault(name, Counter()).update(row)
    right = {name: sum(one[name] for one in bank["queries"]) for name in ("tp", "fp", "fn")}
    return {"bank": Counter(right), "zero": bank["zero_result_false_positives"], "facts": facts,
            "treatments": by_attribute}  # fmt: skip


def merged(tallies: Iterable[Tally]) -> Tally:
    """The sums of several."""
    total: Tally = {}
    for tally in tallies:
        for name, row in tally.items():
            total.setdefault(name, Counter()).update(row)
    return total


def row_of(name: str, bank: Mapping[str, int], zero: int, facts: Mapping[str, int]) -> tuple[object, ...]:
    """The row of a set."""
    precision = share(bank["tp"], bank["tp"] + bank["fp"])
    recall = share(bank["tp"], bank["tp"] + bank["fn"])
    f1 = share(2 * bank["tp"], 2 * bank["tp"] + bank["fp"] + bank["fn"])
    return (name, f"{f1:.3f}", f"{precision:.3f}", f"{recall:.3f}", zero, facts["facts"], *shares(facts))


def shares(row: Mapping[str, int]) -> tuple[str, ...]:
    """Held, held with value, met and near, as shares."""
    return (
        f"{share(row['held'], row['facts']):.3f}",
        f"{share(row['with value'], row['facts']):.3f}",
        f"{share(row['met'], row['dated']):.3f}",
        f"{share(row['near'], row['dated']):.3f}",
    )


def share(part: int, whole: int) -> float:
    """0 of nothing."""
    return part / whole if whole else 0.0


def main() -> None:
    """Read each set, print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sets = {folder.name: measured(folder) for folder in options.folders}
    every = {
        "bank": sum((one["bank"] for one in sets.values()), Counter()),
        "zero": sum(one["zero"] for one in sets.values()),
        "facts": merged(one["facts"] for one in sets.values()),
        "treatments": merged(one["treatments"] for one in sets.values()),
    }
    rows = [row_of(name, one["bank"], one["zero"], one["facts"]["all"]) for name, one in {**sets, "all": every}.items()]
    header = ("set", "F1", "P", "R", "zero FP", "facts", "recall", "with value", "dates meet", "within 31 days")
    print(markdown(header, rows))
    if options.kinds:
        by_kind = [(kind, row["facts"], *shares(row)) for kind, row in sorted(every["facts"].items())]
        print("\n" + markdown(("kind", "facts", *header[-4:]), by_kind))
        by_attribute = [
            (name, row["facts"], f"{share(row['read'], row['facts']):.3f}", f"{share(row['same'], row['facts']):.3f}")
            for name, row in every["treatments"].items()
        ]
        print("\n" + markdown(("attribute of treatments", "facts", "read", "the same"), by_attribute))
    print("\n" + command_line())
    if options.json:
        options.json.write_text(json.dumps({**signature(command_line(), 0), "sets": sets}, indent=1) + "\n")


if __name__ == "__main__":
    main()
