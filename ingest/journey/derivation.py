"""Facts that follow from facts: the rows of rules are applied to one patient's events, level by level.

A derived event names its rule, edition and premises, cites the words of its premises, and is as open as they are. What
a note states in words is never derived again. Silence is no premise: what no note speaks of leaves a rule unfired.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from ...kb.derivation.rules import (
    EDITION,
    PREMISES,
    RESECTION,
    RULE,
    SYSTEMS,
    Conclusion,
    Premise,
    Rule,
    Test,
    editions_named,
    in_force,
    in_use,
    shipped_editions,
    shipped_rules,
)
from ...kb.kinds import OF_SPECIMENS, OPERATIONS
from ...kb.model import (
    ALL_TUMORS,
    NO_TUMOR,
    Context,
    Event,
    Experiencer,
    Polarity,
    Value,
    World,
)
from ...kb.note_classes import PATHOLOGY
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ..note.read import ReadNote
from ..recognizers.tumor_features import SUMMARY
from ..text.specimens import tells_of_excision
from .bench import Workbench
from .tumors import NEAR_IN_TIME

#: The kinds of which only the greatest that is told counts: the size of a tumor, the nodes of all stations together.
_GREATEST: Final = {"feature": ("value",), "node": ("positive", "examined")}
#: What is settled when a tumor is found: it follows from what is told then alone, and from nothing once it is stated.
_ONCE: Final = frozenset({"m", "stage"})
#: What is told of the tumor only where it was cut out.
_OF_EXCISIONS: Final = frozenset({"resection_margin", "circumferential_margin"})
#: The rank of a level that nothing can reach: rules would depend on their own denial.
_TOO_DEEP: Final = 12


def derive(bench: Workbench) -> None:
    """Adds what follows by the shipped rules to the events of a patient."""
    bench.events += Derivation(bench).derived()


@dataclass(slots=True)
class _Case:
    """What rules are applied to: one tumor (or the patient) within one stretch of time."""

    tumor: str
    events: tuple[Event, ...]
    #: All that is told of the tumor, whenever.
    of_tumor: tuple[Event, ...]
    #: Edition -> whether it is the one that is believed; those that are merely possible are False.
    editions: Mapping[int, bool]
    #: Those of this time by themselves, which tell what was cut out.
    stretch: tuple[Event, ...]
    #: What was found of a premise before: many rules share it.
    held: dict[tuple[int, str], Event | None] = field(default_factory=dict)
    #: Ids of the events that a report of a resection tells, when they were asked for.
    resected: frozenset[str] | None = None
    by_kind: dict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for event in self.events:
            self.by_kind[event.kind].append(event)


@dataclass(slots=True)
class _Fired:
    """A rule that fired: with what, and in which world."""

    rule: Rule
    premises: tuple[Event, ...]
    world: World
    editions: set[int] = field(default_factory=set)


class Derivation:
    """The rules, applied to the events of one bench."""

    def __init__(self, bench: Workbench, *, also_stated: bool = False) -> None:
        """``also_stated``: what the notes state is derived as well (to compare the two)."""
        self._bench = bench
        self._concepts = bench.concepts
        self._scales = _scales()
        self._also_stated = also_stated
        self._named_in: dict[int, frozenset[int]] = {}
        self._note_of = {mention.mention_id: read for read in bench.notes for mention in read.mentions}

    def derived(self) -> list[Event]:
        """The events that follow."""
        known = [event for event in bench_events(self._bench) if event.context.experiencer is Experiencer.PATIENT]
        found: list[Event] = []
        for number in range(len(levels())):
            new = [event for case in self._cases([*known, *found]) for event in self._of_case(case, number)]
            found += {event.event_id: event for event in new}.values()
        return found

    # --- what belongs together --------------------------------------------------------------------------------------

    def _cases(self, events: Sequence[Event]) -> Iterator[_Case]:
        tumors = dict.fromkeys(event.tumor for event in events if event.tumor not in (NO_TUMOR, ALL_TUMORS))
        of_all = [event for event in events if event.tumor == ALL_TUMORS]
        for tumor in tumors:
            own = [event for event in events if event.tumor == tumor]
            yield from self._in_time(tumor, own, of_all)
        yield from self._in_time(ALL_TUMORS, list(events), [])

    def _in_time(self, tumor: str, own: Sequence[Event], beside: Sequence[Event]) -> Iterator[_Case]:
        """The events of one tumor, taken apart where nothing is told for a while; diagnoses belong to each part."""
        roots = [event for event in own if event.kind == "diagnosis"]
        rest = sorted((event for event in own if event.kind != "diagnosis"), key=lambda event: event.day.midpoint)
        if not rest:
            rest = [roots[0]] if roots else []
        stretches: list[list[Event]] = []
        for event in rest:
            if stretches and event.day.midpoint - stretches[-1][-1].day.midpoint <= NEAR_IN_TIME:
                stretches[-1].append(event)
            else:
                stretches.append([event])
        for stretch in stretches:
            events = tuple({event.event_id: event for event in (*roots, *stretch, *beside)}.values())
            yield _Case(tumor, events, tuple(own), self._editions(stretch), tuple(stretch))

    def _notes(self, events: Iterable[Event]) -> list[ReadNote]:
        found = {id(self._note_of[one]): self._note_of[one] for event in events for one in event.evidence}
        return list(found.values())

    def _editions(self, events: Sequence[Event]) -> Mapping[int, bool]:
        """Those that the words name, else the one in force on the day, and those still in use, which stay open."""
        stated = set().union(*map(self._editions_named, self._notes(events)))
        if stated:
            return {edition: len(stated) == 1 for edition in stated}
        days = [event.day for event in events if event.day.known]
        if not days:
            return {one.number: False for one in shipped_editions()}
        day = max(one.midpoint for one in days)
        believed = in_force(day)
        return {edition: edition == believed for edition in in_use(day)}

    def _editions_named(self, read: ReadNote) -> frozenset[int]:
        named = self._named_in.get(id(read))
        if named is None:
            named = editions_named(read.note.text)
            self._named_in[id(read)] = named
        return named

    def _of_resections(self, case: _Case) -> frozenset[str]:
        """The events that a report of pathology of an operation tells: a biopsy shows a part of the tumor. What has
        margins was cut out, whatever the operation is called."""
        if case.resected is None:
            operated = {
                id(self._note_of[one])
                for event in case.stretch
                if event.kind in OPERATIONS and self._is_operation(event) or event.concept in _OF_EXCISIONS
                for one in event.evidence
            }
            case.resected = frozenset(
                event.event_id
                for event in case.stretch
                if any(self._tells_of_resection(self._note_of[one], operated) for one in event.evidence)
            )
        return case.resected

    def _tells_of_resection(self, read: ReadNote, operated: Set[int]) -> bool:
        if read.document_class != PATHOLOGY:
            return False
        return id(read) in operated or tells_of_excision(read.note.text)

    def _is_counted(self, event: Event) -> bool:
        """Whether it is a count of nodes in a report of pathology: they were taken out, whatever the operation."""
        return "examined" in event.attributes and any(
            self._note_of[one].document_class == PATHOLOGY for one in event.evidence
        )

    def _is_operation(self, event: Event) -> bool:
        return "surgery" in self._concepts and self._concepts.is_a(event.concept, "surgery")

    # --- rules on one case ------------------------------------------------------------------------------------------

    def _of_case(self, case: _Case, level: int) -> Iterator[Event]:
        about = None
        if case.tumor != ALL_TUMORS:
            roots = [event.concept for event in case.by_kind["diagnosis"] if event.world >= World.BELIEVED]
            about = frozenset(roots)
        fired: dict[tuple[str, str, str], list[_Fired]] = defaultdict(list)
        for needed, rules in _rules_about(level, self._concepts, about):
            if not needed <= case.by_kind.keys():
                continue
            for rule in rules:
                editions = [one for one in case.editions if not rule.editions or one in rule.editions]
                if rule.editions and not editions and not _is_of_roots(rule.when):
                    continue
                one = self._fire(rule, case)
                if one is not None and not self._is_stated(rule.gives, case):
                    one.editions.update(editions if rule.editions else ())
                    fired[rule.gives.about].append(one)
        for found in fired.values():
            of_roots = [premise for one in found for premise in one.premises]
            allowed = case.editions
            if _is_of_roots(of_roots) and any(one.rule.editions for one in found):
                # What a diagnosis alone gives is of its own time, whatever else is told of the tumor, and when.
                allowed = self._editions(of_roots)
                for one in found:
                    one.editions = {edition for edition in allowed if edition in one.rule.editions}
            fitting = [one for one in found if one.editions or not one.rule.editions]
            yield from self._concluded(fitting, case, allowed)

    def _fire(self, rule: Rule, case: _Case) -> _Fired | None:
        premises: list[Event] = []
        world = World.CERTAIN
        for premise in rule.when:
            found = self._holding(premise, case, rule.source)
            if found is None:
                return None
            premises.append(found)
            world = min(world, World.CERTAIN if premise.denied else found.world)
        for premise in rule.unless:
            against = self._holding(premise, case, "")
            if against is not None:
                if premise.denied or against.world >= World.BELIEVED:
                    return None
                world = min(world, World.BELIEVED)
        for premise in rule.open:
            found = self._holding(premise, case, "")
            if found is not None:
                premises.append(found)
            elif self._is_told_otherwise(premise, case):
                return None
            else:
                world = min(world, World.BELIEVED)
        late = rule.gives.about[1] in _ONCE and not self._is_at_diagnosis(premises, case)
        return None if late or world is World.NONE else _Fired(rule, tuple(premises), world)

    def _is_at_diagnosis(self, premises: Sequence[Event], case: _Case) -> bool:
        """Whether something is told when the tumor was found: what spreads later changes no stage."""
        found = [event.day for event in case.of_tumor if event.kind == "diagnosis" and event.world >= World.BELIEVED]
        if not found:
            return True
        first = min(day.midpoint for day in found)
        return all(event.day.midpoint - first <= NEAR_IN_TIME for event in premises if event.kind != "diagnosis")

    def _holding(self, premise: Premise, case: _Case, source: str) -> Event | None:
        """The event that a premise holds by, the surest there is."""
        key = (id(premise), source)
        if key not in case.held:
            case.held[key] = self._sought(premise, case, source)
        return case.held[key]

    def _sought(self, premise: Premise, case: _Case, source: str) -> Event | None:
        told = case.by_kind.get(premise.kind, [])
        if source == RESECTION and premise.kind in OF_SPECIMENS:
            told = [event for event in told if event.event_id in self._of_resections(case) or self._is_counted(event)]
        if premise.denied:
            return self._denial(premise, told)
        of_it = [event for event in told if event.world > World.NONE and self._is_of(event, premise)]
        if premise.kind in _GREATEST and any(test.attribute in _GREATEST[premise.kind] for test in premise.tests):
            of_it = _greatest(of_it, _GREATEST[premise.kind])
        holding = [event for event in of_it if all(self._agrees(event, *_of(test)) for test in premise.tests)]
        if premise.kind == "extension" and not any(test.attribute == "reach" for test in premise.tests):
            holding = [event for event in holding if event.attributes.get("reach") != "confined"]
        return max(holding, key=lambda event: (event.world, event.event_id), default=None)

    def _denial(self, premise: Premise, told: Sequence[Event]) -> Event | None:
        """A note says that there is none of it: of the thing or of one above it, and none is told of."""
        absent = [
            event
            for event in told
            if event.context.polarity is Polarity.ABSENT
            and event.context.experiencer is Experiencer.PATIENT
            and self._denies(event, premise)
        ]
        present = any(
            event.world >= World.BELIEVED and self._is_of(event, premise)
            for event in told
            if event.attributes.get("reach") != "confined"
        )
        return None if present else max(absent, key=lambda event: event.event_id, default=None)

    def _denies(self, event: Event, premise: Premise) -> bool:
        """Whether what an event denies is the thing of a premise, or one above it; of a part also one below."""
        if not premise.concept or not event.concept or self._concepts.is_a(premise.concept, event.concept):
            return True
        return premise.part and self._is_of(event, premise)

    def _is_told_otherwise(self, premise: Premise, case: _Case) -> bool:
        """Whether an event speaks of what an open premise is about."""
        names = [test.attribute for test in premise.tests]
        told = [event for event in case.events if event.kind == premise.kind and self._is_of(event, premise)]
        return any(event.world >= World.BELIEVED and all(_says(event, name) for name in names) for event in told)

    def _is_of(self, event: Event, premise: Premise) -> bool:
        return not premise.concept or (
            event.concept in self._concepts and self._concepts.is_a(event.concept, premise.concept)
        )

    def _agrees(self, event: Event, name: str, operator: str, bound: Value) -> bool:
        """Whether an attribute's value is as a premise asks: on its scale, as a number, or at or below a concept."""
        value, concepts, scales = event.attributes.get(name), self._concepts, self._scales
        if value is None:
            return False
        if operator in ("=", "!=") and isinstance(value, str) and isinstance(bound, str):
            same = value == bound or (value in concepts and bound in concepts and concepts.is_a(value, bound))
            if same or "+" in bound:
                return same == (operator == "=")
        if scales.span(name, value) is not None and scales.span(name, bound) is not None:
            return scales.compare(name, value, operator, bound)
        if isinstance(value, str) or isinstance(bound, str):
            return operator == "!=" and value != bound
        return _NUMERIC[operator](float(value), float(bound))

    def _is_stated(self, gives: Conclusion, case: _Case) -> bool:
        """Whether a note says in words what a rule would conclude, or something else of the same matter."""
        if self._also_stated:
            return False
        kind, matter, system = gives.about
        for event in case.of_tumor if matter in _ONCE else case.events:
            if event.kind != kind or RULE in event.attributes or event.world < World.BELIEVED:
                continue
            if matter in gives.attributes:
                if system and any(str(event.attributes.get(name, system)) != system for name in SYSTEMS):
                    continue
                clinical = str(event.attributes.get("prefix", "")) == "c"
                if _says(event, matter) and not (clinical and kind == "tnm"):
                    return True
            elif event.concept == gives.concept and not gives.attributes.keys() - event.attributes.keys():
                return True
        return False

    # --- what they conclude -----------------------------------------------------------------------------------------

    def _concluded(self, fired: Sequence[_Fired], case: _Case, allowed: Mapping[int, bool]) -> Iterator[Event]:
        """The highest category of each edition; where editions differ, those not believed stay possible."""
        best: dict[int, _Fired] = {}
        plain = [one for one in fired if not one.editions]
        for edition in allowed:
            of_it = [one for one in fired if edition in one.editions]
            if of_it:
                best[edition] = max(of_it, key=self._rank)
        by_category: dict[str, list[int]] = defaultdict(list)
        for edition, one in best.items():
            by_category[_category(one.rule.gives)].append(edition)
        for editions in by_category.values():
            believed = [edition for edition in editions if allowed[edition]]
            edition = (believed or sorted(editions, reverse=True))[0]
            one = best[edition]
            world = one.world
            if len(by_category) > 1 or len(best) < len(allowed):
                world = min(world, World.BELIEVED if believed else World.POSSIBLE)
            yield self._event(one, case, world, edition)
        for _, same in itertools.groupby(
            sorted(plain, key=lambda one: _category(one.rule.gives)), key=lambda one: _category(one.rule.gives)
        ):
            one = max(same, key=lambda one: (one.world, one.rule.id))
            yield self._event(one, case, one.world, None)

    def _rank(self, one: _Fired) -> tuple[int, int, str]:
        _, matter, _ = one.rule.gives.about
        value = one.rule.gives.attributes.get(matter)
        span = self._scales.span(matter, value) if value is not None else None
        return (span[0] if span else 0, int(one.world), one.rule.id)

    def _event(self, one: _Fired, case: _Case, world: World, edition: int | None) -> Event:
        gives, premises = one.rule.gives, tuple({event.event_id: event for event in one.premises}.values())
        attributes: dict[str, Value] = dict(gives.attributes)
        if one.rule.source == RESECTION and gives.kind == "tnm":
            attributes["prefix"] = "p"
        attributes[RULE] = one.rule.id
        if edition is not None:
            attributes[EDITION] = float(edition)
        attributes[PREMISES] = " ".join(sorted(event.event_id for event in premises))
        latest = max(premises, key=lambda event: (event.day.low, event.event_id))
        evidence = tuple(dict.fromkeys(mention for event in premises for mention in event.evidence))
        tumor = case.tumor
        return Event(
            self._bench.patient_id,
            gives.kind,
            gives.concept,
            latest.day,
            None,
            attributes,
            Context(),
            world,
            tumor,
            1 if tumor != NO_TUMOR else 5,
            evidence,
            max(1, min(event.sources for event in premises)),
            latest.anchors,
            min(event.confidence for event in premises),
        )


def _is_of_roots(premises: Sequence[Premise] | Sequence[Event]) -> bool:
    """Whether they are diagnoses alone."""
    return all(premise.kind == "diagnosis" for premise in premises)


def bench_events(bench: Workbench) -> list[Event]:
    """The events of a bench, each once."""
    return list({event.event_id: event for event in bench.events}.values())


_NUMERIC: Final = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _of(test: Test) -> tuple[str, str, Value]:
    return test.attribute, test.operator, test.value


def _says(event: Event, name: str) -> bool:
    """Whether an event tells a category: *TX* tells none."""
    value = str(event.attributes.get(name, ""))
    return bool(value) and not value.upper().endswith("X")


def _greatest(events: Sequence[Event], names: Sequence[str]) -> list[Event]:
    """Those of the greatest value; of what has none of the values, nothing."""
    told = [event for event in events if names[0] in event.attributes]
    # What a form or a final diagnosis sums up goes before what was measured on the way.
    told = [event for event in told if event.attributes.get("which") == SUMMARY] or told
    values = {id(event): tuple(_number(event.attributes.get(name)) for name in names) for event in told}
    highest = max(values.values(), default=None)
    return [event for event in told if values[id(event)] == highest]


def _number(value: Value | None) -> float:
    return value if isinstance(value, float | int) else -1.0


def _category(gives: Conclusion) -> str:
    """A conclusion as text: what two rules agree on."""
    return str((gives.kind, gives.concept, sorted(gives.attributes.items())))


@functools.lru_cache(maxsize=4096)
def _rules_about(
    level: int, concepts: ConceptTable, diagnoses: frozenset[str] | None
) -> tuple[tuple[frozenset[str], tuple[Rule, ...]], ...]:
    """The rules of a level that are about a tumor with these diagnoses (None: about a patient), by needed kinds."""
    above = [concepts.at_or_above(one) for one in diagnoses or () if one in concepts]

    def fits(rule: Rule) -> bool:
        if diagnoses is None or rule.of_patient:
            return rule.of_patient and diagnoses is None
        return any(not some.isdisjoint(rule.of) and some.isdisjoint(rule.but) for some in above)

    fitting = ((needed, tuple(filter(fits, rules))) for needed, rules in levels()[level].items())
    return tuple((needed, rules) for needed, rules in fitting if rules)


@functools.lru_cache(maxsize=1)
def _scales() -> Scales:
    return Scales.from_files()


#: Rules of one level by the kinds of event without which they cannot fire.
_Level = Mapping[frozenset[str], tuple[Rule, ...]]


@functools.lru_cache(maxsize=1)
def levels() -> tuple[_Level, ...]:
    """The shipped rules, level by level: what a rule builds on, or must not find, is concluded on a lower one."""
    return stratified(list(shipped_rules().values()))


def stratified(rules: Sequence[Rule]) -> tuple[_Level, ...]:
    """The levels of some rules; ValueError where they build on each other in a circle."""
    groups: dict[tuple[str, str, str], list[Rule]] = defaultdict(list)
    for rule in rules:
        groups[rule.gives.about].append(rule)
    builds_on = {
        about: {
            other
            for rule in same
            for premise in (*rule.when, *rule.unless, *rule.open)
            for other in groups
            if _may_hold_by(premise, other)
        }
        for about, same in groups.items()
    }
    level = dict.fromkeys(groups, 0)
    for _ in range(_TOO_DEEP):
        raised = {about: 1 + max((level[one] for one in on), default=-1) for about, on in builds_on.items()}
        if raised == level:
            break
        level = raised
    else:
        raise ValueError("the rules build on each other in a circle")
    found = []
    for number in sorted(set(level.values())):
        by_kinds: dict[frozenset[str], list[Rule]] = defaultdict(list)
        for about, same in groups.items():
            if level[about] == number:
                for rule in same:
                    by_kinds[frozenset(premise.kind for premise in rule.when)].append(rule)
        found.append({kinds: tuple(some) for kinds, some in by_kinds.items()})
    return tuple(found)


def _may_hold_by(premise: Premise, about: tuple[str, str, str]) -> bool:
    kind, matter, system = about
    tested = {test.attribute: test.value for test in premise.tests}
    if premise.kind != kind or any(tested.get(name, system) != system for name in SYSTEMS):
        return False
    return (
        not tested or matter in tested
        if matter in ("t", "n", "m", "stage", "grade")
        else (not premise.concept or premise.concept == matter)
    )
