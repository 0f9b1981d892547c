"""Attributes of a course of treatment in an abstraction, as events have them: classes of reasons, doses, causes."""

from __future__ import annotations

from ...kb.kinds import CONDITIONS, COURSES, DRUGS
from ...kb.model import Value
from ..recognizers.trials import part_in
from ..treatments.courses import dose_of, reason_in
from .pieces import PieceReader
from .records import AbstractedFact


def part_told(fact: AbstractedFact) -> str:
    """What a fact says of the patient's part in a trial; empty for nothing."""
    return part_in(fact.attributes.get("status", "") or fact.value)


def course_attributes(kind: str, fact: AbstractedFact, pieces: PieceReader) -> dict[str, Value]:
    """What is read: reason, dose and fractions of a treatment, cause of an adverse event, part in a trial.

    What cannot be read stays as it is written.
    """
    found: dict[str, Value] = {}
    reason = fact.attributes.get("reason", "")
    if kind in COURSES and reason:
        read = reason_in(reason)
        if not read and any(mention.kind in CONDITIONS for mention in pieces.mentions(reason)):
            read = "toxicity"
        if read:
            found["reason"] = read
    if kind == "radiation":
        dose, fractions = dose_of(fact.attributes.get("dose", "") or fact.value)
        found |= {name: one for name, one in (("dose", dose), ("fractions", fractions)) if one is not None}
    if kind == "adverse_event" and reason:
        drugs = [mention.concept for mention in pieces.mentions(reason) if mention.kind in DRUGS]
        if drugs:
            found["cause"] = drugs[0]
    if kind == "trial" and (part := part_told(fact)):
        found["status"] = part
    return found
