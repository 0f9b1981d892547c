"""Outcomes of the questions (answered, declined, failed, missing) and their cost: time, requests, tokens, dollars."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from ..baselines.systems.contract import Answer, Outcome, Question, Spent
from ..measures.scoring import coverage
from .grades import MISSING, failed_on, retrieved
from .report.form import CostOf, OutcomeCounts, UnansweredOf


def outcomes(answers: Mapping[str, Answer], questions: Sequence[Question]) -> OutcomeCounts:
    """The outcome of each question."""
    ended = {one.id: answers[one.id].outcome.value if one.id in answers else MISSING for one in questions}
    held = [answers[one.id] for one in questions if one.id in answers]
    number = Counter(ended.values())
    kinds = Counter(failure.kind for one in held for failure in one.failures)
    answered = number[Outcome.ANSWERED.value]
    return OutcomeCounts(
        questions=len(questions),
        answered=answered,
        abstained=number[Outcome.ABSTAINED.value],
        failed=number[Outcome.FAILED.value],
        missing=number[MISSING],
        answered_in_part=sum(bool(one.failures) for one in held if one.outcome == Outcome.ANSWERED),
        coverage=coverage(len(questions), len(questions) - answered),
        failed_patients=dict(sorted(kinds.items())),
        unanswered=tuple(
            UnansweredOf(id=id_, outcome=how, reason=answers[id_].reason if id_ in answers else "")
            for id_, how in ended.items()
            if how != Outcome.ANSWERED
        ),
    )


def cost(answers: Iterable[Answer]) -> CostOf:
    """The cost of some answers. What was taken from a cache cost nothing this time: ``cached`` says how much it is."""
    held = list(answers)
    seconds = [one.spent.seconds for one in held]
    total = sum((one.spent for one in held), Spent())
    considered = sum(len(failed_on(one).union(ranked.patient_id for ranked in one.ranking)) for one in held)
    return CostOf(
        questions=len(held),
        total=total,
        mean={name: number / len(held) if held else None for name, number in asdict(total).items()},
        median_seconds=statistics.median(seconds) if seconds else None,
        slowest_seconds=max(seconds, default=None),
        retrieved_patients=sum(len(retrieved(one)) for one in held),
        considered_patients=considered,
        dollars_per_considered_patient=total.dollars / considered if considered else None,
    )
