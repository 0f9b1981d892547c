"""Tumors: diagnoses of one disease joined, second primaries told apart, and each finding hung on its tumor."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ...kb.kinds import OF_PATIENT
from ...kb.model import ALL_TUMORS, LATEST_DAY, DayInterval, Temporality, content_id
from ...kb.note_classes import PATHOLOGY
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.regimens import shipped_components
from ..text.cue_files import cue_file
from .facts import Fact

#: Families of histology that one tumor does not mix.
_FAMILIES = (
    "carcinoma",
    "sarcoma",
    "lymphoma",
    "melanoma",
    "neuroendocrine_neoplasm",
    "germ_cell_tumor",
    "leukemia",
)
#: Diseases of a whole system: whatever their form and place, one patient's are one disease.
_SYSTEMIC = (
    "plasma_cell_neoplasm",
    "b_cell_non_hodgkin_lymphoma",
    "hodgkin_lymphoma",
    "acute_myeloid_leukemia",
    "acute_lymphoblastic_leukemia",
    "myelodysplastic_syndrome",
)
#: Days within which facts tell of each other: what a report is about, which tumor a finding can be of.
NEAR_IN_TIME = 90
_ANY_DAY = DayInterval()
_UNSPECIFIC = frozenset({"malignant_neoplasm", "solid_tumor", "haematological_malignancy"})


@dataclass(slots=True)
class Tumor:
    """One tumor in the making: its diagnoses, and what they say of it together."""

    members: list[Fact] = field(default_factory=list)
    organs: set[str] = field(default_factory=set)
    sides: set[str] = field(default_factory=set)
    concepts: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    #: Positions of the notes that name it, sorted, each once.
    notes: list[int] = field(default_factory=list)
    begins: int = LATEST_DAY


class DocumentTumors:
    """The tumors that one document names, in the order of its text."""

    def __init__(self, roots: Sequence[Fact]) -> None:
        """``roots``: the diagnoses of the document, each with its tumor."""
        current = [fact for fact in roots if fact.context.temporality is not Temporality.HISTORICAL] or list(roots)
        ordered = sorted(current, key=lambda fact: fact.mention.start)
        self._starts = [fact.mention.start for fact in ordered]
        self._tumors = [fact.tumor for fact in ordered]
        self._only = len(set(self._tumors)) == 1

    def at(self, offset: int) -> str:
        """The tumor that the document speaks of now; of several, the last named before ``offset``, else the first."""
        if self._only:
            return self._tumors[0]
        position = bisect.bisect_right(self._starts, offset)
        return self._tumors[max(0, position - 1)]

    def __contains__(self, tumor: object) -> bool:
        """Whether the document names this tumor (as current, if it names any so)."""
        return tumor in self._tumors


class TumorMap:
    """The tumors of one patient: which diagnoses make each, and which tumor a finding belongs to."""

    def __init__(self, patient_id: str, concepts: ConceptTable, diagnoses: Sequence[Fact]) -> None:
        """``diagnoses``: the patient's own malignant or in-situ diagnoses that happened, in date order."""
        self._concepts = concepts
        self._tumors: list[Tumor] = []
        placed = [(fact, self._organ(fact), self._side(fact)) for fact in diagnoses]
        # What is specific comes first.
        placed.sort(key=lambda one: (one[0].concept in _UNSPECIFIC, not one[1], not one[2], one[0].note))
        for fact, organ, side in placed:
            self._place(fact, organ, side)
        self.ids = [
            content_id("tumor", patient_id, index, self._organ(tumor.members[0]), tumor.members[0].concept)
            for index, tumor in enumerate(self._tumors)
        ]
        for identifier, tumor in zip(self.ids, self._tumors, strict=True):
            for fact in tumor.members:
                fact.tumor, fact.tumor_rule = identifier, 0

    def _organ(self, fact: Fact) -> str:
        if fact.concept in _UNSPECIFIC:
            return ""
        site = self._concepts.get(fact.concept).site if fact.concept in self._concepts else ""
        return organ_of(self._concepts, site or str(fact.attributes.get("site", "")))

    @staticmethod
    def _side(fact: Fact) -> str:
        side = str(fact.attributes.get("laterality", ""))
        return side if side in ("left", "right") else ""

    def _place(self, fact: Fact, organ: str, side: str) -> None:
        best, best_rank = None, (0, 0)
        for tumor in self._tumors:
            kinship = self._kinship(fact, organ, side, tumor)
            if not kinship:
                continue
            # Of two tumors equally close, the one that the same note, or the nearest in the record, speaks of.
            rank = (kinship, -_distance(tumor.notes, fact.note))
            if best is None or rank > best_rank:
                best, best_rank = tumor, rank
        if best is None:
            best = Tumor()
            self._tumors.append(best)
        best.members.append(fact)
        if organ:
            best.organs.add(organ)
        if side:
            best.sides.add(side)
        best.concepts.add(fact.concept)
        best.families |= _families(self._concepts, fact.concept)
        at = bisect.bisect_left(best.notes, fact.note)
        if best.notes[at : at + 1] != [fact.note]:
            best.notes.insert(at, fact.note)
        best.begins = min(best.begins, fact.day.low)

    def _kinship(self, fact: Fact, organ: str, side: str, tumor: Tumor) -> int:
        """0: another tumor; higher: closer. Contralateral disease is another tumor; a histology refines its organ's."""
        bare = fact.concept not in self._concepts or not self._concepts.get(fact.concept).site
        if not _systems(self._concepts, fact.concept).isdisjoint(tumor.families):
            return 2
        if side and tumor.sides and side not in tumor.sides and (bare or organ in tumor.organs):
            return 0
        if fact.concept in _UNSPECIFIC and not organ:
            return 2 if side and side in tumor.sides else 1
        related = not tumor.concepts.isdisjoint(_kin(self._concepts, fact.concept))
        if organ and organ in tumor.organs:
            if side and side in tumor.sides and self._compatible(fact, tumor):
                return 5
            return 4 if related else 3 if self._compatible(fact, tumor) else 0
        if related and (not organ or not tumor.organs or bare):
            # A bare morphology at a site that has no such primary of its own is this tumor, found elsewhere.
            return 2
        if not organ and bare and fact.document_class == PATHOLOGY and fact.note in tumor.notes:
            # A report of a specimen calls its tumor by what it sees: "also carcinoma in situ".
            return 1 if self._compatible(fact, tumor) else 0
        return 0

    def _compatible(self, fact: Fact, tumor: Tumor) -> bool:
        """Two histologies of one organ are one tumor unless their families differ (carcinoma, sarcoma, lymphoma …)."""
        mine = _families(self._concepts, fact.concept)
        return not mine or not tumor.families or bool(mine & tumor.families)

    # --- which tumor a finding is of ---------------------------------------------------------------------------------

    def link(
        self,
        fact: Fact,
        sentence_tumors: Sequence[Fact],
        document: DocumentTumors | None = None,
        around: Callable[[], str] = str,
    ) -> None:
        """Hang a finding of a note on a tumor by the first rule that applies (see ``docs/internals/reading.md``).

        ``around``: asked for the tumor that the notes nearest in time are about, if no other rule gives one.
        """
        self._hang(fact, self._candidates(fact, sentence_tumors, document, around))

    def _candidates(
        self, fact: Fact, sentence_tumors: Sequence[Fact], document: DocumentTumors | None, around: Callable[[], str]
    ) -> Iterator[tuple[int, str]]:
        yield 1, self._by_sentence(fact, sentence_tumors)
        yield 1, self.by_side(str(fact.attributes.get("laterality", "")))
        # A report is about its specimen, whatever other tumors its history tells of; other notes name theirs.
        if fact.document_class in ("pathology", "molecular"):
            yield 2, self._by_specimen(fact.topic, document)
        if document:
            yield 2, document.at(fact.mention.start)
        yield 2, self.by_organ(fact.topic, "")
        yield 3, self.only()
        yield 4, self.by_specificity(fact)
        yield 2, around()

    @classmethod
    def hang(cls, fact: Fact, candidates: Iterable[tuple[int, Callable[[], str]]]) -> None:
        """Hang a finding on the first tumor that one of the candidates names, with the number of its rule.

        What is of the patient as a whole, and a germline finding, is of all tumors; what no rule places, of none.
        """
        cls._hang(fact, ((rule, candidate()) for rule, candidate in candidates))

    @staticmethod
    def _hang(fact: Fact, candidates: Iterable[tuple[int, str]]) -> None:
        if fact.kind in OF_PATIENT or fact.attributes.get("origin") == "germline":
            fact.tumor, fact.tumor_rule = ALL_TUMORS, 1
            return
        for rule, found in candidates:
            if found:
                fact.tumor, fact.tumor_rule = found, rule
                return

    def by_name(self, concept: str, side: str, day: DayInterval = _ANY_DAY) -> str:
        """The only tumor of this name (or of a name above or below it), on that side if one is given."""
        return self._only_one(
            lambda tumor: (
                any(self._concepts.related(concept, other) for other in tumor.concepts) and _on_side(tumor, side)
            ),
            day,
        )

    def by_organ(self, site: str, side: str, day: DayInterval = _ANY_DAY) -> str:
        """The only tumor of the organ that a site belongs to, on that side if one is given."""
        organ = organ_of(self._concepts, site)
        return self._only_one(lambda tumor: organ in tumor.organs and _on_side(tumor, side), day) if organ else ""

    def by_side(self, side: str, day: DayInterval = _ANY_DAY) -> str:
        """The only tumor on that side, when a tumor of the same organ lies on the other."""
        if side not in ("left", "right"):
            return ""
        others = [tumor for tumor in self._tumors if tumor.sides and side not in tumor.sides]
        return self._only_one(
            lambda tumor: tumor.sides == {side} and any(other.organs & tumor.organs for other in others), day
        )

    def by_specificity(self, fact: Fact) -> str:
        """The only tumor of a kind that this thing is specific to (``cues/specific.toml``)."""
        fitting = self.specific_to(fact)
        return fitting[0] if len(fitting) == 1 else ""

    def specific_to(self, fact: Fact) -> list[str]:
        """The tumors of the kinds that the thing, or a drug of the regimen, is specific to, if any."""
        for kinds in _kinds_of_tumors(self._concepts, fact.concept):
            fitting = [identifier for identifier, tumor in self.known_by(fact.day) if self._is_one_of(kinds, tumor)]
            if fitting:
                return fitting
        return []

    def only(self, day: DayInterval = _ANY_DAY) -> str:
        """The only tumor, or the only malignant one beside in-situ lesions."""
        return self._only_one(lambda _: True, day) or self._only_one(self.may_spread, day)

    def may_spread(self, tumor: Tumor) -> bool:
        """Whether the tumor is malignant, not only in situ."""
        is_a = self._concepts.is_a
        return any(is_a(one, "malignant_neoplasm") and not is_a(one, "in_situ_neoplasm") for one in tumor.concepts)

    def known_by(self, day: DayInterval) -> list[tuple[str, Tumor]]:
        """Id and tumor of those that were known when the thing was found; reports may come before the diagnosis."""
        return [
            (identifier, tumor)
            for identifier, tumor in zip(self.ids, self._tumors, strict=True)
            if tumor.begins <= day.high + NEAR_IN_TIME
        ]

    def _only_one(self, fits: Callable[[Tumor], bool], day: DayInterval = _ANY_DAY) -> str:
        """The id of the only tumor that fits and was known by that day; empty if there is none, or more than one."""
        fitting = [identifier for identifier, tumor in self.known_by(day) if fits(tumor)]
        return fitting[0] if len(fitting) == 1 else ""

    def _is_one_of(self, kinds: Sequence[str], tumor: Tumor) -> bool:
        return any(self._concepts.is_a(concept, kind) for concept in tumor.concepts for kind in kinds)

    def _by_specimen(self, topic: str, document: DocumentTumors | None) -> str:
        """The tumor of the specimen's organ, unless the report names only tumors of other organs (a metastasis)."""
        found = self.by_organ(topic, "")
        return found if document is None or found in document else ""

    def _by_sentence(self, fact: Fact, sentence_tumors: Sequence[Fact]) -> str:
        named = [other for other in sentence_tumors if other.tumor and other.tumor != ALL_TUMORS]
        if named:
            return min(named, key=lambda other: abs(other.mention.start - fact.mention.start)).tumor
        site = str(fact.attributes.get("site", ""))
        return self.by_organ(site, str(fact.attributes.get("laterality", ""))) if site else ""


def _distance(positions: Sequence[int], position: int) -> int:
    """From a position to the nearest of some, which are sorted."""
    at = bisect.bisect_left(positions, position)
    return min(abs(near - position) for near in positions[max(0, at - 1) : at + 1])


def _on_side(tumor: Tumor, side: str) -> bool:
    return side not in ("left", "right") or not tumor.sides or side in tumor.sides


@lru_cache(maxsize=20_000)
def _families(concepts: ConceptTable, concept: str) -> frozenset[str]:
    """The families of histology and the diseases of a whole system that a concept is one of."""
    return frozenset(family for family in (*_FAMILIES, *_SYSTEMIC) if concepts.is_a(concept, family))


@lru_cache(maxsize=20_000)
def _systems(concepts: ConceptTable, concept: str) -> frozenset[str]:
    """The diseases of a whole system that a concept is one of."""
    return _families(concepts, concept).intersection(_SYSTEMIC)


@lru_cache(maxsize=20_000)
def _kin(concepts: ConceptTable, concept: str) -> frozenset[str]:
    """A concept with all that it is related to: what lies above it, and what lies below."""
    return concepts.at_or_above(concept) | concepts.at_or_below(concept)


@lru_cache(maxsize=20_000)
def _kinds_of_tumors(concepts: ConceptTable, concept: str) -> tuple[tuple[str, ...], ...]:
    """The kinds of tumors that a thing, or a drug of the regimen that it is, is specific to: what to try in turn."""
    drugs = (component.drug for component in shipped_components().get(concept, ()))
    things = [one for one in (concept, *drugs) if one in concepts]
    return tuple(kinds for markers, kinds in _specific() if any(concepts.is_any(thing, markers) for thing in things))


@lru_cache(maxsize=1)
def _specific() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """``specific.toml``: markers and drugs, and the tumors that they are specific to."""
    return tuple((tuple(entry["of"]), tuple(entry["to"])) for entry in cue_file("specific")["specific"])


@lru_cache(maxsize=4)
def _organs(concepts: ConceptTable) -> frozenset[str]:
    return frozenset(
        row.site for row in concepts.rows() if row.kind == "tumor" and row.site and row.id.endswith("_cancer")
    )


@lru_cache(maxsize=20_000)
def organ_of(concepts: ConceptTable, site: str) -> str:
    """The organ to which a site belongs: the topmost site above it that has a cancer of its own name; else the site."""
    if not site or site not in concepts:
        return ""
    above = concepts.above(site)
    fitting = [organ for organ in _organs(concepts) if organ in above]
    return min(fitting, key=lambda organ: (len(concepts.above(organ)), organ)) if fitting else site
