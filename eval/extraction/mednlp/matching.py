"""The worth of each entity of a report: by level, by exact or partial match, weighted by how rare it is in training.

Source: Real-MedNLP overview, section 4.1. An exact match is worth 1. In a partial one a predicted entity is worth the
share of its own letters that it has in common with the gold, a gold entity the share of its own. The weight of a gold
entity that training has f times is 1 / (ln(f + 1) + 1), and multiplies both.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
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
    for one, (common, at) in zip(named, nearest(named, wanted, level), strict=True):
        if common:
            predicted += weights[at] * common / len(one)
    recalled = 0.0
    for one, worth, (common, _) in zip(wanted, weights, nearest(wanted, named, level), strict=True):
        recalled += worth * common / len(one)
    return predicted, recalled


def nearest(ones: Sequence[MedicalEntity], others: Sequence[MedicalEntity], level: str) -> list[tuple[int, int]]:
    """For each entity, the most letters that it has in common with one of the others of its key, and which (the first;
    -1 where there is none). Of n entities in each other it takes n log n steps."""
    found = [(0, -1)] * len(ones)
    asked: dict[Key, list[int]] = {}
    for number, one in enumerate(ones):
        asked.setdefault(_key(one, level), []).append(number)
    held: dict[Key, list[int]] = {}
    for number, other in enumerate(others):
        held.setdefault(_key(other, level), []).append(number)
    for key, numbers in asked.items():
        among = [(others[at].start, others[at].end, at) for at in held.get(key, ())]
        for number, best in zip(numbers, _overlaps([ones[at] for at in numbers], among), strict=True):
            found[number] = best
    return found


def _overlaps(ones: Sequence[MedicalEntity], others: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """For each span the largest overlap with one of the others (start, end, number), and the least number that has it.

    An other that begins no later reaches over all of the span, or to its own end: the latest end is best. One that
    begins no earlier lies in it whole, or reaches from its own start beyond: the earliest start is best.
    """
    best = [(0, 1)] * len(ones)

    def propose(at: int, common: int, number: int) -> None:
        best[at] = max(best[at], (common, -number))

    ends = sorted({end for _, end, _ in others})
    place = {end: at for at, end in enumerate(ends)}
    by_start = sorted(range(len(ones)), key=lambda at: ones[at].start)

    covering, latest, waiting = Prefixes(len(ends)), (0, 0), sorted(others, reverse=True)
    for at in by_start:
        start, end = ones[at].start, ones[at].end
        while waiting and waiting[-1][0] <= start:
            _, other_end, number = waiting.pop()
            covering.add(len(ends) - 1 - place[other_end], (0, -number))
            latest = max(latest, (other_end, -number))
        if found := covering.most(len(ends) - bisect_left(ends, end)):
            propose(at, end - start, -found[1])
        elif latest[0] > start:
            propose(at, latest[0] - start, -latest[1])

    within, beyond, waiting = Prefixes(len(ends)), Prefixes(len(ends)), sorted(others)
    for at in reversed(by_start):
        start, end = ones[at].start, ones[at].end
        while waiting and waiting[-1][0] >= start:
            other_start, other_end, number = waiting.pop()
            within.add(place[other_end], (other_end - other_start, -number))
            beyond.add(len(ends) - 1 - place[other_end], (-other_start, -number))
        if found := within.most(bisect_right(ends, end)):
            propose(at, found[0], -found[1])
        if (found := beyond.most(len(ends) - bisect_left(ends, end))) and -found[0] < end:
            propose(at, end + found[0], -found[1])
    return [(common, -number) if common else (0, -1) for common, number in best]


class Prefixes:
    """The greatest of the pairs at the first so many of some places, as pairs are added (a Fenwick tree)."""

    def __init__(self, places: int) -> None:
        """No pair at any place."""
        self._tree: list[tuple[int, int] | None] = [None] * (places + 1)

    def add(self, place: int, pair: tuple[int, int]) -> None:
        """A pair at a place, from 0."""
        at = place + 1
        while at < len(self._tree):
            held = self._tree[at]
            self._tree[at] = pair if held is None or pair > held else held
            at += at & -at

    def most(self, places: int) -> tuple[int, int] | None:
        """The greatest pair at the first ``places`` places; None where there is none."""
        found: tuple[int, int] | None = None
        while places > 0:
            held = self._tree[places]
            if held is not None and (found is None or held > found):
                found = held
            places -= places & -places
        return found
