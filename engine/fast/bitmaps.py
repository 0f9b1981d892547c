"""Steps of a plan over Roaring bitmaps of dense patient numbers: posting lists first, events only for who is left."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyroaring import BitMap

from ...kb.deadline import check
from ...kb.kinds import KINDS
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from .concept_sets import ABSENT, is_closed, named_ids
from .plan import Atom, Complement, Count, Either, Every, Listed, Plan, Related, Scope, is_plain, parts_of
from .value_lists import Split, ValueLists, listed_world

#: The world that bounds a negation.
OPPOSITE = {World.CERTAIN: World.POSSIBLE, World.BELIEVED: World.BELIEVED, World.POSSIBLE: World.CERTAIN}

#: Decides a step by its events: (step, world, candidates) to those of the candidates that it holds of.
Decider = Callable[[int, World, BitMap], BitMap]


@dataclass(slots=True)
class _Known:
    """Of one step in one world: for whom it was decided, and of whom it holds."""

    decided: BitMap
    members: BitMap


class BitmapEvaluator:
    """Evaluates the steps of one plan on one knowledge base. Not to be shared between threads."""

    def __init__(self, kb: KnowledgeBase, plan: Plan, by_events: Decider) -> None:
        """``by_events`` decides what posting lists cannot: it sees only the candidates that they leave."""
        self._kb = kb
        self._plan = plan
        self._by_events = by_events
        self._known: dict[tuple[int, World], _Known] = {}
        self._lists = ValueLists(kb)
        self._splits: dict[tuple[nodes.Events, World], Split] = {}
        # A step that many others are made of is looked into once: definitions of definitions would double each time.
        self._estimates: dict[tuple[int, World], int] = {}
        self._bounds: dict[tuple[int, World], BitMap | None] = {}

    def members(self, number: int, world: World, candidates: BitMap) -> BitMap:
        """Those of ``candidates`` of whom the step holds in ``world``."""
        step = self._plan.steps[number]
        if isinstance(step, Atom) and is_plain(step.events):
            # Nothing to remember: the posting lists are at hand.
            return self._plain(step.events, world, candidates)
        known = self._known.setdefault((number, world), _Known(BitMap(), BitMap()))
        undecided = candidates - known.decided
        if undecided:
            known.members |= self._decide(number, world, undecided)
            known.decided |= undecided
        return known.members & candidates

    def _decide(self, number: int, world: World, candidates: BitMap) -> BitMap:
        check()
        match self._plan.steps[number]:
            case Every(parts):
                return self._every(parts, world, candidates)
            case Either(parts):
                return self._either(parts, world, candidates)
            case Complement(part):
                return candidates - self.members(part, OPPOSITE[world], candidates)
            case Count(n, parts):
                return self._count(n, parts, world, candidates)
            case Listed(patients):
                return patient_numbers(self._kb, patients) & candidates
            case Atom(events):
                split = self._split(events, world)
                found, rest = split.sure & candidates, split.maybe & candidates
                return found | self._by_events(number, world, rest) if rest else found
        bound = self.bound(number, world)
        if bound is not None:
            candidates = candidates & bound
        return self._by_events(number, world, candidates) if candidates else BitMap()

    def _every(self, parts: Iterable[int], world: World, candidates: BitMap) -> BitMap:
        """Smallest lists first; then all bounds, before the first event is looked at."""
        costs = self._plan.costs
        by_lists = sorted((part for part in parts if not costs[part]), key=lambda part: self._estimate(part, world))
        for part in by_lists:
            if not candidates:
                return candidates
            candidates = self.members(part, world, candidates)
        costly = []
        for part in parts:
            if costs[part] and candidates:
                bound = self.bound(part, world)
                candidates = candidates if bound is None else candidates & bound
                costly.append((costs[part], math.inf if bound is None else len(bound), part))
        for _, _, part in sorted(costly):
            if not candidates:
                break
            candidates = self.members(part, world, candidates)
        return candidates

    def _either(self, parts: Iterable[int], world: World, candidates: BitMap) -> BitMap:
        found = BitMap()
        for part in parts:
            rest = candidates - found
            if not rest:
                break
            found |= self.members(part, world, rest)
        return found

    def _count(self, n: int, parts: tuple[int, ...], world: World, candidates: BitMap) -> BitMap:
        # reached[k]: those in at least k of the parts seen so far.
        reached = [candidates] + [BitMap() for _ in range(n)]
        for seen, part in enumerate(parts):
            missing = n - (len(parts) - seen)
            # Who is in fewer than that many can no longer reach n, and who has n needs no more.
            open_ = (reached[missing] if missing > 0 else candidates) - reached[n]
            found = self.members(part, world, open_)
            check()
            for k in range(min(n, seen + 1), 0, -1):
                reached[k] |= reached[k - 1] & found
        return reached[n]

    # --- atoms ------------------------------------------------------------------------------------------------------

    def _plain(self, events: nodes.Events, world: World, candidates: BitMap) -> BitMap:
        """Exactly the patients with such an event, where nothing but kind, concept and world is asked."""
        if events.concept is None or is_closed(events.concept):
            found = self._postings(events, world)
            found &= candidates
            return found
        found = self._lists.split(events, world).sure
        found &= candidates
        return found

    def _postings(self, events: nodes.Events, world: World) -> BitMap:
        """The patients with an event at or below one of the concepts that are named."""
        kinds = KINDS if events.kind is None else (events.kind,)
        names = ("",) if events.concept is None else dict.fromkeys(named_ids(events.concept))
        lists = [self._kb.posting(kind, name, listed_world(events, world)) for name in names for kind in kinds]
        return lists[0] if len(lists) == 1 else BitMap.union(*lists)

    def _split(self, events: nodes.Events, world: World) -> Split:
        found = self._splits.get((events, world))
        if found is None:
            found = self._splits[events, world] = self._lists.split(events, world)
        return found

    def _estimate(self, number: int, world: World) -> int:
        """About how many patients a step has that lists decide; no list is read for that."""
        found = self._estimates.get((number, world))
        if found is None:
            found = self._estimates[number, world] = self._estimated(number, world)
        return found

    def _estimated(self, number: int, world: World) -> int:
        everybody = len(self._kb.patients)
        match self._plan.steps[number]:
            case Atom(events):
                kinds = KINDS if events.kind is None else (events.kind,)
                names = [""] if events.concept is None else list(named_ids(events.concept))
                sizes = [
                    self._kb.lists.size(kind, name, listed_world(events, world)) for name in names for kind in kinds
                ]
                return min(everybody, sum(sizes))
            case Listed(patients):
                return len(patients)
            case Every(parts):
                return min((self._estimate(part, world) for part in parts), default=everybody)
            case Either(parts) | Count(_, parts):
                return min(everybody, sum(self._estimate(part, world) for part in parts))
            case Complement(part):
                return everybody - self._estimate(part, OPPOSITE[world])
        return everybody

    # --- who can be in a step at all --------------------------------------------------------------------------------

    def bound(self, number: int, world: World) -> BitMap | None:
        """Who is outside is not in the step, nor does it hold of a tumor or event of theirs; None: no such bound."""
        step = self._plan.steps[number]
        if not parts_of(step):
            return self._bound(number, world)
        if (number, world) not in self._bounds:
            check()
            self._bounds[number, world] = self._bound(number, world)
        return self._bounds[number, world]

    def _bound(self, number: int, world: World) -> BitMap | None:
        match self._plan.steps[number]:
            case Atom(events):
                return self._atom_bound(events, world)
            case Related(node):
                return self._criterion_bound(node, world)
            case Listed(patients):
                return patient_numbers(self._kb, patients)
            case Scope(_, body):
                return self.bound(body, world)
            case Every(parts):
                known = [found for part in parts if (found := self.bound(part, world)) is not None]
                return BitMap.intersection(*known) if known else None
            case Either(parts) | Count(_, parts):
                bounds = [self.bound(part, world) for part in parts]
                if any(found is None for found in bounds):
                    return None
                return BitMap.union(*[found for found in bounds if found is not None])
        return None

    def _criterion_bound(self, node: nodes.EventCriterion, world: World) -> BitMap | None:
        needed: tuple[nodes.Events, ...]
        match node:
            case nodes.Ordered(left, _, right):
                needed = (left, right)
            case nodes.Sequence(steps):
                needed = steps
            case nodes.Clear(events) | nodes.Times(_, events) | nodes.Ongoing(events):
                needed = (events,)
            case nodes.Repeated(_, events, _, other):
                needed = (events, other)
            case nodes.Change(_, events, during=during):
                needed = (events,) if during is None else (events, during)
            case nodes.Total(_, events):
                needed = (events,)
            case nodes.AgeAt(events):
                needed = (nodes.Events("birth"), *(() if events is None else (events,)))
            case _:
                return None
        return BitMap.intersection(*[self._atom_bound(events, world) for events in needed])

    def _atom_bound(self, events: nodes.Events, world: World) -> BitMap:
        if events.condition is None and events.context != ABSENT:
            return self._postings(events, world)
        return self._split(events, world).bound()


def patient_numbers(kb: KnowledgeBase, patients: Iterable[str]) -> BitMap:
    """The dense numbers of those of the ids that the knowledge base has."""
    known = kb.patients
    places = ((patient, bisect.bisect_left(known, patient)) for patient in patients)
    return BitMap(place for patient, place in places if place < len(known) and known[place] == patient)
