"""The scores of a system on MedTxt: three levels, exact and partial, plain and weighted, each with its interval.

Sums are over all entities of all reports (micro); there is no mean over reports or labels in the overview. Each label
has its own scores beside. The reports are what the bootstrap draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...measures.bootstrap import between, times_drawn
from .matching import LEVELS, POLICIES, Credit, credit, frequencies
from .reports import Report, Reports, tags


@dataclass(frozen=True, slots=True)
class MedScores:
    """A system's scores; ``weighted`` ones are None without training reports."""

    gold: Reports
    found: Reports
    labels: tuple[str, ...]
    figures: dict[str, Any]

    def _of_other_text(self) -> list[str]:
        """The answers whose text is not the gold's: their places are of another text."""
        pairs = [(id, report, self.found.reports.get(id)) for id, report in self.gold.reports.items()]
        return [id for id, report, other in pairs if other is not None and other.text and other.text != report.text]

    def as_dict(self) -> dict[str, Any]:
        """``exact`` and ``partial`` → level → ``normal`` and ``weighted``; then labels, reports, problems."""
        gold, found = self.gold.reports, self.found.reports
        return {
            **self.figures,
            "labels": list(self.labels),
            "reports": {
                "corpus": len(gold),
                "predicted": sum(id in found for id in gold),
                "without_prediction": [id for id in gold if id not in found],
                "not_in_corpus": [id for id in found if id not in gold],
            },
            "unread": {"corpus": len(self.gold.problems), "predictions": len(self.found.problems)},
            "unknown_labels": {
                "corpus": dict(self.gold.unknown_labels),
                "predictions": dict(self.found.unknown_labels),
            },
            "problems": [
                {"file": name, "place": place, "reason": reason}
                for name, reports in (("corpus", self.gold), ("predictions", self.found))
                for place, reason in reports.problems
            ]
            + [
                {"file": "predictions", "place": id, "reason": "its text is not that of the corpus"}
                for id in self._of_other_text()
            ],
        }


def score(
    gold: Reports, found: Reports, *, kind: str = "CR", training: Reports | None = None, seed: int = 0
) -> MedScores:
    """Score a system's reports against the gold ones of a ``kind`` (CR, RR). A report without an answer has no entity.

    An answer whose text is not the gold's has places of another text: it is scored as it stands, and told.
    """
    labels = tuple(tags()["sets"][kind])
    known = None if training is None else frequencies(list(training.reports.values()))

    def measured(only: Sequence[str], level: str, policy: str) -> dict[str, Any]:
        def over(weights: bool) -> dict[str, Any]:
            return measures(
                [
                    credit(report, _entities(found, report), only, level, policy, known if weights else None)
                    for report in gold.reports.values()
                ],
                seed,
            )

        return {"normal": over(False), "weighted": None if known is None else over(True)}

    figures: dict[str, Any] = {}
    for policy in POLICIES:
        figures[policy] = {level: measured(labels, level, policy) for level in LEVELS}
        figures[policy]["by_label"] = {label: measured((label,), "label", policy) for label in labels}
    return MedScores(gold, found, labels, figures)


def _entities(found: Reports, report: Report) -> Sequence[Any]:
    other = found.reports.get(report.id)
    return () if other is None else other.entities


def measures(reports: Sequence[Credit], seed: int) -> dict[str, Any]:
    """Precision, recall and F1 of the sums, and the interval of the F1; None where neither side has an entity."""
    table = _table(reports)
    total = sum(reports, Credit())
    (precision,), (recall,), (f1,) = _rates(table.sum(axis=0, keepdims=True))
    bounds = between(_rates(times_drawn(len(reports), seed) @ table)[2])
    defined = total.predictions or total.gold
    return {
        "precision": float(precision) if defined else None,
        "recall": float(recall) if defined else None,
        "f1": float(f1) if defined else None,
        "ci": None if bounds is None else list(bounds),
        "predictions": total.predictions,
        "gold": total.gold,
    }


def f1_difference(first: Sequence[Credit], second: Sequence[Credit], seed: int) -> dict[str, Any]:
    """The F1 of one system less that of another over the same reports, in the same order, and its interval: each draw
    takes the same reports of both. None where one of the two is undefined. ValueError if their numbers differ."""
    if len(first) != len(second):
        raise ValueError(f"two systems are paired over the same reports, not {len(first)} and {len(second)}")
    tables = [_table(first), _table(second)]
    (one,), (other,) = (_rates(table.sum(axis=0, keepdims=True))[2] for table in tables)
    weights = times_drawn(len(first), seed)
    drawn = [_rates(weights @ table)[2] for table in tables]
    bounds = between(drawn[0] - drawn[1])
    difference = float(one - other)
    return {
        "f1": None if np.isnan(difference) else difference,
        "ci": None if bounds is None else list(bounds),
    }


def _table(reports: Sequence[Credit]) -> Any:
    rows = [(one.predicted, one.predictions, one.recalled, one.gold) for one in reports]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _rates(sums: Any) -> tuple[Any, Any, Any]:
    """Precision, recall, F1 of rows of sums: 0 where one side alone is empty, NaN where both are."""
    predicted, predictions, recalled, gold = sums.T
    nothing = (predictions == 0) & (gold == 0)
    precision = np.divide(predicted, predictions, out=np.zeros_like(predicted), where=predictions > 0)
    recall = np.divide(recalled, gold, out=np.zeros_like(recalled), where=gold > 0)
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return tuple(np.where(nothing, np.nan, one) for one in (precision, recall, f1))  # type: ignore[return-value]
