"""The effect of each criterion of a query: how many remain, how many it removes, whom dropping it would regain.

All counts come from one plan, in which a criterion is evaluated once in each world, and the costly ones only for those
who can still matter: who is left by the criteria before it, and who has failed one criterion at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pyroaring import BitMap

from ...kb.deadline import check
from ...kb.model import World
from ...kb.skin.terminal import count_text
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.boolean_form import boolean_form
from ..fast.evaluate import evaluate
from ..fast.plan import Complement, Every, Scope
from ..fast.repeats import matters
from ..fast.shared_plan import SharedPlan
from .query_text import ROOT, Path, QueryText

WORLDS: Final = (World.BELIEVED, World.CERTAIN, World.POSSIBLE)
#: How the table says what the criteria do together, by shape.
_HEADINGS: Final = {
    "every": ("remain", "removes", "gain"),
    "any": ("found", "adds", "loss"),
    "some": ("found", "adds", "loss"),
}
_BAR: Final = 20


class Counts(NamedTuple):
    """Patients: believed, certain, possible."""

    believed: int
    certain: int
    possible: int


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """One criterion, at ``start`` to ``end`` of the rendered query; ``excluded``: it must not hold.

    Where all must hold: ``remain`` after it and those before it, ``changes`` are the believed patients whom it
    removes of those who were left, ``alone`` those whom dropping it alone would regain (and only those: under *not*
    nothing else changes). Where one is enough: those found by it and those before it, whom it adds, whom dropping it
    alone would lose. ``changes_by_world`` and ``alone_by_world`` say the same of the other two worlds too.
    """

    text: str
    start: int
    end: int
    excluded: bool
    remain: Counts
    changes_by_world: Counts
    alone_by_world: Counts

    @property
    def changes(self) -> int:
        """Believed patients whom the criterion removes, or adds."""
        return self.changes_by_world.believed

    @property
    def alone(self) -> int:
        """Believed patients whom dropping it alone would regain, or lose."""
        return self.alone_by_world.believed


@dataclass(frozen=True, slots=True)
class Funnel:
    """The criteria of a query in the order of the text. ``shape``: *every* must hold, *any* is enough, or *some* (at
    least n of them). ``everybody`` is how many patients there are, ``answer`` how many the query finds."""

    query: str
    shape: str
    everybody: int
    answer: Counts
    rows: tuple[FunnelRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; ``remain`` and ``answer`` by world, ``gain`` or ``loss`` by the shape."""
        first, second, third = _HEADINGS[self.shape]
        return {
            "query": self.query,
            "shape": self.shape,
            "patients": self.everybody,
            "answer": self.answer._asdict(),
            "criteria": [
                {
                    "criterion": row.text,
                    "start": row.start,
                    "end": row.end,
                    "excluded": row.excluded,
                    first: row.remain._asdict(),
                    second: row.changes,
                    third: row.alone,
                    f"{second}_by_world": row.changes_by_world._asdict(),
                    f"{third}_by_world": row.alone_by_world._asdict(),
                }
                for row in self.rows
            ],
        }

    def table(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        """Heading and rows for people, with a bar as long as the share of patients."""
        first, second, third = _HEADINGS[self.shape]
        rows: list[tuple[object, ...]] = []
        if self.shape == "every":
            rows.append((self.everybody, self._bar(self.everybody), "", "", "every patient"))
        for row in self.rows:
            text = f"not {row.text}" if row.excluded else row.text
            rows.append((count_text(*row.remain), self._bar(row.remain.believed), row.changes, row.alone, text))
        return (first, "", second, third, "criterion"), rows

    def sheet(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        """Heading and rows of the attrition table: each count in the three worlds, in a column of its own."""
        worlds = Counts._fields
        columns = tuple(f"{heading}_{world}" for heading in _HEADINGS[self.shape] for world in worlds)
        rows: list[tuple[object, ...]] = []
        if self.shape == "every":
            rows.append(("every patient", "no", *(self.everybody,) * len(worlds), *("",) * (2 * len(worlds))))
        for row in self.rows:
            counts = (*row.remain, *row.changes_by_world, *row.alone_by_world)
            rows.append((row.text, "yes" if row.excluded else "no", *counts))
        return ("criterion", "excluded", *columns), rows

    def _bar(self, number: int) -> str:
        return "█" * round(_BAR * number / self.everybody) if self.everybody else ""


class _Criterion(NamedTuple):
    node: nodes.PatientExpression
    path: Path
    excluded: bool


def funnel(query: nodes.Query, kb: KnowledgeBase) -> Funnel:
    """The funnel of a resolved query."""
    text = QueryText(query)
    bodies = {definition.name: definition.body for definition in query.definitions}
    shape, n, criteria, scopes = _shape(query.body, bodies)
    plan = SharedPlan(kb)
    defined = plan.defined(query.definitions)
    steps = []
    for criterion in criteria:
        step = plan.plan.add_tree(criterion.node, defined)
        steps.append(plan.plan.add(Complement(step)) if criterion.excluded else step)
    counted: dict[World, list[tuple[int, int, int]]] = {}
    answers = {}
    for world in WORLDS:
        if scopes:
            counted[world], answers[world] = _in_scopes(plan, steps, scopes, world)
        elif shape == "every":
            counted[world], answers[world] = _every(plan, steps, world)
        else:
            counted[world], answers[world] = _some(plan, steps, n, world)
    if matters(boolean_form(query.body, query.definitions), kb.concepts):
        for world in (World.CERTAIN, World.POSSIBLE):
            # A fact that two of the criteria ask is one fact: they are bounded together, not one by one.
            def held(kept: Sequence[_Criterion], world: World = world) -> BitMap:
                joined = _together(shape, n, kept, scopes)
                if joined is None:
                    return plan.everybody if shape == "every" else BitMap()
                return evaluate(nodes.Query(joined, query.definitions), kb, world)

            counted[world], answers[world] = _one_by_one(held, criteria, shape)
    rows = []
    for at, criterion in enumerate(criteria):
        span = text[criterion.path]
        counts = (Counts(*numbers) for numbers in zip(*(counted[world][at] for world in WORLDS), strict=True))
        rows.append(FunnelRow(text.shown(criterion.path), *span, criterion.excluded, *counts))
    answer = Counts(*(answers[world] for world in WORLDS))
    return Funnel(text.text, shape, len(plan.everybody), answer, tuple(rows))


# --- which criteria there are -----------------------------------------------------------------------------------------


def _shape(
    body: nodes.PatientExpression, bodies: dict[str, nodes.PatientExpression]
) -> tuple[str, int, list[_Criterion], list[str]]:
    """How the criteria are joined, how many must hold, the criteria, and the scopes that all of them stand in.

    A query that is a definition or a scope and nothing else is looked into.
    """
    path: Path = ROOT
    scopes: list[str] = []
    while True:
        match body:
            case nodes.Defined(name) if name in bodies:
                body, path = bodies[name], (name,)
            case nodes.SameTumor(inner, 1) if isinstance(inner, nodes.And | nodes.Except | nodes.SameEvent):
                body, path = inner, (*path, 0)
                scopes.append("tumor")
            case nodes.SameEvent(inner) if isinstance(inner, nodes.And | nodes.Except):
                body, path = inner, (*path, 0)
                scopes.append("event")
            case _:
                break
    match body:
        case nodes.Or(parts):
            alternatives = [_Criterion(part, (*path, at), False) for at, part in enumerate(parts)]
            return "any", 1, alternatives, scopes
        case nodes.AtLeast(n, parts):
            return "some", n, [_Criterion(part, (*path, at), False) for at, part in enumerate(parts)], scopes
    return "every", 0, list(_conjuncts(body, path, excluded=False)), scopes


def _conjuncts(node: nodes.PatientExpression, path: Path, *, excluded: bool) -> Iterator[_Criterion]:
    """The criteria that must all hold, in the order of the text."""
    match node:
        case nodes.And(parts) if not excluded:
            for at, part in enumerate(parts):
                yield from _conjuncts(part, (*path, at), excluded=False)
        case nodes.Or(parts) if excluded:
            for at, part in enumerate(parts):
                yield from _conjuncts(part, (*path, at), excluded=True)
        case nodes.Except(left, right) if not excluded:
            yield from _conjuncts(left, (*path, 0), excluded=False)
            yield from _conjuncts(right, (*path, 1), excluded=True)
        case nodes.Not(part):
            yield from _conjuncts(part, (*path, 0), excluded=not excluded)
        case _:
            yield _Criterion(node, path, excluded)


def _together(
    shape: str, n: int, criteria: Sequence[_Criterion], scopes: Sequence[str]
) -> nodes.PatientExpression | None:
    """The criteria as one; None for fewer than must hold."""
    parts = tuple(nodes.Not(one.node) if one.excluded else one.node for one in criteria)
    if len(parts) < max(n, 1):
        return None
    if len(parts) == 1:
        node = parts[0]
    else:
        node = nodes.And(parts) if shape == "every" else nodes.AtLeast(max(n, 1), parts)
    for scope in reversed(scopes):
        node = nodes.SameTumor(node) if scope == "tumor" else nodes.SameEvent(node)
    return node


# --- counting ---------------------------------------------------------------------------------------------------------


def _every(plan: SharedPlan, steps: Sequence[int], world: World) -> tuple[list[tuple[int, int, int]], int]:
    """Of each criterion in turn: how many remain, how many it removes, how many fail it alone; and how many are
    left."""
    held: dict[int, BitMap] = {}
    # Who has failed no criterion so far, and who has failed one of them.
    none, one = plan.everybody, BitMap()
    costs = plan.plan.costs

    def ask(at: int, candidates: BitMap) -> None:
        nonlocal none, one
        found = held[at] = plan.members(steps[at], world, candidates)
        one = one & found | none - found
        none = none & found

    for at, step in enumerate(steps):
        if not costs[step]:
            ask(at, plan.everybody)
    before = plan.everybody
    remain = []
    for at in range(len(steps)):
        if at not in held:
            ask(at, before | none | one)
        before = before & held[at]
        remain.append(before)
    after = plan.everybody
    suffixes = [after]
    for at in range(len(steps) - 1, 0, -1):
        after = after & held[at]
        suffixes.append(after)
    suffixes.reverse()
    rows = []
    before = plan.everybody
    for at, left in enumerate(remain):
        # Of those whom the others leave all are known: they fail one criterion at most.
        alone = (before & suffixes[at]) - held[at]
        rows.append((len(left), len(before) - len(left), len(alone)))
        before = left
    return rows, len(before)


def _some(plan: SharedPlan, steps: Sequence[int], n: int, world: World) -> tuple[list[tuple[int, int, int]], int]:
    """Of each alternative in turn: how many are found, how many it adds, how many are found with it and not without."""
    held = [plan.members(step, world) for step in steps]
    # Those in at least so many of the alternatives so far; one more than asked for tells who is in exactly so many.
    reached = [plan.everybody] + [BitMap() for _ in range(n + 1)]
    counted = []
    before = 0
    for at, members in enumerate(held):
        check()
        for times in range(min(at, n) + 1, 0, -1):
            reached[times] |= reached[times - 1] & members
        counted.append((len(reached[n]), len(reached[n]) - before))
        before = len(reached[n])
    barely = reached[n] - reached[n + 1]
    return [(*row, len(members & barely)) for row, members in zip(counted, held, strict=True)], before


def _in_scopes(
    plan: SharedPlan, steps: Sequence[int], scopes: Sequence[str], world: World
) -> tuple[list[tuple[int, int, int]], int]:
    """As :func:`_every`, each asked of one tumor or event with those before it, and without it."""

    def held(kept: Sequence[int]) -> BitMap:
        if not kept:
            return plan.everybody
        number = plan.plan.add(Every(tuple(kept))) if len(kept) > 1 else kept[0]
        for scope in reversed(scopes):
            number = plan.plan.add(Scope(scope, number))
        return plan.members(number, world)

    return _one_by_one(held, steps, "every")


def _one_by_one(
    held: Callable[[Sequence[Any]], BitMap], criteria: Sequence[Any], shape: str
) -> tuple[list[tuple[int, int, int]], int]:
    """The counts of each criterion, where ``held`` tells who is left by, or found by, some of them together."""
    everyone = held(criteria)
    rows = []
    before = held(())
    for at in range(len(criteria)):
        found = held(criteria[: at + 1])
        without = held([*criteria[:at], *criteria[at + 1 :]])
        if shape == "every":
            rows.append((len(found), len(before - found), len(without - everyone)))
        else:
            rows.append((len(found), len(found - before), len(everyone - without)))
        before = found
    return rows, len(everyone)
