"""The model beside the rules: what is taken for the polarity of a finding where the two disagree.

Off by default: on sentences held aside no combination beats the rules alone by more than chance
(``docs/context_model.md``). A reader has one by ``Parts(second=lambda: SecondReading(ContextModel.load(path)))``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from ....kb.model import Polarity
from ...text.shape import Section
from .classifier import ContextModel
from .signs import signs, signs_of_rules

if TYPE_CHECKING:  # The context of sentences is read beside this, not below it.
    from ...context.sentence import SentenceContext
    from ...context.values import Reading, Target
    from ...text.frame import Frame

#: Kinds whose context is read from cues alone; of treatments the status is read, of markers the result.
FINDINGS: Final = frozenset({"diagnosis", "metastasis", "state", "symptom", "adverse_event", "comorbidity"})

#: *doubt*: a sure disagreement makes a finding uncertain. *doubt_uncued*: only where the rules found no cue. *uncued*:
#: there the model's word is taken. *weak*: the model's word is taken against a cue of doubt. *replace*: it is taken.
How = Literal["doubt", "doubt_uncued", "uncued", "weak", "replace"]
HOW: Final[tuple[How, ...]] = ("doubt", "doubt_uncued", "uncued", "weak", "replace")


def combined(rules: str, cued: bool, probabilities: Mapping[str, float], how: How, sure: float) -> str:
    """The polarity taken: ``rules`` read it, by a cue or (not ``cued``) for want of one; the model is heard from the
    probability ``sure`` on."""
    said = max(probabilities, key=lambda value: probabilities[value])
    if said == rules or probabilities[said] < sure:
        return rules
    uncertain = str(Polarity.UNCERTAIN)
    if how == "doubt":
        return uncertain
    if how == "doubt_uncued":
        return rules if cued else uncertain
    if how == "uncued":
        return rules if cued else said
    if how == "weak":
        return said if rules == uncertain else rules
    return said


@dataclass(frozen=True)
class SecondReading:
    """Reads the polarity of findings again; all else stays as the rules have it."""

    model: ContextModel
    how: How = "doubt"
    sure: float = 0.9

    def __call__(
        self,
        frame: Frame,
        sentence: tuple[int, int],
        context: SentenceContext,
        target: Target,
        section: Section,
        reading: Reading,
    ) -> Reading:
        """The reading of the rules, or one with another polarity."""
        if target.kind not in FINDINGS or reading.context.reason != "none":
            return reading
        seen = [*signs(frame, sentence, context, target, section)]
        if self.model.knows_rules:
            seen += signs_of_rules(reading)
        rules = str(reading.context.polarity)
        told = self.model.probabilities(seen)["polarity"]
        taken = combined(rules, rules != Polarity.PRESENT or bool(reading.cues), told, self.how, self.sure)
        if taken == rules:
            return reading
        return replace(reading, context=replace(reading.context, polarity=Polarity(taken)))
