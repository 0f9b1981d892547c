"""The record as the rules of contradiction see it, and the pairs of statements that cannot both hold."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Final

from ...kb.kinds import DESCRIBING_TUMORS, MOLECULAR
from ...kb.model import Temporality
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import any_of
from .bench import Workbench, is_dated, standing
from .conflicts import finding_of
from .facts import Fact

#: Reports of what was seen under the microscope or in the genes.
REPORTS: Final = frozenset({"pathology", "molecular"})
#: Kinds of which a report states something that an addendum may state otherwise.
REPORTED: Final = DESCRIBING_TUMORS | {"diagnosis"}
#: Of these, what a scale gives.
_GRADED: Final = DESCRIBING_TUMORS - MOLECULAR

#: Attributes that tell what is stated, of whatever kind.
_STATED: Final = ("result", "grade", "t", "n", "stage", "positive")

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    """``conflicts.toml``, its words as patterns and its concepts closed downwards."""

    addendum_titles: re.Pattern[str]
    of_another: re.Pattern[str]
    rests_on_tissue: re.Pattern[str]
    of_the_past: re.Pattern[str]
    samples: frozenset[str]
    therapies: frozenset[str]
    lasting: frozenset[str]
    histologies: tuple[tuple[frozenset[str], ...], ...]


@lru_cache(maxsize=4)
def conflict_words(concepts: ConceptTable) -> _Words:
    """The words and concepts of ``conflicts.toml`` under an ontology."""
    table: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("conflicts.toml").read_text("utf-8"))

    def pattern(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b{any_of(table[name])}\b", re.IGNORECASE)

    def below(name: str) -> frozenset[str]:
        return frozenset[str]().union(*(concepts.below(one) for one in table[name]))

    return _Words(
        pattern("addendum_titles"),
        pattern("of_another"),
        pattern("rests_on_tissue"),
        pattern("of_the_past"),
        below("samples"),
        below("therapies"),
        below("lasting"),
        tuple(tuple(map(concepts.below, members)) for members in table["histologies"]),
    )


class Record:
    """A patient's standing facts as the rules ask for them."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.concepts = bench.concepts
        self.words = conflict_words(bench.concepts)
        self._standing: list[Fact] = []
        self._decided = -1
        #: Whether a sentence of a note holds one of the words, where that was asked before.
        self._holding: dict[tuple[re.Pattern[str], int, tuple[int, int]], bool] = {}

    def standing(self, *kinds: str) -> list[Fact]:
        """The patient's own facts of these kinds that happened and that nothing has gone against yet."""
        if len(self.bench.decisions) != self._decided:
            # A decision takes facts away, and nothing else does.
            self._standing, self._decided = list(standing(self.bench)), len(self.bench.decisions)
        return [fact for fact in self._standing if fact.kind in kinds]

    @cached_property
    def of_note(self) -> dict[int, list[Fact]]:
        """All facts by the position of their note."""
        reported: dict[int, list[Fact]] = defaultdict(list)
        for fact in self.bench.facts:
            reported[fact.note].append(fact)
        return reported

    def written(self, fact: Fact) -> int:
        """The day of the note that tells of the fact; 0 where the note has none."""
        date = self.bench.notes[fact.note].note.date
        return 0 if date is None else date.toordinal()

    def has(self, words: re.Pattern[str], fact: Fact) -> bool:
        """Whether the sentence of the fact holds one of the words."""
        place = (words, fact.note, fact.mention.sentence)
        found = self._holding.get(place)
        if found is None:
            found = bool(words.search(self.bench.notes[fact.note].note.text, *fact.mention.sentence))
            self._holding[place] = found
        return found

    def is_treated(self, low: int, high: int) -> bool:
        """Whether a treatment that changes what tissue shows was given from ``low`` to ``high``."""
        at = bisect_left(self._therapies, low)
        return at < len(self._therapies) and self._therapies[at] <= high

    @cached_property
    def _therapies(self) -> list[int]:
        given = self.standing("medication", "regimen", "radiation")
        return sorted(
            fact.day.midpoint for fact in given if fact.kind != "medication" or fact.concept in self.words.therapies
        )

    @cached_property
    def addenda(self) -> list[Fact]:
        """What the addenda of reports state."""
        titled = {
            at
            for at, read in enumerate(self.bench.notes)
            if self.words.addendum_titles.search(f"{read.note.type} {read.note.title}")
        }
        reported = self.standing(*REPORTED)
        return [
            fact
            for fact in reported
            if fact.document_class in REPORTS
            and fact.context.temporality is Temporality.CURRENT
            and (fact.mention.section == "addendum" or fact.note in titled)
        ]

    @cached_property
    def resections(self) -> frozenset[int]:
        """The pathology reports of a resection (positions of their notes)."""
        return frozenset(fact.note for fact in self._specimens() if fact.concept not in self.words.samples)

    @cached_property
    def samples(self) -> frozenset[int]:
        """The pathology reports of a sample alone."""
        return frozenset(fact.note for fact in self._specimens()) - self.resections

    def _specimens(self) -> list[Fact]:
        return [
            fact
            for fact in self.standing("surgery", "procedure")
            if fact.document_class == "pathology"
            and (fact.kind == "surgery" or fact.concept in self.words.samples)
            and not is_dated(fact)
        ]


# --- what contradicts what -------------------------------------------------------------------------------------------


def subject_of(fact: Fact) -> Key:
    """What a statement is about: two statements contradict each other only if they are about one thing."""
    if fact.kind in MOLECULAR:
        return "finding", fact.concept
    if fact.kind in _GRADED:
        return fact.kind, *(fact.attributes.get(name) for name in ("scale", "prefix", "system"))
    return (fact.kind,)


def contradict(concepts: ConceptTable, one: Fact, other: Fact) -> bool:
    """Whether two statements about one thing, of one tumor, cannot both hold of one specimen."""
    if one.tumor and other.tumor and one.tumor != other.tumor or not on_one_side(one, other):
        return False
    if one.kind == "diagnosis":
        return differ(concepts, one.concept, other.concept)
    if one.kind == "grade":
        grades = (str(one.attributes.get("grade", "")), str(other.attributes.get("grade", "")))
        return grades[0] != grades[1] and all(grade[:1].isdigit() for grade in grades)
    if one.kind in ("tnm", "stage"):
        names = ("t", "n", "stage")
        pairs = ((str(one.attributes.get(name, "")), str(other.attributes.get(name, ""))) for name in names)
        return any(a and b and not a.startswith(b) and not b.startswith(a) for a, b in pairs)
    return one_method(one, other) and finding_of(concepts, one) * finding_of(concepts, other) < 0


def differ(concepts: ConceptTable, one: str, other: str) -> bool:
    """Whether two histologies exclude each other: each is of a member of one list, and of no member both are."""
    if concepts.related(one, other):
        return False
    if any(concepts.is_a(name, "in_situ_neoplasm") for name in (one, other)):
        return False
    for members in conflict_words(concepts).histologies:
        mine = {at for at, below in enumerate(members) if one in below}
        theirs = {at for at, below in enumerate(members) if other in below}
        if mine and theirs and not mine & theirs:
            return True
    return False


def one_method(one: Fact, other: Fact) -> bool:
    return _agree_on(one, other, "method")


def on_one_side(one: Fact, other: Fact) -> bool:
    return _agree_on(one, other, "laterality")


def _agree_on(one: Fact, other: Fact, name: str) -> bool:
    mine, theirs = one.attributes.get(name), other.attributes.get(name)
    return mine is None or theirs is None or mine == theirs


def statement_of(fact: Fact) -> Key:
    """What a fact says of its subject; equal in notes that state the same."""
    return fact.kind, fact.concept, *(fact.attributes.get(name) for name in _STATED)


def once(facts: Iterable[Fact]) -> list[Fact]:
    """Of what a note states more than once, of one tumor, side and method, the first: the others say no more."""
    first: dict[Key, Fact] = {}
    for fact in facts:
        of_one = (fact.note, fact.tumor, fact.context, fact.attributes.get("laterality"), fact.attributes.get("method"))
        first.setdefault((*of_one, fact.attributes.get("site"), *subject_of(fact), *statement_of(fact)), fact)
    return list(first.values())


def by_subject(facts: Iterable[Fact]) -> dict[Key, list[Fact]]:
    reported: dict[Key, list[Fact]] = defaultdict(list)
    for fact in facts:
        reported[subject_of(fact)].append(fact)
    return reported


def repeats(reported: Sequence[Fact], rejected: Sequence[Fact], until: int) -> list[Fact]:
    """The statements that other notes repeat before the note ``until``, and those copied after it."""
    first = min((fact.note for fact in rejected), default=until)
    stated = {(statement_of(fact), fact.tumor) for fact in rejected}
    return [
        fact
        for fact in reported
        if (first <= fact.note < until or fact.copied and fact.note >= first)
        and not is_dated(fact)
        and (statement_of(fact), fact.tumor) in stated
    ]
