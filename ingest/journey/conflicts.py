"""Conflicts: what is taken back, corrected or only preliminary gives way, each with a recorded decision.

What gives way stays on record. A corrected fact is absent, and in no world; a preliminary one is disputed: it is
possible, and the final one that is believed in its place is not certain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import MOLECULAR, PROCEDURES
from ...kb.model import Polarity, World
from ...kb.ontology.concepts import ConceptTable
from ..binding.findings import marker_rules
from ..note.mentions import ANOTHER_PATIENT
from ..text.statements import statement
from .bench import Workbench, WorkbenchDecision
from .facts import Fact

#: Names of any cancer: what is taken back in such words is that line, not a disease with a name of its own.
_ANY_CANCER: Final = frozenset({"malignant_neoplasm", "carcinoma", "neoplasm", "solid_tumor"})
#: Notes that must state a thing again before its taking back is not believed.
_TIME_AND_AGAIN: Final = 3
#: Attributes that tell one finding of a concept from another.
_SAME: Final = frozenset({"protein", "cdna", "result", "alteration", "stage", "laterality"})


def retract(bench: Workbench) -> None:
    """A note that takes a statement back rejects it where it was made before, and where it is merely copied later."""
    standing = _by_statement(bench.facts)
    for taken in [fact for fact in bench.facts if fact.context.reason == "retracted"]:
        same = [
            fact
            for (kind, concept), facts in standing.items()
            if kind == taken.kind
            and (concept == taken.concept or taken.concept not in _ANY_CANCER)
            and _covers(bench.concepts, taken.concept, concept)
            for fact in facts
        ]
        restated = _Restated(same, taken)
        rejected = [
            fact
            for fact in same
            if not fact.rejected
            # What was done is not undone by a note that takes its mention back.
            and fact.kind not in PROCEDURES
            and not restated(fact)
            and _agree(taken, fact)
            and (
                fact.note < taken.note
                or fact.copied
                or (fact.note == taken.note and fact.mention.start < taken.mention.start)
            )
        ]
        if (
            _is_misfiled(taken)
            and len({fact.note for fact in rejected if fact.note != taken.note and not fact.copied}) > 1
        ):
            rejected = []  # Stated time and again, the disease is the patient's: one line of another's was misfiled.
        why = f"a later note takes back {taken.kind} {bench.concepts.name(taken.concept)}".rstrip()
        _reject(bench, rejected, taken, "correction over error", why)


def _is_misfiled(taken: Fact) -> bool:
    """Whether a diagnosis is taken back because the line is another patient's."""
    return taken.kind == "diagnosis" and any(cue.rule == ANOTHER_PATIENT for cue in taken.mention.cues)


class _Restated:
    """Whether later notes say the same again in their own words: then it was not this that was taken back.

    One note is enough for what is narrower than the statement taken back; a stale line may repeat the statement itself.
    """

    def __init__(self, facts: Sequence[Fact], taken: Fact) -> None:
        self._later = [fact for fact in facts if fact.note > taken.note and not fact.copied and not fact.rejected]
        self._taken = taken
        self._known: dict[tuple[object, ...], bool] = {}

    def __call__(self, fact: Fact) -> bool:
        details = {name: value for name, value in fact.attributes.items() if name in _SAME}
        # Many notes say it in the same way.
        key = (fact.concept, *sorted(details.items()))
        if key not in self._known:
            later = {
                other.note
                for other in self._later
                if other.concept == fact.concept
                and all(other.attributes.get(name, value) == value for name, value in details.items())
            }
            self._known[key] = len(later) >= (1 if fact.concept != self._taken.concept else _TIME_AND_AGAIN)
        return self._known[key]


def _reject(bench: Workbench, rejected: Sequence[Fact], believed: Fact, rule: str, why: str) -> None:
    """Facts give way to another, and the decision is recorded; nothing happens without such facts."""
    for fact in rejected:
        fact.rejected = True
        fact.context = replace(fact.context, polarity=Polarity.ABSENT, reason="retracted")
    if rejected:
        bench.decisions.append(WorkbenchDecision(rule, (believed,), tuple(rejected), why))


def _by_statement(facts: Sequence[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """What really happened, by kind and concept: looking through all facts for each correction would cost too much."""
    standing: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.context.really_happened:
            standing[fact.kind, fact.concept].append(fact)
    return standing


def _covers(concepts: ConceptTable, taken: str, concept: str) -> bool:
    return taken == concept or bool(taken and concepts.is_a(concept, taken))


def _agree(taken: Fact, fact: Fact) -> bool:
    for name in ("laterality", "protein", "alteration", "result", "stage", "t"):
        if name in taken.attributes and name in fact.attributes and taken.attributes[name] != fact.attributes[name]:
            return False
    return True


def supersede(bench: Workbench) -> None:
    """A result said to be corrected replaces the earlier, opposite results of its marker."""
    texts = {read.note.note_id: read.note.text for read in bench.notes}
    corrected = statement("corrected_result")
    results: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        if fact.kind == "biomarker" and not fact.rejected:
            results[fact.concept, sign_of(bench.concepts, fact)].append(fact)
    is_corrected: dict[tuple[str, tuple[int, int]], bool] = {}
    for result in [fact for fact in bench.facts if fact.kind == "biomarker" and fact.context.really_happened]:
        place = (result.mention.note_id, result.mention.sentence)
        if place not in is_corrected:
            is_corrected[place] = bool(corrected.search(texts[place[0]], *place[1]))
        if not is_corrected[place]:
            continue
        sign = sign_of(bench.concepts, result)
        rejected = [
            fact
            for marker in (kin(result.concept) if sign else ())
            for fact in results.get((marker, -sign), ())
            if not fact.rejected and (fact.note, fact.mention.start) < (result.note, result.mention.start)
        ]
        why = f"a corrected result of {bench.concepts.name(result.concept)} replaces the earlier one"
        _reject(bench, rejected, result, "correction over error", why)
    _dispute_preliminary(bench, texts)


def kin(marker: str) -> tuple[str, ...]:
    """The marker, the one whose result it is a part of, and those that are parts of its own (``markers.toml``).

    A corrected status speaks of its stains, and a corrected stain of the status, but never one stain of another.
    """
    whole = marker_rules()["part_of"]
    return (
        marker,
        *([whole[marker]] if marker in whole else ()),
        *(part for part, of in whole.items() if of == marker),
    )


def _dispute_preliminary(bench: Workbench, texts: Mapping[str, str]) -> None:
    """A preliminary result gives way to a contrary one of the same marker or gene that is not preliminary itself."""
    preliminary = statement("preliminary")
    first: list[Fact] = []
    final: list[Fact] = []
    is_first: dict[tuple[str, tuple[int, int]], bool] = {}
    for fact in bench.facts:
        if fact.kind in MOLECULAR and fact.context.really_happened and not fact.rejected:
            place = (fact.mention.note_id, fact.mention.sentence)
            if place not in is_first:
                is_first[place] = bool(preliminary.search(texts[place[0]], *place[1]))
            (first if is_first[place] else final).append(fact)
    if not first:
        return
    # Of each marker or gene the earliest final result of each sign: the others say no more.
    settled: dict[tuple[str, int], Fact] = {}
    said: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in final:
        finding = finding_of(bench.concepts, fact)
        said[fact.kind, fact.concept, fact.note, finding, _side(fact)].append(fact)
        settled.setdefault((fact.concept, finding), fact)
    for fact in first:
        sign = finding_of(bench.concepts, fact)
        contrary = settled.get((fact.concept, -sign)) if sign else None
        if contrary:
            why = f"a preliminary result of {bench.concepts.name(fact.concept)} gives way to a contrary one"
            fact.rejected, fact.world = True, World.POSSIBLE
            # The note that settles it may say so more than once.
            for same in said[contrary.kind, contrary.concept, contrary.note, -sign, _side(contrary)]:
                same.world = World.BELIEVED
            bench.decisions.append(WorkbenchDecision("final over preliminary", (contrary,), (fact,), why))


def _side(fact: Fact) -> object:
    return fact.attributes.get("laterality"), fact.attributes.get("site")


def finding_of(concepts: ConceptTable, fact: Fact) -> int:
    """As :func:`sign_of`; a variant that was found is positive."""
    return 1 if fact.kind == "variant" else sign_of(concepts, fact)


def sign_of(concepts: ConceptTable, fact: Fact) -> int:
    """1 for a positive or abnormal result, -1 for a negative or normal one, 0 otherwise."""
    result = str(fact.attributes.get("result", ""))
    if concepts.is_a(result, "result_positive") or concepts.is_a(result, "abnormal_expression"):
        return 1
    return -1 if concepts.is_a(result, "result_negative") or concepts.is_a(result, "normal_expression") else 0
