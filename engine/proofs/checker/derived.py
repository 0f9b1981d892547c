"""Events that follow from others: the rule that they name is applied again, to the premises that they name.

Written apart from what derives them (``ingest/journey/derivation.py``): both read the rows of ``kb/derivation``, and a
fault of the one is no fault of the other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....kb.derivation.rules import (
    EDITION,
    PREMISES,
    RESECTION,
    RULE,
    Premise,
    Rule,
    editions_named,
    in_force,
    in_use,
    shipped_rules,
)
from ....kb.derivation.stations import SUM_OF_STATIONS
from ....kb.model import ALL_TUMORS, Event, Polarity, Value, World
from ....kb.ontology.scales import Scales
from .evidence import EvidenceCheck
from .totals import TotalCheck

#: Premises lie so near each other (days).
_NEAR: Final = 90
#: What is said of the rule itself.
_OF_RULE: Final = frozenset({RULE, EDITION, PREMISES})
_CONFINED: Final = "confined"


@dataclass(frozen=True, slots=True)
class DerivedCheck:
    """The checks of one patient's derived events."""

    evidence: EvidenceCheck

    def event(self, event: Event) -> None:
        """One derived event: its rule, edition, premises, words, day and world."""
        findings, record = self.evidence.findings, self.evidence.record
        if event.attributes[RULE] == SUM_OF_STATIONS:
            TotalCheck(self.evidence).event(event)
            return
        rule = shipped_rules().get(str(event.attributes[RULE]))
        if rule is None:
            findings.fault("derivation", "it names a rule that there is none of")
            return
        named = str(event.attributes.get(PREMISES, "")).split()
        premises = [record.events[one] for one in named if one in record.events]
        if not findings.require(premises and len(premises) == len(named), "derivation", "a premise is not recorded"):
            return
        self._concludes(rule, event)
        self._is_by_edition(rule, event)
        for premise in rule.when:
            findings.require(
                any(self._holds(premise, one) for one in premises), "derivation", f"no premise gives '{premise}'"
            )
        beside = [one for one in record.events.values() if _is_beside(one, event)]
        for premise in rule.unless:
            against = _totals(beside) if any(test.attribute == "positive" for test in premise.tests) else beside
            findings.require(
                not any(one.world >= World.BELIEVED and self._holds(premise, one) for one in against),
                "derivation",
                f"a fact of the record stands against it: '{premise}'",
            )
        cited = {mention for one in premises for mention in one.evidence}
        findings.require(set(event.evidence) == cited, "derivation", "it cites other words than its premises do")
        findings.require(any(one.day == event.day for one in premises), "day", "it has the day of no premise")
        sure = [one.world for one in premises if one.context.polarity is not Polarity.ABSENT]
        findings.require(
            World.POSSIBLE <= event.world <= min(sure, default=World.CERTAIN),
            "world",
            "it is surer than what it follows from",
        )
        findings.require(
            all(one.tumor in (event.tumor, ALL_TUMORS) or event.tumor == ALL_TUMORS for one in premises),
            "tumor",
            "a premise is of another tumor",
        )

    def _concludes(self, rule: Rule, event: Event) -> None:
        said = {name: value for name, value in event.attributes.items() if name not in _OF_RULE}
        gives: dict[str, Value] = dict(rule.gives.attributes)
        if rule.source == RESECTION and event.kind == "tnm":
            gives["prefix"] = "p"
        self.evidence.findings.require(
            (event.kind, event.concept, said) == (rule.gives.kind, rule.gives.concept, gives),
            "derivation",
            "its rule concludes something else",
        )

    def _is_by_edition(self, rule: Rule, event: Event) -> None:
        findings = self.evidence.findings
        edition = event.attributes.get(EDITION)
        if not rule.editions:
            findings.require(edition is None, "derivation", "its rule is of no edition")
            return
        if not findings.require(edition in rule.editions, "derivation", "its rule is not of that edition"):
            return
        days = [event.day.midpoint + gap for gap in (-_NEAR, 0, _NEAR)] if event.day.known else []
        open_to = {one for day in days for one in in_use(day)} | self._named_editions()
        findings.require(not days or edition in open_to, "derivation", "that edition was not in use then")
        if event.world >= World.BELIEVED and days:
            believed = {in_force(day) for day in days} | self._named_editions()
            findings.require(edition in believed, "derivation", "that edition is believed of no such report")

    def _named_editions(self) -> set[int]:
        return {one for stored in self.evidence.record.notes.values() for one in editions_named(stored.note.text)}

    def _holds(self, premise: Premise, event: Event) -> bool:
        concepts = self.evidence.concepts
        if event.kind != premise.kind:
            return False
        if premise.denied:
            if event.context.polarity is not Polarity.ABSENT:
                return False
            if not premise.concept or not event.concept or concepts.is_a(premise.concept, event.concept):
                return True
            return premise.part and concepts.is_a(event.concept, premise.concept)
        if event.world is World.NONE:
            return False
        if premise.concept and not (event.concept in concepts and concepts.is_a(event.concept, premise.concept)):
            return False
        asks_reach = any(test.attribute == "reach" for test in premise.tests)
        if event.kind == "extension" and not asks_reach and event.attributes.get("reach") == _CONFINED:
            return False
        return all(
            self._satisfies(event.attributes.get(test.attribute), test.attribute, test.operator, test.value)
            for test in premise.tests
        )

    def _satisfies(self, value: Value | None, name: str, operator: str, bound: Value) -> bool:
        if value is None:
            return False
        concepts = self.evidence.concepts
        if isinstance(value, str) and isinstance(bound, str) and operator == "=":
            if value == bound or (value in concepts and bound in concepts and concepts.is_a(value, bound)):
                return True
            if "+" in bound:
                return False
        return _scales().compare(name, value, operator, bound) or (
            operator == "!=" and isinstance(value, str) and isinstance(bound, str) and value != bound
        )


def _totals(events: Sequence[Event]) -> list[Event]:
    """Of counts of nodes those of the most positive ones: what one station has is no total."""
    counts = [(one, one.attributes.get("positive")) for one in events if one.world > World.NONE]
    most = max((count for _, count in counts if isinstance(count, float | int)), default=None)
    return [one for one, count in counts if count is not None and count == most]


def _is_beside(other: Event, event: Event) -> bool:
    """Whether an event is of the same tumor, and near in time."""
    of_it = event.tumor == ALL_TUMORS or other.tumor in (event.tumor, ALL_TUMORS)
    return of_it and other is not event and abs(other.day.midpoint - event.day.midpoint) <= _NEAR


@functools.lru_cache(maxsize=1)
def _scales() -> Scales:
    return Scales.from_files()
