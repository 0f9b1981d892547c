"""Events of a proof: against the tables, and whether each follows from the mentions that it cites."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....kb.derivation.rules import RULE
from ....kb.kinds import COURSES, KIND_TABLE, values_of
from ....kb.model import (
    ALL_TUMORS,
    NO_TUMOR,
    Context,
    Event,
    Experiencer,
    Mention,
    Polarity,
    Temporality,
    World,
)
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.regimens import shipped_components
from .derived import DerivedCheck
from .evidence import EvidenceCheck, context_cells, dated

#: Attributes that the journey adds or completes: of a course, a known variant, a regimen, a line of therapy.
_ADDED: Final = frozenset(
    (
        "alteration change class codon course cycles dose effect exon fractions intent laterality line origin protein"
        " reason regimen significance site status"
    ).split()
)
_UNDERSTOOD: Final = (Temporality.CURRENT, Temporality.HISTORICAL)


@dataclass(frozen=True, slots=True)
class DerivationCheck:
    """The checks of one patient's events. ``evidence`` knows the record; ``rebuilt`` are the events that building the
    journey again from the notes gives, None where that was not done."""

    evidence: EvidenceCheck
    rebuilt: Mapping[str, Event] | None = None

    def event(self, event_id: str, stated: Mapping[str, Any]) -> None:
        """One event of the proof."""
        findings, record = self.evidence.findings, self.evidence.record
        event = record.events.get(event_id)
        if event is None:
            findings.fault("event", "the knowledge base holds no such event of this patient")
            return
        self.evidence.differing(stated, self._as_stated(event_id, event), "event")
        findings.require(event.event_id == event_id, "event", "its id is not that of its content")
        self._again(event_id, event)
        mentions = [record.mentions[one] for one in event.evidence if one in record.mentions]
        findings.require(len(mentions) == len(event.evidence), "event", "it cites a mention that is not there")
        if not findings.require(mentions, "event", "no mention justifies it"):
            return
        if RULE in event.attributes:
            DerivedCheck(self.evidence).event(event)
            self._whose(event)
            return
        self._what(event, mentions)
        self._how(event_id, event, mentions)
        self._when(event_id, event, mentions)
        self._whose(event)

    def _as_stated(self, event_id: str, event: Event) -> dict[str, Any]:
        record = self.evidence.record
        midpoint = datetime.date.fromordinal(event.day.midpoint).isoformat() if event.day.known else None
        by = next(
            (one for one in event.evidence if one in record.mentions and record.mentions[one].day == event.day), None
        )
        return {
            "kind": event.kind,
            "concept": event.concept,
            "day": dated(event.day),
            "midpoint": midpoint,
            "end": None if event.end is None else dated(event.end),
            "dated_by": by,
            "attributes": dict(event.attributes),
            "context": context_cells(event.context),
            "world": event.world.name.lower(),
            "tumor": event.tumor,
            "tumor_rule": event.tumor_rule,
            "sources": event.sources,
            "anchors": list(event.anchors),
            "evidence": list(event.evidence),
            "decisions": [
                decision_id
                for decision_id, decision in record.decisions.items()
                for named in (*decision.believed, *decision.rejected)
                if named == event_id
            ],
        }

    def _again(self, event_id: str, event: Event) -> None:
        if self.rebuilt is None:
            return
        again = self.rebuilt.get(event_id)
        if again is None:
            self.evidence.findings.fault("reading", "reading the notes again gives no such event")
        elif again != event:
            self.evidence.findings.fault("reading", "reading the notes again gives the event otherwise")

    # --- what it is -------------------------------------------------------------------------------------------------

    def _what(self, event: Event, mentions: list[Mention]) -> None:
        findings = self.evidence.findings
        kinds = {mention.kind for mention in mentions}
        if not findings.require(
            event.kind in kinds or KIND_TABLE[event.kind].made_of in kinds,
            "event",
            "no mention that it cites is of its kind",
        ):
            return
        findings.require(
            any(self._concept_follows(event, mention) for mention in mentions),
            "event",
            "its concept follows from no mention that it cites",
        )
        for name, value in event.attributes.items():
            stated = [mention.attributes[name] for mention in mentions if name in mention.attributes]
            # What several reports tell it has together, each from a mention.
            told = {one for text in stated for one in values_of(name, text)}
            if (
                told.issuperset(values_of(name, value))
                or name == "regimen"
                and any(mention.concept == value for mention in mentions)
            ):
                continue
            if name in _ADDED:
                self.evidence.needs_reading("some attributes follow from all that is known of a course or variant")
            else:
                findings.fault("event", f"no mention that it cites tells its {name}")

    def _concept_follows(self, event: Event, mention: Mention) -> bool:
        concepts: ConceptTable = self.evidence.concepts
        if event.concept == mention.concept:
            return True
        if event.kind == "medication" and mention.kind == "regimen":
            components = shipped_components()
            above = concepts.above(mention.concept) if mention.concept in concepts else ()
            return any(
                part.drug == event.concept and not part.optional for one in above for part in components.get(one, ())
            )
        if event.kind == "diagnosis":
            # A morphology and a site make one tumor; at a site of spread they are taken apart again.
            return (
                concepts.is_a(event.concept, mention.concept)
                or mention.attributes.get("morphology") == event.concept
                or self.evidence.is_cancer_there(event.concept, mention.concept, str(event.attributes.get("site", "")))
            )
        of_genes = event.kind == "variant" or "gene" in mention.attributes
        return of_genes and mention.concept in concepts and event.concept in concepts.children(mention.concept)

    # --- how it is so -----------------------------------------------------------------------------------------------

    def _how(self, event_id: str, event: Event, mentions: list[Mention]) -> None:
        findings, record = self.evidence.findings, self.evidence.record
        disputed = event_id in record.disputed
        findings.require(
            any(_context_follows(event.context, mention.context, disputed) for mention in mentions),
            "context",
            "its context follows from no mention that it cites",
        )
        expected = list(_worlds(event.context, disputed))
        if event.kind == "birth" and not event.day.known:
            # Of a birth on no known day no age is believed.
            expected = [World.POSSIBLE]
        if all(mention.model for mention in mentions):
            # A model's proposals alone make nothing certain, and when improbable nothing that is believed.
            expected = [min(world, World.BELIEVED) for world in expected]
            sure = max(mention.confidence for mention in mentions) >= self.evidence.models.believed
            findings.require(
                sure or event.world < World.BELIEVED, "world", "it is believed, and its proposals are improbable"
            )
        likely = max((mention.confidence for mention in mentions), default=1.0)
        findings.require(event.confidence == likely, "event", "its confidence is not that of its mentions")
        findings.require(
            event.world in expected,
            "world",
            f"by its context and decisions it is {' or '.join(world.name.lower() for world in expected)},"
            f" not {event.world.name.lower()}",
        )
        notes = {mention.note_id for mention in mentions}
        findings.require(1 <= event.sources <= len(notes), "event", "it counts more sources than notes tell of it")

    def _when(self, event_id: str, event: Event, mentions: list[Mention]) -> None:
        findings = self.evidence.findings
        if event.kind == "birth":
            # The days on which all that is told of it agree.
            low, high = max(one.day.low for one in mentions), min(one.day.high for one in mentions)
            findings.require((event.day.low, event.day.high) == (low, high), "day", "its mentions agree on other days")
            stated = {f"{mention.source}:{mention.text}" for mention in mentions}
            findings.require(set(event.anchors) <= stated, "day", "no mention cites what it is anchored by")
            return
        if not any(mention.day == event.day for mention in mentions):
            if event.kind in COURSES:
                self.evidence.needs_reading("some days follow from all that is told of a course")
            elif event.kind == "performance" or event_id in self.evidence.record.disputed:
                self.evidence.needs_reading("some days were moved: of a score told as past, of an order that cannot be")
            else:
                findings.fault("day", "it has the day of no mention that it cites")
        if event.end is not None:
            findings.require(event.end.high >= event.day.low, "day", "it ends before it begins")
        rules = {cue.rule for mention in mentions for cue in mention.cues}
        findings.require(set(event.anchors) <= rules, "day", "no mention cites the date that it is anchored by")

    def _whose(self, event: Event) -> None:
        """Its tumor: one that a diagnosis is the root of, by a rule of linkage."""
        findings, record = self.evidence.findings, self.evidence.record
        findings.require(0 <= event.tumor_rule <= 5, "tumor", "no rule of linkage has this number")
        if event.tumor == NO_TUMOR:
            findings.require(event.tumor_rule == 5, "tumor", "a rule linked it, and it is of no tumor")
        elif event.tumor != ALL_TUMORS:
            roots = [
                other for other in record.events.values() if other.tumor == event.tumor and other.kind == "diagnosis"
            ]
            if not roots:
                self.evidence.needs_reading("a tumor's own diagnosis is not recorded")
            self.evidence.needs_reading("to which tumor a fact belongs follows from all of a patient's notes")


def _context_follows(event: Context, mention: Context, disputed: bool) -> bool:
    """Weighing makes a fact uncertain, a decision may retract it; nothing makes one present that is not told so."""
    if event.experiencer != mention.experiencer:
        return False
    if event.temporality != mention.temporality and not {event.temporality, mention.temporality} <= set(_UNDERSTOOD):
        return False
    if event.polarity == mention.polarity:
        return event.reason == mention.reason or event.reason == "retracted" or disputed
    if mention.polarity is Polarity.PRESENT and event.polarity is Polarity.UNCERTAIN:
        return True
    return mention.polarity is not Polarity.ABSENT and event.reason == "retracted"


def _worlds(context: Context, disputed: bool) -> Iterator[World]:
    """The worlds that an event of this context may be in."""
    if context.really_happened:
        yield World.CERTAIN
        if disputed:
            yield World.BELIEVED
            yield World.POSSIBLE
    elif (
        context.experiencer is Experiencer.PATIENT
        and context.polarity is Polarity.UNCERTAIN
        and context.reason in ("none", "pending")
        and context.temporality in _UNDERSTOOD
    ):
        yield World.POSSIBLE
    else:
        yield World.NONE
