"""The plan of a query: its criteria as numbered steps, each distinct one once, rewritten as they are added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.deadline import check, too_much
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from ...query_lang.tree import decided_by, event_sets, fold

#: Deeper plans are refused, as the parser refuses deeper texts: evaluation and rendering recurse.
DEEPEST_PLAN: Final = 200
#: So many parts in all steps together: some hundred megabytes. The longest chain of definitions that flatten into each
#: other, each of which is then as wide as all before it, comes to half of that.
MOST_PARTS: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Atom:
    """Patients with an event of the set."""

    events: nodes.Events


@dataclass(frozen=True, slots=True)
class Related:
    """Patients whose events lie to each other as a leaf of the tree asks."""

    node: nodes.EventCriterion


@dataclass(frozen=True, slots=True)
class Listed:
    """The patients with these ids."""

    patients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """Patients with a tumor (``how`` is tumor), or ``least`` of them, or an event (``how`` is event) of which the step
    ``body`` holds."""

    how: str
    body: int
    least: int = 1


@dataclass(frozen=True, slots=True)
class Every:
    """Patients in all of the steps."""

    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Patients in any of the steps."""

    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Complement:
    """Patients not in the step."""

    part: int


@dataclass(frozen=True, slots=True)
class Count:
    """Patients in at least ``n`` of the steps; a step that is listed twice counts twice."""

    n: int
    parts: tuple[int, ...]


Step = Atom | Related | Listed | Scope | Every | Either | Complement | Count
Rule = Callable[[Step, "Plan"], Step]


class Plan:
    """Steps by number. Equal steps get one number, so that a criterion that occurs twice is evaluated once."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        """``rules`` are applied, in order, to each step when it is added, its parts being rewritten already."""
        self.steps: list[Step] = []
        self._rules = tuple(rules)
        self._numbers: dict[Step, int] = {}
        self._depths: list[int] = []
        self._parts = 0
        #: Of each step: 0 bitmaps alone, 1 events, 2 events and others, 3 a scope.
        self.costs: list[int] = []

    def add(self, step: Step) -> int:
        """The number of the step, rewritten. QueryTreeError if it stands too deep, DeadlineExceeded if there are too
        many."""
        check()
        for rule in self._rules:
            step = rule(step, self)
        number = self._numbers.get(step)
        if number is None:
            depth = 1 + max((self._depths[part] for part in parts_of(step)), default=0)
            if depth > DEEPEST_PLAN:
                raise QueryTreeError(
                    f"criteria are nested more than {DEEPEST_PLAN} deep. Hint: list alternatives side by side"
                )
            self._parts += len(parts_of(step))
            if self._parts > MOST_PARTS:
                raise too_much(
                    f"its plan has more than {MOST_PARTS:,} parts. Hint: name a concept or a set above the alternatives"
                )
            number = self._numbers[step] = len(self.steps)
            self.steps.append(step)
            self._depths.append(depth)
            self.costs.append(max([_own_cost(step), *(self.costs[part] for part in parts_of(step))]))
        return number

    def add_tree(self, root: nodes.PatientExpression, defined: Mapping[str, int]) -> int:
        """The number of the step that stands for a tree; ``defined`` are the steps of the definitions before it."""

        def number(node: nodes.PatientExpression, parts: tuple[int, ...]) -> int:
            if node.expansion is not None:
                return parts[0]
            if not isinstance(node, nodes.Defined):
                return self.add(_step(node, parts))
            if node.name not in defined:
                raise QueryTreeError(f"no definition before this place is called {node.name!r}")
            return defined[node.name]

        return fold(root, number, decided_by)


def planned(query: nodes.Query, rules: Sequence[Rule] = ()) -> tuple[Plan, int]:
    """The plan of a query and the number of its last step."""
    plan = Plan(rules)
    defined: dict[str, int] = {}
    for definition in query.definitions:
        defined[definition.name] = plan.add_tree(definition.body, defined)
    return plan, plan.add_tree(query.body, defined)


def parts_of(step: Step) -> tuple[int, ...]:
    """The numbers of the steps that a step is made of."""
    match step:
        case Every(parts) | Either(parts) | Count(_, parts):
            return parts
        case Complement(part) | Scope(_, part):
            return (part,)
    return ()


def steps_below(plan: Plan, number: int) -> Iterator[Step]:
    """The step and all that it is made of, each once."""
    seen, waiting = {number}, [number]
    while waiting:
        step = plan.steps[waiting.pop()]
        yield step
        fresh = set(parts_of(step)) - seen
        seen |= fresh
        waiting.extend(fresh)


def shared_steps(plan: Plan) -> frozenset[int]:
    """The numbers of the steps that more than one step is made of."""
    seen: set[int] = set()
    shared: set[int] = set()
    for step in plan.steps:
        for part in parts_of(step):
            (shared if part in seen else seen).add(part)
    return frozenset(shared)


def atoms_below(plan: Plan, number: int) -> tuple[nodes.Events, ...]:
    """The event sets that a step looks at, each distinct one once."""
    found: dict[nodes.Events, None] = {}
    for step in steps_below(plan, number):
        if isinstance(step, Atom):
            found[step.events] = None
        elif isinstance(step, Related):
            found.update(dict.fromkeys(_looked_at(step.node)))
    return tuple(found)


def _looked_at(node: nodes.EventCriterion) -> Iterator[nodes.Events]:
    """The event sets of a criterion, and those that it looks at besides."""
    yield from event_sets(node)
    match node:
        case nodes.AgeAt():
            yield nodes.Events("birth")
        case nodes.Ongoing():
            yield nodes.Events("death")
        case nodes.Times(_, events, "lines"):
            yield replace(events, condition=nodes.Documented("line"))
        case nodes.Lacking(_, events):
            yield replace(events, context="absent")


def is_plain(events: nodes.Events) -> bool:
    """Whether kind, concept and a context that lists know say all, so that posting lists answer."""
    return events.context in ("present", "any") and events == nodes.Events(
        events.kind, events.concept, context=events.context
    )


def _own_cost(step: Step) -> int:
    match step:
        case Atom(events):
            return 0 if is_plain(events) else 1
        case Related():
            return 2
        case Scope():
            return 3
    return 0


def _step(node: nodes.PatientExpression, parts: tuple[int, ...]) -> Step:
    match node:
        case nodes.Exists(events):
            return Atom(events)
        case nodes.Among(patients):
            return Listed(patients)
        case nodes.And():
            return Every(parts)
        case nodes.Or():
            return Either(parts)
        case nodes.Not():
            return Complement(*parts)
        case nodes.AtLeast(n, _):
            return Count(n, parts)
        case nodes.SameTumor(_, least):
            return Scope("tumor", parts[0], least)
        case nodes.SameEvent():
            return Scope("event", *parts)
    if isinstance(node, nodes.EventCriterion):
        return Related(node)
    raise QueryTreeError(f"{type(node).__name__} is no patient expression")
