"""Facts that stand on a model's proposals alone: uncertain when they are improbable, never certain."""

from __future__ import annotations

from dataclasses import replace

from ...kb.model import Polarity, World
from ..proposals import probabilities
from .bench import Workbench


def doubt_proposals(bench: Workbench) -> None:
    """What is proposed with too little probability is uncertain, whatever the words around it say."""
    for fact in bench.facts:
        if fact.mention.model and fact.context.really_happened and fact.mention.confidence < probabilities().believed:
            fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)


def trust_proposals(bench: Workbench) -> None:
    """What is proposed is believed at most: a model may err. Where a rule read the same, the event is certain."""
    for fact in bench.facts:
        if fact.mention.model and fact.context.really_happened:
            fact.world = World.BELIEVED if fact.world is None else min(fact.world, World.BELIEVED)
