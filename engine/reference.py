"""The slow engine in plain Python that defines what every node of the query tree means, in each of the three worlds.

It reads one patient at a time, straight from the journey, and is written to be read. The fast engine must give the same
sets. The theory in three sentences:

* A *completion* of a record chooses a day in each date interval, a reading for each uncertain or disputed fact, and a
  tumor for each unattached one. Silence is never completed.
* The **believed** answer is the answer in one designated completion (interval midpoints; what is only possible is not
  so; what is unattached belongs to no tumor).
* The **certain** answer is a lower bound of the answers in all completions, the **possible** answer an upper bound:
  *and*, *or* and *at least* keep the bound, *not* and *except* swap it. So certain ⊆ believed ⊆ possible.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..kb.concepts import ConceptTable
from ..kb.model import (
    ALL_TUMORS,
    BETTER_WHEN_HIGHER,
    MAIN_ATTRIBUTE,
    NO_TUMOR,
    DayInterval,
    Event,
    Experiencer,
    Journey,
    Value,
    World,
)
from ..kb.scales import Scales, as_number
from ..query_lang import nodes
from ..query_lang.nodes import QueryTreeError

#: The world whose answer bounds the answer of a negation: *certainly not* is *not possibly*.
OPPOSITE = {World.CERTAIN: World.POSSIBLE, World.BELIEVED: World.BELIEVED, World.POSSIBLE: World.CERTAIN}


def evaluate(
    query: nodes.Query, journeys: Iterable[Journey], concepts: ConceptTable, scales: Scales, world: World
) -> frozenset[str]:
    """The ids of the patients, among ``journeys``, that the resolved ``query`` denotes in ``world``.

    ``world`` is CERTAIN, BELIEVED or POSSIBLE (ValueError for NONE). QueryTreeError for a name that is not resolved
    or a definition that is not there.
    """
    return frozenset(journey.patient_id for journey in journeys if matches(query, journey, concepts, scales, world))


def matches(query: nodes.Query, journey: Journey, concepts: ConceptTable, scales: Scales, world: World) -> bool:
    """Whether the patient of ``journey`` is in the answer to ``query`` in ``world``."""
    return Meaning(concepts, scales, query.definitions).holds(query.body, View.of(journey), world)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """An event, the ``position``-th of its journey, as a view shows it.

    ``world``: in which worlds the view shows it, whether or not the event is so there. ``narrowed``: the days on which
    it can be a member of the set that is looked at, where these are known; they lie in the event's own interval.
    """

    event: Event
    position: int
    world: World = World.CERTAIN
    narrowed: DayInterval | None = None

    @property
    def days(self) -> DayInterval:
        """The days that the certain and the possible world reckon with."""
        return self.event.day if self.narrowed is None else self.narrowed


@dataclass(frozen=True, slots=True)
class View:
    """What a criterion looks at: all events of a patient, those of one tumor, or one event.

    ``tumors`` are those of the patient, whatever the view, each with the highest world that one of its events is in.
    """

    events: tuple[Seen, ...]
    tumors: Mapping[str, World]

    @classmethod
    def of(cls, journey: Journey) -> View:
        """Everything recorded of a patient."""
        tumors: dict[str, World] = {}
        for event in journey.events:
            if event.tumor not in (ALL_TUMORS, NO_TUMOR):
                tumors[event.tumor] = max(event.world, tumors.get(event.tumor, World.NONE))
        return cls(tuple(Seen(event, position) for position, event in enumerate(journey.events)), tumors)

    def of_tumor(self, tumor: str) -> View:
        """What is seen of one tumor: its events and those of all tumors, and perhaps those of no known tumor."""
        shown = []
        for seen in self.events:
            if seen.event.tumor in (tumor, ALL_TUMORS):
                shown.append(seen)
            elif seen.event.tumor == NO_TUMOR:
                shown.append(replace(seen, world=min(seen.world, World.POSSIBLE)))
        return replace(self, events=tuple(shown))

    def of_event(self, seen: Seen) -> View:
        """One event alone."""
        return replace(self, events=(seen,))


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of nodes, given the ontology and the definitions that are visible so far."""

    concepts: ConceptTable
    scales: Scales
    definitions: tuple[nodes.Definition, ...] = ()

    # --- patient expressions: true or false of a view, in a world ---------------------------------------------------

    def holds(self, node: nodes.PatientExpression, view: View, world: World) -> bool:
        """Whether the criterion holds of what ``view`` shows, in ``world``."""
        if world not in OPPOSITE:
            raise ValueError("a query is answered in the certain, believed or possible world")
        match node:
            case nodes.Exists(events):
                return bool(self.witnesses(events, view, world))
            case nodes.And(parts):
                return all(self.holds(part, view, world) for part in parts)
            case nodes.Or(parts):
                return any(self.holds(part, view, world) for part in parts)
            case nodes.Not(part):
                return not self.holds(part, view, OPPOSITE[world])
            case nodes.Except(left, right):
                return self.holds(left, view, world) and not self.holds(right, view, OPPOSITE[world])
            case nodes.AtLeast(n, parts):
                return sum(self.holds(part, view, world) for part in parts) >= n
            case nodes.SameTumor(body):
                return any(
                    self.holds(body, view.of_tumor(tumor), world)
                    for tumor, highest in view.tumors.items()
                    if highest >= world
                )
            case nodes.SameEvent(body):
                # It ranges over what is recorded: an atom inside asks whether the event is so.
                return any(self.holds(body, view.of_event(seen), world) for seen in view.events if seen.world >= world)
            case nodes.Ordered():
                return self._ordered(node, view, world)
            case nodes.Defined(name):
                body, before = self._definition(name)
                return replace(self, definitions=before).holds(body, view, world)
        raise QueryTreeError(f"{type(node).__name__} is no patient expression")

    def _definition(self, name: str) -> tuple[nodes.PatientExpression, tuple[nodes.Definition, ...]]:
        """The body of a definition, to be read where it is used, and the definitions before it, which it may use."""
        for position, definition in enumerate(self.definitions):
            if definition.name == name:
                return definition.body, self.definitions[:position]
        raise QueryTreeError(f"no definition before this place is called {name!r}")

    def _ordered(self, node: nodes.Ordered, view: View, world: World) -> bool:
        """A witness on each side, such that whichever events they are, the two differ and their days relate."""
        return any(
            all(
                first.position != second.position and _relates(node, first, second, world)
                for first in left
                for second in right
            )
            for left in self.witnesses(node.left, view, world)
            for right in self.witnesses(node.right, view, world)
        )

    # --- event sets -------------------------------------------------------------------------------------------------

    def witnesses(self, node: nodes.Events, view: View, world: World) -> list[tuple[Seen, ...]]:
        """The witnesses that the event set is not empty in ``world``.

        Each is a tuple of events. One event: it belongs to the set. Several (only for a pick in the certain world):
        every completion has one of them, and nothing else, as its pick. In the certain and the possible world, each is
        narrowed to the days on which it belongs to the set: inside the window, and not too late to be the first.
        """
        members = self._members(node, view, world)
        if node.pick.how == "any":
            return [(seen,) for seen in members if self._satisfies(node.condition, seen.event)]
        chooser = self._chooser(node)
        if world is World.BELIEVED:
            chosen = chooser.choose(members)
            return [(seen,) for seen in chosen] if self._all_satisfy(node.condition, chosen) else []
        sure = self._members(node, view, World.CERTAIN)
        maybe = self._members(node, view, World.POSSIBLE)
        if world is World.POSSIBLE:
            spoilers = [seen for seen in sure if not self._satisfies(node.condition, seen.event)]
            candidates = chooser.candidates(sure, maybe, spoilers)
            return [(seen,) for seen in candidates if self._satisfies(node.condition, seen.event)]
        candidates = chooser.candidates(sure, maybe)
        if chooser.must_choose(sure) and self._all_satisfy(node.condition, candidates):
            return [tuple(candidates)]
        return []

    def _members(self, node: nodes.Events, view: View, world: World) -> list[Seen]:
        """What kind, concept, context and window leave, before pick and condition."""
        concepts = None if node.concept is None else self.concept_ids(node.concept)
        return [
            _narrowed(seen, node.window, world)
            for seen in view.events
            if seen.world >= world
            and (node.kind is None or seen.event.kind == node.kind)
            and (concepts is None or seen.event.concept in concepts)
            and _admits(node.context, seen.event, world)
            and (node.window is None or _lies_in(node.window, seen.event, world))
        ]

    def _chooser(self, node: nodes.Events) -> _ByDay | _ByValue:
        match node.pick.how:
            case "first":
                return _ByDay(1)
            case "latest":
                return _ByDay(1, backwards=True)
            case "nth":
                return _ByDay(node.pick.n)
        assert node.kind is not None  # Events requires a kind for worst and best
        return _ByValue(self.scales, MAIN_ATTRIBUTE[node.kind], ">" if node.pick.how == "worst" else "<")

    # --- concepts and conditions: the same in every world -----------------------------------------------------------

    def concept_ids(self, node: nodes.ConceptExpression) -> frozenset[str]:
        """The ids that a concept expression selects, closed over descendants unless it says exactly."""
        match node:
            case nodes.Under(term, exact):
                return self._term_ids(term, exact)
            case nodes.Union(parts):
                return frozenset[str]().union(*(self.concept_ids(part) for part in parts))
            case nodes.OtherThan(base, excluded):
                return self.concept_ids(base) - self.concept_ids(excluded)
        raise QueryTreeError(f"{type(node).__name__} is no concept expression")

    def _term_ids(self, term: nodes.Term, exact: bool) -> frozenset[str]:
        if isinstance(term, nodes.Name):
            raise QueryTreeError(f"the name {term.text!r} is not resolved. Hint: resolve the query first")
        if exact or term.id not in self.concepts:
            return frozenset((term.id,))
        return self.concepts.below(term.id)

    def _all_satisfy(self, condition: nodes.Condition | None, chosen: Iterable[Seen]) -> bool:
        return all(self._satisfies(condition, seen.event) for seen in chosen)

    def _satisfies(self, node: nodes.Condition | None, event: Event) -> bool:
        """Whether the event's attributes are as the condition says; what is not documented satisfies none but *not*."""
        match node:
            case None:
                return True
            case nodes.AllOf(parts):
                return all(self._satisfies(part, event) for part in parts)
            case nodes.AnyOf(parts):
                return any(self._satisfies(part, event) for part in parts)
            case nodes.NotThat(part):
                return not self._satisfies(part, event)
        value = event.attributes.get(node.attribute, "")
        if value == "":
            return False
        match node:
            case nodes.Documented():
                return True
            case nodes.Is(attribute, terms, exact):
                return any(self._is(attribute, value, term, exact) for term in terms)
            case nodes.Compare(attribute, operator, bound):
                return self.scales.compare(attribute, value, operator, bound)
            case nodes.Between(attribute, low, high):
                return self.scales.between(attribute, value, low, high)
        raise QueryTreeError(f"{type(node).__name__} is no condition")

    def _is(self, attribute: str, value: Value, term: nodes.Term, exact: bool) -> bool:
        """A concept admits itself and what lies below it; a plain word the same word or number, or its substages."""
        if isinstance(term, nodes.Concept):
            return value in self._term_ids(term, exact)
        if isinstance(value, str) and value.casefold() == term.text.casefold():
            return True
        number = as_number(value)
        if number is not None and number == as_number(term.text):
            return True
        if exact:
            canonical = self.scales.canonical(attribute, value if isinstance(value, str) else f"{value:g}")
            return canonical is not None and canonical == self.scales.canonical(attribute, term.text)
        return self.scales.compare(attribute, value, "=", term.text)


# --- one event in a world ---------------------------------------------------------------------------------------------


def _admits(context: str, event: Event, world: World) -> bool:
    """Whether the atom's context admits the event. What is asked for by its context is as recorded, in every world."""
    recorded = event.context
    own = recorded.experiencer is Experiencer.PATIENT
    match context:
        case "present":
            return event.world >= world
        case "current" | "historical":
            return event.world >= world and recorded.temporality == context
        case "absent" | "uncertain" | "planned" | "hypothetical":
            return own and recorded.assertion == context
        case "declined":
            return own and recorded.reason == "declined"
        case "family":
            return recorded.experiencer is Experiencer.FAMILY and recorded.assertion in ("present", "historical")
        case "any":
            return True
    raise QueryTreeError(f"context {context!r} has no meaning")


def _lies_in(window: nodes.Window, event: Event, world: World) -> bool:
    """Certain: the whole interval lies inside; believed: its midpoint; possible: some day of it."""
    match world:
        case World.CERTAIN:
            return window.low <= event.day.low and event.day.high <= window.high
        case World.POSSIBLE:
            return event.day.low <= window.high and window.low <= event.day.high
    return window.low <= event.day.midpoint <= window.high


def _narrowed(seen: Seen, window: nodes.Window | None, world: World) -> Seen:
    """As it lies in the window. Believed looks at midpoints alone."""
    if window is None or world is World.BELIEVED:
        return seen
    return replace(seen, narrowed=DayInterval(max(seen.days.low, window.low), min(seen.days.high, window.high)))


def _relates(node: nodes.Ordered, left: Seen, right: Seen, world: World) -> bool:
    """Certain: for every pair of days in the two intervals; believed: for the midpoints; possible: for some pair."""
    first, second = left.days, right.days
    if world is World.BELIEVED:
        low = high = right.event.day.midpoint - left.event.day.midpoint
    else:
        # Every gap from the smallest to the largest occurs for some pair of days.
        low, high = second.low - first.high, second.high - first.low
    longest = max(abs(low), abs(high)) if node.maximum is None else node.maximum
    match node.relation:
        case "before":
            admitted = [(node.minimum, longest)]
        case "after":
            admitted = [(-longest, -node.minimum)]
        case _:
            admitted = [(node.minimum, longest), (-longest, -node.minimum)] if node.minimum else [(-longest, longest)]
    if world is World.POSSIBLE:
        return any(low <= upper and lower <= high for lower, upper in admitted)
    return any(lower <= low and high <= upper for lower, upper in admitted)


# --- picks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ByDay:
    """The events on the ``n``-th of the days on which there is one; ``backwards``: counted from the last day."""

    n: int
    backwards: bool = False

    def choose(self, members: Sequence[Seen]) -> list[Seen]:
        """Believed: by midpoints."""
        days = sorted({seen.event.day.midpoint for seen in members}, reverse=self.backwards)
        if len(days) < self.n:
            return []
        return [seen for seen in members if seen.event.day.midpoint == days[self.n - 1]]

    def candidates(self, sure: Sequence[Seen], maybe: Sequence[Seen], spoilers: Sequence[Seen] = ()) -> list[Seen]:
        """Those of ``maybe`` before whose day n - 1 days can lie, narrowed to the days on which that can be.

        ``sure`` are there in every completion; with ``spoilers``, which are, too, none of those is chosen beside it.
        """
        fewest = _fewest_days(map(self._days, sure))
        found = []
        for seen in maybe:
            low, high = self._days(seen)
            before = _first_days((self._days(one) for one in maybe if one.position != seen.position), self.n - 1)
            if len(before) < self.n - 1:
                continue
            if before:
                low = max(low, before[-1] + 1)
            if len(fewest) >= self.n:
                # The n-th of the fewest days: after it, n days have passed in every completion.
                high = min(high, fewest[self.n - 1])
            spoilt = [self._days(one) for one in spoilers]
            if self.n == 1:
                # The spoiler must come later.
                high = min([high, *(last - 1 for _, last in spoilt)])
            taken = {first for first, last in spoilt if first == last}
            while low in taken:
                low += 1
            while high in taken:
                high -= 1
            if low <= high:
                days = DayInterval(-high, -low) if self.backwards else DayInterval(low, high)
                found.append(replace(seen, narrowed=days))
        return found

    def must_choose(self, sure: Sequence[Seen]) -> bool:
        """Whether there are n days in every completion."""
        return len(_fewest_days(map(self._days, sure))) >= self.n

    def _days(self, seen: Seen) -> tuple[int, int]:
        days = seen.days
        return (-days.high, -days.low) if self.backwards else (days.low, days.high)


def _fewest_days(intervals: Iterable[tuple[int, int]]) -> list[int]:
    """The fewest days of which one lies in each interval, each as late as can be, in order."""
    days: list[int] = []
    for low, high in sorted(intervals, key=lambda interval: interval[1]):
        if not days or low > days[-1]:
            days.append(high)
    return days


def _first_days(intervals: Iterable[tuple[int, int]], number: int) -> list[int]:
    """The earliest different days, up to ``number`` of them, when each interval gives at most one."""
    coming = sorted(intervals, reverse=True)
    at_hand: list[int] = []
    days: list[int] = []
    while len(days) < number and (coming or at_hand):
        day = days[-1] + 1 if days else coming[-1][0]
        if not at_hand:
            day = max(day, coming[-1][0])
        while coming and coming[-1][0] <= day:
            heapq.heappush(at_hand, coming.pop()[1])
        # Of the intervals that hold the day, the one that ends first; the others may give a later day.
        while at_hand and at_hand[0] < day:
            heapq.heappop(at_hand)
        if at_hand:
            heapq.heappop(at_hand)
            days.append(day)
    return days


@dataclass(frozen=True, slots=True)
class _ByValue:
    """The events whose value of ``attribute`` no other exceeds; an event whose value has no rank takes no part.

    On a scale that is better the higher it is, the lower value exceeds. Values of the two sorts are not compared.
    """

    scales: Scales
    attribute: str
    exceeds: str

    def choose(self, members: Sequence[Seen]) -> list[Seen]:
        """Believed: those that no other exceeds."""
        return [seen for seen in members if self._ranked(seen) and not self._exceeded(seen, members)]

    def candidates(self, sure: Sequence[Seen], maybe: Sequence[Seen], spoilers: Sequence[Seen] = ()) -> list[Seen]:
        """Those of ``maybe`` that none of ``sure``, which are there in every completion, exceeds.

        With ``spoilers``, which are, too: something that does not exceed it can exceed each of those.
        """
        spoilers = [seen for seen in spoilers if self._ranked(seen)]
        return [
            seen
            for seen in maybe
            if self._ranked(seen)
            and not self._exceeded(seen, sure)
            and all(
                any(self._exceeds(other, spoiler) and not self._exceeds(other, seen) for other in maybe)
                for spoiler in spoilers
            )
        ]

    def must_choose(self, sure: Sequence[Seen]) -> bool:
        """Whether an event with a rank is there in every completion."""
        return any(self._ranked(seen) for seen in sure)

    def _value(self, seen: Seen) -> Value:
        return seen.event.attributes.get(self.attribute, "")

    def _ranked(self, seen: Seen) -> bool:
        return self.scales.compare(self.attribute, self._value(seen), "=", self._value(seen))

    def _exceeded(self, seen: Seen, others: Sequence[Seen]) -> bool:
        return any(self._exceeds(other, seen) for other in others)

    def _exceeds(self, one: Seen, other: Seen) -> bool:
        turned = one.event.concept in BETTER_WHEN_HIGHER
        if turned != (other.event.concept in BETTER_WHEN_HIGHER):
            return False
        first, second = (other, one) if turned else (one, other)
        return self.scales.compare(self.attribute, self._value(first), self.exceeds, self._value(second))
