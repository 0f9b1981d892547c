"""Several queries of one knowledge base over one plan: what they have in common is evaluated once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyroaring import BitMap

from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from .bitmaps import BitmapEvaluator
from .plan import Plan
from .rewrites import RULES


class SharedPlan:
    """Steps of one plan, and whom they hold of. Not to be shared between threads."""

    def __init__(self, kb: KnowledgeBase) -> None:
        """Nothing is planned yet."""
        self.plan = Plan(RULES)
        self.everybody = kb.all_patients

        def by_events(number: int, world: World, candidates: BitMap) -> BitMap:
            # Imported when needed: a boolean query needs no columns, and their library takes long to load.
            from .timelines import TimelineEvaluator

            return TimelineEvaluator(kb, self.plan).members(number, world, candidates)

        self.evaluator = BitmapEvaluator(kb, self.plan, by_events)

    def defined(self, definitions: Iterable[nodes.Definition]) -> Mapping[str, int]:
        """The steps of definitions, each seeing those before it."""
        found: dict[str, int] = {}
        for definition in definitions:
            found[definition.name] = self.plan.add_tree(definition.body, found)
        return found

    def add(self, query: nodes.Query) -> int:
        """The step of a query."""
        return self.plan.add_tree(query.body, self.defined(query.definitions))

    def members(self, number: int, world: World, candidates: BitMap | None = None) -> BitMap:
        """Those of the candidates (by default everybody) of whom the step holds."""
        return self.evaluator.members(number, world, self.everybody if candidates is None else candidates)
