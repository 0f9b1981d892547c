"""When an event of the notes holds what a gold fact states, and what stands in its place where none does.

An event holds a statement when its **kind** is of the same family, its **concept** is the same, and its **context**
agrees: polarity, experiencer, and whether it happened, is planned or only imagined (current and historical are one). An
event that is present and yet only possible, because a decision disputes it, counts as uncertain. *With value*: the
attributes of :attr:`.Kind.result_attributes` that the statement gives agree as well, or the event says the same more
closely. *Compatible*: the concepts are the same or one is above the other. Dates take no part; they are told of what
matched.

Two ways of writing are taken as one. Nodes of which none is involved are absent, whether the count or the words say so;
a result that is equivocal is an uncertain one. A trial of which one side names no drug is of any. A regimen is held
by itself or by all the drugs that it always has.

One event may hold several facts: repeats of one treatment or diagnosis fold into one event, and an abstraction writes
each down. The other way round every statement of a fact must be held by some event, so a fact can be held in part.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....kb.kinds import KIND_TABLE
from ....kb.model import EARLIEST_DAY, Event, Journey, Polarity, Temporality, Value, World
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.regimens import shipped_components
from ....kb.ontology.scales import Scales
from ....query_lang.resolution.findings import SECTIONS, findings
from .gold import Statement

#: What a variant that was not found still says: an absent one has no class.
_OF_AN_ABSENT_VARIANT: Final = ("alteration", "protein", "cdna", "exon", "partner")
#: The results that are neither positive nor negative.
_EQUIVOCAL: Final = "equivocal"
#: Attributes that are not asked for where an event leaves them open, but must not contradict.
_UNLESS_OTHERWISE: Final[Mapping[str, str]] = {"variant": "origin"}


class Reason(enum.StrEnum):
    """Why a statement is not held: the first of these that applies."""

    NO_PATIENT = "no such patient"
    CONTEXT = "other context"
    VALUE = "other value"
    NO_VALUE = "value not read"
    BROADER = "broader concept"
    NARROWER = "narrower concept"
    RELATED = "related concept in other context"
    KIND = "other kind"
    NAMED = "named, no event"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far the events hold one statement. ``reason`` is None when it is held with its value.

    ``days_apart``: from the fact's date to the nearest event that holds it, 0 when they share a day, infinite when it
    may have begun at any time; None when nothing matched or the fact has no date. ``events`` hold the statement; where
    none does, they are the closest of what there is.
    """

    matched: bool
    with_value: bool
    compatible: bool
    days_apart: float | None
    reason: Reason | None
    events: tuple[Event, ...]


def family(kind: str) -> str:
    """What kinds are compared as."""
    return KIND_TABLE[kind].family


class Matcher:
    """Holds the statements about one patient against the events of that patient's journey."""

    def __init__(self, journey: Journey | None, concepts: ConceptTable, scales: Scales) -> None:
        """``journey``: None for a patient of whom no note was read."""
        self._journey = journey
        self._concepts = concepts
        self._scales = scales
        self._named = {mention.concept for mention in journey.mentions} if journey else set()

    def verdict(self, statement: Statement) -> Verdict:
        """How far the statement is held, by which events; why not, and what there is instead."""
        if self._journey is None:
            return Verdict(False, False, False, None, Reason.NO_PATIENT, ())
        kin = [event for event in self._journey.events if family(event.kind) == family(statement.kind)]
        same = [event for event in kin if self._is_named_so(event, statement)]
        wanted = self.standing(statement)
        exact = [event for event in same if self.standing(event) == wanted]
        holding = self._with_value(statement, exact)
        related = [event for event in kin if self._related(event.concept, statement.concept)]
        compatible = [event for event in related if self.standing(event) == wanted]
        if not exact and statement.kind == "regimen":
            exact = holding = self._drugs(statement)
        if holding:
            return Verdict(True, True, True, _days_apart(statement, holding), None, tuple(holding))
        reason, instead = self._instead(statement, same, exact, related, compatible)
        return Verdict(
            bool(exact), False, bool(exact or compatible), _days_apart(statement, exact), reason, tuple(instead)
        )

    def standing(self, one: Statement | Event) -> tuple[str, str, str]:
        """Whether it happened, its polarity and whose it is: what must agree of two contexts."""
        context, polarity = one.context, one.context.polarity
        how = context.temporality
        happened = "happened" if how in (Temporality.CURRENT, Temporality.HISTORICAL) else str(how)
        if polarity is Polarity.PRESENT:
            result = str(one.attributes.get("result", ""))
            disputed = isinstance(one, Event) and one.world is World.POSSIBLE and context.really_happened
            if one.kind == "node" and one.attributes.get("positive") == 0:
                polarity = Polarity.ABSENT
            elif disputed or family(one.kind) == "test" and self._below(result, _EQUIVOCAL):
                polarity = Polarity.UNCERTAIN
        return happened, str(polarity), str(context.experiencer)

    def holds(self, event: Event, statement: Statement) -> bool:
        """Whether one event agrees with a statement in kind, concept and context (its value aside)."""
        return (
            family(event.kind) == family(statement.kind)
            and self._is_named_so(event, statement)
            and self.standing(event) == self.standing(statement)
        )

    @staticmethod
    def _is_named_so(event: Event, statement: Statement) -> bool:
        """Whether both are of one concept; a trial whose drug is left open by one of them is of any."""
        if event.kind == statement.kind == "trial" and not (event.concept and statement.concept):
            return True
        return event.concept == statement.concept

    def near(self, event: Event, statement: Statement) -> bool:
        """Whether one event agrees with a statement in kind and context, and their concepts are compatible."""
        return (
            family(event.kind) == family(statement.kind)
            and self._related(event.concept, statement.concept)
            and self.standing(event) == self.standing(statement)
        )

    def _drugs(self, statement: Statement) -> list[Event]:
        """The events of a regimen's drugs, if each that it always has is held; else none."""
        assert self._journey is not None
        found: list[Event] = []
        for part in shipped_components().get(statement.concept, ()):
            of_drug = replace(statement, kind="medication", concept=part.drug, attributes={})
            held = [event for event in self._journey.events if self.holds(event, of_drug)]
            if not held and not part.optional:
                return []
            found += held
        return found

    def _related(self, one: str, other: str) -> bool:
        return one == other or self._below(one, other) or self._below(other, one)

    def _below(self, concept: str, above: str) -> bool:
        return bool(concept and above) and self._concepts.is_a(concept, above)

    def _instead(
        self,
        statement: Statement,
        same: Sequence[Event],
        exact: Sequence[Event],
        related: Sequence[Event],
        compatible: Sequence[Event],
    ) -> tuple[Reason, Sequence[Event]]:
        assert self._journey is not None
        if elsewhere := self._with_value(statement, [event for event in same if event not in exact]):
            return Reason.CONTEXT, elsewhere
        if exact:
            names = _given(statement)
            stating = [event for event in exact if any(name in event.attributes for name in names)]
            return (Reason.VALUE, stating) if stating else (Reason.NO_VALUE, exact)
        if compatible:
            narrower = [event for event in compatible if self._below(event.concept, statement.concept)]
            return (Reason.NARROWER, narrower) if narrower else (Reason.BROADER, compatible)
        if same or related:
            return (Reason.CONTEXT, same) if same else (Reason.RELATED, related)
        if statement.concept:
            if other := [event for event in self._journey.events if event.concept == statement.concept]:
                return Reason.KIND, other
            if statement.concept in self._named:
                return Reason.NAMED, ()
        return Reason.NOTHING, ()

    def _with_value(self, statement: Statement, events: Sequence[Event]) -> list[Event]:
        """The events that say what the statement says; of TNM those that say it together."""
        names = _given(statement)
        if statement.kind != "tnm":
            other = _UNLESS_OTHERWISE.get(statement.kind, "")
            contradicted = [
                event
                for event in events
                if {other} <= event.attributes.keys() & statement.attributes.keys()
                and not _same(event.attributes[other], statement.attributes[other])
            ]
            return [
                event
                for event in events
                if event not in contradicted and all(self._agrees(statement, event, name) for name in names)
            ]
        by_category = [[event for event in events if self._agrees(statement, event, name)] for name in names]
        if not all(by_category):
            return []
        return list({event.event_id: event for found in by_category for event in found}.values())

    def _agrees(self, statement: Statement, event: Event, name: str) -> bool:
        wanted, read = statement.attributes[name], event.attributes.get(name)
        if read is None:
            return False
        if statement.kind == "tnm" and name != "m":
            # M is hardly ever written with a prefix of its own.
            prefix = statement.attributes.get("prefix")
            if prefix is not None and event.attributes.get("prefix") != prefix:
                return False
        if _same(read, wanted) or self._below(str(read), str(wanted)):
            return True
        if name in SECTIONS and str(read) in findings()[name].below.get(str(wanted), ()):
            return True
        scaled = self._scales.scale(name) is not None
        return scaled and self._scales.compare(name, read, "=", wanted)


def _given(statement: Statement) -> list[str]:
    absent = statement.kind == "variant" and statement.context.polarity is Polarity.ABSENT
    names = _OF_AN_ABSENT_VARIANT if absent else KIND_TABLE[statement.kind].result_attributes
    return [name for name in names if name in statement.attributes]


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    return one == other


def _days_apart(statement: Statement, events: Sequence[Event]) -> float | None:
    if statement.day is None or not events:
        return None
    low, high = statement.day.low, (statement.end or statement.day).high
    return min(
        math.inf if event.day.low <= EARLIEST_DAY else max(0, event.day.low - high, low - (event.end or event.day).high)
        for event in events
    )
