"""Patients named without ground, question by question: figures 4 and 5 of the Automatic Cohort Retrieval paper as data.

Section 4.3: the hallucination ratio (false positives for each patient of the gold cohort) where there is a gold cohort,
the number of false positives where nobody matches.
"""

from __future__ import annotations

from ..measures.classes import SizeBounds
from ..measures.metrics import HALLUCINATION_RATIO
from ..measures.scoring import macro, micro, value, zero_result_false_positives
from .grades import Grades
from .report.form import HallucinationOf, RatioOf, ZeroResultOf


def hallucination(grades: Grades, bounds: SizeBounds) -> HallucinationOf:
    """The tendency of one system to name patients without ground; both lists in the order of the bank."""
    zeros = [one for one in grades.questions if not one.counts.wanted]
    answered = [one for one in zeros if one.answered]
    with_gold = [one.counts for one in grades.questions if one.answered and one.counts.wanted]
    return HallucinationOf(
        macro_ratio=macro(HALLUCINATION_RATIO, with_gold),
        micro_ratio=micro(HALLUCINATION_RATIO, with_gold),
        zero_result_questions=len(zeros),
        zero_result_answered=len(answered),
        zero_result_with_false_positives=sum(one.counts.fp > 0 for one in answered),
        zero_result_false_positives=zero_result_false_positives([one.counts for one in answered]),
        ratios=tuple(
            RatioOf(
                id=one.question.id,
                size=bounds.size(one.counts.wanted),
                gold=one.counts.wanted,
                false_positives=one.counts.fp,
                ratio=ratio,
                answered=one.answered,
            )
            for one in grades.questions
            if (ratio := value(HALLUCINATION_RATIO, one.counts)) is not None
        ),
        zero_result=tuple(
            ZeroResultOf(id=one.question.id, false_positives=one.counts.fp, answered=one.answered) for one in zeros
        ),
    )
