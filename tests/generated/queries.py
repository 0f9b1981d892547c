"""Resolved queries about given records, the same for the same seed: every node, pick, relation, context and nesting.

A query is drawn around facts of one patient, or of one tumor or event where a scope asks for it, so that most find
somebody and few find everybody. :func:`features` tells what a query contains.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

from cohortium.engine.reference import meaning as reference
from cohortium.kb.kinds import MAIN_ATTRIBUTE
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY, Event, Journey, Value, World
from cohortium.query_lang import nodes
from tests.generated.records import CONCEPTS, KINDS, SCALES, weighted

#: What resolving puts a day for: no engine meets it.
_UNRESOLVED: Final = frozenset({"Now", "NowWindow"})
#: The classes of node, as the language defines them: one that is added is asked for at once.
NODE_CLASSES: Final = tuple(
    sorted(
        name
        for name, one in vars(nodes).items()
        if dataclasses.is_dataclass(one) and one.__module__ == nodes.__name__ and name not in _UNRESOLVED
    )
)
_SCOPES: Final = (nodes.SameTumor, nodes.SameEvent)
_NAMES: Final = ("first set", "second set")


def term(concept: str) -> nodes.Concept:
    """A resolved name."""
    return nodes.Concept(concept, concept.replace("_", " "))


def query(random: Random, journeys: Sequence[Journey], deepest: int = 3) -> nodes.Query:
    """A query about the journeys; criteria are nested up to ``deepest`` below the outermost."""
    return _Maker(random, journeys).query(deepest)


def dividing_query(random: Random, journeys: Sequence[Journey], deepest: int = 3, tries: int = 3) -> nodes.Query:
    """As :func:`query`, drawn again, so many times, while it finds nobody or everybody (in the believed world)."""
    drawn = query(random, journeys, deepest)
    for _ in range(tries - 1):
        found = reference.evaluate(drawn, journeys, CONCEPTS, SCALES, World.BELIEVED)
        if 0 < len(found) < len(journeys):
            break
        drawn = query(random, journeys, deepest)
    return drawn


class _Maker:
    """Draws the nodes of one query."""

    def __init__(self, random: Random, journeys: Sequence[Journey]) -> None:
        self._random = random
        self._told = [journey.events for journey in journeys if journey.events]
        self._defined: list[str] = []

    def query(self, deepest: int) -> nodes.Query:
        """A query, in one of five with definitions that it uses."""
        definitions = []
        for name in _NAMES[: self._random.choices([0, 1, 2], [8, 1, 1])[0]]:
            definitions.append(nodes.Definition(name, self._criterion(self._somebody(), 1)))
            self._defined.append(name)
        body = self._criterion(self._somebody(), self._random.randint(0, deepest))
        if definitions and not any(isinstance(node, nodes.Defined) for node, _ in walk(body)):
            used = nodes.Defined(self._random.choice(self._defined))
            joined = self._random.choice([nodes.And, nodes.Or])((body, used))
            body = self._random.choice([joined, nodes.SameTumor(joined)])
        return nodes.Query(body, tuple(definitions))

    def _somebody(self) -> Sequence[Event]:
        return self._random.choice(self._told)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    # --- patient expressions ----------------------------------------------------------------------------------------

    def _criterion(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        """A criterion that looks at the facts ``about`` which it is drawn."""
        if self._defined and self._chance(0.1):
            return nodes.Defined(self._random.choice(self._defined))
        if deepest == 0:
            return self._leaf(about)
        shape: Callable[[Sequence[Event], int], nodes.PatientExpression] = weighted(
            self._random,
            [
                (self._and, 5),
                (self._or, 3),
                (self._not, 3),
                (self._except, 2),
                (self._at_least, 2),
                (self._same_tumor, 5),
                (self._same_event, 3),
            ],
        )
        return shape(about, deepest - 1)

    def _leaf(self, about: Sequence[Event]) -> nodes.PatientExpression:
        if self._chance(0.35) and (len(about) > 1 or self._chance(0.1)):
            return self._ordered(about)
        if self._chance(0.25):
            return self._of_events(about)
        return nodes.Exists(self._events(about))

    def _of_events(self, about: Sequence[Event]) -> nodes.PatientExpression:
        """One of the other criteria about how events lie to each other, or a list of patients."""
        one = self._events(about)
        plain = dataclasses.replace(one, pick=nodes.Pick())
        match self._random.choice(
            ["sequence", "clear", "times", "age", "lacking", "among", "state", "ongoing", "repeated", "change", "total"]
        ):
            case "sequence":
                told = sorted(self._random.choices(about, k=3), key=lambda event: event.day.midpoint)
                gaps = []
                for earlier, later in itertools.pairwise(told):
                    gap = max(1, later.day.midpoint - earlier.day.midpoint)
                    least = 1 if self._chance(0.7) else self._random.randint(1, gap)
                    most = None if self._chance(0.6) else gap + self._random.choice([0, 3, 60])
                    gaps.append(nodes.Gap(least, most, self._stranger(0.3)))
                return nodes.Sequence(tuple(self._events([event]) for event in told), tuple(gaps))
            case "clear":
                relation = self._random.choice(nodes.GAP_RELATIONS)
                most = self._random.choice([None, 5, 90])
                if relation == "within" and most is None:
                    most = 30
                return nodes.Clear(one, relation, self._events(self._somebody()), 1, most)
            case "times":
                by = "lines" if plain.kind == "medication" else self._random.choice(["days", "concepts"])
                return nodes.Times(self._random.choice([1, 2, 2, 3]), plain, by)
            case "age":
                bounds = self._random.choice([(70, None), (0, 69), (69, 70), (69, 69)])
                if self._chance(0.3):
                    return nodes.AgeAt(None, max(EARLIEST_DAY, self._random.choice(about).day.midpoint), *bounds)
                return nodes.AgeAt(one, None, *bounds)
            case "lacking":
                asked = dataclasses.replace(plain, context="present", moment="begin", lasting=None)
                return nodes.Lacking(self._random.choice(nodes.ABSENCES), asked)
            case "state":
                return self._state_at(about)
            case "ongoing":
                return self._ongoing(about)
            case "repeated":
                return self._repeated(about)
            case "change":
                return self._change(about)
            case "total":
                return self._total(about)
        ids = {about[0].patient_id, self._somebody()[0].patient_id, "nobody"}
        return nodes.Among(tuple(sorted(ids)))

    def _state_at(self, about: Sequence[Event]) -> nodes.StateAt:
        """Mostly of one of these, around a day on which it may hold; ended by another of its kind, or by none."""
        state = self._random.choice(about)
        listed = [concept for concept in KINDS[state.kind][0] if concept in CONCEPTS]
        asked = nodes.Events(state.kind, nodes.Under(term(state.concept)) if state.concept in CONCEPTS else None)
        ends = nodes.Under(term(self._random.choice(listed))) if listed and self._chance(0.7) else None
        later = self._random.choice([0, 3, 60, 400])
        return nodes.StateAt(asked, min(LATEST_DAY, max(EARLIEST_DAY, state.day.midpoint) + later), ends)

    def _ongoing(self, about: Sequence[Event]) -> nodes.Ongoing:
        """Mostly of a drug that is told of, around a day on which it may go on."""
        drugs = [event for event in about if event.kind == "medication"] or list(about)
        drug = self._random.choice(drugs)
        named = drug.concept in CONCEPTS and drug.kind == "medication"
        asked = nodes.Events("medication", nodes.Under(term(drug.concept)) if named else None)
        later = self._random.choice([0, 3, 60, 400])
        return nodes.Ongoing(asked, min(LATEST_DAY, max(EARLIEST_DAY, drug.day.midpoint) + later))

    def _repeated(self, about: Sequence[Event]) -> nodes.Repeated:
        """Mostly of two facts, in a relation that holds of the middles of their days."""
        one, other = self._random.sample(about, 2) if len(about) > 1 else (about[0], about[0])
        gap = other.day.midpoint - one.day.midpoint
        counted = dataclasses.replace(self._events([one]), pick=nodes.Pick())
        times = self._random.choice([1, 1, 2])
        if self._chance(0.3):
            return nodes.Repeated(times, counted, self._random.choice(["during", "overlapping"]), self._events([other]))
        most = abs(gap) + self._random.choice([0, 3, 60])
        if gap == 0 or self._chance(0.3):
            return nodes.Repeated(times, counted, "within", self._events([other]), 0, most)
        relation = "before" if gap > 0 else "after"
        return nodes.Repeated(times, counted, relation, self._events([other]), 1, None if self._chance(0.5) else most)

    def _change(self, about: Sequence[Event]) -> nodes.PatientExpression:
        """Mostly by as much as a number that is told twice of somebody has moved."""
        told = [about, *self._random.sample(self._told, len(self._told))]
        pairs = next(filter(None, map(_moved, told)), None)
        if pairs is None:
            return nodes.Exists(self._events(about))
        one, other, name = self._random.choice(pairs)
        before, after = float(one.attributes[name]), float(other.attributes[name])
        way, moved = "rise" if (after > before) is not self._chance(0.1) else "fall", abs(after - before)
        relative = before > 0 and self._chance(0.3)
        amount = min(100.0, 100 * moved / before) if relative else moved
        operator, amount = self._random.choice([(">", 0.0), (">=", amount), (">", amount / 2)])
        gap = other.day.midpoint - one.day.midpoint
        most = None if self._chance(0.6) else gap + self._random.choice([0, 3, 60])
        concept = nodes.Under(term(one.concept)) if one.concept in CONCEPTS else None
        asked = nodes.Events(one.kind, concept, context="any" if self._chance(0.1) else "present")
        return nodes.Change(way, asked, name, operator, amount, relative, "", most, self._stranger(0.1))

    def _total(self, about: Sequence[Event]) -> nodes.PatientExpression:
        """Mostly of as much as the numbers of somebody add up to."""
        numbers = [(one, name) for one in about for name in sorted(one.attributes) if _is_number(one, name)]
        if not numbers:
            return nodes.Exists(self._events(about))
        event, name = self._random.choice(numbers)
        alike = [one for one, other in numbers if (one.kind, other) == (event.kind, name)]
        whole = sum(float(one.attributes[name]) for one in alike)
        operator = self._random.choice([one for one in nodes.OPERATORS if one != "!="])
        asked = nodes.Events(event.kind, context="any" if self._chance(0.1) else "present")
        return nodes.Total(name, asked, operator, self._random.choice([whole, whole, whole + 1, whole / 2]))

    def _stranger(self, share: float) -> nodes.Events | None:
        return self._events(self._somebody()) if self._chance(share) else None

    def _parts(self, about: Sequence[Event], deepest: int, most: int = 3) -> tuple[nodes.PatientExpression, ...]:
        return tuple(
            self._criterion(about, self._random.randint(0, deepest)) for _ in range(self._random.randint(2, most))
        )

    def _and(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        return nodes.And(self._parts(about, deepest))

    def _or(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        return nodes.Or(self._parts(about, deepest))

    def _not(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        return nodes.Not(self._criterion(self._others(about), deepest))

    def _except(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        return nodes.Except(self._criterion(about, deepest), self._criterion(self._others(about), deepest))

    def _at_least(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        parts = self._parts(about, deepest, 4)
        return nodes.AtLeast(self._random.randint(1, len(parts)), parts)

    def _same_tumor(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        owner = self._random.choice(about).tumor
        of_it = [event for event in about if event.tumor in (owner, "*", "")]
        if self._chance(0.8):
            return nodes.SameTumor(nodes.And(self._parts(of_it, deepest, 2)))
        return nodes.SameTumor(self._criterion(of_it, deepest))

    def _same_event(self, about: Sequence[Event], deepest: int) -> nodes.PatientExpression:
        one = [self._random.choice(about)]
        if self._chance(0.7):
            return nodes.SameEvent(nodes.And(self._parts(one, deepest, 2)))
        return nodes.SameEvent(self._criterion(one, deepest))

    def _others(self, about: Sequence[Event]) -> Sequence[Event]:
        """What is denied mostly concerns somebody else, or all that is asserted would be denied."""
        return about if self._chance(0.3) else self._somebody()

    def _ordered(self, about: Sequence[Event]) -> nodes.Ordered:
        """Mostly of two facts, in a relation that holds of the middles of their days."""
        one, other = self._random.sample(about, 2) if len(about) > 1 else (about[0], about[0])
        gap = other.day.midpoint - one.day.midpoint
        if self._chance(0.2):
            gap = self._random.randint(-400, 400)
        left, right = self._events([one]), self._events([other])
        different = self._chance(0.1)
        if self._chance(0.25):
            relation = self._random.choice(["during", "overlapping", "specimen", "beside"])
            return nodes.Ordered(left, relation, right, different=different or relation == "beside")
        if gap == 0 or self._chance(0.3):
            least = 0 if gap == 0 or self._chance(0.5) else self._random.randint(1, abs(gap))
            most = max(least, abs(gap)) + self._random.choice([0, 3, 60])
            return nodes.Ordered(left, "within", right, least, most, different, self._stranger(0.2))
        least = self._random.choice([1, 1, abs(gap), self._random.randint(1, abs(gap))])
        most = None if self._chance(0.5) else max(least, abs(gap)) + self._random.choice([0, 3, 60])
        relation = "before" if gap > 0 else "after"
        return nodes.Ordered(left, relation, right, least, most, different, self._stranger(0.2))

    # --- event sets -------------------------------------------------------------------------------------------------

    def _events(self, about: Sequence[Event]) -> nodes.Events:
        event = self._random.choice(about if self._chance(0.9) else self._somebody())
        listed = event.concept in CONCEPTS
        kind = None if listed and self._chance(0.07) else event.kind
        concept = self._concepts(event) if kind is None or listed and self._chance(0.6) else None
        picks = [(nodes.Pick(), 10), *((nodes.Pick(how), 2) for how in ("first", "latest"))]
        picks += [(nodes.Pick("nth", n), often) for n, often in ((1, 1), (2, 2), (3, 1))]
        if kind in MAIN_ATTRIBUTE:
            picks += [(nodes.Pick("worst"), 3), (nodes.Pick("best"), 3)]
        context = self._context(event)
        return nodes.Events(
            kind,
            concept,
            self._condition(event) if kind is not None and KINDS[kind][1] and self._chance(0.55) else None,
            context,
            weighted(self._random, picks),
            self._window(event) if self._chance(0.3) else None,
            self._random.choice(["pathology", "imaging", "clinical"]) if self._chance(0.06) else "",
            self._chance(0.06),
            2 if self._chance(0.06) else 1,
            self._random.choice(nodes.KNOWN) if self._chance(0.06) else "",
            "end" if context != "absent" and self._chance(0.06) else "begin",
            self._lasting(event) if context != "absent" and self._chance(0.06) else None,
        )

    def _lasting(self, event: Event) -> nodes.Lasting:
        """Mostly of a length that the event can have had."""
        end = event.day if event.end is None else event.end
        length = max(0, end.midpoint - event.day.midpoint) + self._random.choice([0, 0, 1, 30])
        most = None if self._chance(0.5) else length + self._random.choice([0, 3, 200])
        least = length if most is None else self._random.choice([0, length])
        return nodes.Lasting(max(1, least) if most is None else least, most)

    def _context(self, event: Event) -> str:
        if self._chance(0.05):
            return self._random.choice(nodes.CONTEXTS)
        if event.world > World.NONE and self._chance(0.75):
            return "present"
        admitted = [
            context
            for context in nodes.CONTEXTS
            if _finds(nodes.Events(event.kind, context=context), event) or context == "any"
        ]
        return self._random.choice(admitted)

    def _concepts(self, event: Event) -> nodes.ConceptExpression:
        """Concepts that mostly select the event's."""
        own = [event.concept, *sorted(CONCEPTS.above(event.concept))]
        under = nodes.Under(term(self._random.choice(own)))
        names = [concept for concept in KINDS[event.kind][0] if concept in CONCEPTS]
        other = nodes.Under(term(self._random.choice(names)), self._chance(0.3))
        match self._random.choices(["under", "exact", "union", "other than", "nested"], [6, 2, 2, 3, 1])[0]:
            case "under":
                return under
            case "exact":
                return nodes.Under(term(event.concept), exact=True)
            case "union":
                return nodes.Union((under, other))
            case "other than":
                return nodes.OtherThan(under, other)
        return nodes.OtherThan(nodes.Union((under, nodes.OtherThan(other, under))), other)

    def _window(self, event: Event) -> nodes.Window:
        """Around the event's day, or cutting through what is open of it."""
        middle = event.day.midpoint
        low, high = max(EARLIEST_DAY, event.day.low), min(LATEST_DAY, event.day.high)
        reach = self._random.choice([0, 2, 30, 200])
        one = middle if self._chance(0.5) else self._random.randint(low, high)
        first, last = max(EARLIEST_DAY, one - reach), min(LATEST_DAY, one + self._random.choice([0, 2, reach]))
        shape = self._random.choices(["both", "since", "until", "whole"], [5, 3, 3, 1])[0]
        return nodes.Window(
            first if shape in ("both", "since") else EARLIEST_DAY, last if shape in ("both", "until") else LATEST_DAY
        )

    # --- conditions -------------------------------------------------------------------------------------------------

    def _condition(self, event: Event) -> nodes.Condition:
        """Mostly one that the event satisfies."""
        condition = self._conditions(event, 2)
        for _ in range(3):
            if self._chance(0.2) or _finds(nodes.Events(event.kind, condition=condition, context="any"), event):
                break
            condition = self._conditions(event, 2)
        return condition

    def _conditions(self, event: Event, deepest: int) -> nodes.Condition:
        shape = self._random.choices(["simple", "all", "any", "not"], [6, 1, 1, 1])[0]
        if deepest == 0 or shape == "simple":
            return self._simple(event)
        if shape == "not":
            return nodes.NotThat(self._conditions(event, deepest - 1))
        joined = nodes.AllOf if shape == "all" else nodes.AnyOf
        return joined((self._conditions(event, deepest - 1), self._conditions(event, deepest - 1)))

    def _simple(self, event: Event) -> nodes.Condition:
        attributes = KINDS[event.kind][1]
        attribute = self._random.choice(sorted(attributes))
        values = attributes[attribute]
        own = event.attributes.get(attribute, values[0])
        shape = self._random.choices(["is", "exactly", "compare", "between", "documented"], [3, 2, 4, 2, 1])[0]
        if shape == "documented":
            return nodes.Documented(attribute)
        if attribute == "result" and shape in ("compare", "between") or shape in ("is", "exactly"):
            often = self._random.randint(1, 2)
            drawn = [own if self._chance(0.7) else self._random.choice(values) for _ in range(often)]
            terms = tuple(_value_term(attribute, value) for value in dict.fromkeys(drawn))
            return nodes.Is(attribute, terms, shape == "exactly")
        one, other = (self._bound(own if self._chance(0.6) else self._random.choice(values)) for _ in range(2))
        if shape == "compare":
            return nodes.Compare(attribute, self._random.choice(nodes.OPERATORS), one)
        ordered = SCALES.compare(attribute, one, "<=", other)
        return nodes.Between(attribute, one, other) if ordered else nodes.Between(attribute, other, one)

    def _bound(self, value: Value) -> Value:
        """A number now and then as a query spells it."""
        return f"{value:g}" if not isinstance(value, str) and self._chance(0.3) else value


def _value_term(attribute: str, value: Value) -> nodes.Term:
    if attribute == "result":
        return term(str(value))
    return nodes.Name(value if isinstance(value, str) else f"{value:g}")


def _is_number(event: Event, name: str) -> bool:
    return isinstance(event.attributes.get(name), float)


def _moved(told: Sequence[Event]) -> list[tuple[Event, Event, str]]:
    """Two events of one kind and concept, the later of which has another number in the attribute."""
    return [
        (one, other, name)
        for one, other in itertools.permutations([one for one in told if one.world > World.NONE], 2)
        if (one.kind, one.concept) == (other.kind, other.concept) and one.day.midpoint < other.day.midpoint
        for name in sorted(one.attributes)
        if _is_number(one, name) and _is_number(other, name) and one.attributes[name] != other.attributes[name]
    ]


def _finds(events: nodes.Events, event: Event) -> bool:
    """Whether the event set has the event, as far as something may be so."""
    record = Journey(event.patient_id, events=(event,))
    return reference.matches(nodes.Query(nodes.Exists(events)), record, CONCEPTS, SCALES, World.POSSIBLE)


# --- what a query contains --------------------------------------------------------------------------------------------


def walk(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every node of a tree with the nodes above it, the outermost first. A definition stands where it is written."""
    if type(node).__name__ in NODE_CLASSES:
        yield node, above
        above = (*above, node)
        for field in dataclasses.fields(node):
            yield from walk(getattr(node, field.name), above)
    elif isinstance(node, tuple):
        for part in node:
            yield from walk(part, above)


def features(asked: nodes.Query) -> frozenset[str]:
    """What the query contains, each as ``what: which`` (``node: And``, ``pick: first``)."""
    found: set[str] = set()
    for node, above in walk(asked):
        found.add(f"node: {type(node).__name__}")
        found.update(f"{what}: {which}" for what, which in _details(node))
        scopes = [type(outer).__name__ for outer in above if isinstance(outer, _SCOPES)]
        if isinstance(node, _SCOPES) and scopes:
            found.add(f"nesting: {scopes[-1]} > {type(node).__name__}")
        if scopes and isinstance(node, nodes.Defined | nodes.Not | nodes.Except | nodes.Ordered):
            found.add(f"inside: {scopes[-1]} > {type(node).__name__}")
        if scopes and isinstance(node, nodes.Pick) and node.how != "any":
            found.add(f"inside: {scopes[-1]} > {node.how}")
    return frozenset(found)


def _details(node: Any) -> Iterator[tuple[str, str]]:
    match node:
        case nodes.Pick(how, n):
            yield "pick", f"{how} {n}" if how == "nth" else how
        case nodes.Events(kind=kind, context=context, moment=moment):
            yield "context", context
            yield "moment", moment
            yield "kind", "none" if kind is None else kind
        case nodes.Compare(_, operator, _):
            yield "operator", operator
        case nodes.Under(exact=True) | nodes.Is(exact=True):
            yield "exactly", type(node).__name__
        case nodes.Window(low, high):
            ends = {(True, True): "whole", (True, False): "until", (False, True): "since", (False, False): "both"}
            yield "window", ends[low == EARLIEST_DAY, high == LATEST_DAY]
        case nodes.Times(_, _, by):
            yield "times", by
        case nodes.Lacking(how, _):
            yield "lacking", how
        case nodes.Repeated(relation=relation):
            yield "repeated", relation
        case nodes.Change(way=way, relative=relative, maximum=maximum, during=during):
            yield "change", f"{way} by a part" if relative else way
            yield "change", "at any time" if maximum is None else "in a time"
            if during is not None:
                yield "change", "during"
        case nodes.Total(operator=operator):
            yield "total", operator
        case nodes.Ordered(left, relation, right, minimum, maximum):
            least = "min" if minimum > (0 if relation == "within" else 1) else ""
            yield "relation", " ".join(filter(None, (relation, least, "" if maximum is None else "max")))
            if node.different:
                yield "relation", f"{relation} another"
            if node.without is not None:
                yield "relation", f"{relation} without"
            if left.pick.how != "any" or right.pick.how != "any":
                yield "relation of a pick", relation
        case nodes.AtLeast(n, parts):
            yield "at least", "all" if n == len(parts) else "one" if n == 1 else "some"


def wanted() -> frozenset[str]:
    """The features that queries in sufficient number have: every node class, pick, context, operator and so on."""
    expected = {f"node: {name}" for name in NODE_CLASSES}
    expected |= {f"pick: {how}" for how in nodes.PICKS if how != "nth"} | {f"pick: nth {n}" for n in (1, 2, 3)}
    expected |= {f"context: {context}" for context in nodes.CONTEXTS}
    expected |= {f"moment: {moment}" for moment in nodes.MOMENTS}
    expected |= {f"operator: {operator}" for operator in nodes.OPERATORS}
    expected |= {f"kind: {kind}" for kind in (*KINDS, "none")}
    expected |= {f"window: {shape}" for shape in ("both", "since", "until", "whole")}
    expected |= {"exactly: Under", "exactly: Is", "at least: one", "at least: some", "at least: all"}
    expected |= {f"times: {by}" for by in nodes.COUNTED} | {f"lacking: {how}" for how in nodes.ABSENCES}
    expected |= {f"repeated: {relation}" for relation in nodes.COUNTED_BESIDE}
    expected |= {f"change: {way}{part}" for way in nodes.WAYS for part in ("", " by a part")}
    expected |= {"change: at any time", "change: in a time", "change: during"}
    expected |= {f"total: {operator}" for operator in nodes.OPERATORS if operator != "!="}
    expected |= {f"relation: {relation} another" for relation in nodes.RELATIONS}
    expected |= {f"relation: {relation} without" for relation in nodes.GAP_RELATIONS}
    expected |= {f"relation: {relation}" for relation in nodes.RELATIONS if relation not in nodes.GAP_RELATIONS}
    for relation in nodes.GAP_RELATIONS:
        bounds = ("max", "min max") if relation == "within" else ("", "min", "max", "min max")
        expected |= {f"relation: {relation} {bound}".rstrip() for bound in bounds} | {f"relation of a pick: {relation}"}
    for outer, inner in itertools.product(("SameTumor", "SameEvent"), repeat=2):
        expected.add(f"nesting: {outer} > {inner}")
    for outer in ("SameTumor", "SameEvent"):
        inner_ones = ("Defined", "Not", "Except", "Ordered", *nodes.PICKS[1:])
        expected |= {f"inside: {outer} > {inner}" for inner in inner_ones}
    return frozenset(expected)
