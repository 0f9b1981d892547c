"""A model's proposals in a journey: events that stand on them alone, beside those of the rules.

A journey is built twice where there are any: of what the rules read, and of everything. The first stays as it is, and
of the second come the events that no rule's mention is evidence of. So no model takes from the rules' record, whatever
it proposes. Such an event is uncertain when its proposals are improbable, and never certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...kb.model import Decision, Event, Journey, Polarity, World
from ..note.proposals import probabilities
from ..note.read import ReadNote
from .bench import Workbench


def doubt_proposals(bench: Workbench) -> None:
    """What is proposed with too little probability is uncertain, whatever the words around it say."""
    for fact in bench.facts if bench.has_proposals else ():
        if fact.mention.model and fact.context.really_happened and fact.mention.confidence < probabilities().believed:
            fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)


def trust_proposals(bench: Workbench) -> None:
    """What is proposed is believed at most: a model may err."""
    for fact in bench.facts if bench.has_proposals else ():
        if fact.mention.model and fact.context.really_happened:
            fact.world = World.BELIEVED if fact.world is None else min(fact.world, World.BELIEVED)


def are_linked(notes: Sequence[ReadNote]) -> bool:
    """Whether a proposal of the notes was linked to a concept, and may be an event."""
    return any(mention.model and mention.concept for read in notes for mention in read.mentions)


def without_proposals(notes: Sequence[ReadNote]) -> list[ReadNote]:
    """The notes with the mentions of the rules alone."""
    return [replace(read, mentions=tuple(mention for mention in read.mentions if not mention.model)) for read in notes]


def with_proposals(rules: Journey, whole: Journey) -> Journey:
    """The journey of the rules, with the mentions of the whole one and its events that stand on proposals alone."""
    proposed = {mention.mention_id for mention in whole.mentions if mention.model}
    added = [event for event in whole.events if event.evidence and proposed.issuperset(event.evidence)]
    events = {event.event_id: event for event in (*rules.events, *added)}
    decisions = {*rules.decisions, *_decisions(whole, {event.event_id for event in added}, events)}
    return replace(
        rules,
        mentions=whole.mentions,
        relations=whole.relations,
        events=tuple(sorted(events.values(), key=lambda event: (event.day.low, event.kind, event.event_id))),
        decisions=tuple(sorted(decisions, key=lambda decision: decision.decision_id)),
    )


def _decisions(whole: Journey, added: set[str], events: dict[str, Event]) -> Iterator[Decision]:
    """Those by which a proposed event gave way; none by which an event of the rules did."""
    for decision in whole.decisions:
        rejected = tuple(one for one in decision.rejected if one in added)
        if rejected:
            believed = tuple(one for one in decision.believed if one in events)
            yield replace(decision, believed=believed, rejected=rejected)
