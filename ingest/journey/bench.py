"""The workbench: one patient's facts, tumors, events and decisions while the journey is built."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...kb.concepts import ConceptTable
from ...kb.model import Decision, Event, Experiencer
from ..document import ReadNote
from .facts import Fact
from .tumors import TumorMap


@dataclass(slots=True)
class Workbench:
    """One patient's journey in the making."""

    patient_id: str
    concepts: ConceptTable
    notes: list[ReadNote]
    facts: list[Fact] = field(default_factory=list)
    tumors: TumorMap | None = None
    events: list[Event] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)


def is_own(fact: Fact) -> bool:
    """Whether the fact concerns the patient."""
    return fact.context.experiencer is Experiencer.PATIENT


def is_dated(fact: Fact) -> bool:
    """Whether a date stands beside the mention."""
    return any(cue.rule.startswith("date:") for cue in fact.mention.cues)
