"""One patient's abstraction becomes a journey: the same tumors, regimens and events as are made of notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...kb.concepts import ConceptTable
from ...kb.model import LATEST_DAY, DayInterval, Journey, Mention, Note
from ..document import ReadNote
from ..journey.bench import Workbench, is_own
from ..journey.build import assembled, collect, compose, fold, tumor_roots
from ..journey.facts import Fact
from ..journey.treatments import give_components
from ..journey.tumors import TumorMap
from .records import AbstractedFact, Abstraction
from .terms import FactReader, Place, ReadFact

#: Kinds whose facts, when undated, take the days of what else was found in their documents.
_DATED_BY_DOCUMENT: Final = frozenset({"performance_status", "lab"})


def read_patient(reader: FactReader, abstraction: Abstraction) -> list[ReadFact]:
    """Each fact of a patient read; the vital status stands for a fact of its own where no fact tells of the death."""
    facts = [_dated(fact, abstraction.facts) for fact in abstraction.facts]
    told = any(fact.kind == "death" and fact.assertion in ("present", "historical") for fact in facts)
    if abstraction.dead and not told:
        facts.append(
            AbstractedFact(
                len(facts) + 1, "death", "death", "vital status", "present", day=abstraction.death
            )
        )
    return [reader.read(abstraction.patient_id, fact) for fact in facts]


def build_patient(patient_id: str, read: Sequence[ReadFact], concepts: ConceptTable) -> Journey:
    """The journey that the facts of a patient make."""
    in_time = sorted(
        read, key=lambda one: (LATEST_DAY if one.fact.day is None else one.fact.day.low, one.fact.number)
    )
    notes = [_note(patient_id, one) for one in in_time]
    bench = Workbench(patient_id, concepts, notes)
    by_note = {note.note.note_id: one for note, one in zip(notes, in_time, strict=True)}
    collect(bench)
    for fact in bench.facts:
        fact.end = by_note[fact.mention.note_id].fact.end
    for step in (compose, lambda bench: hang_on_tumors(bench, by_note), give_components, fold):
        step(bench)
    return assembled(bench)


def hang_on_tumors(bench: Workbench, by_note: Mapping[str, ReadFact]) -> None:
    """Diagnoses to tumors, then every fact to its tumor by the rules of the linkage, documents being those it cites."""
    roots = tumor_roots(bench)
    tumors = bench.tumors = TumorMap(bench.patient_id, bench.concepts, roots)
    of_document: dict[str, set[str]] = defaultdict(set)
    for root in roots:
        for document in by_note[root.mention.note_id].fact.docs:
            of_document[document].add(root.tumor)
    for fact in bench.facts:
        if not fact.tumor and is_own(fact):
            one = by_note[fact.mention.note_id]
            named = set().union(*(of_document.get(document, ()) for document in one.fact.docs))
            tumors.hang(fact, _candidates(tumors, fact, one, one.place, named))


def _candidates(
    tumors: TumorMap, fact: Fact, read: ReadFact, place: Place, named: set[str]
) -> tuple[tuple[int, Callable[[], str]], ...]:
    """The tumors that the rules name, in their order."""
    side = place.side
    return (
        (1, lambda: tumors.by_name(read.tumor, side) if read.tumor else ""),
        (1, lambda: tumors.by_organ(place.site, side)),
        (1, lambda: tumors.by_side(side)),
        (2, lambda: next(iter(named)) if len(named) == 1 else ""),
        (3, tumors.only),
        (4, lambda: tumors.by_specificity(fact)),
    )


def _note(patient_id: str, read: ReadFact) -> ReadNote:
    note = Note(
        patient_id,
        f"fact {read.fact.number}",
        read.text,
        type="abstraction",
        title=read.fact.kind.replace("_", " "),
    )
    mentions: tuple[Mention, ...] = read.mentions
    return ReadNote(note, mentions, (), "abstraction", "")


def _dated(fact: AbstractedFact, facts: Sequence[AbstractedFact]) -> AbstractedFact:
    """An undated score with the days between which the other facts of its documents lie."""
    if fact.day is not None or fact.kind not in _DATED_BY_DOCUMENT:
        return fact
    cited = set(fact.docs)
    days = [other.day for other in facts if other.day is not None and cited & set(other.docs)]
    if not days:
        return fact
    return replace(fact, day=DayInterval(min(day.low for day in days), max(day.high for day in days)))
