"""Patients named without ground, question by question: figures 4 and 5 of the Automatic Cohort Retrieval paper as data.

Section 4.3: the hallucination ratio (false positives for each patient of the gold cohort) where there is a gold cohort,
the number of false positives where nobody matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..measures.classes import SizeBounds
from ..measures.metrics import HALLUCINATION_RATIO
from ..measures.scoring import macro, micro, value, zero_result_false_positives
from .grades import Graded, Grades


@dataclass(frozen=True, slots=True)
class RatioPoint:
    """A point of figure 4: a question that somebody matches, its gold cohort, and the ratio of its answer."""

    id: str
    size: str
    gold: int
    false_positives: int
    ratio: float
    answered: bool

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "id": self.id,
            "size": self.size,
            "gold": self.gold,
            "false_positives": self.false_positives,
            "ratio": self.ratio,
            "answered": self.answered,
        }


@dataclass(frozen=True, slots=True)
class ZeroPoint:
    """A bar of figure 5: a question that nobody matches, and the patients that its answer names."""

    id: str
    false_positives: int
    answered: bool

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"id": self.id, "false_positives": self.false_positives, "answered": self.answered}


@dataclass(frozen=True, slots=True)
class Hallucination:
    """Both figures. What was not answered has no false positives, which is no merit: it is marked, and the summary
    speaks of the answered questions."""

    ratios: tuple[RatioPoint, ...]
    zeros: tuple[ZeroPoint, ...]
    summary: Mapping[str, float | int | None]

    def as_dict(self) -> dict[str, Any]:
        """As JSON; both lists in the order of the bank."""
        return {
            **self.summary,
            "ratios": [one.as_dict() for one in self.ratios],
            "zero_result": [one.as_dict() for one in self.zeros],
        }


def hallucination(grades: Grades, bounds: SizeBounds) -> Hallucination:
    """The tendency of one system to name patients without ground."""
    ratios = []
    for one in grades.questions:
        ratio = value(HALLUCINATION_RATIO, one.counts)
        if ratio is not None:
            gold = one.counts.wanted
            ratios.append(RatioPoint(one.question.id, bounds.size(gold), gold, one.counts.fp, ratio, one.answered))
    zeros = [one for one in grades.questions if not one.counts.wanted]
    answered = [one for one in zeros if one.answered]
    with_gold = [one.counts for one in grades.questions if one.answered and one.counts.wanted]
    return Hallucination(
        tuple(ratios),
        tuple(ZeroPoint(one.question.id, one.counts.fp, one.answered) for one in zeros),
        {
            "macro_ratio": macro(HALLUCINATION_RATIO, with_gold),
            "micro_ratio": micro(HALLUCINATION_RATIO, with_gold),
            "zero_result_questions": len(zeros),
            "zero_result_answered": len(answered),
            "zero_result_with_false_positives": sum(_is_wrong(one) for one in answered),
            "zero_result_false_positives": zero_result_false_positives([one.counts for one in answered]),
        },
    )


def _is_wrong(one: Graded) -> bool:
    return one.counts.fp > 0
