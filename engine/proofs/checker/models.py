"""The manifest's word on the model that read along, and the checks of a mention that it proposed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....kb.model import Mention
from ....kb.ontology.concepts import ConceptTable
from .faults import Findings

#: What cannot be checked where the model that read the notes is not at hand.
WITHOUT_MODEL: Final = (
    "what a model proposed was not proposed again: that model is not at hand. Hint: name its directory by --model"
)
_NONE: Final = "none"
_PROBABILITIES: Final = re.compile(r"proposed (?P<proposed>[\d.]+), believed (?P<believed>[\d.]+)")
_LINK: Final = "link:"


@dataclass(frozen=True, slots=True)
class Models:
    """The model of a knowledge base. ``name`` and ``digest`` are empty where none read; ``at_hand``: reading again is
    done with it. Proposals are dropped below ``proposed`` and uncertain below ``believed``."""

    name: str = ""
    digest: str = ""
    proposed: float = 1.0
    believed: float = 1.0
    at_hand: bool = False

    @classmethod
    def from_versions(cls, versions: Mapping[str, Any], at_hand: bool) -> Models:
        """As the versions of a manifest tell it."""
        stated = str(versions.get("model", _NONE))
        found = _PROBABILITIES.fullmatch(str(versions.get("probabilities", "")))
        if stated == _NONE or found is None:
            return cls(at_hand=at_hand)
        name, _, digest = stated.partition("+")
        return cls(name, digest, float(found["proposed"]), float(found["believed"]), at_hand)

    def check(self, mention: Mention, concepts: ConceptTable, findings: Findings) -> None:
        """The model is the recorded one, the probability high enough, and the name that it was linked by one of the
        concept. That the words mean it no name proves: it stands on the model."""
        findings.require(
            mention.model == self.name and self.digest, "name", f"the manifest names no model {mention.model!r}"
        )
        findings.require(
            self.proposed <= mention.confidence <= 1.0, "name", "it is less probable than the recorded threshold"
        )
        links = [cue for cue in mention.cues if cue.rule.startswith(_LINK)]
        if not mention.concept:
            findings.fault("name", "it is linked to no concept, and an event rests on it")
            return
        if not findings.require(len(links) == 1, "name", "it does not say by which name it was linked"):
            return
        findings.require(
            (links[0].start, links[0].end) == (mention.start, mention.end), "cue", "its link is of other words"
        )
        known = set(concepts.lookup(links[0].rule.removeprefix(_LINK)))
        # The concept of a tumor may be put together of the linked one and a site.
        linked = {mention.concept, str(mention.attributes.get("morphology", mention.concept))}
        findings.require(known & linked, "name", "the name that it was linked by is none of its concept")
