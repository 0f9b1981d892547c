"""Outcomes of the questions (answered, declined, failed, missing) and their cost: time, requests, tokens, dollars."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from ..baselines.systems.contract import Answer, Outcome, Question, Spent
from ..measures.scoring import coverage
from .grades import MISSING, failed_on, retrieved

#: In the order of reports.
OUTCOMES: Final = (Outcome.ANSWERED.value, Outcome.ABSTAINED.value, Outcome.FAILED.value, MISSING)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How many questions ended how, why those without an answer did, and on how many patients the answered ones failed.

    ``in_part``: questions that were answered, but not for all patients. ``failed_patients``: kind of failure to the
    number of pairs of question and patient, over all questions.
    """

    questions: int
    by_outcome: Mapping[str, int]
    in_part: int
    failed_patients: Mapping[str, int]
    unanswered: tuple[tuple[str, str, str], ...]

    @property
    def coverage(self) -> float | None:
        """Answered questions as a share of those asked; None when none was asked."""
        return coverage(self.questions, self.questions - self.by_outcome[Outcome.ANSWERED.value])

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "questions": self.questions,
            **self.by_outcome,
            "answered_in_part": self.in_part,
            "coverage": self.coverage,
            "failed_patients": dict(self.failed_patients),
            "unanswered": [{"id": id_, "outcome": how, "reason": why} for id_, how, why in self.unanswered],
        }


def outcomes(answers: Mapping[str, Answer], questions: Sequence[Question]) -> Outcomes:
    """The outcome of each question."""
    ended = {one.id: answers[one.id].outcome.value if one.id in answers else MISSING for one in questions}
    held = [answers[one.id] for one in questions if one.id in answers]
    number = Counter(ended.values())
    kinds = Counter(failure.kind for one in held for failure in one.failures)
    return Outcomes(
        len(questions),
        {name: number[name] for name in OUTCOMES},
        sum(bool(one.failures) for one in held if one.outcome == Outcome.ANSWERED),
        dict(sorted(kinds.items())),
        tuple(
            (id_, how, answers[id_].reason if id_ in answers else "")
            for id_, how in ended.items()
            if how != Outcome.ANSWERED
        ),
    )


@dataclass(frozen=True, slots=True)
class Cost:
    """What the questions cost, those that failed too: in all, and each on average.

    ``median_seconds`` and ``slowest_seconds`` of one question. ``retrieved``: patients in all cohorts. ``considered``:
    patients whom the system ranked or failed on, over all questions; of a reader all whom its retriever retrieved.
    """

    questions: int
    total: Spent
    median_seconds: float | None
    slowest_seconds: float | None
    retrieved: int
    considered: int

    def as_dict(self) -> dict[str, Any]:
        """As JSON. ``dollars_per_considered_patient`` is how section 4.2.5 of the paper tells the cost of a reader: of
        each patient whom the retriever gave it to read."""
        told = {one.name: getattr(self.total, one.name) for one in fields(Spent)}
        return {
            "questions": self.questions,
            "total": told,
            "mean": {name: number / self.questions if self.questions else None for name, number in told.items()},
            "median_seconds": self.median_seconds,
            "slowest_seconds": self.slowest_seconds,
            "retrieved_patients": self.retrieved,
            "considered_patients": self.considered,
            "dollars_per_considered_patient": self.total.dollars / self.considered if self.considered else None,
        }


def cost(answers: Iterable[Answer]) -> Cost:
    """The cost of some answers. What was taken from a cache cost nothing this time: ``cached`` says how much it is."""
    held = list(answers)
    seconds = [one.spent.seconds for one in held]
    return Cost(
        len(held),
        sum((one.spent for one in held), Spent()),
        statistics.median(seconds) if seconds else None,
        max(seconds, default=None),
        sum(len(retrieved(one)) for one in held),
        sum(len(failed_on(one).union(ranked.patient_id for ranked in one.ranking)) for one in held),
    )
