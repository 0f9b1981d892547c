"""Rules about how criteria are joined: contradictions, tautologies, what adds nothing, what is denied twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ..nodes import And, AtLeast, Except, Exists, Not, NotThat, Or, PatientExpression
from ..tree import event_sets, find
from .examined import Examined, Placed, shown
from .finding import Finding
from .truth import Logic, Table

#: Longer lists of criteria are compared with their neighbours no more.
_MOST_PARTS = 30
#: More alternatives are not written out.
_MOST_PRINTED = 4
_EMPTY, _FULL = "empty", "full"


def exclusions(examined: Examined) -> Iterator[Finding]:
    """Criteria that exclude each other, and criteria that everybody matches. The smallest such part is told."""
    below: dict[Placed, bool] = {}
    for placed in reversed(examined.placed):
        node = placed.site.node
        logic = _logic(examined, placed)
        state = _state(logic, node)
        reported = below.get(placed, False)
        if placed.above is not None and (reported or state):
            below[placed.above] = True
        if not state or reported or not isinstance(node, And | Or | Except | AtLeast):
            continue
        if state == _FULL:
            yield examined.finding("always-matches", placed, claim="everybody believed", part=shown(node))
            continue
        pair = _excluding(logic, _parts(node))
        if pair is None:
            yield examined.finding("contradiction-together", placed, claim="nobody believed", part=shown(node))
        else:
            one, other = map(shown, pair)
            yield examined.finding("contradiction", placed, claim="nobody believed", one=one, other=other)


def what_adds_nothing(examined: Examined) -> Iterator[Finding]:
    """Parts of *and* that follow from the others, and parts of *or* that the others cover."""
    for placed in examined.placed:
        node = placed.site.node
        if not isinstance(node, And | Or) or (placed.above is not None and type(placed.above.site.node) is type(node)):
            continue
        logic = _logic(examined, placed)
        if _state(logic, node):
            continue
        parts = _flat(examined, placed, type(node))
        if len(parts) > _MOST_PARTS:
            continue
        alive = list(parts)
        for part in reversed(parts):
            others = [one for one in alive if one is not part]
            because = _because(logic, part.site.node, [one.site.node for one in others], isinstance(node, And))
            if because is None or _state(logic, part.site.node):
                continue
            alive = others
            rest = examined.without(part.site)
            claim = "" if rest is None else "same without"
            code = "redundant" if because else "duplicate"
            yield examined.finding(code, part, claim=claim, rest=rest, part=shown(part.site.node), why=because)


def facts_apart(examined: Examined) -> Iterator[Finding]:
    """Conditions that exclude each other, of what need not be the same fact: *stage >= III and stage <= II*."""
    for placed in examined.placed:
        if not isinstance(placed.site.node, And) or placed.in_event:
            continue
        facts = [(part, part.events) for part in placed.site.node.parts[:_MOST_PARTS] if isinstance(part, Exists)]
        for (first, one), (second, other) in itertools.combinations(facts, 2):
            if examined.atoms.exclude_as_one_fact(one, other):
                yield examined.finding("two-facts", placed, one=shown(first), other=shown(second))


def repeated_parts(examined: Examined) -> Iterator[Finding]:
    """A criterion that *at least n of* lists twice."""
    for placed in examined.placed:
        node = placed.site.node
        if not isinstance(node, AtLeast) or len(node.parts) > 1000:
            continue
        seen: set[PatientExpression] = set()
        for site in placed.site.parts:
            if site.node in seen:
                yield examined.finding("repeated-part", placed, span=site.span, part=shown(site.node), n=node.n)
            seen.add(site.node)


def double_negations(examined: Examined) -> Iterator[Finding]:
    """*not not A*, *A except not B*, and the same in conditions."""
    for placed in examined.placed:
        match placed.site.node:
            case Not(Not(part)):
                yield examined.finding("double-negation", placed, instead=shown(part))
            case Except(left, Not(part)):
                yield examined.finding("double-negation", placed, instead=shown(And((left, part))))
            case node:
                denied = (one for events in event_sets(node) for one in find(events, NotThat))
                for condition in denied:
                    if isinstance(condition.part, NotThat):
                        yield examined.finding("double-negation", placed, instead="the condition alone")


def mixed_joints(examined: Examined) -> Iterator[Finding]:
    """*and* next to *or* without brackets."""
    for placed in examined.placed:
        site = placed.site
        if not isinstance(site.node, Or) or site.written is None:
            continue
        if any(isinstance(part.node, And | Except) and part.written and not part.bracketed for part in site.parts):
            sides = [
                f"({shown(part.node, 40)})" if isinstance(part.node, And | Except) else shown(part.node, 40)
                for part in site.parts
            ]
            text = " or ".join(sides[:_MOST_PRINTED]) + (" or …" if len(sides) > _MOST_PRINTED else "")
            yield examined.finding("mixed-and-or", placed, part=text)


def _logic(examined: Examined, placed: Placed) -> Logic:
    return examined.logic_in_event if placed.in_event else examined.logic


def _state(logic: Logic, node: PatientExpression) -> str:
    """Whether nobody or everybody is believed to match; empty when neither is sure."""
    table = logic.table((node,))
    if table is not None:
        column = table.column(node)
        return _EMPTY if column == 0 else _FULL if column == table.rows else ""
    if isinstance(node, And | Except) and _excluding(logic, _parts(node)) is not None:
        return _EMPTY
    return ""


def _parts(node: PatientExpression) -> Sequence[PatientExpression]:
    match node:
        case And(parts):
            return tuple(itertools.chain.from_iterable(_parts(part) for part in parts))
        case Except(left, right):
            return (*_parts(left), Not(right))
    return (node,)


def _excluding(logic: Logic, parts: Sequence[PatientExpression]) -> tuple[PatientExpression, PatientExpression] | None:
    for one, other in itertools.combinations(parts[:_MOST_PARTS], 2):
        table = logic.table((one, other))
        if table is None or not table.column(one) or not table.column(other):
            continue
        if not table.column(one) & table.column(other):
            return one, other
    return None


def _flat(examined: Examined, placed: Placed, joint: type[PatientExpression]) -> list[Placed]:
    """The parts of a joint, those of the same joint inside it among them."""
    found = []
    for site in placed.site.parts:
        part = Placed(site, placed.scopes, placed)
        found += _flat(examined, part, joint) if type(site.node) is joint else [part]
    return found


def _because(
    logic: Logic, part: PatientExpression, others: Sequence[PatientExpression], conjunction: bool
) -> str | None:
    """Why the part is needless beside the others, in words; empty when it stands there twice, None when it is not."""
    relation = "it follows from" if conjunction else "it is covered by"
    if part in others:
        return ""
    for other in others:
        table = logic.table((part, other))
        if table is not None and _needless(table, part, other, conjunction):
            return f"{relation} '{shown(other)}'"
    if len(others) > 1:
        joined = And(tuple(others)) if conjunction else Or(tuple(others))
        table = logic.table((part, joined))
        if table is not None and _needless(table, part, joined, conjunction):
            return f"{relation} the others"
    return None


def _needless(table: Table, part: PatientExpression, other: PatientExpression, conjunction: bool) -> bool:
    its, others = table.column(part), table.column(other)
    return not others & ~its if conjunction else not its & ~others
