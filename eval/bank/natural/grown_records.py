"""Made-up patients who satisfy a query, or just fail to: what tells two queries apart that are not the same.

A record is grown from the query's tree: events that satisfy its atoms, a branch drawn of each *or*, now and then what
*not* denies; then a few things are changed: an event dropped, a concept widened or narrowed, a value at the edge of a
bound, another tumor, an uncertain context, another day. The same seed gives the same records.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from ....kb.model import (
    ALL_TUMORS,
    NO_TUMOR,
    Context,
    DayInterval,
    Event,
    Experiencer,
    Journey,
    Polarity,
    Temporality,
    Value,
    World,
)
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales, as_number
from ....query_lang.canonical import inlined
from ....query_lang.nodes import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Between,
    Compare,
    Concept,
    Documented,
    Events,
    Except,
    Exists,
    Is,
    Node,
    Not,
    NotThat,
    Or,
    Ordered,
    OtherThan,
    PatientExpression,
    Query,
    SameEvent,
    SameTumor,
    Under,
    Union,
)
from ....query_lang.tree import find, nodes_in
from ....query_lang.vocabulary import MEANT_BY_CONCEPT

_FIRST: Final = datetime.date(2019, 1, 1).toordinal()
_DAYS: Final = 900


@dataclass
class _Draft:
    """An event in the making."""

    kind: str = ""
    concept: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)
    day: int = 0
    tumor: str = NO_TUMOR
    context: str = "present"


@dataclass
class RecordGrower:
    """Grows records of one query."""

    query: Query
    concepts: ConceptTable
    scales: Scales
    random: Random
    _body: Any = None
    _pool: dict[tuple[str, str], list[Value]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._body = inlined(self.query)
        self._collect()

    def journeys(self, count: int, prefix: str) -> list[Journey]:
        """So many records, of patients named by the prefix and a number."""
        return [self._journey(f"{prefix}{number:05d}") for number in range(count)]

    # --- what occurs in the query -----------------------------------------------------------------------------

    def _collect(self) -> None:
        """The values that the query's conditions name, by kind and attribute: others of them make near misses."""
        for events in find(self._body, Events):
            for node in () if events.condition is None else nodes_in(events.condition):
                self._values(events.kind or "", node)

    def _values(self, kind: str, condition: Node) -> None:
        match condition:
            case Is(attribute, values):
                for value in values:
                    self._add(kind, attribute, value.id if isinstance(value, Concept) else value.text)
            case Compare(attribute, _, value):
                self._edges(kind, attribute, value)
            case Between(attribute, low, high):
                self._edges(kind, attribute, low)
                self._edges(kind, attribute, high)

    def _add(self, kind: str, attribute: str, value: Value) -> None:
        held = self._pool.setdefault((kind, attribute), [])
        if value not in held:
            held.append(value)

    def _edges(self, kind: str, attribute: str, bound: Any) -> None:
        number = as_number(bound)
        if isinstance(bound, float) or number is not None and self.scales.scale(attribute) is None:
            middle = float(number or 0)
            for edge in (middle, middle - 1, middle + 1):
                self._add(kind, attribute, edge)
            return
        values = self.scales.values(attribute)
        text = str(bound)
        if text in values:
            at = values.index(text)
            for value in values[max(0, at - 2) : at + 3]:
                self._add(kind, attribute, value)
        self._add(kind, attribute, text)

    # --- growing ----------------------------------------------------------------------------------------------

    def _journey(self, patient: str) -> Journey:
        drafts: list[_Draft] = []
        self._grow(self._body, drafts, "t1")
        self._change(drafts)
        events = {event.event_id: event for event in (self._event(patient, draft) for draft in drafts)}
        return Journey(patient, events=tuple(events.values()))

    def _grow(self, node: Any, drafts: list[_Draft], tumor: str) -> None:
        match node:
            case Exists(events):
                drafts.append(self._draft(events, tumor))
            case And(parts):
                for part in parts:
                    self._grow(part, drafts, tumor)
            case Or(parts):
                self._grow(self.random.choice(parts), drafts, tumor)
            case AtLeast(n, parts):
                for part in self.random.sample(parts, min(len(parts), n)):
                    self._grow(part, drafts, tumor)
            case Not(part):
                if self.random.random() < 0.2:
                    self._grow(part, drafts, tumor)
            case Except(left, right):
                self._grow(left, drafts, tumor)
                if self.random.random() < 0.3:
                    self._grow(right, drafts, tumor)
            case SameTumor(body):
                self._grow(body, drafts, self.random.choice(["t1", "t1", "t1", "t2"]))
            case SameEvent(body):
                draft = _Draft(day=self._day(), tumor=tumor)
                self._merge(body, draft)
                if draft.kind:
                    drafts.append(draft)
            case Ordered(left, relation, right, minimum, maximum):
                first, second = self._draft(left, tumor), self._draft(right, tumor)
                gap = self.random.choice(
                    [0, 1, minimum, maximum or minimum + 30, (maximum or 30) + 1, 400, minimum - 1]
                )
                second.day = first.day + (gap if relation == "before" else -gap if relation == "after" else gap)
                drafts += [first, second]
            case _:
                self._grow_parts(node, drafts, tumor)

    def _grow_parts(self, node: Any, drafts: list[_Draft], tumor: str) -> None:
        """Of a node that no case knows: its parts; its events, one after another in time, now and then those it wants
        absent."""
        for one in dataclasses.fields(node):
            value = getattr(node, one.name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Events) and (one.name not in ("absent", "without") or self.random.random() < 0.5):
                    drafts.append(self._draft(part, tumor))
                    drafts.append(self._draft(part, tumor))
                elif isinstance(part, PatientExpression):
                    self._grow(part, drafts, tumor)
                elif isinstance(part, Node) and not isinstance(part, Events):
                    self._grow_parts(part, drafts, tumor)

    def _merge(self, node: Any, draft: _Draft) -> None:
        """What the one event of a scope must be, put together."""
        match node:
            case Exists(events):
                draft.kind = draft.kind or events.kind or self._kind(events)
                if events.concept is not None:
                    members = self._members(events.concept)
                    if members and (not draft.concept or draft.concept not in members):
                        draft.concept = self.random.choice(members)
                if events.condition is not None:
                    self._satisfy(draft.kind, events.condition, draft.attributes, wanted=True)
            case And(parts):
                for part in parts:
                    self._merge(part, draft)
            case Or(parts):
                self._merge(self.random.choice(parts), draft)
            case Not(part):
                if self.random.random() < 0.25:
                    self._merge(part, draft)
            case Except(left, _):
                self._merge(left, draft)
            case SameEvent(body):
                self._merge(body, draft)

    def _kind(self, events: Events) -> str:
        members = self._members(events.concept) if events.concept is not None else []
        kind = self.concepts.kind(members[0]) if members and members[0] in self.concepts else ""
        return MEANT_BY_CONCEPT[kind][0] if kind in ("procedure", "condition") else kind or "death"

    def _draft(self, events: Events, tumor: str) -> _Draft:
        kind = events.kind or self._kind(events)
        draft = _Draft(kind, day=self._day(), tumor=tumor, context=events.context)
        if events.concept is not None:
            members = self._members(events.concept)
            draft.concept = self.random.choice(members) if members else ""
        if events.condition is not None:
            self._satisfy(kind, events.condition, draft.attributes, wanted=True)
        return draft

    def _members(self, node: Any) -> list[str]:
        match node:
            case Under(Concept(id), exact):
                if exact or id not in self.concepts:
                    return [id]
                # The concept itself as often as all below it: what stands at the border tells most.
                below = sorted(self.concepts.below(id))
                return [id] if self.random.random() < 0.3 else below
            case Union(parts):
                return self._members(self.random.choice(parts))
            case OtherThan(base, excluded):
                away = set(self._members(excluded))
                return [one for one in self._members(base) if one not in away] or self._members(base)
        return []

    def _satisfy(self, kind: str, condition: Any, attributes: dict[str, Value], *, wanted: bool) -> None:
        random = self.random
        match condition:
            case AllOf(parts) if wanted:
                for part in parts:
                    self._satisfy(kind, part, attributes, wanted=True)
            case AnyOf(parts) if wanted:
                self._satisfy(kind, random.choice(parts), attributes, wanted=True)
            case AllOf(parts):
                self._satisfy(kind, random.choice(parts), attributes, wanted=False)
            case AnyOf(parts):
                for part in parts:
                    self._satisfy(kind, part, attributes, wanted=False)
            case NotThat(part):
                self._satisfy(kind, part, attributes, wanted=not wanted)
            case Is(attribute, values) if wanted:
                value = random.choice(values)
                attributes[attribute] = self._value(value)
            case Compare(attribute, _, _) | Between(attribute, _, _) if wanted:
                pool = self._pool.get((kind, attribute), [])
                fitting = [value for value in pool if self._holds(condition, value)]
                if fitting:
                    attributes[attribute] = random.choice(fitting)
            case Documented(attribute) if wanted:
                pool = self._pool.get((kind, attribute)) or ["stated"]
                attributes.setdefault(attribute, random.choice(pool))
            case Is(attribute) | Documented(attribute) | Compare(attribute) | Between(attribute):
                if random.random() < 0.3:
                    attributes.pop(attribute, None)

    def _holds(self, condition: Any, value: Value) -> bool:
        number = as_number(value)
        if isinstance(condition, Compare):
            bound: Any = condition.value
            if self.scales.scale(condition.attribute) is None and number is not None:
                low = as_number(bound)
                return low is not None and {
                    "=": number == low, "!=": number != low, "<": number < low, "<=": number <= low,
                    ">": number > low, ">=": number >= low,
                }[condition.operator]  # fmt: skip
            return self.scales.compare(condition.attribute, value, condition.operator, bound)
        if self.scales.scale(condition.attribute) is None and number is not None:
            return float(condition.low) <= number <= float(condition.high)
        return self.scales.between(condition.attribute, value, condition.low, condition.high)

    def _value(self, value: Any) -> Value:
        if isinstance(value, Concept):
            if value.id in self.concepts and self.random.random() < 0.5:
                return self.random.choice(sorted(self.concepts.below(value.id)))
            return value.id
        return str(value.text)

    def _day(self) -> int:
        return _FIRST + self.random.randrange(_DAYS)

    # --- changing ---------------------------------------------------------------------------------------------

    def _change(self, drafts: list[_Draft]) -> None:
        random = self.random
        for _ in range(random.choice([0, 0, 1, 1, 1, 2, 3])):
            if not drafts:
                return
            draft = random.choice(drafts)
            match random.randrange(11):
                case 9 | 10:
                    # Told again on another day with another value: what is latest, first or ever differs.
                    again = _Draft(draft.kind, draft.concept, dict(draft.attributes), self._day(), draft.tumor)
                    self._other_value(again)
                    drafts.append(again)
                case 0:
                    drafts.remove(draft)
                case 1 | 2 if draft.concept in self.concepts:
                    draft.concept = self._neighbour(draft.concept)
                case 3 | 4 | 5:
                    self._other_value(draft)
                case 6:
                    draft.tumor = random.choice(["t1", "t2", NO_TUMOR, ALL_TUMORS])
                case 7:
                    draft.context = random.choice(["uncertain", "uncertain", "absent", "planned", "family", "present"])
                case _:
                    draft.day = self._day()

    def _neighbour(self, concept: str) -> str:
        parents = list(self.concepts.parents(concept))
        siblings = [child for parent in parents for child in self.concepts.children(parent)]
        around = [*parents, *siblings[:30], *self.concepts.children(concept)]
        return self.random.choice(around) if around else concept

    def _other_value(self, draft: _Draft) -> None:
        known = [key for key in self._pool if key[0] == draft.kind]
        if not known:
            return
        _, attribute = self.random.choice(known)
        if self.random.random() < 0.3:
            draft.attributes.pop(attribute, None)
        else:
            draft.attributes[attribute] = self.random.choice(self._pool[(draft.kind, attribute)])

    def _event(self, patient: str, draft: _Draft) -> Event:
        context, world = _CONTEXTS.get(draft.context, (Context(), World.CERTAIN))
        return Event(
            patient, draft.kind, draft.concept, DayInterval(draft.day, draft.day), attributes=dict(draft.attributes),
            context=context, world=world, tumor=draft.tumor,
        )  # fmt: skip


_CONTEXTS: Final[dict[str, tuple[Context, World]]] = {
    "uncertain": (Context(polarity=Polarity.UNCERTAIN), World.POSSIBLE),
    "absent": (Context(polarity=Polarity.ABSENT), World.NONE),
    "planned": (Context(temporality=Temporality.PLANNED), World.NONE),
    "family": (Context(experiencer=Experiencer.FAMILY), World.NONE),
    "declined": (Context(polarity=Polarity.ABSENT, reason="declined"), World.NONE),
    "historical": (Context(temporality=Temporality.HISTORICAL), World.CERTAIN),
}


def records(queries: Sequence[Query], concepts: ConceptTable, scales: Scales, *, each: int, seed: int) -> list[Journey]:
    """Records grown from each of the queries, by the seed."""
    found: list[Journey] = []
    for number, query in enumerate(queries):
        found += RecordGrower(query, concepts, scales, Random(f"{seed} {number}")).journeys(each, f"Q{number:03d}-")
    return [replace(one) for one in found]
