"""The linkage of an abstraction: rules for the tumor that each fact is of, on the documents that the facts cite."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...kb.kinds import COURSES, MOLECULAR, SPREAD
from ...kb.model import ALL_TUMORS, LATEST_DAY
from ...kb.ontology.scales import Scales
from ..journey.bench import Workbench, is_own
from ..journey.build import tumor_roots
from ..journey.facts import Fact
from ..journey.tumors import NEAR_IN_TIME, TumorMap
from .places import Place
from .terms import ReadFact

Candidates = tuple[tuple[int, Callable[[], str]], ...]

#: States that tell of spread, or of what only a cancer that has spread does.
_SPREAD_STATES: Final = ("advanced_disease", "recurrence", "progression")
#: Kinds that may be of a metastasis as well as of the tumor itself.
_OF_SPECIMEN: Final = MOLECULAR | {"state"}
#: What is tested for and given in the course of a cancer that has spread.
_FOR_SPREAD: Final = _OF_SPECIMEN | COURSES
#: How far a tumor has spread, from its stage group or from one category of its TNM: the first that it reaches.
_EXTENT: Final = (
    (4, (("m", "M1"), ("stage", "IV"))),
    (3, (("n", "N1"), ("stage", "III"))),
    (2, (("t", "T3"), ("stage", "II"))),
    (1, (("t", "T1"), ("stage", "I"))),
)


def hang_on_tumors(bench: Workbench, by_note: Mapping[str, ReadFact], scales: Scales) -> None:
    """Diagnoses to tumors, then every fact to its tumor by the first of :data:`RULES` that gives one.

    What one rule has placed tells the next what documents are about, how far each tumor had gone, and what was when.
    """
    roots = tumor_roots(bench)
    tumors = bench.tumors = TumorMap(bench.patient_id, bench.concepts, roots)
    linkage = _Linkage(bench, tumors, by_note, scales)
    rest = [fact for fact in bench.facts if not fact.tumor and is_own(fact)]
    placed = list(roots)
    for rule in RULES:
        linkage.learn(placed)
        for fact in rest:
            tumors.hang(fact, rule(linkage, fact))
        placed = [fact for fact in rest if fact.tumor]
        rest = [fact for fact in rest if not fact.tumor]


@dataclass(slots=True)
class _Known:
    """What the facts placed so far tell of one tumor: how far it had gone, since when it had spread, when facts of it
    were (sorted first and last days)."""

    reached: int = 0
    in_group_four: bool = False
    confined: bool = False
    spread_since: int | None = None
    lows: list[int] = field(default_factory=list)
    highs: list[int] = field(default_factory=list)

    @property
    def extent(self) -> int:
        """How far the tumor had gone, 0 to 4. Group IV of some organs is spread within the region: then M0 says so."""
        by_group = (3 if self.confined else 4) if self.in_group_four else 0
        return max(self.reached, by_group)

    def gap(self, low: int, high: int) -> int:
        """The fewest days between the interval and the day of a fact of the tumor."""
        begun = bisect.bisect_right(self.lows, high)
        over = bisect.bisect_left(self.highs, low)
        if begun > over:
            return 0
        after = self.lows[begun] - high if begun < len(self.lows) else LATEST_DAY
        before = low - self.highs[over - 1] if over else LATEST_DAY
        return min(after, before)


class _Linkage:
    """The candidates of each rule for the facts of one patient."""

    def __init__(self, bench: Workbench, tumors: TumorMap, by_note: Mapping[str, ReadFact], scales: Scales) -> None:
        self._tumors = tumors
        self._concepts = bench.concepts
        self._by_note = by_note
        self._scales = scales
        metastases = (fact for fact in bench.facts if fact.kind == "metastasis" and fact.context.really_happened)
        self._spread_to = frozenset(fact.concept for fact in metastases) - {""}
        self._about: dict[str, set[str]] = defaultdict(set)
        self._stated: dict[str, set[str]] = defaultdict(set)
        self._specimens: list[tuple[str, str]] = []
        self._known = {identifier: _Known() for identifier in tumors.ids}

    def _written(self, fact: Fact) -> ReadFact:
        return self._by_note[fact.mention.note_id]

    def learn(self, placed: Iterable[Fact]) -> None:
        """Take up the facts that the last rule has placed."""
        for fact in placed:
            if fact.tumor == ALL_TUMORS:
                continue
            # A benign lesion is beside the point of the documents that tell of it.
            if fact.kind != "diagnosis" or fact.tumor_rule == 0:
                for document in self._written(fact).fact.docs:
                    self._about[document].add(fact.tumor)
                    if fact.kind == "diagnosis":
                        self._stated[document].add(fact.tumor)
            if fact.kind in SPREAD:
                self._specimens.append((fact.concept, fact.tumor))
            known = self._known[fact.tumor]
            if fact.day.known:
                bisect.insort(known.lows, fact.day.low)
                bisect.insort(known.highs, fact.day.high)
            known.confined |= str(fact.attributes.get("m", "")).startswith("M0")
            if fact.context.really_happened:
                reached = self._extent(fact)
                if reached == 4 and fact.kind == "stage":
                    known.in_group_four = True
                else:
                    known.reached = max(known.reached, reached)
                if reached == 4:
                    known.spread_since = min(fact.day.low, known.spread_since or fact.day.low)

    def own_words(self, fact: Fact) -> Candidates:
        """Rule 1: the tumor that the fact names, or the one at the place that it names; then its sentence's."""
        read, tumors, day = self._written(fact), self._tumors, fact.day
        site, side = read.place.site, read.place.side
        # A metastasis lies where its tumor does not; what is found at the place of one may be of it.
        placing = fact.kind != "metastasis" and not (
            fact.kind in _OF_SPECIMEN and any(self._concepts.is_a(place, site) for place in self._spread_to)
        )
        return (
            (1, lambda: next((found for one in read.tumors if (found := tumors.by_name(one, side, day))), "")),
            (1, lambda: tumors.by_organ(site, side, day) if placing else ""),
            (1, lambda: tumors.by_side(side, day) if placing else ""),
            (1, lambda: _agreed(tumors.by_name(tumor, "", day) for tumor in read.sentence_tumors)),
            (1, lambda: self._quoted(fact, read.sentence_place)),
        )

    def _quoted(self, fact: Fact, place: Place) -> str:
        """The tumor at the place that the sentence names; what is found in a metastasis is not of the tumor there."""
        is_a = self._concepts.is_a
        if fact.kind not in _OF_SPECIMEN or any(is_a(place.site, one) for one in self._spread_to if place.site):
            return ""
        return self._tumors.by_organ(place.site, place.side, fact.day) or self._tumors.by_side(place.side, fact.day)

    def documents_first(self, fact: Fact) -> Candidates:
        """Rule 2, but for what was found in a metastasis: that waits for the tumor of the metastasis."""
        site = self._written(fact).place.site
        waits = site and fact.kind in _OF_SPECIMEN and any(self._concepts.is_a(site, one) for one in self._spread_to)
        return () if waits else self.documents(fact)

    def documents(self, fact: Fact) -> Candidates:
        """Rule 2: the one tumor that its documents are about, of those known when it was found.

        What is specific to a tumor of the patient is of no other, whatever its documents are about.
        """
        return ((2, lambda: self._tumor_of_documents(fact, self._about)),)

    def diagnosed(self, fact: Fact) -> Candidates:
        """Rule 2 once more: the one tumor that is diagnosed in its documents, whatever else they tell of."""
        return ((2, lambda: self._tumor_of_documents(fact, self._stated)),)

    def _tumor_of_documents(self, fact: Fact, documents: Mapping[str, set[str]]) -> str:
        known = set(self._tumors.specific_to(fact)) or {identifier for identifier, _ in self._tumors.known_by(fact.day)}
        cited = self._written(fact).fact.docs
        return _agreed(tumor for one in cited for tumor in documents.get(one, ()) if tumor in known)

    def only_or_specific(self, fact: Fact) -> Candidates:
        """Rules 3 and 4: the only tumor; the only one of a kind that the marker or drug is specific to."""
        tumors = self._tumors
        return ((3, lambda: tumors.only(fact.day)), (4, lambda: tumors.by_specificity(fact)))

    def furthest(self, fact: Fact) -> Candidates:
        """Rule 4 for spread: the tumor that had gone furthest of those known by then; of equals, the last found."""
        # Lines of treatment are counted in advanced disease.
        spread = (
            fact.kind == "metastasis"
            or "line" in self._written(fact).fact.attributes
            or fact.kind == "state"
            and any(self._concepts.is_a(fact.concept, state) for state in _SPREAD_STATES)
            or fact.kind in ("stage", "tnm")
            and self._reaches(fact, 4)
        )
        return ((4, lambda: self._furthest(fact)),) if spread else ()

    def _furthest(self, fact: Fact) -> str:
        able = {
            identifier: tumor.begins
            for identifier, tumor in self._tumors.known_by(fact.day)
            if self._tumors.may_spread(tumor)
        }
        most = max((self._known[identifier].extent for identifier in able), default=0)
        left = [identifier for identifier in able if self._known[identifier].extent == most]
        last = max((able[identifier] for identifier in left), default=0)
        return _agreed(identifier for identifier in left if able[identifier] == last)

    def specimen(self, fact: Fact) -> Candidates:
        """Rule 1 for what was found in a metastasis: the tumor that the metastasis at that site is of."""
        site = self._written(fact).place.site
        if not site or fact.kind not in _OF_SPECIMEN:
            return ()
        there = (tumor for place, tumor in self._specimens if self._concepts.related(place, site))
        return ((1, lambda: _agreed(there)),)

    def only_spread(self, fact: Fact) -> Candidates:
        """Rule 4 for what is left: once a cancer has spread, the tests and drugs that follow are for it."""
        if fact.kind not in _FOR_SPREAD or not fact.day.known:
            return ()
        spread = (
            tumor
            for tumor, known in self._known.items()
            if known.spread_since is not None and known.spread_since <= fact.day.high
        )
        return ((4, lambda: _agreed(spread)),)

    def near_in_time(self, fact: Fact) -> Candidates:
        """Rule 2 by neighbours: the one tumor that the facts nearest in time are of, if they are near."""
        if not fact.day.known:
            return ()
        gaps = {tumor: known.gap(fact.day.low, fact.day.high) for tumor, known in self._known.items()}
        nearest = min(gaps.values(), default=LATEST_DAY)
        if nearest > NEAR_IN_TIME:
            return ()
        return ((2, lambda: _agreed(tumor for tumor, gap in gaps.items() if gap == nearest)),)

    def _extent(self, fact: Fact) -> int:
        if fact.kind == "metastasis":
            return 4
        return next((level for level, _ in _EXTENT if self._reaches(fact, level)), 0)

    def _reaches(self, fact: Fact, level: int) -> bool:
        return any(
            name in fact.attributes and self._scales.compare(name, fact.attributes[name], ">=", bound)
            for name, bound in dict(_EXTENT)[level]
        )


#: The rules in their order; each sees what those before it have placed.
RULES: Final[tuple[Callable[[_Linkage, Fact], Candidates], ...]] = (
    _Linkage.own_words,
    _Linkage.documents_first,
    _Linkage.only_or_specific,
    _Linkage.furthest,
    _Linkage.specimen,
    _Linkage.documents,
    _Linkage.only_spread,
    _Linkage.near_in_time,
    _Linkage.diagnosed,
    _Linkage.near_in_time,
)


def _agreed(found: Iterable[str]) -> str:
    """What all that is found agrees on; empty if it does not, or there is nothing."""
    different = {tumor for tumor in found if tumor}
    return different.pop() if len(different) == 1 else ""
