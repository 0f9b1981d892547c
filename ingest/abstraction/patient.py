"""One patient's abstraction becomes a journey: the same tumors, regimens and events as are made of notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...kb.concepts import ConceptTable
from ...kb.model import ALL_TUMORS, LATEST_DAY, DayInterval, Journey, Mention, Note
from ..document import ReadNote
from ..journey.bench import Workbench, is_own
from ..journey.build import NEAR_IN_TIME, assembled, collect, compose, fold, tumor_roots
from ..journey.facts import Fact
from ..journey.treatments import give_components
from ..journey.tumors import TumorMap
from .records import AbstractedFact, Abstraction
from .terms import FactReader, ReadFact

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
    """Diagnoses to tumors, then every fact to its tumor by the rules of the linkage.

    What the words of a fact, or of the sentence that it was taken from, place, tells what its documents are about.
    """
    roots = tumor_roots(bench)
    tumors = bench.tumors = TumorMap(bench.patient_id, bench.concepts, roots)
    about: dict[str, set[str]] = defaultdict(set)
    placed = list(roots)
    rest = [fact for fact in bench.facts if not fact.tumor and is_own(fact)]
    for fact in rest:
        tumors.hang(fact, _by_own_words(tumors, by_note[fact.mention.note_id]))
        if fact.tumor:
            placed.append(fact)
    for fact in placed:
        if fact.tumor != ALL_TUMORS:
            for document in by_note[fact.mention.note_id].fact.docs:
                about[document].add(fact.tumor)
    rest = [fact for fact in rest if not fact.tumor]
    for fact in rest:
        documents = by_note[fact.mention.note_id].fact.docs
        tumors.hang(fact, _by_company(tumors, fact, [about[one] for one in documents if one in about]))
    placed += [fact for fact in rest if fact.tumor]
    for fact in rest:
        if not fact.tumor:
            tumors.hang(fact, ((2, lambda fact=fact: _nearest(fact, placed)),))


def _by_own_words(tumors: TumorMap, read: ReadFact) -> tuple[tuple[int, Callable[[], str]], ...]:
    """Rule 1: the tumor that the fact names, or the one at the place that it names; then its sentence's."""
    site, side = read.place.site, read.place.side
    # A metastasis lies where its tumor does not.
    placing = read.fact.kind != "metastasis"
    return (
        (1, lambda: tumors.by_name(read.tumor, side) if read.tumor else ""),
        (1, lambda: tumors.by_organ(site, side) if placing else ""),
        (1, lambda: tumors.by_side(side) if placing else ""),
        (1, lambda: _only(tumors.by_name(tumor, "") for tumor in read.sentence_tumors)),
    )


def _by_company(
    tumors: TumorMap, fact: Fact, documents: Sequence[set[str]]
) -> tuple[tuple[int, Callable[[], str]], ...]:
    """Rules 2 to 4: the one tumor of its documents, the only tumor, the one that it is specific to."""
    return (
        (2, lambda: _only(tumor for named in documents for tumor in named)),
        (3, tumors.only),
        (4, lambda: tumors.by_specificity(fact)),
    )


def _only(found: Iterable[str]) -> str:
    """What all that is found agrees on; empty if it does not, or there is nothing."""
    different = {tumor for tumor in found if tumor}
    return different.pop() if len(different) == 1 else ""


def _nearest(fact: Fact, placed: Sequence[Fact]) -> str:
    """The one tumor that the facts nearest in time are of, if they are near."""
    if not fact.day.known:
        return ""
    gaps: dict[int, set[str]] = defaultdict(set)
    for other in placed:
        if other.tumor != ALL_TUMORS and other.day.known:
            gap = max(0, other.day.low - fact.day.high, fact.day.low - other.day.high)
            gaps[gap].add(other.tumor)
    return _only(gaps[min(gaps)]) if gaps and min(gaps) <= NEAR_IN_TIME else ""


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
