"""Relations between sets of events: which can hold nothing, which lies in which, which two exclude each other."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ..nodes import (
    AgeAt,
    Among,
    Change,
    Clear,
    Concept,
    ConceptExpression,
    Events,
    Exists,
    Lacking,
    Lasting,
    Ongoing,
    Ordered,
    OtherThan,
    PatientExpression,
    Repeated,
    Sequence,
    Times,
    Total,
    Under,
    Union,
    Window,
)
from ..tree import named_concepts
from .values import Conditions

#: The contexts that each context lies in, besides itself and "any".
_WIDER_CONTEXT = {"current": "present", "historical": "present"}
#: Contexts of which an event has at most one.
_ONE_OF_THESE = frozenset({"present", "absent", "uncertain", "planned", "hypothetical", "family"})
_ANY_TIME = Window()
#: Of each relation, which side may not be chosen so from a set that the other side comes from.
_LIMITS = {
    "before": (("right", "first", "left"), ("left", "latest", "right")),
    "after": (("left", "first", "right"), ("right", "latest", "left")),
}


@dataclass(frozen=True, slots=True)
class Never:
    """Why an event set holds nothing, and what to write instead."""

    why: str
    instead: str


def needed_sets(node: PatientExpression) -> tuple[Events, ...]:
    """The event sets in a leaf none of which may be empty if anybody is to match."""
    match node:
        case Exists(events) | Times(_, events) | Clear(events) | Ongoing(events) | Total(_, events):
            return (events,)
        case Change(_, events, during=during):
            return (events,) if during is None else (events, during)
        case Repeated(_, events, _, other):
            return (events, other)
        case Ordered(left, _, right):
            return (left, right)
        case Sequence(steps):
            return steps
        case AgeAt(Events() as events):
            return (events,)
    return ()


class Atoms:
    """Judges event sets under an ontology and its scales. Each answer is sound: False or None when in doubt."""

    def __init__(self, concepts: ConceptTable, scales: Scales) -> None:
        self.concepts = concepts
        self.conditions = Conditions(concepts, scales)
        self.ids = functools.lru_cache(maxsize=1024)(self._ids)
        self.implies = functools.lru_cache(maxsize=8192)(self._implies)
        self.exclude = functools.lru_cache(maxsize=8192)(self._exclude)
        self.never = functools.lru_cache(maxsize=2048)(self._never)

    def _ids(self, concept: ConceptExpression) -> frozenset[str]:
        """The ids that a resolved concept expression selects."""
        match concept:
            case Under(Concept() as term, exact):
                return self.conditions.ids(term, exact)
            case Union(parts):
                return frozenset[str]().union(*(self.ids(part) for part in parts))
            case OtherThan(base, excluded):
                return self.ids(base) - self.ids(excluded)
        raise TypeError("a name is not resolved")

    # --- one event set ------------------------------------------------------------------------------------------------

    def _never(self, events: Events) -> Never | None:
        """Why no event can be in the set, in any world; None when some may be."""
        if events.context == "absent":
            # What a denial does not say, it leaves open: it may deny what could never be.
            return None
        if isinstance(events.concept, OtherThan) and not self.ids(events.concept):
            return Never("what is taken away covers all that is asked for", "take away a narrower concept")
        if events.condition is not None and not self.conditions.can_hold(events.condition):
            return Never(
                "no fact can meet all of its conditions at once",
                "compare the conditions after 'with'; join alternatives with 'or'",
            )
        return None

    # --- two event sets -----------------------------------------------------------------------------------------------

    def _implies(self, one: Events, other: Events) -> bool:
        """Whether, in every world and scope, a patient with an event in ``one`` has one in ``other``."""
        if not self.selects_within(one, other):
            return False
        if other.pick.how == "any":
            # Of an n-th, all may satisfy that could be it, though none of those is certain.
            if one.pick.how == "nth":
                return False
        elif one.pick != other.pick or not self.selects_within(other, one):
            return False
        return self.conditions.implies(one.condition, other.condition)

    def _exclude(self, one: Events, other: Events) -> bool:
        """Whether nobody is believed to have an event in both: the same choice, under conditions that exclude."""
        return (
            one.pick.how != "any"
            and "absent" not in (one.context, other.context)
            and one.pick == other.pick
            and self.selects_within(one, other)
            and self.selects_within(other, one)
            and self.conditions.exclude(one.condition, other.condition)
        )

    def exclude_as_one_fact(self, one: Events, other: Events) -> bool:
        """Whether the two look for one thing under conditions that no single fact meets."""
        return (
            one.pick.how == other.pick.how == "any"
            and "absent" not in (one.context, other.context)
            and self.selects_within(one, other)
            and self.selects_within(other, one)
            and self.conditions.exclude(one.condition, other.condition)
        )

    def exclude_in_one_event(self, one: Events, other: Events) -> bool:
        """Whether no event is believed to be in both sets."""
        if one.context != other.context and {one.context, other.context} <= _ONE_OF_THESE:
            return True
        if one.known and other.known and one.known != other.known:
            return True
        first, second = one.window or _ANY_TIME, other.window or _ANY_TIME
        if one.moment == other.moment and (first.high < second.low or second.high < first.low):
            return True
        if "absent" in (one.context, other.context):
            # One denial can deny many things.
            return False
        if one.kind is not None and other.kind is not None and one.kind != other.kind:
            return True
        concepts = [self.ids(events.concept) for events in (one, other) if events.concept is not None]
        if len(concepts) == 2 and not concepts[0] & concepts[1]:
            return True
        return self.conditions.exclude(one.condition, other.condition)

    def selects_within(self, one: Events, other: Events) -> bool:
        """Whether the events that ``one`` chooses from are among those that ``other`` chooses from."""
        if "absent" in (one.context, other.context):
            if not self._denies_within(one, other):
                return False
        elif (
            other.kind is not None
            and one.kind != other.kind
            or other.concept is not None
            and (one.concept is None or not self.ids(one.concept) <= self.ids(other.concept))
        ):
            return False
        if other.context not in (one.context, _WIDER_CONTEXT.get(one.context), "any"):
            return False
        if other.source not in ("", one.source) or other.sources > one.sources or other.undisputed > one.undisputed:
            return False
        if other.known not in ("", one.known):
            return False
        if other.lasting is not None and not _is_within(one.lasting, other.lasting):
            return False
        if one.moment != other.moment:
            # Whatever has ended had begun, on another day.
            return other.moment == "begin" and other.window is None
        inner, outer = one.window or _ANY_TIME, other.window or _ANY_TIME
        return outer.low <= inner.low and inner.high <= outer.high

    def _denies_within(self, one: Events, other: Events) -> bool:
        """Whether each denial of what ``one`` asks denies what ``other`` asks: that is the same, or lies below it."""
        if one.context != other.context or (one.kind, one.condition) != (other.kind, other.condition):
            return False
        if one.concept is None or other.concept is None:
            return one.concept is None
        wide, narrow = ({term.id for term in named_concepts(asked)} for asked in (one.concept, other.concept))
        # To deny a root of the ontology denies nothing of what lies below it.
        roots = {term for term in wide if term in self.concepts and not self.concepts.parents(term)}
        return all(term in wide or not (wide - roots).isdisjoint(self.concepts.at_or_above(term)) for term in narrow)

    # --- leaves of several event sets ---------------------------------------------------------------------------------

    def leaf_implies(self, one: PatientExpression, other: PatientExpression) -> bool:
        """Whether, in every world and scope, whoever matches the leaf ``one`` matches the leaf ``other``."""
        match one, other:
            case _, Exists(events):
                return any(self.implies(needed, events) for needed in needed_sets(one))
            case Times(n, events, by), Times(least, others, how):
                return n >= least and by == how and self.implies(events, others)
            case Repeated(n), Repeated(least) if n >= least:
                return replace(one, n=least) == other
            case Among(some), Among(patients):
                return set(some) <= set(patients)
        return False

    def leaf_exclude(self, one: PatientExpression, other: PatientExpression) -> bool:
        """Whether nobody is believed to match both leaves."""
        match one, other:
            case Exists(events), Exists(others):
                return self.exclude(events, others)
            case Lacking(_, absent), Exists(events):
                return self.implies(events, absent)
            case Lacking(how, absent), Lacking(reason, events):
                return how != reason and absent == events
            case Among(some), Among(patients):
                return not set(some) & set(patients)
        return False

    def alone(self, node: PatientExpression) -> Never | None:
        """Why nobody matches the leaf when only one event is looked at, as inside *same event*."""
        why = "inside 'same event' there is only one event, and "
        match node:
            case Ordered() | Sequence() | Change() | Repeated():
                return Never(f"{why}a relation needs two", "put the relation outside, or write 'same tumor'")
            case Times(n) if n > 1:
                return Never(f"{why}never {n} to count", "put the count outside, or write 'same tumor'")
        for events in needed_sets(node):
            if events.pick.how == "nth" and events.pick.n > 1:
                return Never(f"{why}never a {events.pick.n}-th", "put the choice outside")
        return None

    # --- two event sets in time ---------------------------------------------------------------------------------------

    def orders(self, node: PatientExpression) -> Iterator[Ordered]:
        """The relations of two facts that the leaf asks for."""
        if isinstance(node, Ordered):
            yield node
        elif isinstance(node, Sequence):
            for (earlier, later), gap in zip(itertools.pairwise(node.steps), node.gaps, strict=True):
                yield Ordered(earlier, "before", later, gap.minimum, gap.maximum)

    def never_related(self, node: Ordered) -> Never | None:
        """Why the windows of the two facts leave no days in the relation, in any world; None when they leave some."""
        left, right = node.left.window or _ANY_TIME, node.right.window or _ANY_TIME
        low, high = right.low - left.high, right.high - left.low
        longest = LATEST_DAY - EARLIEST_DAY if node.maximum is None else node.maximum
        admitted = {
            "before": [(node.minimum, longest)],
            "after": [(-longest, -node.minimum)],
            "within": [(node.minimum, longest), (-longest, -node.minimum)],
        }.get(node.relation)
        if admitted is None or any(low <= upper and lower <= high for lower, upper in admitted):
            return None
        return Never(
            "the dates that the two facts are bound to leave no days so far apart and in that order",
            "check the dates, or turn the relation round",
        )

    def never_believed(self, node: Ordered) -> Never | None:
        """Why nobody is believed to have the two facts in the relation: nothing is before the first of its own kind."""
        sides = {"left": node.left, "right": node.right}
        for chosen, how, other in _LIMITS.get(node.relation, ()):
            one = sides[chosen]
            # On one day there may be two that are first.
            strict = node.minimum > 0 and one.moment == sides[other].moment
            if strict and one.pick.how == how and self.selects_within(sides[other], one):
                return Never(
                    f"nothing of a set comes {'before' if how == 'first' else 'after'} the {how} of it",
                    "leave the choice out, or choose from another set",
                )
        return None


def _is_within(one: Lasting | None, other: Lasting) -> bool:
    """Whether whatever lasts as long as the one says lasts as long as the other says."""
    if one is None or one.minimum < other.minimum:
        return False
    return other.maximum is None or (one.maximum is not None and one.maximum <= other.maximum)
