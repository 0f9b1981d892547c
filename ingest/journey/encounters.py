"""Encounters told by several notes: one stay is one event, and a visit is one of its day.

A stay is told by its summary, by the notes that were written in it, and by later ones with a rough date or none. What
was told of it without a date is that of the last such stay before its note; a clinic's note from the midst of a stay
belongs to it and is no visit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...kb.model import EARLIEST_DAY, DayInterval
from ...kb.ontology.concepts import ConceptTable
from ..recognizers.encounters import BY_NOTE, EMERGENCY, ENDED, ICU, KIND, STAYS
from ..text.dates.intervals import days_of
from .bench import Workbench
from .facts import Fact

#: One note dates a stay by its first night, another by the day before.
_NEAR: Final = 1
#: The first note of a stay of which nobody tells the end may be followed by others for so many days.
_GOES_ON: Final = 1
_TELEPHONE: Final = "telephone_contact"


@dataclass(slots=True)
class _Met:
    """One encounter: its most exact day, when it ended, and the facts that tell of it."""

    day: DayInterval
    end: DayInterval | None
    facts: list[Fact] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The last day of it that is known."""
        return max(self.day.high, self.end.high) if self.end is not None else self.day.high

    def holds(self, day: DayInterval) -> bool:
        """Whether it may be what was told of that day: that lies in it, or may be the day on which it began."""
        if day.high - day.low <= _NEAR:
            return self.day.low - _NEAR <= day.high and day.low <= self.last + _GOES_ON
        return self.day.low <= day.high and day.low <= self.day.high


def join_encounters(bench: Workbench) -> None:
    """Facts of one encounter get its day, its end and the concept that says most of it."""
    facts = [fact for fact in bench.facts if fact.kind == KIND and fact.context.really_happened and not fact.rejected]
    if not facts:
        return
    for fact in facts:
        stated = fact.mention.attributes.get(ENDED)
        fact.end = None if stated is None else days_of(str(stated))
    stays = [fact for fact in facts if fact.concept in STAYS]
    general = _joined([fact for fact in stays if fact.concept != ICU], bench.concepts)
    units = _joined([fact for fact in stays if fact.concept == ICU], bench.concepts)
    _joined([fact for fact in facts if fact.concept == EMERGENCY], bench.concepts)
    visits = [fact for fact in facts if fact.concept not in STAYS and fact.concept != EMERGENCY]
    within = {id(fact) for fact in visits if _is_within(fact, (*general, *units))}
    if within:
        bench.facts = [fact for fact in bench.facts if id(fact) not in within]
    _one_a_day([fact for fact in visits if id(fact) not in within], bench.concepts)


def _joined(facts: Sequence[Fact], concepts: ConceptTable) -> list[_Met]:
    """The encounters that these facts tell of, which then have their day."""
    met: list[_Met] = []
    dated = [fact for fact in facts if fact.day.low > EARLIEST_DAY]
    for fact in sorted(dated, key=lambda one: (one.day.high - one.day.low, one.day.low, one.note)):
        there = [one for one in met if one.holds(fact.day) and _may_be_one(one.facts, fact, concepts)]
        if there:
            one = min(there, key=lambda one: (abs(one.day.low - fact.day.low), one.day.low))
            one.facts.append(fact)
            if fact.end is not None and (one.end is None or fact.end.high > one.end.high):
                one.end = fact.end
        else:
            met.append(_Met(fact.day, fact.end, [fact]))
    undated = [fact for fact in facts if fact.day.low <= EARLIEST_DAY]
    alone: list[Fact] = []
    for fact in undated:
        before = [one for one in met if one.day.low <= fact.day.high and _may_be_one(one.facts, fact, concepts)]
        if before:
            max(before, key=lambda one: one.day.low).facts.append(fact)
        else:
            alone.append(fact)
    if alone:
        first = min(alone, key=lambda fact: (fact.day.high, fact.note))
        met.append(_Met(first.day, first.end, alone))
    for one in met:
        _settle(one.facts, one.day, one.end, concepts)
    return met


def _may_be_one(told: Iterable[Fact], fact: Fact, concepts: ConceptTable) -> bool:
    return all(concepts.related(one.concept, fact.concept) for one in told)


def _settle(facts: Sequence[Fact], day: DayInterval, end: DayInterval | None, concepts: ConceptTable) -> None:
    concept = facts[0].concept
    for fact in facts:
        if concepts.is_a(fact.concept, concept):
            concept = fact.concept
    own = [mention for fact in facts for mention in fact.mentions]
    for fact in facts:
        if fact.day != day or fact.concept != concept:
            # The mentions that tell the day and the sort.
            fact.mentions += [one for one in own if one not in fact.mentions]
        fact.day, fact.end, fact.concept = day, end, concept


def _is_within(fact: Fact, stays: Sequence[_Met]) -> bool:
    """Whether a meeting lies between the first and the last day of a stay: its note is one of that stay."""
    if fact.mention.source != BY_NOTE or fact.concept == _TELEPHONE or fact.day.low <= EARLIEST_DAY:
        return False
    return any(one.day.high < fact.day.low and fact.day.high < one.last for one in stays)


def _one_a_day(visits: Sequence[Fact], concepts: ConceptTable) -> None:
    """Visits of one day are one, unless they are of different sorts (a clinic and an infusion)."""
    by_day: dict[tuple[int, int], list[Fact]] = {}
    for fact in visits:
        by_day.setdefault((fact.day.low, fact.day.high), []).append(fact)
    for facts in by_day.values():
        for fact in facts:
            below = [one for one in facts if one.concept != fact.concept and concepts.is_a(one.concept, fact.concept)]
            if below:
                fact.mentions += [one for one in below[0].mentions if one not in fact.mentions]
                fact.concept = below[0].concept
