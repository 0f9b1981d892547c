"""Answers held against labels: for each question and each labelled patient found, missed, rightly or wrongly left out.

What failed is never graded as if it had been answered. A question that failed, was declined or has no answer at all is
graded as an empty answer and bears its outcome; a patient on whom a system failed is not in its cohort.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..bank.acr.bank import load_bank
from ..bank.acr.labels import Labels
from ..baselines.systems.contract import Answer, Failure, Outcome, Question
from ..measures.metrics import PER_QUERY
from ..measures.scoring import Counts, value

#: The outcome of a question to which no answer is held: a run that was broken off.
MISSING: Final = "missing"
_NOBODY: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Graded:
    """One question with what its answer is worth over the labelled patients who are not ambiguous.

    ``counts`` of the cohort; ``top`` of the ranking cut at the size of the gold cohort (oracle top-k). ``outcome`` is
    that of the answer, or :data:`MISSING`.
    """

    question: Question
    complexity: str
    outcome: str
    counts: Counts
    top: Counts
    reason: str = ""
    failures: tuple[Failure, ...] = ()
    wrongly_found: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether there is an answer to score."""
        return self.outcome == Outcome.ANSWERED

    def as_dict(self) -> dict[str, Any]:
        """As JSON: counts, measures, and whom the answer is wrong about."""
        return {
            "id": self.question.id,
            "of": self.question.of,
            "complexity": self.complexity,
            "outcome": str(self.outcome),
            "reason": self.reason,
            "gold": self.counts.wanted,
            "found": self.counts.found,
            **asdict(self.counts),
            **{one.name: value(one, self.counts) for one in PER_QUERY},
            "oracle_top_k": asdict(self.top),
            "failed_patients": len(self.failures),
            "false_positives": list(self.wrongly_found),
            "false_negatives": list(self.missed),
        }


@dataclass(frozen=True)
class Grades:
    """All graded questions. ``cohorts`` and ``tops``: counts ``[patient, question, (tp, fp, fn, tn)]`` of 0 and 1, the
    patients in the order of ``patients``; four zeros for an ambiguous pair."""

    questions: tuple[Graded, ...]
    patients: tuple[str, ...]
    cohorts: NDArray[np.int64]
    tops: NDArray[np.int64]

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """Of each question whether it was answered."""
        return np.array([one.answered for one in self.questions], dtype=bool)


def grade(answers: Mapping[str, Answer], questions: Sequence[Question], labels: Labels) -> Grades:
    """Each question that has labels (``of`` an id of the bank) with its answer, found by the id of the question.

    Patients without labels are left out; a labelled one whom a system does not know counts as not retrieved.
    ValueError for a question that is asked twice, or whose ``of`` is not in the bank.
    """
    complexity = {one.id: one.complexity for one in load_bank()}
    asked = [one for one in questions if one.of is not None]
    if len({one.id for one in asked}) < len(asked):
        raise ValueError("a question is asked twice: ids of questions are unique in a run")
    if strangers := sorted({one.of for one in asked if one.of is not None} - set(complexity)):
        raise ValueError(f"the bank has no question {', '.join(map(str, strangers[:8]))}")
    patients = labels.patients
    cohorts = np.zeros((len(patients), len(asked), 4), dtype=np.int64)
    tops = np.zeros_like(cohorts)
    graded = []
    for place, question in enumerate(asked):
        assert question.of is not None
        wanted, unsure = labels.wanted(question.of), labels.open_to(question.of)
        answer = answers.get(question.id)
        known = frozenset(patients) - unsure
        found = retrieved(answer)
        first = _top(answer, known, len(wanted))
        cohorts[:, place] = _marked(found, wanted, patients, unsure)
        tops[:, place] = _marked(first, wanted, patients, unsure)
        graded.append(
            Graded(
                question,
                complexity[question.of],
                MISSING if answer is None else answer.outcome,
                Counts(*map(int, cohorts[:, place].sum(axis=0))),
                Counts(*map(int, tops[:, place].sum(axis=0))),
                "" if answer is None else answer.reason,
                () if answer is None else answer.failures,
                tuple(sorted((found & known) - wanted)),
                tuple(sorted(wanted - found)),
            )
        )
    return Grades(tuple(graded), patients, cohorts, tops)


def retrieved(answer: Answer | None) -> frozenset[str]:
    """The cohort, without patients on whom the system says that it failed; empty where there is no answer."""
    if answer is None or answer.outcome != Outcome.ANSWERED:
        return _NOBODY
    return answer.cohort - failed_on(answer)


def failed_on(answer: Answer) -> frozenset[str]:
    """The patients on whom an answer failed."""
    return frozenset(one.patient_id for one in answer.failures)


def _top(answer: Answer | None, known: Collection[str], size: int) -> frozenset[str]:
    """The first ``size`` of the ranking, of those whose label is known and on whom the system did not fail.

    The cut may reach behind the cohort, and may fall short of the size where the ranking does.
    """
    if answer is None or answer.outcome != Outcome.ANSWERED:
        return _NOBODY
    failed = failed_on(answer)
    ranked = [one.patient_id for one in answer.ranking if one.patient_id in known and one.patient_id not in failed]
    return frozenset(ranked[:size])


def _marked(
    found: Collection[str], wanted: Collection[str], patients: Sequence[str], unsure: Collection[str]
) -> NDArray[np.int64]:
    """Counts of 0 and 1, ``[patient, 4]``."""
    marks = np.zeros((len(patients), 4), dtype=np.int64)
    for place, patient in enumerate(patients):
        if patient not in unsure:
            marks[place, 2 * (patient not in found) + (patient not in wanted)] = 1
    # Columns so far: found and wanted, found only, wanted only, neither: the order of Counts.
    return marks
