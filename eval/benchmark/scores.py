"""All scores of one system, and the difference between two: answers and labels in, values with intervals out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..bank.acr.labels import Labels
from ..baselines.systems.contract import Answer, Question
from ..measures import bootstrap
from ..measures.bootstrap import Mean, between
from ..measures.classes import SizeBounds
from ..measures.metrics import F1, Measure
from ..measures.terms import DEFAULT, Terms
from .agreement import load_paraphrases
from .consistency import Consistency, consistency
from .grades import Grades, grade
from .hallucination import hallucination
from .outcomes import cost, outcomes
from .report.form import CostOf, DifferenceOf, HallucinationOf, OutcomeCounts
from .strata import MEANS, DocumentGroup, Quality, Table, document_groups, places_by_complexity, places_by_size


@dataclass(frozen=True)
class SystemScores:
    """What the answers of a system are worth. ``as_dict`` is the report; the rest is what it is made of.

    ``unlabelled`` and ``not_held``: how many patients the system may name who have no labels (left out), and how many
    labelled ones it does not know (counted as not retrieved).
    """

    grades: Grades
    bounds: SizeBounds
    groups: tuple[DocumentGroup, ...]
    hallucination: HallucinationOf
    consistency: Consistency
    outcomes: OutcomeCounts
    cost: CostOf
    cost_of_paraphrases: CostOf
    unlabelled: int = 0
    not_held: int = 0
    seed: int = 0
    resamples: int = bootstrap.RESAMPLES
    signature: Mapping[str, Any] = field(default_factory=dict)

    # -- the tables that strata are cut from

    @cached_property
    def cohorts(self) -> Table:
        """The retrieved cohorts of all labelled patients."""
        return self._table(self.grades.cohorts)

    @cached_property
    def tops(self) -> Table:
        """The rankings, each cut at the size of the gold cohort (section 4.2.2)."""
        return self._table(self.grades.tops)

    @cached_property
    def by_documents(self) -> tuple[Table, ...]:
        """The retrieved cohorts of each group of patients."""
        place = {patient: number for number, patient in enumerate(self.grades.patients)}
        return tuple(
            self._table(self.grades.cohorts[[place[patient] for patient in group.patients]]) for group in self.groups
        )

    def _table(self, counts: Any) -> Table:
        ids = [one.question.id for one in self.grades.questions]
        return Table.drawn_from(counts, ids, seed=self.seed, resamples=self.resamples)

    # -- strata by name

    @cached_property
    def strata(self) -> Mapping[str, tuple[Table, list[int], Mean]]:
        """Every stratum by its name (``size/broad``, ``complexity/base``, ``documents/top third``, ``all``): the table
        that it is cut from, the places of its questions, and the mean that the paper reports of it."""
        everything = list(range(len(self.grades.questions)))
        sizes = places_by_size(self.grades, self.bounds)
        named: dict[str, tuple[Table, list[int], Mean]] = {"all": (self.cohorts, everything, "micro")}
        named |= {f"size/{size}": (self.cohorts, places, MEANS[size]) for size, places in sizes.items()}
        named |= {
            f"complexity/{name}": (self.cohorts, places, "macro")
            for name, places in places_by_complexity(self.grades).items()
        }
        named |= {
            f"documents/{group.name}": (table, everything, "micro")
            for group, table in zip(self.groups, self.by_documents, strict=True)
        }
        return named

    def quality(self, stratum: str, *, answered: bool = False, top: bool = False) -> Quality:
        """The quality of a stratum; only over its ``answered`` questions, or of oracle ``top``-k, if asked.

        KeyError for an unknown stratum. Oracle top-k is of all patients: ValueError for one by documents.
        """
        table, places, mean = self.strata[stratum]
        if top and table is not self.cohorts:
            raise ValueError(f"oracle top-k is not taken of {stratum!r}: the cut is at the size of the whole cohort")
        if answered:
            places = [place for place in places if self.grades.answered[place]]
        return (self.tops if top else table).quality(places, mean)

    def as_dict(self) -> dict[str, Any]:
        """The scores as JSON: over all questions, over the answered ones, and oracle top-k, stratum by stratum."""
        return {
            "patients": {
                "labelled": len(self.grades.patients),
                "not_held": self.not_held,
                "unlabelled": self.unlabelled,
            },
            "bounds": {"alpha": self.bounds.alpha, "beta": self.bounds.beta},
            "outcomes": self.outcomes.model_dump(mode="json"),
            "coverage": self.outcomes.coverage,
            "all": self._measured("all"),
            "by_size": self._group("size"),
            "by_complexity": self._group("complexity"),
            "by_documents": {
                group.name: {"low": group.low, "high": group.high, **self._measured(f"documents/{group.name}")}
                for group in self.groups
            },
            "hallucination": self.hallucination.model_dump(mode="json"),
            "consistency": self.consistency.as_dict(),
            "cost": self.cost.model_dump(mode="json"),
            "cost_of_paraphrases": self.cost_of_paraphrases.model_dump(mode="json"),
            "questions": [one.as_dict() for one in self.grades.questions],
            "interval": bootstrap.described(self.seed, self.resamples),
            "signature": dict(self.signature),
        }

    def _group(self, kind: str) -> dict[str, Any]:
        return {name.partition("/")[2]: self._measured(name) for name in self.strata if name.startswith(f"{kind}/")}

    def _measured(self, stratum: str) -> dict[str, Any]:
        measured = {
            **self.quality(stratum).as_dict(),
            "answered_only": self.quality(stratum, answered=True).as_dict(),
        }
        if self.strata[stratum][0] is self.cohorts:
            measured["oracle_top_k"] = self.quality(stratum, top=True).as_dict()
        return measured


def score_system(
    answers: Mapping[str, Answer],
    questions: Sequence[Question],
    labels: Labels,
    documents_per_patient: Mapping[str, int],
    patients: Collection[str],
    terms: Terms = DEFAULT,
) -> SystemScores:
    """Scores the ``answers`` (id of the question to answer) of a system.

    ``questions``: those that were to be answered; of these the ones with labels, without the shipped paraphrases, are
    scored for quality, and all for consistency. ``patients``: whom the system may name. ValueError for
    questions that are asked twice, or that the bank has not, and for bounds that contradict.
    """
    rephrased = {one.id for one in load_paraphrases()}
    scored = [one for one in questions if one.of is not None and one.id not in rephrased]
    grades = grade(answers, scored, labels)
    bounds = terms.bounds(len(grades.patients))
    held = frozenset(patients)
    return SystemScores(
        grades,
        bounds,
        document_groups(grades.patients, documents_per_patient),
        hallucination(grades, bounds),
        consistency(answers),
        outcomes(answers, scored),
        cost(answers[one.id] for one in scored if one.id in answers),
        cost(answers[one.id] for one in questions if one.id in rephrased and one.id in answers),
        unlabelled=len(held - frozenset(grades.patients)),
        not_held=len(frozenset(grades.patients) - held),
        seed=terms.seed,
        resamples=terms.resamples,
    )


def difference(
    first: SystemScores, second: SystemScores, stratum: str = "all", measure: Measure = F1, *, top: bool = False
) -> DifferenceOf:
    """How far one system is ahead of another in a stratum, by the mean that the paper reports of it.

    ValueError unless both were asked the same questions over the same patients, with one seed. KeyError for an unknown
    stratum.
    """
    if not _comparable(first, second):
        raise ValueError("two systems are compared over the same questions, patients, labels, bounds and draws")
    estimates = [scores.quality(stratum, top=top).measures[measure.name].value for scores in (first, second)]
    drawn = []
    for scores in (first, second):
        table, places, mean = scores.strata[stratum]
        drawn.append((scores.tops if top else table).drawn(measure, places, mean))
    one, other = estimates
    return DifferenceOf(
        first=one,
        second=other,
        difference=None if one is None or other is None else one - other,
        ci=between(np.subtract(*drawn)),
    )


def _comparable(first: SystemScores, second: SystemScores) -> bool:
    def basis(scores: SystemScores) -> tuple[Any, ...]:
        gold = scores.grades.cohorts[:, :, [0, 2]].sum(axis=2)
        return (
            [one.question for one in scores.grades.questions],
            scores.grades.patients,
            gold.tobytes(),
            scores.bounds,
            scores.groups,
            scores.seed,
            scores.resamples,
        )

    return basis(first) == basis(second)
