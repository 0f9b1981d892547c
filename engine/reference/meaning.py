"""The slow engine in plain Python that defines what every node of the query tree means, in each of the three worlds.

It reads one patient at a time, straight from the journey, and is written to be read. The fast engine must give the same
sets. The theory in three sentences:

* A *completion* of a record chooses a day in each date interval, a reading for each uncertain or disputed fact, and a
  tumor for each unattached one. Silence is never completed.
* The **believed** answer is the answer in one designated completion (interval midpoints; what is only possible is not
  so; what is unattached belongs to no tumor).
* The **certain** answer is a lower bound of the answers in all completions, the **possible** answer an upper bound:
  *and*, *or* and *at least* keep the bound, *not* and *except* swap it, and where this leaves open what a query asks
  twice, the ways in which it can be are gone through (:mod:`.open_facts`). So certain ⊆ believed ⊆ possible.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...kb.deadline import check
from ...kb.kinds import MAIN_ATTRIBUTE, values_of
from ...kb.model import DayInterval, Event, Journey, Value, World
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales, as_number
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from ...query_lang.tree import attributes_of
from .amounts import compares, moves, sums
from .denials import Denials
from .open_facts import OpenFacts, form_of
from .picks import ByDay, ByValue, fewest_days, first_days
from .specimens import on_one_specimen
from .time import (
    admits,
    aged,
    goes_on,
    has_died_before,
    in_window,
    is_known_so,
    lasts,
    lasts_with,
    lies_in,
    observed,
    relates,
    separated,
)
from .views import OPPOSITE, Seen, View, has_known_end


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
    return Meaning(concepts, scales, query.definitions).holds(query.body, View.from_journey(journey), world)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of nodes, given the ontology and the definitions that are visible so far."""

    concepts: ConceptTable
    scales: Scales
    definitions: tuple[nodes.Definition, ...] = ()
    #: What this meaning and those that see fewer of its definitions are known by in the memory of a view.
    own: object = field(default_factory=object, compare=False, repr=False)

    # --- patient expressions: true or false of a view, in a world ---------------------------------------------------

    def holds(self, node: nodes.PatientExpression, view: View, world: World) -> bool:
        """Whether the criterion holds of what ``view`` shows, in ``world``."""
        found = self.bounded(node, view, world)
        alone = isinstance(node, nodes.Exists | nodes.EventCriterion) and node.expansion is None
        if world is World.BELIEVED or alone:
            return found
        if found == self.bounded(node, view, OPPOSITE[world]):
            return found
        bounds = OpenFacts(self, form_of(node, self.definitions)).bounds(view)
        return bounds.certain if world is World.CERTAIN else bounds.possible

    def bounded(self, node: nodes.PatientExpression, view: View, world: World) -> bool:
        """As :meth:`holds`, each part of a criterion being looked at by itself, though a fact occur in two of them."""
        if world not in OPPOSITE:
            raise ValueError("a query is answered in the certain, believed or possible world")
        check()
        match node:
            case nodes.Exists(events) if node.expansion is None:
                return bool(self.witnesses(events, view, world))
            case nodes.And(parts):
                return all(self.bounded(part, view, world) for part in parts)
            case nodes.Or(parts):
                return any(self.bounded(part, view, world) for part in parts)
            case nodes.Not(part):
                return not self.bounded(part, view, OPPOSITE[world])
            case nodes.Except(left, right):
                return self.bounded(left, view, world) and not self.bounded(right, view, OPPOSITE[world])
            case nodes.AtLeast(n, parts):
                return sum(self.bounded(part, view, world) for part in parts) >= n
            case nodes.SameTumor() | nodes.SameEvent() if world is World.BELIEVED:
                return self._scoped(node, view, world)
            case nodes.SameTumor() | nodes.SameEvent():
                # Once of what a view shows: to bound a scope, both its bounds are asked for, and double with each that
                # stands in another. The node is kept with what was found, so that its number stays its own.
                key = self.own, len(self.definitions), id(node), view.shown, world
                if key not in view.memory:
                    view.memory[key] = node, self._scoped(node, view, world)
                return bool(view.memory[key][1])
            case nodes.Ordered():
                return self._ordered(node, view, world)
            case nodes.Sequence():
                return self._sequence(node, view, world)
            case nodes.Clear():
                return self._clear(node, view, world)
            case nodes.Times():
                return self._times(node, view, world)
            case nodes.Repeated():
                return any(self.repeating(node, view, world))
            case nodes.Change():
                return any(self.changing(node, view, world))
            case nodes.Total():
                return self._total(node, view, world)
            case nodes.AgeAt():
                return self._age_at(node, view, world)
            case nodes.Ongoing():
                return self._ongoing(node, view, world)
            case nodes.Lacking():
                return self._lacking(node, view, world)
            case nodes.Among(patients):
                return view.journey.patient_id in patients
            case nodes.Defined(name):
                return self._defined(name, view, world)
        if node.expansion is not None:
            return self.bounded(node.expansion, view, world)
        raise QueryTreeError(f"{type(node).__name__} is no patient expression")

    def _scoped(self, node: nodes.SameTumor | nodes.SameEvent, view: View, world: World) -> bool:
        if isinstance(node, nodes.SameEvent):
            # It ranges over what is recorded: an atom inside asks whether the event is so.
            return any(self.holds(node.body, view.of_event(seen), world) for seen in view.events if seen.world >= world)
        tumors = (tumor for tumor, highest in view.tumors.items() if highest >= world)
        holding = (tumor for tumor in tumors if self.holds(node.body, view.of_tumor(tumor), world))
        return len(list(itertools.islice(holding, node.least))) == node.least

    def _defined(self, name: str, view: View, world: World) -> bool:
        """Whether a definition holds: decided once of what a view shows, since definitions of definitions double."""
        body, before = self._definition(name)
        key = self.own, len(before), view.shown, world
        if key not in view.memory:
            view.memory[key] = replace(self, definitions=before).bounded(body, view, world)
        found: bool = view.memory[key]
        return found

    def _definition(self, name: str) -> tuple[nodes.PatientExpression, tuple[nodes.Definition, ...]]:
        """The body of a definition, to be read where it is used, and the definitions before it, which it may use."""
        for position, definition in enumerate(self.definitions):
            if definition.name == name:
                return definition.body, self.definitions[:position]
        raise QueryTreeError(f"no definition before this place is called {name!r}")

    # --- events and other events ------------------------------------------------------------------------------------

    def _ordered(self, node: nodes.Ordered, view: View, world: World) -> bool:
        """A witness on each side, such that whichever events they are, the two differ and are so related."""
        lefts, rights = (self.witnesses(side, view, world) for side in (node.left, node.right))
        between = self._strangers(node.without, view, world)
        return any(self._joined(node, left, right, between, world) for left in lefts for right in rights)

    def joined(
        self, node: nodes.Ordered, left: Sequence[Seen], right: Sequence[Seen], view: View, world: World
    ) -> bool:
        """Whether two witnesses stand in the relation, whichever of their events they are."""
        return self._joined(node, left, right, self._strangers(node.without, view, world), world)

    def _joined(
        self,
        node: nodes.Ordered,
        left: Sequence[Seen],
        right: Sequence[Seen],
        between: Sequence[tuple[Seen, ...]],
        world: World,
    ) -> bool:
        check()
        return all(self._related(node, first, second, between, world) for first in left for second in right)

    def _related(
        self, node: nodes.Ordered, left: Seen, right: Seen, between: Sequence[tuple[Seen, ...]], world: World
    ) -> bool:
        if left.position == right.position or (node.different and not self._unrelated(left, right)):
            return False
        match node.relation:
            case "beside":
                return True
            case "specimen":
                return on_one_specimen(left, right, world, self.concepts)
            case "during" | "overlapping":
                return lasts_with(node.relation, left, right, world)
        return relates(node, left, right, world) and not separated(node.relation, left, right, between, world)

    def _unrelated(self, left: Seen, right: Seen) -> bool:
        """Whether neither concept is the other, or lies below it."""
        one, other = left.event.concept, right.event.concept
        below_one, below_other = (self._term_ids(nodes.Concept(id_, ""), False) for id_ in (one, other))
        return bool(one and other) and one not in below_other and other not in below_one

    def _strangers(self, events: nodes.Events | None, view: View, world: World) -> list[tuple[Seen, ...]]:
        """The witnesses that could come between: where none may, those of the opposite world count."""
        return [] if events is None else self.witnesses(events, view, OPPOSITE[world])

    def _sequence(self, node: nodes.Sequence, view: View, world: World) -> bool:
        """Witnesses of the steps, each of which follows one of the step before it, whichever events they are."""
        reached = self.witnesses(node.steps[0], view, world)
        for events, gap in zip(node.steps[1:], node.gaps, strict=True):
            step = nodes.Ordered(events, "before", events, gap.minimum, gap.maximum, without=gap.without)
            between = self._strangers(gap.without, view, world)
            reached = [
                later
                for later in self.witnesses(events, view, world)
                if any(self._joined(step, earlier, later, between, world) for earlier in reached)
            ]
        return bool(reached)

    def _clear(self, node: nodes.Clear, view: View, world: World) -> bool:
        return any(self.is_clear(node, one, view, world) for one in self.witnesses(node.events, view, world))

    def is_clear(self, node: nodes.Clear, witness: Sequence[Seen], view: View, world: World) -> bool:
        """Whether to none of the events of a witness one of the absent stands in the relation: where a witness of the
        absent has several events, to none of them all."""
        # "With no B after it": it is B that would come after.
        relation = nodes.Ordered(node.absent, node.relation, node.events, node.minimum, node.maximum)
        absent = self.witnesses(node.absent, view, OPPOSITE[world])
        return not any(
            all(one.position != seen.position and relates(relation, one, seen, OPPOSITE[world]) for one in other)
            for seen in witness
            for other in absent
        )

    def _times(self, node: nodes.Times, view: View, world: World) -> bool:
        members = [witness[0] for witness in self.witnesses(node.events, view, world)]
        match node.by:
            case "lines":
                return len({as_number(seen.event.attributes.get("line", "")) for seen in members} - {None}) >= node.n
            case "concepts":
                found = {seen.event.concept for seen in members if seen.event.concept}
                below = {one: self._term_ids(nodes.Concept(one, ""), False) - {one} for one in found}
                return sum(not (below[one] & found) for one in found) >= node.n
        return self._are_on_days(members, node.n, world)

    def _are_on_days(self, members: Sequence[Seen], n: int, world: World) -> bool:
        """Whether the events are on at least so many different days."""
        if world is World.BELIEVED:
            return len({seen.middle for seen in members}) >= n
        days = [(seen.days.low, seen.days.high) for seen in members]
        # Certain: the fewest days that the events can share; possible: the most on which they can lie.
        return len(fewest_days(days) if world is World.CERTAIN else first_days(days, n)) >= n

    def repeating(self, node: nodes.Repeated, view: View, world: World) -> Iterator[tuple[Seen, ...]]:
        """The witnesses of the other event to which events on so many days are related, whichever event it is."""
        counted = [seen for (seen,) in self.witnesses(node.events, view, world)]
        order = nodes.Ordered(node.events, node.relation, node.other, node.minimum, node.maximum)
        for other in self.witnesses(node.other, view, world):
            beside = [seen for seen in counted if self._joined(order, (seen,), other, (), world)]
            if self._are_on_days(beside, node.n, world):
                yield other

    # --- numbers of several events ----------------------------------------------------------------------------------

    def changing(
        self, node: nodes.Change, view: View, world: World
    ) -> Iterator[tuple[Seen, Seen, tuple[Seen, ...] | None]]:
        """The earlier and the later of two events between which the number so changes, and what both are during."""
        found = [
            (seen, number)
            for (seen,) in self.witnesses(node.events, view, world)
            if (number := as_number(seen.event.attributes.get(node.attribute, ""))) is not None
        ]
        lasting = [None] if node.during is None else self.witnesses(node.during, view, world)
        order = nodes.Ordered(node.events, "before", node.events, 1, node.maximum)
        for (one, first), (other, second) in itertools.permutations(found, 2):
            check()
            alike = one.event.concept == other.event.concept
            if alike and moves(node, first, second) and relates(order, one, other, world):
                yield from ((one, other, during) for during in lasting if _begin_during(during, (one, other), world))

    def _total(self, node: nodes.Total, view: View, world: World) -> bool:
        """Some event that adds to it, and a sum that so compares: however many of those that may be there are."""
        if world is World.BELIEVED:
            sure = maybe = self._adding(node, view, world)
        else:
            sure, maybe = (self._adding(node, view, one) for one in (World.CERTAIN, World.POSSIBLE))
        low, high = sums(list(sure.values()), [maybe[one] for one in maybe if one not in sure])
        return bool(maybe if world is World.POSSIBLE else sure) and compares(node, low, high, world)

    def _adding(self, node: nodes.Total, view: View, world: World) -> dict[int, float | None]:
        """What each event of the set adds, by its place; None where it tells no number."""
        members = [seen for (seen,) in self.witnesses(node.events, view, world)]
        return {seen.position: as_number(seen.event.attributes.get(node.attribute, "")) for seen in members}

    def _age_at(self, node: nodes.AgeAt, view: View, world: World) -> bool:
        births = [
            birth.day for birth in view.journey.events if birth.kind == "birth" and admits("present", birth, world)
        ]
        if node.day is not None:
            on = nodes.known_day(node.day)
            day = DayInterval(on, on)
            return any(aged(node, birth, day, day.midpoint, world) for birth in births)
        assert node.events is not None  # AgeAt has one of the two
        return any(
            all(aged(node, birth, seen.days, seen.middle, world) for seen in witness)
            for birth in births
            for witness in self.witnesses(node.events, view, world)
        )

    def _ongoing(self, node: nodes.Ongoing, view: View, world: World) -> bool:
        """A course that goes on at the day, and no death before it, be the death of what the view shows or not."""
        day = nodes.known_day(node.day)
        if any(has_died_before(day, event, OPPOSITE[world]) for event in view.journey.events):
            return False
        return any(goes_on(day, seen, world) for (seen,) in self.witnesses(node.events, view, world))

    # --- absence ----------------------------------------------------------------------------------------------------

    def _lacking(self, node: nodes.Lacking, view: View, world: World) -> bool:
        """Without the event, and for the reason that is asked for: the three reasons exclude each other."""
        opposite = OPPOSITE[world]
        if self.witnesses(node.events, view, opposite):
            return False
        match node.how:
            case "denied":
                return self._denied(node.events, view, world)
            case "silent":
                return not self._denied(node.events, view, opposite) and observed(node.events, view, world)
        return not self._denied(node.events, view, opposite) and not observed(node.events, view, opposite)

    def _denied(self, events: nodes.Events, view: View, world: World) -> bool:
        """A note says that there is none of the concept, or of one above it; or it tells another value."""
        if self.bounded(nodes.Exists(replace(events, context="absent", pick=nodes.Pick())), view, world):
            return True
        return events.condition is not None and any(
            all(seen.event.attributes.get(name, "") != "" for name in attributes_of(events.condition))
            and not self._satisfies(events.condition, seen.event)
            for seen in self._members(events, view, world)
        )

    # --- event sets -------------------------------------------------------------------------------------------------

    def witnesses(self, node: nodes.Events, view: View, world: World) -> list[tuple[Seen, ...]]:
        """The witnesses that the event set is not empty in ``world``.

        Each is a tuple of events. One event: it belongs to the set. Several (only for a pick in the certain world):
        every completion has one of them, and nothing else, as its pick. In the certain and the possible world, each is
        narrowed to the days on which it belongs to the set: inside the window, and not too late to be the first.
        """
        members = self._members(node, view, world)
        asked = node
        if node.context == "absent":
            # What is asked of a denial tells what it must deny, and so which denials there are to choose from.
            node = replace(node, condition=None)
        if node.pick.how == "any":
            return [(seen,) for seen in members if self._satisfies(node.condition, seen.event)]
        chooser = self._chooser(node)
        if world is World.BELIEVED:
            chosen = chooser.choose(members)
            return [(seen,) for seen in chosen] if self._all_satisfy(node.condition, chosen) else []
        sure = self._members(asked, view, World.CERTAIN)
        maybe = self._members(asked, view, World.POSSIBLE)
        if world is World.POSSIBLE:
            spoilers = [seen for seen in sure if not self._satisfies(node.condition, seen.event)]
            candidates = chooser.candidates(sure, maybe, spoilers)
            return [(seen,) for seen in candidates if self._satisfies(node.condition, seen.event)]
        candidates = chooser.candidates(sure, maybe)
        if chooser.must_choose(sure) and self._all_satisfy(node.condition, candidates):
            return [tuple(candidates)]
        return []

    def _members(self, node: nodes.Events, view: View, world: World) -> list[Seen]:
        """What kind, concept, context, window and length leave, before pick and condition; of denials, those that deny
        it."""
        check()
        if node.now is not None:
            raise QueryTreeError("which day 'now' is was not told. Hint: resolve the query first")
        selects = self.selecting(node)
        found = [
            in_window(seen, node.window, world)
            for seen in self._at_moment(node, view, world)
            if seen.world >= world
            and admits(node.context, seen.event, world)
            and selects(seen.event)
            and is_known_so(node, seen.event, view.journey)
            and (node.window is None or lies_in(node.window, seen.day, world))
        ]
        return found if node.lasting is None else [seen for seen in found if lasts(node.lasting, seen, world)]

    def _at_moment(self, node: nodes.Events, view: View, world: World) -> Iterable[Seen]:
        """All that is seen, by the day that is asked for; without what has no such day in the world."""
        if node.moment == "begin":
            return view.events
        return (
            replace(seen, moment="end") for seen in view.events if world is World.POSSIBLE or has_known_end(seen.event)
        )

    def selecting(self, node: nodes.Events) -> Callable[[Event], bool]:
        """Whether an event is of the kind and concept; or denies what is asked, if it is a denial."""
        if node.context == "absent":
            return functools.partial(self.denials.denies, node)
        concepts = None if node.concept is None else self.concept_ids(node.concept)
        return lambda event: (
            (node.kind is None or event.kind == node.kind) and (concepts is None or event.concept in concepts)
        )

    @property
    def denials(self) -> Denials:
        """Which denials deny what is asked."""
        return Denials(self.concepts, functools.partial(self._is, exact=False), self._satisfies)

    def _chooser(self, node: nodes.Events) -> ByDay | ByValue:
        match node.pick.how:
            case "first":
                return ByDay(1)
            case "latest":
                return ByDay(1, backwards=True)
            case "nth":
                return ByDay(node.pick.n)
        assert node.kind is not None  # Events requires a kind for worst and best
        return ByValue(self.scales, MAIN_ATTRIBUTE[node.kind], ">" if node.pick.how == "worst" else "<")

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
                told = values_of(attribute, value)
                return any(self._is(attribute, one, term, exact) for one in told for term in terms)
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


def _begin_during(during: Sequence[Seen] | None, events: Sequence[Seen], world: World) -> bool:
    """Whether each of the events begins while another lasts, whichever of a witness that is; so it is where none is
    asked for."""
    return during is None or all(
        one.position != seen.position and lasts_with("during", one, seen, world) for seen in during for one in events
    )
