"""The report of a scored run: what is counted of each query, what is made of it, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...measures import metrics
from ...measures.bootstrap import interval
from ...measures.classes import COMPLEXITIES, SIZES, SizeBounds
from ...measures.scoring import Counts, coverage, macro, micro, total, value, zero_result_false_positives


@dataclass(frozen=True, slots=True)
class ScoredQuery:
    """One query with its counts over the labelled patients, and the patients it was wrong about.

    ``unresolved`` says why the query could not be answered; it is then scored as an empty answer.
    """

    id: int
    query: str
    complexity: str
    counts: Counts
    abstained: bool = False
    unresolved: str = ""
    wrongly_found: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A scored run. ``by_patient``: counts of each labelled patient over all queries, for the interval."""

    queries: Sequence[ScoredQuery]
    by_patient: Sequence[Counts]
    bounds: SizeBounds
    patients: Mapping[str, int] = field(default_factory=dict)
    signature: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def as_dict(self, *, errors: bool = False) -> dict[str, Any]:
        """The report as JSON; with ``errors``, also the patients that each query was wrong about."""
        counts = [one.counts for one in self.queries]
        answered = [one.counts for one in self.queries if not one.abstained]
        return {
            "micro": {**_micro(counts), "ci": interval(metrics.F1, self.by_patient, seed=self.seed)},
            "macro": _macro(counts),
            "by_size": {size: self._of_size(size) for size in SIZES},
            "by_complexity": {name: self._of_complexity(name) for name in COMPLEXITIES},
            "zero_result_false_positives": zero_result_false_positives(counts),
            "kappa": micro(metrics.KAPPA, counts),
            "unresolved": [{"id": one.id, "reason": one.unresolved} for one in self.queries if one.unresolved],
            "coverage": coverage(len(counts), len(counts) - len(answered)),
            "answered": {**_micro(answered), "wrong": sum(one.fp for one in answered)},
            "queries": [_row(one, errors) for one in self.queries],
            "patients": dict(self.patients),
            "bounds": {"alpha": self.bounds.alpha, "beta": self.bounds.beta},
            "signature": dict(self.signature),
        }

    def _of_size(self, size: str) -> dict[str, Any]:
        """Broad and narrow queries by their macro mean, sparse ones by the micro mean, as the paper does.

        For queries that nobody matches there are false positives to count and nothing else.
        """
        part = [one for one in self.queries if self.bounds.size(one.counts.wanted) == size]
        counts = [one.counts for one in part]
        mean = {"broad": "macro", "narrow": "macro", "sparse": "micro"}.get(size)
        scores = _macro(counts) if mean == "macro" else _micro(counts if mean else [])
        ratio = macro(metrics.HALLUCINATION_RATIO, counts)
        return _part(part, scores, mean) | {metrics.HALLUCINATION_RATIO.name: ratio}

    def _of_complexity(self, name: str) -> dict[str, Any]:
        part = [one for one in self.queries if one.complexity == name]
        return _part(part, _micro([one.counts for one in part]), "micro")


def disagreement_line(one: Mapping[str, Any]) -> str:
    """Of a disagreement between an abstraction and the labels, in its JSON form: who, and what each of the two says."""
    answer, label = ("matches", "no") if one["answered"] else ("does not match", "yes")
    return f"query {one['id']}, patient {one['patient_id']}: by the facts the patient {answer}; the label says {label}"


def _part(part: Sequence[ScoredQuery], scores: dict[str, float | None], mean: str | None) -> dict[str, Any]:
    counts = total(one.counts for one in part)
    return {
        "queries": len(part),
        "ids": [one.id for one in part],
        "mean": mean,
        **scores,
        "false_positives": counts.fp,
        "false_negatives": counts.fn,
    }


def _micro(counts: Sequence[Counts]) -> dict[str, float | None]:
    return {one.name: micro(one, counts) for one in (metrics.PRECISION, metrics.RECALL, metrics.F1)}


def _macro(counts: Sequence[Counts]) -> dict[str, float | None]:
    return {one.name: macro(one, counts) for one in (metrics.PRECISION, metrics.RECALL, metrics.F1)}


def _row(one: ScoredQuery, errors: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": one.id,
        "query": one.query,
        "tp": one.counts.tp,
        "fp": one.counts.fp,
        "fn": one.counts.fn,
        "abstained": one.abstained,
    }
    if errors:
        row |= {
            metrics.F1.name: value(metrics.F1, one.counts),
            "false_positives": list(one.wrongly_found),
            "false_negatives": list(one.missed),
        }
    return row
