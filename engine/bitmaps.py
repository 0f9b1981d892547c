"""Steps of a plan over Roaring bitmaps of dense patient numbers: posting lists first, events only for who is left."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from ..kb.concepts import ConceptTable
from ..kb.model import KINDS, World
from ..kb.store import KnowledgeBase
from ..query_lang import nodes
from ..query_lang.nodes import QueryTreeError
from .plan import Atom, Complement, Count, Either, Every, Listed, Minus, Plan, Related, Scope, is_plain

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
        match self._plan.steps[number]:
            case Every(parts):
                for part in parts:
                    if not candidates:
                        break
                    candidates = self.members(part, world, candidates)
                return candidates
            case Either(parts):
                return self._either(parts, world, candidates)
            case Complement(part):
                return candidates - self.members(part, OPPOSITE[world], candidates)
            case Minus(left, right):
                candidates = self.members(left, world, candidates)
                return candidates - self.members(right, OPPOSITE[world], candidates)
            case Count(n, parts):
                return self._count(n, parts, world, candidates)
            case Listed(patients):
                return patient_numbers(self._kb, patients) & candidates
        bound = self.bound(number, world)
        if bound is not None:
            candidates = candidates & bound
        return self._by_events(number, world, candidates) if candidates else BitMap()

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
            for k in range(n, 0, -1):
                reached[k] |= reached[k - 1] & found
        return reached[n]

    # --- atoms ------------------------------------------------------------------------------------------------------

    def _plain(self, events: nodes.Events, world: World, candidates: BitMap) -> BitMap:
        """Exactly the patients with such an event, where nothing but kind, concept and world is asked."""
        if events.concept is None:
            return self._postings(events.kind, ("",), world) & candidates
        if _is_closed(events.concept):
            return self._postings(events.kind, named_ids(events.concept), world) & candidates
        ids = concept_ids(events.concept, self._kb.concepts)
        closed, alone = covering(ids, self._kb.concepts)
        found = self._postings(events.kind, closed, world) & candidates
        # Posting lists hold descendants too; who has only an excluded one is told by the events themselves.
        rest = (self._postings(events.kind, alone, world) & candidates) - found
        if rest:
            rows = self._kb.event_index.rows([(events.kind, frozenset(alone))], rest)
            found |= BitMap(rows.patient[rows.world >= np.int8(world)])
        return found

    def _postings(self, kind: str | None, concepts: Iterable[str], world: World) -> BitMap:
        kinds = KINDS if kind is None else (kind,)
        return _united(self._kb.posting(one, concept, world) for concept in concepts for one in kinds)

    # --- who can be in a step at all --------------------------------------------------------------------------------

    def bound(self, number: int, world: World) -> BitMap | None:
        """Who is outside is not in the step, nor does it hold of a tumor or event of theirs; None: no such bound."""
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
            case Minus(left, _):
                return self.bound(left, world)
            case Either(parts) | Count(_, parts):
                bounds = [self.bound(part, world) for part in parts]
                if any(found is None for found in bounds):
                    return None
                return _united(found for found in bounds if found is not None)
        return None

    def _criterion_bound(self, node: nodes.EventCriterion, world: World) -> BitMap | None:
        needed: tuple[nodes.Events, ...]
        match node:
            case nodes.Ordered(left, _, right):
                needed = (left, right)
            case nodes.Sequence(steps):
                needed = steps
            case nodes.Clear(events) | nodes.Times(_, events):
                needed = (events,)
            case nodes.AgeAt(events):
                needed = (nodes.Events("birth"), *(() if events is None else (events,)))
            case nodes.Lacking():
                return None
        return BitMap.intersection(*[self._atom_bound(events, world) for events in needed])

    def _atom_bound(self, events: nodes.Events, world: World) -> BitMap:
        by_world = events.context in ("present", "current", "historical")
        concepts: Iterable[str] = ("",) if events.concept is None else named_ids(events.concept)
        return self._postings(events.kind, concepts, world if by_world else World.NONE)


def patient_numbers(kb: KnowledgeBase, patients: Iterable[str]) -> BitMap:
    """The dense numbers of those of the ids that the knowledge base has."""
    known = kb.patients
    places = ((patient, bisect.bisect_left(known, patient)) for patient in patients)
    return BitMap(place for patient, place in places if place < len(known) and known[place] == patient)


def _united(bitmaps: Iterable[BitMap]) -> BitMap:
    found = list(bitmaps)
    return BitMap.union(*found) if found else BitMap()


def _is_closed(expression: nodes.ConceptExpression) -> bool:
    """Whether the closed posting lists of the concepts that it names say exactly what it selects."""
    match expression:
        case nodes.Under(_, exact):
            return not exact
        case nodes.Union(parts):
            return all(_is_closed(part) for part in parts)
    return False


def named_ids(expression: nodes.ConceptExpression) -> Iterator[str]:
    """The concepts that an expression names and does not exclude; what it selects lies at or below them."""
    match expression:
        case nodes.Under(nodes.Concept(id)):
            yield id
        case nodes.Under(nodes.Name(text)):
            raise QueryTreeError(f"the name {text!r} is not resolved. Hint: resolve the query first")
        case nodes.Union(parts):
            for part in parts:
                yield from named_ids(part)
        case nodes.OtherThan(base, _):
            yield from named_ids(base)


def concept_ids(expression: nodes.ConceptExpression, concepts: ConceptTable) -> frozenset[str]:
    """The ids that an expression selects."""
    match expression:
        case nodes.Union(parts):
            found: set[str] = set()
            for part in parts:
                found |= concept_ids(part, concepts)
            return frozenset(found)
        case nodes.OtherThan(base, excluded):
            return concept_ids(base, concepts) - concept_ids(excluded, concepts)
        case nodes.Under(_, True):
            return frozenset(named_ids(expression))
    (concept,) = named_ids(expression)
    return concepts.below(concept) if concept in concepts else frozenset((concept,))


def covering(ids: frozenset[str], concepts: ConceptTable) -> tuple[list[str], list[str]]:
    """The ids, as concepts that stand for all that lies below them (the uppermost alone) and concepts that do not."""
    closed = {one for one in ids if one not in concepts or concepts.below(one) <= ids}
    uppermost = [one for one in closed if one not in concepts or not closed.intersection(concepts.parents(one))]
    return sorted(uppermost), sorted(ids - closed)
