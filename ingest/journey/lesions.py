"""What was seen in an organ, in the light of what is known of the patient: spread, perhaps spread, or nothing of it.

A lesion is spread of a solid tumor of another organ. It is believed where it came up, grew or shrank, or is one of
several, and the tumor is known to have spread; where that is not known it is possible. One that no word tells more of
is believed only where spread to the organ is stated. That an organ is free of spread says something of those alone who
have such a tumor. Of a tumor whose spread was known before, new spread is progression, and spread that shrinks a
response.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from ...kb.model import LATEST_DAY, Polarity
from ..binding.lesions import ONE
from ..recognizers.spread import CLEAR, CYTOLOGY, LESION, NO_CELLS
from ..text.cue_files import cue_file
from .bench import Workbench, is_own
from .facts import Fact

#: What an image shows, and what cells in a fluid do: the latter is spread where there is a solid tumor.
_OF_IMAGES: Final = (LESION, CLEAR)
_OF_TUMORS: Final = (*_OF_IMAGES, CYTOLOGY, NO_CELLS)
_DECIDED: Final = frozenset({CLEAR, CYTOLOGY, NO_CELLS})
#: So long before its diagnosis may a tumor be seen, and so long after a lesion its spread be known; so long before must
#: spread be known of a tumor that goes on or responds (days).
_BEFORE_DIAGNOSIS: Final = 120
_KNOWN_LATER: Final = 200
_SINCE: Final = 30
_SPREAD: Final = frozenset({"metastasis", "state"})
_STATE_OF_SPREAD: Final = "metastatic_disease"


def weigh_lesions(bench: Workbench) -> None:
    """Keep, doubt or leave out what was seen in the organs."""
    seen = [fact for fact in bench.facts if fact.kind in _SPREAD and fact.mention.source.startswith(_OF_TUMORS)]
    if not seen:
        return
    known = _Known(bench)
    left_out: set[int] = set()
    for fact in seen:
        if not is_own(fact) or not known.may_be_spread(fact):
            left_out.add(id(fact))
        elif fact.kind == "state" and fact.concept in _courses():
            if not known.has_spread_by(fact.day.low - _SINCE):
                left_out.add(id(fact))
        elif fact.mention.source not in _DECIDED and fact.context.really_happened:
            told = fact.mention.source.removeprefix(LESION).lstrip()
            by = fact.day.high + _KNOWN_LATER
            stated, spread = known.is_stated_by(fact, by), known.has_spread_by(by)
            if told == ONE and not spread:
                left_out.add(id(fact))
            elif not stated and (told == ONE or not spread):
                fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)
    if left_out:
        bench.facts = [fact for fact in bench.facts if id(fact) not in left_out]


class _Known:
    """What the record says of the patient's solid tumors and of their spread, in words."""

    def __init__(self, bench: Workbench) -> None:
        self._concepts = bench.concepts
        #: Each tumor, its place and since when it is known; since when spread is, and that to each organ.
        self._tumors: dict[tuple[str, str], int] = {}
        self._spread = LATEST_DAY
        self._organs: dict[tuple[str, str], int] = {}
        for fact in bench.facts:
            if not is_own(fact) or not fact.context.really_happened:
                continue
            if fact.kind == "diagnosis":
                self._take_tumor(fact)
            elif fact.mention.source.startswith(_OF_IMAGES):
                continue
            elif self._says_spread(fact):
                self._spread = min(self._spread, fact.day.high)
                if fact.kind in _SPREAD and fact.concept:
                    key = (fact.kind, fact.concept)
                    self._organs[key] = min(self._organs.get(key, LATEST_DAY), fact.day.low)

    def _take_tumor(self, fact: Fact) -> None:
        concepts = self._concepts
        if fact.concept not in concepts or not concepts.is_a(fact.concept, "malignant_neoplasm"):
            return
        if concepts.is_a(fact.concept, "haematological_malignancy"):
            return
        site = concepts.get(fact.concept).site or str(fact.attributes.get("site", ""))
        key = (fact.concept, site)
        self._tumors[key] = min(self._tumors.get(key, LATEST_DAY), fact.day.low)

    def _says_spread(self, fact: Fact) -> bool:
        if fact.kind == "metastasis":
            return True
        if fact.kind == "state":
            return fact.concept in self._concepts and self._concepts.is_a(fact.concept, _STATE_OF_SPREAD)
        if fact.kind == "stage":
            return str(fact.attributes.get("stage", "")).startswith("IV")
        return fact.kind == "tnm" and str(fact.attributes.get("m", "")).startswith("M1")

    def has_spread_by(self, day: int) -> bool:
        """Whether spread is stated by a day."""
        return self._spread <= day

    def is_stated_by(self, fact: Fact, day: int) -> bool:
        """Whether spread to the organ, or the state, is stated by a day."""
        return any(
            kind == fact.kind and since <= day and self._concepts.related(concept, fact.concept)
            for (kind, concept), since in self._organs.items()
        )

    def may_be_spread(self, fact: Fact) -> bool:
        """Whether a solid tumor of another organ is known, which does not just grow around its place."""
        by = fact.day.high + _BEFORE_DIAGNOSIS
        there = [tumor for tumor, since in self._tumors.items() if since <= by]
        organ = _organ_of(fact.concept)
        if not there or any(site and organ and self._is_near(site, organ) for _, site in there):
            return False
        return not (fact.context.really_happened and self._is_regional(organ, there))

    def _is_near(self, site: str, organ: str) -> bool:
        return organ in self._concepts and self._concepts.related(site, organ)

    def _is_regional(self, organ: str, tumors: Iterable[tuple[str, str]]) -> bool:
        """Whether all tumors of the patient spread there before they spread far (``cues/lesions.toml``)."""
        regional, is_a = cue_file("lesions")["regional"], self._concepts.is_a
        if organ not in self._concepts or not any(is_a(organ, one) for one in regional["organs"]):
            return False
        # A morphology alone may be of the same tumor.
        placed = [tumor for tumor, _ in tumors if self._concepts.get(tumor).site]
        return bool(placed) and all(any(is_a(tumor, one) for one in regional["tumors"]) for tumor in placed)


@lru_cache(maxsize=1)
def _courses() -> frozenset[str]:
    """The states that tell how a tumor goes on."""
    return frozenset(cue_file("lesions")["course_of"].values())


@lru_cache(maxsize=256)
def _organ_of(concept: str) -> str:
    """The organ of a metastasis, or of a state of spread; empty for a state without one."""
    fluids: Mapping[str, Any] = cue_file("lesions")["fluid"]
    of_states = cue_file("implied")["spread_of"] | {one["state"]: one["place"] for one in fluids.values()}
    return "" if concept in _courses() else str(of_states.get(concept, concept))
