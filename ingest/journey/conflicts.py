"""Conflicts: what is taken back, corrected or only preliminary gives way, each with a recorded decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...kb.concepts import ConceptTable
from ...kb.model import Decision
from ..statements import statement
from .bench import Workbench
from .facts import Fact


def retract(bench: Workbench) -> None:
    """A note that takes a statement back rejects it where it was made before, and where it is merely copied later."""
    for taken in [fact for fact in bench.facts if fact.context.reason == "retracted"]:
        rejected = [
            fact
            for fact in bench.facts
            if fact is not taken
            and fact.context.really_happened
            and fact.kind == taken.kind
            and fact.kind not in ("surgery", "procedure", "radiation")
            and _same_statement(bench.concepts, taken, fact)
            and (
                fact.note < taken.note
                or fact.copied
                or (fact.note == taken.note and fact.mention.start < taken.mention.start)
            )
        ]
        why = f"a later note takes back {taken.kind} {bench.concepts.name(taken.concept)}".rstrip()
        _reject(bench, rejected, taken, "correction over error", why)
    bench.facts = [fact for fact in bench.facts if not fact.rejected]


def _reject(bench: Workbench, rejected: Sequence[Fact], believed: Fact, rule: str, why: str) -> None:
    """Facts give way to another, and the decision is recorded; nothing happens without such facts."""
    for fact in rejected:
        fact.rejected = believed.mention.mention_id
    if rejected:
        given_up = tuple(sorted({fact.mention.mention_id for fact in rejected}))
        bench.decisions.append(Decision(bench.patient_id, rule, (believed.mention.mention_id,), given_up, why))


def _same_statement(concepts: ConceptTable, taken: Fact, fact: Fact) -> bool:
    if not (taken.concept == fact.concept or (taken.concept and concepts.is_a(fact.concept, taken.concept))):
        return False
    for name in ("laterality", "protein", "alteration", "result", "stage", "t"):
        if name in taken.attributes and name in fact.attributes and taken.attributes[name] != fact.attributes[name]:
            return False
    return True


def supersede(bench: Workbench) -> None:
    """A result said to be corrected replaces the earlier, opposite results of its marker."""
    texts = {read.note.note_id: read.note.text for read in bench.notes}
    corrected = statement("corrected_result")
    for result in [fact for fact in bench.facts if fact.kind == "biomarker" and fact.context.really_happened]:
        start, end = result.mention.sentence
        if not corrected.search(texts[result.mention.note_id], start, end):
            continue
        sign = _sign(bench.concepts, result)
        rejected = [
            fact
            for fact in bench.facts
            if fact.kind == "biomarker"
            and fact.concept == result.concept
            and sign * _sign(bench.concepts, fact) < 0
            and (fact.note, fact.mention.start) < (result.note, result.mention.start)
        ]
        why = f"a corrected result of {bench.concepts.name(result.concept)} replaces the earlier one"
        _reject(bench, rejected, result, "correction over error", why)
    _drop_preliminary(bench, texts)
    bench.facts = [fact for fact in bench.facts if not fact.rejected]


def _drop_preliminary(bench: Workbench, texts: Mapping[str, str]) -> None:
    """A preliminary result gives way to a contrary one of the same marker or gene that is not preliminary itself."""
    preliminary = statement("preliminary")
    first: list[Fact] = []
    final: list[Fact] = []
    for fact in bench.facts:
        if fact.kind in ("biomarker", "variant") and fact.context.really_happened and not fact.rejected:
            is_first = preliminary.search(texts[fact.mention.note_id], *fact.mention.sentence)
            (first if is_first else final).append(fact)
    for fact in first:
        contrary = [
            other
            for other in final
            if other.concept == fact.concept
            and _finding(bench.concepts, other) * _finding(bench.concepts, fact) < 0
        ]
        if contrary:
            why = f"a preliminary result of {bench.concepts.name(fact.concept)} gives way to a contrary one"
            _reject(bench, [fact], contrary[0], "final over preliminary", why)


def _finding(concepts: ConceptTable, fact: Fact) -> int:
    return 1 if fact.kind == "variant" else _sign(concepts, fact)


def _sign(concepts: ConceptTable, fact: Fact) -> int:
    """1 for a positive or abnormal result, -1 for a negative or normal one, 0 otherwise."""
    result = str(fact.attributes.get("result", ""))
    if concepts.is_a(result, "result_positive") or concepts.is_a(result, "abnormal_expression"):
        return 1
    return -1 if concepts.is_a(result, "result_negative") or concepts.is_a(result, "normal_expression") else 0
