"""The worth of each entity of a report: by level, by exact or partial match, weighted by how rare it is in training.

Source: Real-MedNLP overview, section 4.1. An exact match is worth 1. In a partial one a predicted entity is worth the
share of its own letters that it has in common with the gold, a gold entity the share of its own. The weight of a gold
entity that training has f times is 1 / (ln(f + 1) + 1), and multiplies both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .reports import MedicalEntity, Report

#: What has to agree beside the span: nothing, the label, label and modality.
LEVELS: Final = ("span", "label", "label_modality")
POLICIES: Final = ("exact", "partial")

Key = tuple[str, ...]
#: label and text → how often training has it
Frequencies = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Credit:
    """Sums over a report's entities: what the predicted ones are worth, their number; the same of the gold ones."""

    predicted: float = 0.0
    predictions: int = 0
    recalled: float = 0.0
    gold: int = 0

    def __add__(self, other: Credit) -> Credit:
        return Credit(
            self.predicted + other.predicted,
            self.predictions + other.predictions,
            self.recalled + other.recalled,
            self.gold + other.gold,
        )


def frequencies(training: Sequence[Report]) -> Counter[tuple[str, str]]:
    """How often each entity (its label and its letters as they stand) occurs in training."""
    return Counter((one.label, report.text[one.start : one.end]) for report in training for one in report.entities)


def weight(frequency: int) -> float:
    """1 for an entity that training has not, 0.59 for one that it has once, 0.48 for twice."""
    return 1 / (math.log(frequency + 1) + 1)


def credit(
    gold: Report,
    found: Sequence[MedicalEntity],
    labels: Sequence[str],
    level: str,
    policy: str,
    known: Frequencies | None,
) -> Credit:
    """What a report's entities of these labels are worth. ``known`` None: all weights are 1."""
    wanted = [one for one in gold.entities if one.label in labels]
    named = [one for one in found if one.label in labels]
    weights = [
        1.0 if known is None else weight(known.get((one.label, gold.text[one.start : one.end]), 0)) for one in wanted
    ]
    worth = _exact if policy == "exact" else _partial
    predicted, recalled = worth(wanted, named, weights, level)
    return Credit(predicted, len(named), recalled, len(wanted))


def _key(one: MedicalEntity, level: str) -> Key:
    return () if level == "span" else (one.label,) if level == "label" else (one.label, one.modality)


def _exact(
    wanted: Sequence[MedicalEntity], named: Sequence[MedicalEntity], weights: Sequence[float], level: str
) -> tuple[float, float]:
    """Both sums: of the gold entities that the prediction has, each of which is met once."""
    left = Counter((one.start, one.end, _key(one, level)) for one in named)
    total = 0.0
    for one, worth in zip(wanted, weights, strict=True):
        place = (one.start, one.end, _key(one, level))
        if left[place]:
            left[place] -= 1
            total += worth
    return total, total


def _partial(
    wanted: Sequence[MedicalEntity], named: Sequence[MedicalEntity], weights: Sequence[float], level: str
) -> tuple[float, float]:
    """Each entity is held against the one of the other side with which it has most letters in common."""
    predicted = 0.0
    for one in named:
        common, at = _best(one, wanted, level)
        if common:
            predicted += weights[at] * common / len(one)
    recalled = 0.0
    for one, worth in zip(wanted, weights, strict=True):
        recalled += worth * _best(one, named, level)[0] / len(one)
    return predicted, recalled


def _best(one: MedicalEntity, others: Sequence[MedicalEntity], level: str) -> tuple[int, int]:
    """The most letters that an entity has in common with one of the others of its key, and which (the first)."""
    best, at = 0, -1
    for number, other in enumerate(others):
        common = min(one.end, other.end) - max(one.start, other.start)
        if common > best and _key(one, level) == _key(other, level):
            best, at = common, number
    return best, at
