"""One patient's abstraction becomes a journey: the same tumors, regimens and events as are made of notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...kb.concepts import ConceptTable
from ...kb.model import LATEST_DAY, DayInterval, Journey
from ...kb.scales import Scales
from ..document import ReadNote
from ..journey.bench import Workbench, WorkbenchDecision
from ..journey.build import assembled, collect, compose, fold
from ..journey.conflicts import kin
from ..journey.facts import Fact
from ..journey.treatments import give_components
from .linkage import hang_on_tumors
from .records import AbstractedFact, Abstraction
from .terms import FactReader, ReadFact

#: Kinds whose facts, when undated, take the days of what else was found in their documents.
_DATED_BY_DOCUMENT: Final = frozenset({"performance_status", "lab"})


def read_patient(reader: FactReader, abstraction: Abstraction) -> list[ReadFact]:
    """Each fact of a patient read; the vital status stands for a fact of its own where no fact tells of the death."""
    facts = [_dated(fact, abstraction.facts) for fact in abstraction.facts]
    told = any(fact.kind == "death" and fact.assertion in ("present", "historical") for fact in facts)
    if abstraction.dead and not told:
        facts.append(AbstractedFact(0, "death", "death", "vital status", "present", day=abstraction.death))
    return [reader.read(abstraction.patient_id, fact) for fact in facts]


def build_patient(patient_id: str, read: Sequence[ReadFact], concepts: ConceptTable, scales: Scales) -> Journey:
    """The journey that the facts of a patient make."""
    in_time = sorted(read, key=lambda one: (LATEST_DAY if one.fact.day is None else one.fact.day.low, one.fact.number))
    notes = [ReadNote(one.note, one.mentions, (), "abstraction") for one in in_time]
    bench = Workbench(patient_id, concepts, notes)
    by_note = {one.note.note_id: one for one in in_time}
    collect(bench)
    for fact in bench.facts:
        fact.end = by_note[fact.mention.note_id].fact.end
    for step in (compose, lambda bench: hang_on_tumors(bench, by_note, scales), give_components, decide, fold):
        step(bench)
    return assembled(bench)


def decide(bench: Workbench) -> None:
    """Each fact that is recorded as corrected or withdrawn is a decision for the facts that stand instead."""
    standing: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        if fact.context.really_happened:
            standing[fact.kind, fact.concept, fact.tumor].append(fact)
    for fact in bench.facts:
        if fact.context.reason == "retracted":
            what = f"{fact.kind} {bench.concepts.name(fact.concept) if fact.concept else ''}".rstrip()
            instead = [one for marker in kin(fact.concept) for one in standing.get((fact.kind, marker, fact.tumor), ())]
            why = f"the abstraction records {what} as corrected or withdrawn"
            bench.decisions.append(WorkbenchDecision("correction over error", tuple(instead), (fact,), why))


def _dated(fact: AbstractedFact, facts: Sequence[AbstractedFact]) -> AbstractedFact:
    """An undated score with the days between which the other facts of its documents lie."""
    if fact.day is not None or fact.kind not in _DATED_BY_DOCUMENT:
        return fact
    cited = set(fact.docs)
    days = [other.day for other in facts if other.day is not None and cited & set(other.docs)]
    if not days:
        return fact
    return replace(fact, day=DayInterval(min(day.low for day in days), max(day.high for day in days)))
