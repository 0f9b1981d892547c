"""The effect of each criterion of a query: how many remain, how many it removes, whom dropping it would regain.

All counts come from one plan, in which a criterion is evaluated once in each world, and the costly ones only for those
who can still matter: who is left by the criteria before it, and who has failed one criterion at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pyroaring import BitMap

from ...kb.model import World
from ...kb.skin.terminal import count_text
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ..fast.plan import Complement, Every, Scope
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
    alone would lose.
    """

    text: str
    start: int
    end: int
    excluded: bool
    remain: Counts
    changes: int
    alone: int


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
    rows = []
    for at, criterion in enumerate(criteria):
        span = text[criterion.path]
        believed = counted[World.BELIEVED][at]
        remain = Counts(*(counted[world][at][0] for world in WORLDS))
        rows.append(FunnelRow(text.shown(criterion.path), *span, criterion.excluded, remain, *believed[1:]))
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
            case nodes.SameTumor(inner) if isinstance(inner, nodes.And | nodes.Except | nodes.SameEvent):
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
    rows = []
    everyone = _at_least(plan.everybody, held, n)
    before = BitMap()
    for at in range(len(held)):
        found = _at_least(plan.everybody, held[: at + 1], n)
        without = _at_least(plan.everybody, held[:at] + held[at + 1 :], n)
        rows.append((len(found), len(found) - len(before), len(everyone - without)))
        before = found
    return rows, len(everyone)


def _at_least(everybody: BitMap, held: Sequence[BitMap], n: int) -> BitMap:
    reached = [everybody] + [BitMap() for _ in range(n)]
    for found in held:
        for times in range(n, 0, -1):
            reached[times] |= reached[times - 1] & found
    return reached[n]


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

    everyone = held(steps)
    rows = []
    before = plan.everybody
    for at in range(len(steps)):
        found = held(steps[: at + 1])
        without = held([*steps[:at], *steps[at + 1 :]])
        rows.append((len(found), len(before) - len(found), len(without - everyone)))
        before = found
    return rows, len(everyone)
