"""The report of a fact-level run: facts by kind and group of patients, events without a fact, what was missed."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ....kb.model import EARLIEST_DAY, Context, DayInterval, Experiencer
from ...measures import metrics
from ...measures.bootstrap import interval
from ...measures.scoring import Counts
from .gold import GoldFact, Statement
from .matching import Reason, Verdict

#: What stands between the group of a patient and the rest of the id (``D1-001``).
_AFTER_GROUP: Final = "-"
#: A report bears another day than its specimen; further apart a date is another one.
_NEAR_IN_DAYS: Final = 31


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A gold fact with the verdict on each of its statements."""

    patient_id: str
    fact: GoldFact
    verdicts: tuple[Verdict, ...]

    @property
    def resolved(self) -> bool:
        """Whether its text named anything that could be looked for."""
        return bool(self.verdicts)

    @property
    def matched(self) -> bool:
        """Whether events hold all that it states."""
        return self.resolved and all(one.matched for one in self.verdicts)

    @property
    def in_part(self) -> bool:
        """Whether events hold some of what it states and not all."""
        return any(one.matched for one in self.verdicts) and not self.matched

    @property
    def with_value(self) -> bool:
        """Whether events hold all that it states, values included."""
        return self.resolved and all(one.with_value for one in self.verdicts)

    @property
    def compatible(self) -> bool:
        """Whether events hold all that it states but for broader or narrower concepts."""
        return self.resolved and all(one.compatible for one in self.verdicts)

    @property
    def days_apart(self) -> float | None:
        """From a matched fact's date to the nearest event that holds any of it; None if nothing can be compared."""
        apart = [one.days_apart for one in self.verdicts if one.days_apart is not None]
        return min(apart) if apart and self.matched else None


@dataclass(frozen=True, slots=True)
class EventCounts:
    """Events of one kind: all, those that a gold fact justifies, and those near one (its concept is compatible)."""

    events: int = 0
    justified: int = 0
    near: int = 0


@dataclass(frozen=True, slots=True)
class Miss:
    """A statement of a gold fact that no event holds, or not with its value, and what there is instead.

    No text of a note stands in it, nor of the fact's evidence.
    """

    patient_id: str
    number: int
    fact_kind: str
    statement: Statement
    name: str
    reason: Reason
    instead: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the day as ISO text."""
        statement = self.statement
        return {
            "patient_id": self.patient_id,
            "number": self.number,
            "fact_kind": self.fact_kind,
            "kind": statement.kind,
            "concept": statement.concept,
            "name": self.name,
            "attributes": dict(statement.attributes),
            "assertion": assertion_of(statement.context),
            "day": days_as_text(statement.day),
            "reason": str(self.reason),
            "instead": list(self.instead),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A fact-level run. ``events`` is by kind of event; ``patients`` counts those with facts, without notes, and those
    of the knowledge base without facts, who are left out."""

    facts: Sequence[JudgedFact]
    events: Mapping[str, EventCounts]
    misses: Sequence[Miss]
    patients: Mapping[str, int]
    bad: int = 0
    seed: int = 0
    signature: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self, *, misses: int = 0) -> dict[str, Any]:
        """For JSON, with the first ``misses`` of what was missed."""
        by_kind: dict[str, list[JudgedFact]] = defaultdict(list)
        by_group: dict[str, list[JudgedFact]] = defaultdict(list)
        for one in self.facts:
            by_kind[one.fact.kind].append(one)
            by_group[one.patient_id.partition(_AFTER_GROUP)[0]].append(one)
        report: dict[str, Any] = {
            "all": self._part(self.facts),
            "by_kind": {kind: self._part(by_kind[kind]) for kind in sorted(by_kind)},
            "by_group": {group: self._part(by_group[group]) for group in sorted(by_group)},
            "reasons": dict(Counter(str(one.reason) for one in self.misses).most_common()),
            "events": {
                kind: {**asdict(one), "without_a_fact": one.events - one.justified - one.near}
                for kind, one in self.events.items()
            },
            "patients": dict(self.patients),
            "bad": self.bad,
            "signature": dict(self.signature),
        }
        if misses:
            report["misses"] = [one.as_dict() for one in self.misses[:misses]]
            report["missed"] = len(self.misses)
        return report

    def _part(self, facts: Iterable[JudgedFact]) -> dict[str, Any]:
        facts = list(facts)
        resolved = [one for one in facts if one.resolved]
        dated = [one.days_apart for one in resolved if one.days_apart is not None]
        matched, with_value, compatible = (
            sum(getattr(one, name) for one in resolved) for name in ("matched", "with_value", "compatible")
        )
        met, near = (sum(days <= most for days in dated) for most in (0, _NEAR_IN_DAYS))
        return {
            "facts": len(facts),
            "resolved": len(resolved),
            "unresolved": len(facts) - len(resolved),
            "matched": matched,
            "in_part": sum(one.in_part for one in resolved),
            "recall": _share(matched, len(resolved)),
            "ci": self._interval(resolved, "matched"),
            "with_value": with_value,
            "recall_with_value": _share(with_value, len(resolved)),
            "ci_with_value": self._interval(resolved, "with_value"),
            "compatible": compatible,
            "recall_compatible": _share(compatible, len(resolved)),
            "recall_of_all": _share(matched, len(facts)),
            "dated": len(dated),
            "dates_meet": met,
            "dates_within_31_days": near,
            "share_of_dates": _share(met, len(dated)),
        }

    def _interval(self, facts: Iterable[JudgedFact], name: str) -> tuple[float, float] | None:
        by_patient: dict[str, Counts] = {}
        for one in facts:
            held = bool(getattr(one, name))
            counts = Counts(tp=held, fn=not held)
            by_patient[one.patient_id] = by_patient.get(one.patient_id, Counts()) + counts
        return interval(metrics.RECALL, list(by_patient.values()), seed=self.seed)


def assertion_of(context: Context) -> str:
    """The context in one word, a relative's behind whose it is (``family absent``)."""
    of_patient = context.experiencer is Experiencer.PATIENT
    return context.assertion if of_patient else f"{context.experiencer} {context.assertion}"


def days_as_text(day: DayInterval | None) -> str:
    """``2019-03-04``, ``2019-03-01 to 2019-03-31``, ``until 2019-03-31``, or nothing."""
    if day is None or not day.known:
        return ""
    low, high = (datetime.date.fromordinal(at).isoformat() for at in (day.low, day.high))
    if day.low == EARLIEST_DAY:
        return f"until {high}"
    return low if low == high else f"{low} to {high}"


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
