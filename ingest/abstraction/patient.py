"""One patient's abstraction as a journey: the same tumors, regimens and events as are made of notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...kb.model import LATEST_DAY, DayInterval, Journey
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ..journey.bench import Workbench, WorkbenchDecision
from ..journey.build import assembled, collect, compose, fold
from ..journey.conflicts import kin
from ..journey.facts import Fact
from ..journey.treatments import give_components
from ..note.read import ReadNote
from .linkage import hang_on_tumors
from .records import AbstractedFact, Abstraction
from .terms import FactReader, ReadFact

#: Kinds whose facts, when undated, take the days of what else was found in their documents.
_DATED_BY_DOCUMENT: Final = frozenset({"performance_status", "lab"})


def read_patient(reader: FactReader, abstraction: Abstraction) -> list[ReadFact]:
    """Each fact of a patient read; the vital status stands for a fact of its own where no fact tells of the death."""
    facts = _dated(abstraction.facts)
    has_death = any(fact.kind == "death" and fact.assertion in ("present", "historical") for fact in facts)
    if abstraction.dead and not has_death:
        facts.append(AbstractedFact(0, "death", "death", "vital status", "present", day=abstraction.death))
    return [reader.read(abstraction.patient_id, fact) for fact in facts]


def stated(patient_id: str, read: Sequence[ReadFact], concepts: ConceptTable) -> list[tuple[ReadFact, list[Fact]]]:
    """What each fact of a patient states by itself: as :func:`build_patient` takes it, before facts become events."""
    bench, by_note = _bench(patient_id, read, concepts)
    for step in FACT_STEPS:
        step(bench, by_note)
    of_note: dict[str, list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        of_note[fact.mention.note_id].append(fact)
    return [(one, of_note[one.note.note_id]) for one in by_note.values()]


def build_patient(patient_id: str, read: Sequence[ReadFact], concepts: ConceptTable, scales: Scales) -> Journey:
    """The journey that the facts of a patient make."""
    bench, by_note = _bench(patient_id, read, concepts)
    for first in FACT_STEPS:
        first(bench, by_note)
    for step in STEPS:
        step(bench, by_note, scales)
    return assembled(bench)


def _bench(patient_id: str, read: Sequence[ReadFact], concepts: ConceptTable) -> tuple[Workbench, dict[str, ReadFact]]:
    """An empty bench of the patient, and the facts in order of time, by the note that each has become."""
    in_time = sorted(read, key=lambda one: (LATEST_DAY if one.fact.day is None else one.fact.day.low, one.fact.number))
    notes = [ReadNote(one.note, one.mentions, (), "abstraction") for one in in_time]
    return Workbench(patient_id, concepts, notes), {one.note.note_id: one for one in in_time}


def end(bench: Workbench, by_note: Mapping[str, ReadFact]) -> None:
    """Each fact ends when the abstraction says so."""
    for fact in bench.facts:
        fact.end = by_note[fact.mention.note_id].fact.end


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


def _dated(facts: Sequence[AbstractedFact]) -> list[AbstractedFact]:
    """The facts; an undated score with the days between which the other facts of its documents lie."""
    days: dict[str, list[DayInterval]] = defaultdict(list)
    for fact in facts:
        if fact.day is not None:
            for document in fact.docs:
                days[document].append(fact.day)
    dated = []
    for fact in facts:
        of_documents = [day for document in fact.docs for day in days.get(document, ())]
        if fact.day is None and fact.kind in _DATED_BY_DOCUMENT and of_documents:
            low, high = min(day.low for day in of_documents), max(day.high for day in of_documents)
            fact = replace(fact, day=DayInterval(low, high))
        dated.append(fact)
    return dated


#: What each fact says by itself, step by step.
FACT_STEPS: Final[tuple[Callable[[Workbench, Mapping[str, ReadFact]], None], ...]] = (
    lambda bench, by_note: collect(bench),
    end,
    lambda bench, by_note: compose(bench),
)
#: From there to events, step by step.
STEPS: Final[tuple[Callable[[Workbench, Mapping[str, ReadFact], Scales], None], ...]] = (
    hang_on_tumors,
    lambda bench, by_note, scales: give_components(bench),
    lambda bench, by_note, scales: decide(bench),
    lambda bench, by_note, scales: fold(bench),
)
