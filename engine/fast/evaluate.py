"""The fast engine: a query to the set of its patients, by plan, bitmaps and, for who is left, event columns."""

from __future__ import annotations

from pyroaring import BitMap

from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from .bitmaps import OPPOSITE, BitmapEvaluator
from .plan import planned
from .rewrites import RULES


def evaluate(query: nodes.Query, kb: KnowledgeBase, world: World) -> BitMap:
    """The dense numbers of the patients that the resolved ``query`` denotes in ``world``: as :mod:`.reference` says.

    ``world`` is CERTAIN, BELIEVED or POSSIBLE (ValueError for NONE). QueryTreeError for a name that is not resolved,
    a definition that is not there, or criteria nested too deep.
    """
    if world not in OPPOSITE:
        raise ValueError("a query is answered in the certain, believed or possible world")
    plan, root = planned(query, RULES)

    def by_events(number: int, world: World, candidates: BitMap) -> BitMap:
        # Imported when needed: a boolean query needs no columns, and their library takes long to load.
        from .timelines import TimelineEvaluator

        return TimelineEvaluator(kb, plan).members(number, world, candidates)

    return BitmapEvaluator(kb, plan, by_events).members(root, world, kb.all_patients)
