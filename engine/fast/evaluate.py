"""The fast engine: a query to the set of its patients, by plan, bitmaps and, for who is left, event columns."""

from __future__ import annotations

from pyroaring import BitMap

from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.boolean_form import boolean_form
from .bitmaps import OPPOSITE, BitmapEvaluator
from .plan import planned
from .repeats import matters, may_matter
from .rewrites import RULES


def evaluate(query: nodes.Query, kb: KnowledgeBase, world: World, known: dict[World, BitMap] | None = None) -> BitMap:
    """The dense numbers of the patients that the resolved ``query`` denotes in ``world``: as :mod:`.reference` says.

    ``world`` is CERTAIN, BELIEVED or POSSIBLE (ValueError for NONE). QueryTreeError for a name that is not resolved,
    a definition that is not there, or criteria nested too deep. ``known`` keeps answers to this query: where a fact
    occurs twice, certain and possible are found together.
    """
    if world not in OPPOSITE:
        raise ValueError("a query is answered in the certain, believed or possible world")
    known = {} if known is None else known
    if world not in known:
        known.update(_evaluated(query, kb, world))
    return known[world]


def _evaluated(query: nodes.Query, kb: KnowledgeBase, world: World) -> dict[World, BitMap]:
    """The answer in the world; where one bound needs the other, both."""
    plan, root = planned(query, RULES)

    def by_events(number: int, world: World, candidates: BitMap) -> BitMap:
        # Imported when needed: a boolean query needs no columns, and their library takes long to load.
        from .timelines import TimelineEvaluator

        return TimelineEvaluator(kb, plan).members(number, world, candidates)

    evaluator = BitmapEvaluator(kb, plan, by_events)
    found = evaluator.members(root, world, kb.all_patients)
    if world is World.BELIEVED or not may_matter(plan, root, kb.concepts):
        return {world: found}
    if world is World.CERTAIN:
        certain, undecided = found, evaluator.members(root, World.POSSIBLE, kb.all_patients - found)
    else:
        certain = evaluator.members(root, World.CERTAIN, found)
        undecided = found - certain
    form = boolean_form(query.body, query.definitions) if undecided else None
    if form is None or not matters(form, kb.concepts):
        return {World.CERTAIN: certain, World.POSSIBLE: certain | undecided}
    from .open_facts import bounds_of

    certain_too, possible = bounds_of(form, kb, (plan, root), undecided)
    return {World.CERTAIN: certain | certain_too, World.POSSIBLE: certain | possible}
