"""Tumors: diagnoses of one disease joined, second primaries told apart, and each finding hung on its tumor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...kb.concepts import ConceptTable
from ...kb.model import ALL_TUMORS, Temporality, content_id
from .facts import Fact

#: Findings of the patient as a whole.
_OF_PATIENT = frozenset({"performance", "death", "comorbidity", "symptom", "social", "adverse_event"})
_UNSPECIFIC = frozenset({"malignant_neoplasm", "solid_tumor", "haematological_malignancy"})


class TumorMap:
    """The tumors of one patient: which diagnoses make each, and which tumor a finding belongs to."""

    def __init__(self, patient_id: str, concepts: ConceptTable, diagnoses: Sequence[Fact]) -> None:
        """``diagnoses``: the patient's own malignant or in-situ diagnoses that happened, in date order."""
        self._concepts = concepts
        self._patient = patient_id
        self._members: list[list[Fact]] = []
        specific_first = sorted(
            diagnoses,
            key=lambda fact: (fact.concept in _UNSPECIFIC, not self._organ(fact), not self._side(fact), fact.note),
        )
        for fact in specific_first:
            self._place(fact)
        self.ids = [
            content_id("tumor", patient_id, index, self._organ(members[0]), members[0].concept)
            for index, members in enumerate(self._members)
        ]
        for identifier, members in zip(self.ids, self._members, strict=True):
            for fact in members:
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

    def _place(self, fact: Fact) -> None:
        organ, side = self._organ(fact), self._side(fact)
        best, best_rank = None, (0, 0)
        for members in self._members:
            # Of two tumors equally close, the one that the same note, or the nearest in the record, speaks of.
            rank = (self._kinship(fact, organ, side, members), -min(abs(member.note - fact.note) for member in members))
            if rank[0] and rank > best_rank or (rank[0] and best is None):
                best, best_rank = members, rank
        if best is None:
            self._members.append([fact])
        else:
            best.append(fact)

    def _kinship(self, fact: Fact, organ: str, side: str, members: list[Fact]) -> int:
        """0: another tumor; higher: closer. Contralateral disease is another tumor; a histology refines its organ's."""
        organs = {self._organ(member) for member in members} - {""}
        sides = {self._side(member) for member in members} - {""}
        bare = fact.concept not in self._concepts or not self._concepts.get(fact.concept).site
        if side and sides and side not in sides and (bare or organ in organs):
            return 0
        if fact.concept in _UNSPECIFIC and not organ:
            return 2 if side and side in sides else 1
        related = any(self._related(fact.concept, member.concept) for member in members)
        if organ and organ in organs:
            if side and side in sides and self._compatible(fact, members):
                return 5
            return 4 if related else 3 if self._compatible(fact, members) else 0
        if related and (not organ or not organs or bare):
            # A bare morphology at a site that has no such primary of its own is this tumor, found elsewhere.
            return 2
        return 0

    def _related(self, one: str, other: str) -> bool:
        return self._concepts.is_a(one, other) or self._concepts.is_a(other, one)

    def _compatible(self, fact: Fact, members: list[Fact]) -> bool:
        """Two histologies of one organ are one tumor unless their families differ (carcinoma, sarcoma, lymphoma …)."""
        families = (
            "carcinoma",
            "sarcoma",
            "lymphoma",
            "melanoma",
            "neuroendocrine_neoplasm",
            "germ_cell_tumor",
            "leukemia",
        )
        mine = {family for family in families if self._concepts.is_a(fact.concept, family)}
        theirs = {family for member in members for family in families if self._concepts.is_a(member.concept, family)}
        return not mine or not theirs or bool(mine & theirs)

    @property
    def count(self) -> int:
        """How many tumors."""
        return len(self.ids)

    def link(
        self, fact: Fact, sentence_tumors: Sequence[Fact], document_tumors: Sequence[Fact] = (), around: str = ""
    ) -> None:
        """Hang a finding on a tumor by the first rule that applies (see ``docs/reading.md``)."""
        if fact.kind in _OF_PATIENT or fact.attributes.get("origin") == "germline":
            fact.tumor, fact.tumor_rule = ALL_TUMORS, 1
            return
        side = str(fact.attributes.get("laterality", ""))
        candidates = (
            (1, lambda: self._by_sentence(fact, sentence_tumors)),
            (1, lambda: self._by_side(side)),
            # A report is about its specimen, whatever other tumors its history tells of; a clinic note names its own.
            (2, lambda: self._by_organ(fact.topic, "") if fact.document_class in ("pathology", "molecular") else ""),
            (2, lambda: self._by_document(fact, document_tumors)),
            (2, lambda: self._by_organ(fact.topic, "")),
            (3, self._only),
            (2, lambda: around),
        )
        for rule, candidate in candidates:
            found = candidate()
            if found:
                fact.tumor, fact.tumor_rule = found, rule
                return

    def _by_side(self, side: str) -> str:
        """The only tumor on that side, when tumors lie on both sides of a paired organ."""
        if side not in ("left", "right"):
            return ""
        sides = [{self._side(member) for member in members} - {""} for members in self._members]
        fitting = [identifier for identifier, own in zip(self.ids, sides, strict=True) if own == {side}]
        others = [own for own in sides if own and side not in own]
        return fitting[0] if len(fitting) == 1 and others else ""

    @staticmethod
    def _by_document(fact: Fact, document_tumors: Sequence[Fact]) -> str:
        """The one tumor that the document speaks of now; of several, the one last named before the finding."""
        current = [other for other in document_tumors if not _is_past(other)] or list(document_tumors)
        tumors = {other.tumor for other in current}
        if len(tumors) == 1:
            return tumors.pop()
        before = [other for other in current if other.mention.start <= fact.mention.start]
        return max(before, key=lambda other: other.mention.start).tumor if before else ""

    def _by_sentence(self, fact: Fact, sentence_tumors: Sequence[Fact]) -> str:
        named = [other for other in sentence_tumors if other.tumor and other.tumor != ALL_TUMORS]
        if named:
            return min(named, key=lambda other: abs(other.mention.start - fact.mention.start)).tumor
        site = str(fact.attributes.get("site", ""))
        side = str(fact.attributes.get("laterality", ""))
        return self._by_organ(site, side) if site else ""

    def _by_organ(self, site: str, side: str) -> str:
        organ = organ_of(self._concepts, site)
        if not organ:
            return ""
        fitting = [
            identifier
            for identifier, members in zip(self.ids, self._members, strict=True)
            if any(self._organ(member) == organ for member in members)
            and (not side or not (sides := {self._side(member) for member in members} - {""}) or side in sides)
        ]
        return fitting[0] if len(fitting) == 1 else ""

    def _only(self) -> str:
        """The only tumor, or the only malignant one beside in-situ lesions."""
        if len(self.ids) == 1:
            return self.ids[0]
        malignant = [
            identifier
            for identifier, members in zip(self.ids, self._members, strict=True)
            if any(self._concepts.is_a(member.concept, "malignant_neoplasm") for member in members)
        ]
        return malignant[0] if len(malignant) == 1 else ""


def _is_past(fact: Fact) -> bool:
    return fact.context.temporality is Temporality.HISTORICAL


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
