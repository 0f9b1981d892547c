"""What was learned of signs: the probability that a statement is a fact of the patient whose record holds it.

A logistic regression over the signs of a statement, and a second one over its points and those of what stands beside it
(paragraph, sentence, everything that says the same): a paragraph about somebody else is so as a whole. Both were
learned from statements that people judged (``cohortium train trust``), and are evaluated by adding up.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Final

from ...kb.errors import BadModel
from .signs import Record, Signs, Statement, named_figures

FILE: Final = Path(__file__).parent.parent / "cues" / "trust.tsv"
BIAS, DOUBT = "bias", "doubt"
#: What the second regression looks at, in order.
AGAIN: Final = (
    "again own",
    "again mean of paragraph",
    "again least of paragraph",
    "again mean of sentence",
    "again least of sentence",
    "again mean of saying",
    "again least of saying",
    "again number of saying",
    "again bias",
)
#: As many of the same saying count.
_MOST_SAYINGS: Final = 20


class TrustModel:
    """The weights, ready to be added up."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        """``weights``: of signs by their names, of :data:`AGAIN`, the bias, and ``doubt``: below this probability a
        statement is in doubt. BadModel where one that is needed is missing."""
        missing = [name for name in (BIAS, DOUBT, *AGAIN) if name not in weights]
        if missing:
            raise BadModel(f"the model of trust has no '{missing[0]}'. Hint: make it with 'cohortium train trust'")
        self._weights = weights
        self.doubt = weights[DOUBT]

    def probabilities(self, record: Record, statements: Sequence[Statement]) -> list[float]:
        """How likely each of the statements of a record is a fact of its patient, 0 to 1."""
        signs = [record.signs(one) for one in statements]
        around: dict[tuple[int, int], float] = {}
        points = [self.points(one, told, around) for one, told in zip(statements, signs, strict=True)]
        weights = [self._weights[name] for name in AGAIN]
        return [
            _logistic(sum(weight * value for weight, value in zip(weights, row, strict=True)))
            for row in beside(points, signs)
        ]

    def points(self, one: Statement, signs: Signs, around: dict[tuple[int, int], float]) -> float:
        """What the signs of a statement add up to by themselves (log odds); ``around`` keeps what sentences do."""
        known = self._weights.get
        sentence = signs.groups[1]
        shared = around.get(sentence)
        if shared is None:
            shared = around[sentence] = sum(known(word, 0.0) for word in signs.around)
        total = self._weights[BIAS] + shared + sum(known(word, 0.0) for word in signs.words)
        return total + sum(known(name, 0.0) * value for name, value in named_figures(signs.figures, one.kind))


def beside(points: Sequence[float], signs: Sequence[Signs]) -> list[tuple[float, ...]]:
    """For each statement the values of :data:`AGAIN`: its points, and those of the groups that it is in."""
    groups: dict[tuple[int, object], list[float]] = defaultdict(list)
    for value, told in zip(points, signs, strict=True):
        for number, group in enumerate(told.groups):
            groups[number, group].append(value)
    figures = {group: (fmean(values), min(values), len(values)) for group, values in groups.items()}
    rows = []
    for value, told in zip(points, signs, strict=True):
        row, alike = [value], 0
        for number, group in enumerate(told.groups):
            mean, least, alike = figures[number, group]
            row += [mean, least]
        rows.append((*row, float(min(alike, _MOST_SAYINGS)), 1.0))
    return rows


def _logistic(points: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, points))))


def read_model(path: Path = FILE) -> TrustModel:
    """The model in a file of names and weights. BadModel where it holds anything else."""
    weights: dict[str, float] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, weight = line.split("\t")
                weights[name] = float(weight)
    except (OSError, ValueError) as error:
        raise BadModel(f"{path.name} is no model of trust. Hint: make it with 'cohortium train trust'") from error
    return TrustModel(weights)


@lru_cache(maxsize=1)
def trust_model() -> TrustModel:
    """The shipped model, read once."""
    return read_model()
