"""Conflicts: what is taken back, corrected or only preliminary gives way, each with a recorded decision.

What gives way stays on record. A corrected fact is absent, and in no world; a preliminary one is disputed: it is
possible, and the final one that is believed in its place is not certain.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
#: Attributes in which a statement and its correction must not differ.
_AGREEING: Final = ("laterality", "protein", "alteration", "result", "stage", "t")
_APART: Final = tuple(sorted({*_SAME, *_AGREEING}))


def retract(bench: Workbench) -> None:
    """A note that takes a statement back rejects it where it was made before, and where it is merely copied later."""
    statements = _Statements(bench)
    for taken in [fact for fact in bench.facts if fact.context.reason == "retracted"]:
        # What was done is not undone by a note that takes its mention back.
        if taken.kind in PROCEDURES:
            continue
        same = statements.covered_by(taken)
        meant = [one for one in same if _agree(taken, one.first) and one.before(taken)]
        meant = [one for one in meant if not _is_restated(one, same, taken)]
        rejected = [fact for one in meant for fact in one.before(taken)]
        if (
            _is_misfiled(taken)
            and len({fact.note for fact in rejected if fact.note != taken.note and not fact.copied}) > 1
        ):
            continue  # Stated time and again, the disease is the patient's: one line of another's was misfiled.
        why = f"a later note takes back {taken.kind} {bench.concepts.name(taken.concept)}".rstrip()
        _reject(bench, rejected, taken, "correction over error", why)
        for one in meant:
            one.give_way(taken)


def _is_misfiled(taken: Fact) -> bool:
    """Whether a diagnosis is taken back because the line is another patient's."""
    return taken.kind == "diagnosis" and any(cue.rule == ANOTHER_PATIENT for cue in taken.mention.cues)


class _InOrder:
    """Facts in the order in which they were stated, of which what was said before some place gives way, once."""

    __slots__ = ("_facts", "_gone", "_places")

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = sorted(facts, key=_place)
        self._places = list(map(_place, self._facts))
        #: So many of the first gave way already.
        self._gone = 0

    def before(self, place: tuple[int, int]) -> list[Fact]:
        """Those that were stated before the place and still stand."""
        return self._facts[self._gone : bisect.bisect_left(self._places, place)]

    def give_way(self, place: tuple[int, int]) -> list[Fact]:
        """The same; nobody looks at them again."""
        given = self.before(place)
        self._gone += len(given)
        return given


class _Statement:
    """The standing facts that state one thing in equal words: kind, concept, and what tells findings apart."""

    __slots__ = ("_copies", "_own", "first", "notes")

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.first = facts[0]
        own = [fact for fact in facts if not fact.copied]
        #: The positions of the notes that say so in their own words, each once.
        self.notes = sorted({fact.note for fact in own})
        self._own = _InOrder(own)
        self._copies = [fact for fact in facts if fact.copied]

    def before(self, taken: Fact) -> list[Fact]:
        """What ``taken`` can take back: what was stated before it, and what is merely copied later."""
        return self._own.before(_place(taken)) + self._copies

    def give_way(self, taken: Fact) -> None:
        """What :meth:`before` gave stands no more."""
        self._own.give_way(_place(taken))
        self._copies = []


class _Statements:
    """All that is stated by kind and concept, so that a correction does not look through all facts."""

    def __init__(self, bench: Workbench) -> None:
        self._concepts = bench.concepts
        alike: dict[tuple[str, str, tuple[object, ...]], list[Fact]] = defaultdict(list)
        for fact in bench.facts:
            if fact.context.really_happened and not fact.rejected:
                alike[fact.kind, fact.concept, tuple(map(fact.attributes.get, _APART))].append(fact)
        self._of: dict[str, dict[str, list[_Statement]]] = defaultdict(lambda: defaultdict(list))
        for (kind, concept, _), facts in alike.items():
            self._of[kind][concept].append(_Statement(facts))
        self._covered: dict[tuple[str, str], list[_Statement]] = {}

    def covered_by(self, taken: Fact) -> list[_Statement]:
        """The statements of the concept that is taken back, and of those below it."""
        key = (taken.kind, taken.concept)
        found = self._covered.get(key)
        if found is None:
            found = self._covered[key] = [
                one
                for concept, statements in self._of.get(taken.kind, {}).items()
                if (concept == taken.concept or taken.concept not in _ANY_CANCER)
                and _covers(self._concepts, taken.concept, concept)
                for one in statements
            ]
        return found


def _place(fact: Fact) -> tuple[int, int]:
    return fact.note, fact.mention.start


def _is_restated(stated: _Statement, same: Iterable[_Statement], taken: Fact) -> bool:
    """Whether later notes say the same again in their own words: then it was not this that was taken back.

    One note is enough for what is narrower than the statement taken back; a stale line may repeat the statement itself.
    """
    first = stated.first
    enough = 1 if first.concept != taken.concept else _TIME_AND_AGAIN
    later: set[int] = set()
    for other in same:
        if not other.notes or other.notes[-1] <= taken.note or other.first.concept != first.concept:
            continue
        said = other.first.attributes
        if all(
            said.get(name, first.attributes[name]) == first.attributes[name] for name in _SAME & first.attributes.keys()
        ):
            later.update(note for note in other.notes[-enough:] if note > taken.note)
    return len(later) >= enough


def _reject(bench: Workbench, rejected: Sequence[Fact], believed: Fact, rule: str, why: str) -> None:
    """Facts give way to another, and the decision is recorded; nothing happens without such facts."""
    for fact in rejected:
        fact.rejected = True
        fact.context = replace(fact.context, polarity=Polarity.ABSENT, reason="retracted")
    if rejected:
        bench.decisions.append(WorkbenchDecision(rule, (believed,), tuple(rejected), why))


def _covers(concepts: ConceptTable, taken: str, concept: str) -> bool:
    return taken == concept or bool(taken and concepts.is_a(concept, taken))


def _agree(taken: Fact, fact: Fact) -> bool:
    for name in _AGREEING:
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
    standing = {key: _InOrder(facts) for key, facts in results.items()}
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
            if (marker, -sign) in standing
            for fact in standing[marker, -sign].give_way(_place(result))
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
            for same in said.pop((contrary.kind, contrary.concept, contrary.note, -sign, _side(contrary)), ()):
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
