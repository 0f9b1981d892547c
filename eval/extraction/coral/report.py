"""Report of a run: each relation's figures over the answered units, their means, what failed, the strata."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ....ingest.coral_schema.tuples import Finding
from ...measures import metrics
from ...measures.bootstrap import LEVEL, RESAMPLES, interval
from ...measures.scoring import Counts, value
from ...report.signature import Signature, sha256_of, sign
from .answers import Answer, Understood, understood
from .findings import Annotated, findings_of
from .intervals import Interval, mean, mean_intervals
from .scores import FIGURES, Convention, UnitScore, pairs, score, stated
from .strata import Difference, differences
from .tasks import Task, Tasks
from .units import Note, Stretch, Unit

#: The figures that reports show and that strata are tested on.
SHOWN: Final = ("bleu", "rouge", "f1")
#: A unit without an answer, where it is counted as one that is wrong.
_NOTHING_RIGHT: Final = UnitScore(0.0, 0.0, 0.0, 0.0, 0.0, annotated=True)


@dataclass(frozen=True, slots=True)
class Judged:
    """One task on one unit: the gold, what was understood of the answer."""

    unit: Unit
    task: Task
    gold: tuple[Finding, ...]
    answer: Understood


@dataclass(frozen=True, slots=True)
class Scored:
    """One relation of one unit. ``score`` is None where there was no answer; ``counts``: pairs that are told."""

    document: str
    unit: str
    relation: str
    score: UnitScore | None
    counts: Counts


@dataclass(frozen=True, slots=True)
class Report:
    """A run over annotated notes. ``strata`` maps each stratum to the group of each document."""

    judged: Sequence[Judged]
    scored: Sequence[Scored]
    documents: tuple[str, ...]
    convention: Convention
    seed: int = 0
    strata: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    signature: Signature | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON; figures from 0 to 1 with four digits, None where there is none."""
        relations = list(dict.fromkeys(one.relation for one in self.scored))
        failures = Counter(one.answer.failure for one in self.judged if one.answer.failure)
        asked = len(self.judged)
        bounds = {name: self._intervals(name) for name in SHOWN}
        report: dict[str, Any] = {
            "relations": {
                name: self._relation(name, {figure: bounds[figure][0].get(name) for figure in SHOWN})
                for name in relations
            },
            "mean": self._mean(lambda one: one.score)
            | {"ci": {name: _rounded_pair(bounds[name][1]) for name in SHOWN}},
            "mean_where_told": self._mean(lambda one: one.score if one.score and one.score.annotated else None),
            "mean_failures_as_wrong": self._mean(lambda one: one.score or _NOTHING_RIGHT),
            "stated": self._stated(self.scored),
            "answers": {
                "asked": asked,
                "answered": asked - sum(failures.values()),
                "failed": dict(sorted(failures.items())),
                "coverage": _rounded((asked - sum(failures.values())) / asked) if asked else None,
                "pieces_not_read": sum(one.answer.unread for one in self.judged),
            },
            "documents": len(self.documents),
            "units": len({(one.unit.document, one.unit.name) for one in self.judged}),
        }
        if self.strata:
            report["strata"] = [_rounded_test(one) for one in self.differences()]
        if self.signature is not None:
            report["signature"] = self.signature.as_dict()
        return report

    def differences(self) -> list[Difference]:
        """Whether the shown figures differ between the groups of each stratum, relation by relation."""
        tables = {
            (relation, figure): {
                document: sum(values) / len(values) for document, values in self._table(figure, relation).items()
            }
            for relation in dict.fromkeys(one.relation for one in self.scored)
            for figure in SHOWN
        }
        return differences(tables, self.strata)

    def _relation(self, name: str, bounds: Mapping[str, Interval]) -> dict[str, Any]:
        rows = [one for one in self.scored if one.relation == name]
        scores = [one.score for one in rows if one.score is not None]
        annotated = [one for one in scores if one.annotated]
        return {
            "units": len(scores),
            "failed": len(rows) - len(scores),
            **{figure: _rounded(mean([one[figure] for one in scores])) for figure in FIGURES},
            "ci": {figure: _rounded_pair(bounds[figure]) for figure in SHOWN},
            "where_told": {
                "units": len(annotated),
                **{figure: _rounded(mean([one[figure] for one in annotated])) for figure in FIGURES},
            },
            "stated": self._stated(rows),
        }

    def _mean(self, score_of: Callable[[Scored], UnitScore | None]) -> dict[str, Any]:
        """The mean over the relations of their means, as the paper averages."""
        by_relation: dict[str, list[UnitScore]] = defaultdict(list)
        for one in self.scored:
            found = score_of(one)
            if found is not None:
                by_relation[one.relation].append(found)
        means = {
            figure: [sum(one[figure] for one in scores) / len(scores) for scores in by_relation.values()]
            for figure in FIGURES
        }
        return {"relations": len(by_relation)} | {figure: _rounded(mean(values)) for figure, values in means.items()}

    def _stated(self, rows: Iterable[Scored]) -> dict[str, Any]:
        """Exact pairs of which both halves are told, summed: answered units alone."""
        by_document: dict[str, Counts] = {}
        for one in rows:
            if one.score is not None:
                by_document[one.document] = by_document.get(one.document, Counts()) + one.counts
        total = sum(by_document.values(), Counts())
        return {
            "tp": total.tp,
            "fp": total.fp,
            "fn": total.fn,
            "precision": _rounded(value(metrics.PRECISION, total)),
            "recall": _rounded(value(metrics.RECALL, total)),
            "f1": _rounded(value(metrics.F1, total)),
            "ci": _rounded_pair(interval(metrics.F1, list(by_document.values()), seed=self.seed)),
        }

    def _intervals(self, figure: str) -> tuple[dict[str, Interval], Interval]:
        tables = {
            relation: self._table(figure, relation) for relation in dict.fromkeys(one.relation for one in self.scored)
        }
        return mean_intervals(tables, self.documents, seed=self.seed)

    def _table(self, figure: str, relation: str) -> dict[str, list[float]]:
        """Document to the figure of each of its units."""
        table: dict[str, list[float]] = defaultdict(list)
        for one in self.scored:
            if one.relation == relation and one.score is not None:
                table[one.document].append(one.score[figure])
        return table


@dataclass(frozen=True, slots=True)
class Choices:
    """How answers are judged: by section or note, by whose definitions, the seed of the draws, the group of each
    document in each stratum, and what the signature tells of where the answers are from (``source``)."""

    stretch: Stretch = Stretch.SECTION
    convention: Convention = Convention.PAPER
    seed: int = 0
    strata: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)


def judge(notes: Sequence[Note], answers: Iterable[Answer], tasks: Tasks, choices: Choices | None = None) -> Report:
    """The report on the answers to every task on every unit of the notes; those about anything else are left out."""
    choices = choices or Choices()
    stretch, convention, seed = choices.stretch, choices.convention, choices.seed
    given = {answer.key: answer for answer in answers}
    judged: list[Judged] = []
    scored: list[Scored] = []
    for note in notes:
        for unit in note.units(stretch):
            annotated = Annotated(note.standoff, unit)
            for task in tasks:
                answer = understood(task, given.get((note.name, unit.name, task.id)), tasks.rules)
                one = Judged(unit, task, findings_of(task, annotated), answer)
                judged.append(one)
                scored += _scored(one, convention)
    signature = sign(
        seed,
        libraries=("sacrebleu", "rouge-score", "scipy"),
        data={
            "gold": sha256_of(part for note in notes for part in (note.name, note.text, note.standoff.to_ann())),
            "answers": sha256_of(
                part for key in sorted(given) for part in (*key, given[key].output, given[key].failure)
            ),
            "tasks": tasks.sha256,
        },
        settings={
            "convention": str(convention),
            "by": str(stretch),
            "interval": {"level": LEVEL, "resamples": RESAMPLES, "over": "documents"},
            **choices.source,
        },
    )
    names = tuple(note.name for note in notes)
    return Report(judged, scored, names, convention, seed, choices.strata, signature)


def _scored(one: Judged, convention: Convention) -> Iterable[Scored]:
    gold, wanted = pairs(one.task, one.gold, convention), stated(one.task, one.gold)
    output, found = pairs(one.task, one.answer.findings, convention), stated(one.task, one.answer.findings)
    for relation in one.task.relations:
        failed = bool(one.answer.failure)
        figures = None if failed else score(output[relation], gold[relation], convention, annotated=bool(one.gold))
        both = len(found[relation] & wanted[relation])
        counts = Counts(both, len(found[relation]) - both, len(wanted[relation]) - both)
        yield Scored(one.unit.document, one.unit.name, relation, figures, counts)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _rounded_pair(bounds: Interval) -> tuple[float, float] | None:
    return None if bounds is None else (round(bounds[0], 4), round(bounds[1], 4))


def _rounded_test(one: Difference) -> dict[str, Any]:
    return {name: _rounded(cell) if name in ("h", "p", "q") else cell for name, cell in asdict(one).items()}
