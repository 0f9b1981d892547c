"""The workbench: one patient's facts, tumors, events and decisions while the journey is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...kb.model import OF_MODEL, Event, Experiencer, World
from ...kb.ontology.concepts import ConceptTable
from ..note.read import ReadNote
from .facts import Fact, has_date
from .tumors import TumorMap


@dataclass(frozen=True, slots=True)
class WorkbenchDecision:
    """A decision between facts, before they are events."""

    rule: str
    believed: tuple[Fact, ...]
    rejected: tuple[Fact, ...]
    explanation: str


@dataclass(slots=True)
class Workbench:
    """One patient's journey in the making."""

    patient_id: str
    concepts: ConceptTable
    notes: list[ReadNote]
    facts: list[Fact] = field(default_factory=list)
    tumors: TumorMap | None = None
    events: list[Event] = field(default_factory=list)
    decisions: list[WorkbenchDecision] = field(default_factory=list)
    #: Identity of each fact -> the event that it became a part of.
    event_of: dict[int, Event] = field(default_factory=dict)
    #: What is told of who the patient is: kept, since decisions name facts by identity.
    persons: list[Fact] = field(default_factory=list)
    #: Whether a model has proposed any of the notes' mentions.
    has_proposals: bool = field(init=False)

    def __post_init__(self) -> None:
        self.has_proposals = any(
            mention.source.startswith(OF_MODEL) for read in self.notes for mention in read.mentions
        )


def is_own(fact: Fact) -> bool:
    """Whether the fact concerns the patient."""
    return fact.context.experiencer is Experiencer.PATIENT


def is_dated(fact: Fact) -> bool:
    """Whether a date stands beside the mention."""
    return has_date(fact.mention)


def standing(bench: Workbench) -> Iterator[Fact]:
    """The patient's own facts that really happened and that nothing has gone against."""
    for fact in bench.facts:
        if not fact.rejected and fact.context.really_happened and fact.world is not World.POSSIBLE:
            yield fact


def dispute(bench: Workbench, rule: str, rejected: Sequence[Fact], believed: Sequence[Fact], why: str) -> None:
    """Facts become possible, those believed in their place believed and not certain; the decision is recorded."""
    for fact in rejected:
        fact.rejected, fact.world = True, World.POSSIBLE
    for fact in believed:
        # A finding that something is not there is in no world, and stays so.
        if fact.context.really_happened:
            fact.world = World.BELIEVED if fact.world is None else min(fact.world, World.BELIEVED)
    bench.decisions.append(WorkbenchDecision(rule, tuple(believed), tuple(rejected), why))
