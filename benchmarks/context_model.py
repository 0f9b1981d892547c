"""The context model against the rules on sentences held aside: alone, and in each combination with them.

    python benchmarks/context_model.py [--negex TSV] [--maccrobat DIR] [--marked DIR] [--notes JSONL --facts JSONL]
        [--save OUT.npz] [--json OUT]

Five folds by a hash of sentence or document; what a threshold or temperature is chosen on lies outside the fold that it
is used in. The difference to the rules is that of accuracy over all examples of the source, with the 95% interval of a
bootstrap that draws the same sentences or documents of both. Scores of a NegEx condition are those of
``eval.negex``: negated or not, uncertain counts as not.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
from signature import command_line, markdown, signature

from cohortium.eval.measures.bootstrap import paired_interval
from cohortium.eval.measures.metrics import F1, FALSE_POSITIVE_RATE
from cohortium.eval.measures.scoring import Counts, value
from cohortium.eval.training.assertion import HeldAside, Recipe, held_aside, other_sources, train
from cohortium.eval.training.assertion_examples import (
    Example,
    Watcher,
    from_facts,
    from_marked,
    from_negex,
    from_reports,
)
from cohortium.ingest.models.assertion_model.classifier import PARTS
from cohortium.ingest.models.assertion_model.second_reading import HOW, combined

#: Probabilities from which the model is heard; above 1 it never is.
SURE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
RECIPES = {"": Recipe(), ", knowing the rules": Recipe(knows_rules=True)}


def read_as(example: Example, part: str) -> str:
    """What the rules read, in the values of the model."""
    read = str(getattr(example.read, part))
    return {"other": "family", "planned": "hypothetical"}.get(read, read)


def is_right(example: Example, part: str, said: str) -> bool:
    """Whether a value is as marked; of a NegEx sentence only one of two is marked."""
    marked = getattr(example.gold, part)
    positive = {"polarity": "absent", "temporality": "historical", "experiencer": "family"}[part]
    if example.source == "negex":
        return (said == positive) == (marked == positive)
    return bool(said == marked)


def cued(example: Example) -> bool:
    """Whether a cue had a say in what the rules read."""
    return read_as(example, "polarity") != "present" or bool(example.cues)


def argmax(part: str, row: Any) -> str:
    """The likeliest value."""
    return PARTS[part][int(numpy.argmax(row))]


def chosen(examples: Sequence[Example], probabilities: Any, which: Any, part: str, how: Any) -> float:
    """The threshold with the most right answers among some examples; of equals the highest."""

    def right(sure: float) -> int:
        return sum(
            is_right(examples[at], part, taken(examples[at], probabilities[at], part, how, sure)) for at in which
        )

    return max(SURE, key=lambda sure: (right(sure), sure))


def taken(example: Example, row: Any, part: str, how: Any, sure: float) -> str:
    """What a combination takes; of temporality current and historical alone are turned into each other."""
    rules = read_as(example, part)
    if part == "polarity":
        return combined(rules, cued(example), dict(zip(PARTS[part], map(float, row), strict=True)), how, sure)
    said = argmax(part, row)
    return said if row.max() >= sure and {rules, said} <= {"current", "historical"} else rules


def combination(
    examples: Sequence[Example], aside: HeldAside, part: str, how: Any = None
) -> tuple[list[str], list[float]]:
    """What a combination takes of each example, its threshold chosen outside the example's fold."""
    said = [""] * len(examples)
    thresholds = []
    marked = numpy.array([bool(getattr(one.gold, part)) for one in examples])
    for number, inner in enumerate(aside.inner):
        sure = chosen(examples, inner, numpy.flatnonzero((aside.fold != number) & marked), part, how)
        thresholds.append(sure)
        for at in numpy.flatnonzero(aside.fold == number):
            said[at] = taken(examples[at], aside.probabilities[at], part, how, sure)
    return said, thresholds


def counts_of(examples: Sequence[Example], said: Sequence[str], part: str, wanted: str) -> list[Counts]:
    """Of each group, in order: found and marked, only found, only marked, neither."""
    by_group: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for one, word in zip(examples, said, strict=True):
        by_group[one.group][word == wanted, getattr(one.gold, part) == wanted] += 1
    return [
        Counts(tp=c[True, True], fp=c[True, False], fn=c[False, True], tn=c[False, False])
        for _, c in sorted(by_group.items())
    ]


def right_counts(examples: Sequence[Example], said: Sequence[str], part: str) -> list[Counts]:
    """Of each group: how many are right, as false positives of a rate that is then the accuracy."""
    by_group: dict[str, Counter[bool]] = defaultdict(Counter)
    for one, word in zip(examples, said, strict=True):
        by_group[one.group][is_right(one, part, word)] += 1
    return [Counts(fp=c[True], tn=c[False]) for _, c in sorted(by_group.items())]


def scores(
    examples: Sequence[Example], said: Sequence[str], rules: Sequence[str], part: str, seed: int
) -> dict[str, Any]:
    """F1 of each value, accuracy, its difference to the rules with interval, and what was mended and broken."""
    f1 = {
        wanted: value(F1, sum(counts_of(examples, said, part, wanted), Counts()))
        for wanted in PARTS[part]
        if any(getattr(one.gold, part) == wanted for one in examples)
    }
    ours, theirs = right_counts(examples, said, part), right_counts(examples, rules, part)
    pairs = [
        (is_right(one, part, word), is_right(one, part, rule))
        for one, word, rule in zip(examples, said, rules, strict=True)
    ]
    return {
        "f1": f1,
        "accuracy": value(FALSE_POSITIVE_RATE, sum(ours, Counts())),
        "difference": value(FALSE_POSITIVE_RATE, sum(ours, Counts()))
        - value(FALSE_POSITIVE_RATE, sum(theirs, Counts())),  # type: ignore[operator]
        "ci": paired_interval(FALSE_POSITIVE_RATE, ours, theirs, seed=seed),
        "mended": sum(one and not other for one, other in pairs),
        "broken": sum(other and not one for one, other in pairs),
    }


def calibration(examples: Sequence[Example], aside: HeldAside) -> list[tuple[str, int, float, float]]:
    """Of each band of confidence: examples, mean confidence, share right."""
    bands: dict[float, list[tuple[float, bool]]] = defaultdict(list)
    for one, row in zip(examples, aside.probabilities, strict=True):
        if one.gold.polarity:
            sure = float(row.max())
            bands[max(edge for edge in (0, 0.5, 0.7, 0.9, 0.99) if sure >= edge)].append(
                (sure, is_right(one, "polarity", argmax("polarity", row)))
            )
    return [
        (f"from {edge}", len(told), sum(s for s, _ in told) / len(told), sum(r for _, r in told) / len(told))
        for edge, told in sorted(bands.items())
    ]


def measure(examples: Sequence[Example], seed: int) -> dict[str, Any]:
    """All rows of all tables."""
    rows: list[dict[str, Any]] = []
    sources = sorted({one.source for one in examples})

    def add(part: str, name: str, said: Sequence[str], which: Callable[[Example], bool], **more: Any) -> None:
        for source in sources:
            at = [n for n, one in enumerate(examples) if one.source == source and which(one)]
            here = [examples[n] for n in at]
            if here:
                rules = [read_as(one, part) for one in here]
                told = scores(here, [said[n] for n in at], rules, part, seed)
                rows.append({"part": part, "source": source, "examples": len(here), "reading": name, **told, **more})

    told = {}
    for part in PARTS:

        def marked(one: Example, part: str = part) -> bool:
            return bool(getattr(one.gold, part))

        add(part, "rules", [read_as(one, part) for one in examples], marked)
        for suffix, recipe in RECIPES.items():
            aside = held_aside(examples, recipe, part, nested=part != "experiencer")
            told[part, suffix] = aside
            add(part, f"model{suffix}", [argmax(part, row) for row in aside.probabilities], marked)
            for how in HOW if part == "polarity" else ():
                said, sure = combination(examples, aside, part, how)
                add(part, f"rules and model{suffix}: {how}", said, marked, sure=sure)
            if part == "temporality":
                said, sure = combination(examples, aside, part)
                add(part, f"rules and model{suffix}: current or historical", said, marked, sure=sure)
    for source in sources:
        here = [one for one in examples if one.source == source]
        rules = [read_as(one, "polarity") for one in here]
        with_marks = [n for n, one in enumerate(here) if one.gold.polarity]
        for suffix, recipe in RECIPES.items():
            said = [argmax("polarity", row) for row in other_sources(examples, recipe, source)]
            picked = [here[n] for n in with_marks]
            result = scores(picked, [said[n] for n in with_marks], [rules[n] for n in with_marks], "polarity", seed)
            rows.append(
                {
                    "part": "polarity",
                    "source": source,
                    "examples": len(picked),
                    "reading": f"model of the other sources{suffix}",
                    **result,
                }
            )
    return {
        "rows": rows,
        "calibration": {f"model{suffix}": calibration(examples, told["polarity", suffix]) for suffix in RECIPES},
    }


def tables(report: Mapping[str, Any]) -> str:
    """The rows as Markdown, a table a part and source."""
    text = []
    groups = dict.fromkeys((row["part"], row["source"]) for row in report["rows"])
    for part, source in groups:
        rows = [row for row in report["rows"] if (row["part"], row["source"]) == (part, source)]
        names = list(rows[0]["f1"])
        shown = []
        for row in rows:
            ci = row["ci"]
            apart = (
                f"{row['difference']:+.3f} ({ci[0]:+.3f} to {ci[1]:+.3f})" if ci and row["reading"] != "rules" else ""
            )
            f1 = [f"{row['f1'][name]:.3f}" for name in names]
            shown.append((row["reading"], *f1, f"{row['accuracy']:.3f}", apart, row["mended"], row["broken"]))
        header = ("reading", *(f"F1 {name}" for name in names), "accuracy", "to the rules (95%)", "mended", "broken")
        text.append(f"{part}, {source} ({rows[0]['examples']} examples)\n\n{markdown(header, shown)}\n")
    for name, bands in report["calibration"].items():
        shown = [(band, number, f"{sure:.3f}", f"{right:.3f}") for band, number, sure, right in bands]
        text.append(f"{name}\n\n{markdown(('confidence', 'examples', 'mean', 'right'), shown)}\n")
    return "\n".join(text)


def main() -> None:
    """The tables, the model of all examples where it is asked for, and the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("--negex", "--maccrobat", "--marked", "--notes", "--facts", "--save", "--json"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    watcher = Watcher()
    examples: list[Example] = []
    if given.negex:
        examples += from_negex(given.negex, watcher)
    if given.maccrobat:
        examples += from_reports(given.maccrobat, watcher)
    if given.marked:
        examples += from_marked(given.marked, watcher)
    if given.notes and given.facts:
        examples += from_facts(given.notes, given.facts, watcher)
    if not examples:
        parser.error("no source is given")
    if given.save:
        train(examples, RECIPES[", knowing the rules"]).save(given.save)
    report = measure(examples, given.seed)
    print(tables(report))
    if given.json:
        given.json.write_text(json.dumps({**report, "signature": signature(command_line(), given.seed)}, indent=1))


if __name__ == "__main__":
    main()
