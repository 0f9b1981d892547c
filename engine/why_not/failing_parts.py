"""The failing parts of a query for one patient, and the evidence nearest to each: what it has, and what it lacks.

A part fails when it does not hold and must, or holds and must not (under *not* or *except*). The smallest such parts
are named: facts, and relations between two facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...kb.model import DayInterval, Event, Value, World
from ...kb.ontology.scales import as_number
from ...kb.skin.terminal import counted
from ...query_lang import nodes
from ...query_lang.render import render_condition, render_length
from ...query_lang.tree import children, event_sets, named_concepts
from ...query_lang.vocabulary import kind_spelling
from ..answers.evidence import EvidenceReader, ShownEvent
from ..answers.query_text import ROOT, Path, QueryText
from ..reference.time import admits
from ..reference.views import end_of, has_known_end
from .concepts import Climbs
from .cost import BOUND, CONCEPT, DETAIL, DROP, UNCERTAIN, ends_cost
from .counts import times_of
from .record import bits
from .search import EditSearch

#: Events that are shown for one part.
MOST_NEAR: Final = 3
#: A concept that shares a concept so many steps up with the one asked for is a neighbour.
NEIGHBOUR_STEPS: Final = 2
#: Words for contexts that are not the one asked for, in the order in which they are said.
_ASSERTED: Final = {
    "hypothetical": "hypothetical",
    "planned": "planned, not done",
    "absent": "ruled out",
    "uncertain": "uncertain",
    "historical": "in the past",
    "present": "current",
}


@dataclass(frozen=True, slots=True)
class NearEvent:
    """An event near to what is asked, with what it lacks, each in words; nothing where it is what must not be."""

    event: ShownEvent
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailingPart:
    """A smallest part that keeps the patient out. ``text`` is characters ``start`` to ``end`` of the rendered query.

    ``excluded``: it holds and must not. ``scope`` says which tumor or event it was asked of, if any. ``nearest`` are
    the events nearest to it, or, where it must not hold, those that make it hold.
    """

    text: str
    start: int
    end: int
    excluded: bool
    says: str
    scope: str = ""
    nearest: tuple[NearEvent, ...] = ()
    #: Characters of what was typed; None where it does not stand there.
    typed_start: int | None = None
    typed_end: int | None = None


@dataclass(frozen=True, slots=True)
class _Failing:
    node: nodes.PatientExpression
    path: Path
    place: int
    widen: bool
    scope: str


class FailingParts:
    """Finds failing parts and near events, with the search that knows what holds of the patient."""

    def __init__(self, query: nodes.Query, search: EditSearch, text: QueryText, climbs: Climbs) -> None:
        self._query = query
        self._search = search
        self._record = search.record
        self._concepts = search.record.meaning.concepts
        self._scales = search.record.meaning.scales
        self._text = text
        self._climbs = climbs
        self._reader = EvidenceReader(search.record.journey, self._concepts)

    def failing(self) -> tuple[FailingPart, ...]:
        """The smallest failing parts, in the order of the text; one that fails in several uses is told once."""
        whole = _Failing(self._query.body, ROOT, self._record.everything, True, "")
        found = {(one.path, one.widen): one for one in self._smallest(whole)}
        return tuple(sorted(map(self._described, found.values()), key=lambda part: (part.start, part.end)))

    # --- which parts --------------------------------------------------------------------------------------------------

    def _smallest(self, part: _Failing) -> Iterator[_Failing]:
        """The smallest parts of a failing part that fail, too."""
        node = part.node
        match node:
            case nodes.Not():
                yield from self._within(part, 0, not part.widen)
            case nodes.Except(left, right):
                for at, one, widen in ((0, left, part.widen), (1, right, not part.widen)):
                    if self._fails(one, (*part.path, at), part.place, widen):
                        yield from self._within(part, at, widen)
            case nodes.And(parts) | nodes.Or(parts) | nodes.AtLeast(_, parts):
                for at, one in enumerate(parts):
                    if self._fails(one, (*part.path, at), part.place, part.widen):
                        yield from self._within(part, at, part.widen)
            case nodes.Defined(name):
                yield from self._smallest(replace(part, node=self._search.body_of(name), path=(name,)))
            case nodes.SameTumor(body, 1) | nodes.SameEvent(body):
                place = self._telling_place(node, part)
                if place is None:
                    yield part
                else:
                    inner = replace(part, node=body, path=(*part.path, 0), place=place, scope=self._scope(node, place))
                    yield from self._smallest(inner)
            case _:
                yield part

    def _within(self, part: _Failing, at: int, widen: bool) -> Iterator[_Failing]:
        node = children(part.node)[at]
        yield from self._smallest(replace(part, node=node, path=(*part.path, at), widen=widen))

    def _fails(self, node: nodes.PatientExpression, path: Path, place: int, widen: bool) -> bool:
        return self._search.holds(node, path, place) is not widen

    def _telling_place(self, node: nodes.SameTumor | nodes.SameEvent, part: _Failing) -> int | None:
        """Of what a scope shows, what comes nearest to its body; or, where it must not hold, the first it holds of."""
        path = (*part.path, 0)
        places = self._search.inner_places(node, part.place)
        if not part.widen:
            return next(place for place in places if self._search.holds(node.body, path, place))
        costs = {
            place: found[1][0]
            for place in places
            if 1 in (found := self._search.versions(node.body, path, (place,), True))
        }
        return min(costs, key=lambda place: costs[place], default=None)

    def _scope(self, node: nodes.SameTumor | nodes.SameEvent, place: int) -> str:
        if isinstance(node, nodes.SameEvent):
            return self._reader.shown(self._record.events[place.bit_length() - 1]).as_text()
        tumors = zip(self._record.tumors, self._record.believed_tumors, strict=True)
        tumor = next((name for mask, name in tumors if mask & place == place), "")
        named = (
            self._concepts.name(event.concept)
            for event in self._record.events
            if event.tumor == tumor and event.kind == "diagnosis" and event.concept
        )
        return f"tumor {tumor} ({name})" if (name := next(named, "")) else f"tumor {tumor}"

    # --- what is near -------------------------------------------------------------------------------------------------

    def _described(self, part: _Failing) -> FailingPart:
        span = self._text[part.path]
        described = FailingPart(self._text.shown(part.path), *span, not part.widen, "", part.scope)
        match part.node:
            case nodes.Exists(events):
                if not part.widen:
                    return replace(
                        described, says="it holds, and must not", nearest=self._holding((events,), part.place)
                    )
                near = self._near(events, part.place)
                says = "no event qualifies" if near else "nothing like it is recorded"
                return replace(described, says=says, nearest=near)
            case nodes.Ordered():
                return self._described_order(part.node, part, described)
            case nodes.SameTumor(_, least) if least > 1:
                return replace(described, says=f"{'not so many' if part.widen else 'as many'} tumors are so")
            case nodes.SameTumor():
                return replace(described, says="no tumor is on record")
            case nodes.SameEvent():
                return replace(described, says="no event is on record")
        sets = event_sets(part.node)
        if not part.widen:
            return replace(described, says="it holds, and must not", nearest=self._holding(sets, part.place))
        says, nearest = self._leaf_reason(part.node, part.place)
        return replace(described, says=says, nearest=nearest)

    def _leaf_reason(self, node: nodes.PatientExpression, place: int) -> tuple[str, tuple[NearEvent, ...]]:
        """What a criterion about several events, a count, an age or an absence lacks."""
        match node:
            case nodes.Sequence(steps):
                missing = [step for step in steps if not self._found(step, place)]
                if not missing:
                    return "every step is there, but not in this order and at these distances", self._holding(
                        steps, place
                    )
                return "steps are missing", tuple(near for step in missing for near in self._near(step, place))
            case nodes.Clear(events, _, absent) if self._found(events, place):
                return "none of these facts is without the other in that time", self._holding((events, absent), place)
            case nodes.Times(n, events, by) if found := self._found(events, place):
                times = times_of(self._record, by, found)
                return f"{times} different {by} are there, {n} are asked for", self._holding((events,), place)
            case nodes.Repeated(n, events, _, other) if self._found(events, place) and self._found(other, place):
                said = f"both facts are there, but not on {n} days in this relation to one of the second"
                return said, self._holding((events, other), place)
            case nodes.Change(way, events) if self._found(events, place):
                return f"no two of these values show such a {way}", self._holding((events,), place)
            case nodes.Total(attribute, events) if found := self._found(events, place):
                return f"their {attribute} add up otherwise: {self._sum(attribute, found)}", self._holding(
                    (events,), place
                )
            case nodes.AgeAt(events):
                births = self._found(nodes.Events("birth"), self._record.everything)
                if not births:
                    near = self._near(nodes.Events("birth"), self._record.everything)
                    return "no day of birth is believed" if near else "no birth is recorded", near
                if events is None or self._found(events, place):
                    shown = self._holding(() if events is None else (events,), place)
                    birth = NearEvent(self._shown(births.bit_length() - 1), ())
                    return "another age", (birth, *shown)
            case nodes.Lacking(_, events):
                if self._found(events, place):
                    return "such a fact is recorded", self._holding((events,), place)
                return "there is no such fact, but the absence is of another kind", ()
            case nodes.Among():
                return "not among these patients", ()
        near = tuple(near for events in event_sets(node)[:1] for near in self._near(events, place))
        return ("no event qualifies" if near else "nothing like it is recorded"), near

    def _sum(self, attribute: str, found: int) -> str:
        told = [as_number(self._record.events[one].attributes.get(attribute, "")) for one in bits(found)]
        known = f"{sum(one for one in told if one is not None):g}"
        return f"{known}, of {told.count(None)} not told" if None in told else known

    def _described_order(self, node: nodes.Ordered, part: _Failing, described: FailingPart) -> FailingPart:
        if not part.widen:
            near = self._holding((node.left, node.right), part.place)
            return replace(described, says="the two stand in this relation, and must not", nearest=near)
        lefts, rights = (self._found(side, part.place) for side in (node.left, node.right))
        if lefts and rights:
            first, second = (self._days_of(side) for side in (node.left, node.right))
            pairs = ((one, other) for one in bits(lefts) for other in bits(rights) if one != other)
            closest = min(pairs, key=lambda pair: _misses_gap(node, second[pair[1]] - first[pair[0]]), default=None)
            if closest is None:
                near = tuple(
                    NearEvent(self._shown(position), ("the same event on both sides",)) for position in bits(lefts)
                )
                return replace(described, says="one event cannot be both", nearest=near)
            left, right = closest
            between = second[right] - first[left]
            distance = (
                "on the same day" if not between else f"{abs(between)} days {'before' if between > 0 else 'after'}"
            )
            shown = NearEvent(self._shown(left), (f"{distance}{' as' if not between else ''} the other fact",))
            says = "both facts are there, but not in this relation"
            return replace(described, says=says, nearest=(shown, NearEvent(self._shown(right), ())))
        near = ()
        for side, found in ((node.left, lefts), (node.right, rights)):
            if not found:
                near += self._near(side, part.place)
        missing = "neither fact" if not lefts and not rights else "the first fact" if not lefts else "the second fact"
        verb = "qualifies" if missing == "neither fact" else "is missing"
        return replace(described, says=f"{missing} {verb}", nearest=near)

    def _days_of(self, events: nodes.Events) -> Sequence[int]:
        """The believed day of each event that such a set looks at."""
        if events.moment == "begin":
            return self._record.days
        return [end_of(event).midpoint for event in self._record.events]

    def _found(self, events: nodes.Events, place: int) -> int:
        return self._record.found(events, place)

    def _holding(self, sets: Iterable[nodes.Events], place: int) -> tuple[NearEvent, ...]:
        found: dict[int, None] = {}
        for events in sets:
            found.update(dict.fromkeys(bits(self._found(events, place))))
        return tuple(NearEvent(self._shown(position), ()) for position in list(found)[:MOST_NEAR])

    def _near(self, events: nodes.Events, place: int) -> tuple[NearEvent, ...]:
        """The events that lack least, by the classes of edits; none that only share the kind."""
        judged = []
        plain = replace(events, pick=nodes.Pick())
        of_denials = events.context == "absent"
        members = self._found(plain if of_denials else replace(plain, condition=None), place)
        by_day = of_denials and events.pick.how not in ("worst", "best")
        taken = self._record.chosen(None if by_day else events.kind, events.pick, members)
        for position, event in enumerate(self._record.events):
            lacks = self._lacks(events, position, event, place)
            if lacks is None:
                continue
            if events.pick.how != "any" and not taken >> position & 1:
                lacks.append((DETAIL, f"not {_ordinal(events.pick)} such fact"))
            elif not lacks:
                lacks.append((BOUND, f"tied for {_ordinal(events.pick)} with one that does not qualify"))
            judged.append((sum(cost for cost, _ in lacks), position, tuple(words for _, words in lacks)))
        return tuple(NearEvent(self._shown(position), lacks) for _, position, lacks in sorted(judged)[:MOST_NEAR])

    def _shown(self, position: int) -> ShownEvent:
        return self._reader.shown(self._record.events[position])

    def _lacks(self, events: nodes.Events, position: int, event: Event, place: int) -> list[tuple[int, str]] | None:
        """What an event lacks to be a member, with its weight; None for one that is not near at all."""
        lacks = self._lacks_of_denial(events, event) if events.context == "absent" else self._own_lacks(events, event)
        if lacks is None:
            return None
        if not self._is_in_context(events, position, event):
            lacks.append(_context_lack(event))
        if events.source and not self._record.having(event.kind, source=events.source) >> position & 1:
            lacks.append((DETAIL, f"not told in {events.source}"))
        if events.undisputed and not self._record.having(event.kind, undisputed=True) >> position & 1:
            lacks.append((DETAIL, "disputed"))
        if event.sources < events.sources:
            lacks.append((BOUND, f"told by {counted(event.sources, 'independent note')}, asked: {events.sources}"))
        if events.known and not self._record.having(event.kind, known=events.known) >> position & 1:
            lacks.append((DETAIL, f"not {events.known}"))
        if events.moment == "end" and not has_known_end(event):
            lacks.append((DETAIL, "its end is not recorded"))
        elif events.window is not None:
            day = event.day if events.moment == "begin" else end_of(event)
            if not events.window.low <= day.midpoint <= events.window.high:
                lacks.append(_window_lack(events.window, day))
        if events.lasting is not None and not self._record.having(event.kind, lasting=events.lasting) >> position & 1:
            lacks.append(_length_lack(events.lasting, event))
        if events.condition is not None and events.context != "absent":
            lacks += self._condition_lacks(events.condition, event, position)
        if not place >> position & 1:
            lacks.append((DETAIL, "of another tumor or event"))
        return lacks

    def _is_in_context(self, events: nodes.Events, position: int, event: Event) -> bool:
        if events.context == "absent":
            return bool(self._record.denials >> position & 1)
        return bool(self._record.having(event.kind, context=events.context) >> position & 1)

    def _own_lacks(self, events: nodes.Events, event: Event) -> list[tuple[int, str]] | None:
        """By its kind and concept."""
        if events.kind is not None and event.kind != events.kind:
            return None
        if events.concept is None or event.concept in self._record.meaning.concept_ids(events.concept):
            return []
        other = self._neighbour(events.concept, event.concept)
        return None if other is None else [other]

    def _lacks_of_denial(self, events: nodes.Events, event: Event) -> list[tuple[int, str]] | None:
        """By what it denies: something narrower than what is asked, or the same in fewer cases."""
        denials = self._record.meaning.denials
        lacks: list[tuple[int, str]] = []
        if not denials.names(events, event):
            wanted = [] if events.concept is None else [one.id for one in named_concepts(events.concept)]
            narrower = any(self._concepts.is_a(event.concept, one) for one in wanted)
            if events.kind not in (None, event.kind) or (wanted and not narrower):
                return None
            if not admits("absent", event, World.BELIEVED):
                return lacks
            asked = _listed(self._concepts.name(one) for one in wanted)
            if not wanted and events.kind is not None:
                asked = f"any {kind_spelling(events.kind)}"
            lacks.append((CONCEPT, f"a denial of {self._concepts.name(event.concept)} says less than one of {asked}"))
        for name in denials.left_out(events, event):
            value = self._value_text(event.attributes[name])
            lacks.append((DETAIL, f"it denies no more than what has {name} {value}, less than is asked"))
        if not lacks and not denials.leaves_nothing_out(events, event):
            assert events.condition is not None  # nothing else is left that it can fail
            lacks.append((DETAIL, f"does not satisfy '{render_condition(events.condition)}'"))
        return lacks

    def _neighbour(self, asked: nodes.ConceptExpression, own: str) -> tuple[int, str] | None:
        """How far another concept is from those asked for; None when it is no neighbour."""
        if own not in self._concepts:
            return None
        mine = {own: 0, **dict(self._climbs.above(own))}
        for name in sorted(one.id for one in named_concepts(asked)):
            theirs = {name: 0, **dict(self._climbs.above(name))}
            if own in theirs:
                return CONCEPT * theirs[own], f"a broader concept: {self._concepts.name(own)}"
            shared = [
                (theirs[one] + mine[one], theirs[one], one)
                for one in theirs.keys() & mine.keys()
                if max(theirs[one], mine[one]) <= NEIGHBOUR_STEPS
            ]
            if shared:
                _, up, one = min(shared)
                return CONCEPT * up, f"another concept: {self._concepts.name(own)}, also {self._concepts.name(one)}"
        return None

    def _condition_lacks(self, condition: nodes.Condition, event: Event, position: int) -> list[tuple[int, str]]:
        """The comparisons that the event does not satisfy."""
        if self._record.having(event.kind, condition=condition) >> position & 1:
            return []
        if isinstance(condition, nodes.AllOf):
            return [lack for part in condition.parts for lack in self._condition_lacks(part, event, position)]
        if not isinstance(condition, nodes.Is | nodes.Compare | nodes.Between | nodes.Documented):
            return [(DETAIL, f"does not satisfy '{render_condition(condition)}'")]
        attribute = condition.attribute
        value = event.attributes.get(attribute, "")
        if value == "":
            return [(DETAIL, f"{attribute} is not documented")]
        difference = f"{attribute} is {self._value_text(value)}, asked: {render_condition(condition)}"
        off = self._off(condition, value)
        return [(BOUND if off else DETAIL, difference + off)]

    def _off(self, condition: nodes.Condition, value: Value) -> str:
        """By how much a value misses a bound, in words; nothing where there is no such measure."""
        bounds: list[str | float] = []
        match condition:
            case nodes.Between(_, low, high):
                bounds = [low, high]
            case nodes.Compare(_, operator, bound) if operator != "!=":
                bounds = [bound]
        if not bounds or isinstance(condition, nodes.Is | nodes.Documented):
            return ""
        attribute = getattr(condition, "attribute", "")
        differences = [
            off for bound in bounds if (off := _difference(self._scales, attribute, value, bound)) is not None
        ]
        if not differences:
            return ""
        amount, unit = min(differences)
        return f" (off by {amount:g}{unit})" if amount else " (just outside)"

    def _value_text(self, value: Value) -> str:
        if isinstance(value, str):
            return self._concepts.name(value) if value in self._concepts else value
        return f"{value:g}"


def _listed(names: Iterable[str]) -> str:
    return " or ".join(names)


def _ordinal(pick: nodes.Pick) -> str:
    return f"number {pick.n}" if pick.how == "nth" else f"the {pick.how}"


def _difference(scales: Any, attribute: str, value: Value, bound: Value) -> tuple[float, str] | None:
    first, second = scales.span(attribute, value), scales.span(attribute, bound)
    if first is not None and second is not None:
        steps = min(abs(one - other) for one in first for other in second)
        return float(steps), " step on the scale" if steps == 1 else " steps on the scale"
    try:
        return abs(float(value) - float(bound)), ""
    except ValueError:
        return None


def _misses_gap(node: nodes.Ordered, days: int) -> int:
    """By how many days a distance misses the gap."""
    gap = {"before": days, "after": -days}.get(node.relation, abs(days))
    if gap < node.minimum:
        return node.minimum - gap
    return 0 if node.maximum is None else max(0, gap - node.maximum)


def _context_lack(event: Event) -> tuple[int, str]:
    """Why an event is none of those that a context admits."""
    context = event.context
    if context.experiencer != "patient":
        return DROP, "a relative's" if context.experiencer == "family" else "someone else's"
    if context.reason == "declined":
        return DROP, "declined"
    word = context.assertion
    if word in ("present", "historical") and event.world < World.BELIEVED:
        if event.world is World.POSSIBLE:
            undated = event.kind == "birth" and not event.day.known
            why = "no note tells its day" if undated else "a decision is against it"
            return UNCERTAIN, f"possible only: {why}"
        return DROP, "taken back"
    return (UNCERTAIN if word in ("uncertain", "historical", "present") else DROP), _ASSERTED[word]


def _length_lack(lasting: nodes.Lasting, event: Event) -> tuple[int, str]:
    if not has_known_end(event):
        return DETAIL, "its end is not recorded"
    length = 0 if event.end is None else max(0, event.end.midpoint - event.day.midpoint)
    return DETAIL, f"lasted {length} days, asked: {render_length(lasting)}"


def _window_lack(window: nodes.Window, day: DayInterval) -> tuple[int, str]:
    if not day.known:
        return DETAIL, "not dated"
    days = day.midpoint
    if days < window.low:
        return ends_cost(window.low - days), f"{window.low - days} days before the window"
    return ends_cost(days - window.high), f"{days - window.high} days after the window"
