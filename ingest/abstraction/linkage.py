"""Which tumor each fact of an abstraction is of: the rules of the linkage, on the documents that the facts cite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ...kb.model import ALL_TUMORS
from ...kb.scales import Scales
from ..journey.bench import Workbench, is_own
from ..journey.build import tumor_roots
from ..journey.facts import Fact
from ..journey.tumors import NEAR_IN_TIME, TumorMap
from .terms import ReadFact

Candidates = tuple[tuple[int, Callable[[], str]], ...]

#: States that tell of spread, or of what only a cancer that has spread does.
_SPREAD_STATES: Final = ("advanced_disease", "recurrence", "progression")
#: Kinds that may be of a metastasis as well as of the tumor itself.
_OF_SPECIMEN: Final = frozenset({"state", "biomarker", "variant"})
#: What is tested for and given in the course of a cancer that has spread.
_FOR_SPREAD: Final = frozenset({"biomarker", "variant", "medication", "regimen", "radiation", "state"})
#: How far a tumor has spread, from its stage group or from one category of its TNM: the first that it reaches.
_EXTENT: Final = (
    (4, (("m", "M1"), ("stage", "IV"))),
    (3, (("n", "N1"), ("stage", "III"))),
    (2, (("t", "T3"), ("stage", "II"))),
    (1, (("t", "T1"), ("stage", "I"))),
)


def hang_on_tumors(bench: Workbench, by_note: Mapping[str, ReadFact], scales: Scales) -> None:
    """Diagnoses to tumors, then every fact to its tumor.

    What the words of a fact, or of the sentence that it was taken from, place, tells what its documents are about;
    spread that nothing places is of the tumor that had gone furthest; what is left goes with what is near in time.
    """
    roots = tumor_roots(bench)
    tumors = bench.tumors = TumorMap(bench.patient_id, bench.concepts, roots)
    spread_to = {fact.concept for fact in bench.facts if fact.kind == "metastasis" and fact.context.really_happened}
    linkage = _Linkage(bench, by_note, scales, list(roots), frozenset(spread_to - {""}))
    rest = [fact for fact in bench.facts if not fact.tumor and is_own(fact)]
    for candidates in (
        linkage.own_words,
        linkage.documents,
        linkage.only_or_specific,
        linkage.furthest,
        linkage.specimen,
        linkage.documents,
        linkage.only_spread,
        linkage.near_in_time,
    ):
        linkage.read_documents()
        for fact in rest:
            tumors.hang(fact, candidates(fact))
        linkage.placed += [fact for fact in rest if fact.tumor]
        rest = [fact for fact in rest if not fact.tumor]


class _Linkage:
    """The candidates of each rule for the facts of one patient.

    ``placed``: the facts that have their tumor; ``spread_to``: where the patient has metastases.
    """

    def __init__(
        self,
        bench: Workbench,
        by_note: Mapping[str, ReadFact],
        scales: Scales,
        placed: list[Fact],
        spread_to: frozenset[str],
    ) -> None:
        assert bench.tumors is not None  # diagnoses come first
        self._tumors: TumorMap = bench.tumors
        self._concepts = bench.concepts
        self._spread_to = spread_to
        self._by_note = by_note
        self._scales = scales
        self.placed = placed
        self._about: dict[str, set[str]] = {}

    def _written(self, fact: Fact) -> ReadFact:
        return self._by_note[fact.mention.note_id]

    def read_documents(self) -> None:
        """Each document is about the tumors of the facts that cite it."""
        self._about = defaultdict(set)
        for fact in self.placed:
            # A benign lesion is beside the point of the documents that tell of it.
            if fact.tumor != ALL_TUMORS and (fact.kind != "diagnosis" or fact.tumor_rule == 0):
                for document in self._written(fact).fact.docs:
                    self._about[document].add(fact.tumor)

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
        )

    def documents(self, fact: Fact) -> Candidates:
        """Rule 2: the one tumor that its documents are about, of those known when it was found.

        What is specific to a tumor of the patient is of no other, whatever its documents are about.
        """
        known = set(self._tumors.specific_to(fact)) or {identifier for identifier, _ in self._tumors.known_by(fact.day)}
        cited = self._written(fact).fact.docs
        return ((2, lambda: _agreed(tumor for one in cited for tumor in self._about.get(one, ()) if tumor in known)),)

    def specimen(self, fact: Fact) -> Candidates:
        """Rule 1 for what was found in a metastasis: the tumor that the metastasis at that site is of."""
        site = self._written(fact).place.site
        if not site or fact.kind not in _OF_SPECIMEN:
            return ()
        is_a = self._concepts.is_a
        there = [
            other.tumor
            for other in self.placed
            if other.kind in ("metastasis", "node") and (is_a(other.concept, site) or is_a(site, other.concept))
        ]
        return ((1, lambda: _agreed(there)),)

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

    def only_spread(self, fact: Fact) -> Candidates:
        """Rule 4 for what is left: once a cancer has spread, the tests and drugs that follow are for it."""
        if fact.kind not in _FOR_SPREAD or not fact.day.known:
            return ()
        spread = (
            other.tumor
            for other in self.placed
            if other.tumor != ALL_TUMORS
            and other.context.really_happened
            and other.day.low <= fact.day.high
            and self._extent(other) == 4
        )
        return ((4, lambda: _agreed(spread)),)

    def _furthest(self, fact: Fact) -> str:
        known = {
            identifier: tumor for identifier, tumor in self._tumors.known_by(fact.day) if self._tumors.may_spread(tumor)
        }
        extent = dict.fromkeys(known, 0)
        confined = {other.tumor for other in self.placed if str(other.attributes.get("m", "")).startswith("M0")}
        for other in self.placed:
            if other.tumor in extent and other.context.really_happened:
                reached = self._extent(other)
                # Group IV of some organs stands for spread within the region: then M0 says so.
                if reached == 4 and other.kind == "stage" and other.tumor in confined:
                    reached = 3
                extent[other.tumor] = max(extent[other.tumor], reached)
        most = max(extent.values(), default=0)
        left = [identifier for identifier, reached in extent.items() if reached == most]
        last = max((known[identifier].begins for identifier in left), default=0)
        return _agreed(identifier for identifier in left if known[identifier].begins == last)

    def _extent(self, fact: Fact) -> int:
        if fact.kind == "metastasis":
            return 4
        return next((level for level, _ in _EXTENT if self._reaches(fact, level)), 0)

    def _reaches(self, fact: Fact, level: int) -> bool:
        return any(
            name in fact.attributes and self._scales.compare(name, fact.attributes[name], ">=", bound)
            for name, bound in dict(_EXTENT)[level]
        )

    def near_in_time(self, fact: Fact) -> Candidates:
        """Rule 2 by neighbours: the one tumor that the facts nearest in time are of, if they are near."""
        if not fact.day.known:
            return ()
        gaps: dict[int, set[str]] = defaultdict(set)
        for other in self.placed:
            if other.tumor != ALL_TUMORS and other.day.known:
                gaps[max(0, other.day.low - fact.day.high, fact.day.low - other.day.high)].add(other.tumor)
        nearest = min(gaps, default=NEAR_IN_TIME + 1)
        return ((2, lambda: _agreed(gaps[nearest])),) if nearest <= NEAR_IN_TIME else ()


def _agreed(found: Iterable[str]) -> str:
    """What all that is found agrees on; empty if it does not, or there is nothing."""
    different = {tumor for tumor in found if tumor}
    return different.pop() if len(different) == 1 else ""
