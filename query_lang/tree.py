"""The walks over a query tree: what a node is made of, every node below it, a fold and a map.

They know a node by the fields of its dataclass alone, so that a new sort of node needs nothing here. Walks and folds
keep a stack of their own: cohorts that were joined one by one nest deeper than Python recurses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeVar, get_args

from ..kb.deadline import check
from .errors import QueryError
from .nodes import (
    Concept,
    ConceptExpression,
    Condition,
    Defined,
    Events,
    Node,
    OtherThan,
    PatientExpression,
    Query,
    SingleCondition,
)

N = TypeVar("N", bound=Node)
_SINGLE: Final = get_args(SingleCondition)
_CONDITIONS: Final = get_args(Condition)
T = TypeVar("T")


# --- one step down ----------------------------------------------------------------------------------------------------


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes that stand in the fields of ``node``, in order."""
    found: list[Node] = []
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found += [one for one in value if isinstance(one, Node)]
    return tuple(found)


def children(node: Node) -> tuple[PatientExpression, ...]:
    """The criteria that ``node`` is made of, in order; none for a leaf."""
    # As :func:`parts`, in one pass: plans ask this of every node.
    found: list[PatientExpression] = []
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        if isinstance(value, PatientExpression):
            found.append(value)
        elif isinstance(value, tuple):
            found += [one for one in value if isinstance(one, PatientExpression)]
    return tuple(found)


def decided_by(node: PatientExpression) -> tuple[PatientExpression, ...]:
    """The criteria that decide ``node``: its expansion, or else its :func:`children`."""
    expansion = node.expansion
    return children(node) if expansion is None else (expansion,)


def event_sets(node: Node) -> tuple[Events, ...]:
    """The event sets that stand in ``node`` itself, in order; not those of the criteria that it is made of."""
    found: list[Events] = []
    for one in parts(node):
        if isinstance(one, Events):
            found.append(one)
        elif not isinstance(one, PatientExpression):
            found += event_sets(one)
    return tuple(found)


# --- definitions written out -----------------------------------------------------------------------------------------

#: A query whose definitions stand in each other deeper than this, written out, is refused, as the parser refuses deeper
#: texts: what decides and renders recurses.
DEEPEST: Final = 200
#: What must write definitions out (canonical forms, edits of a query) does so up to this many criteria. The longest
#: text has fewer; definitions of definitions double with each, and come to more than any memory in a hundred lines.
MOST_WRITTEN_OUT: Final = 20_000


def require_shallow(query: Query) -> None:
    """QueryError, naming the definition, if criteria stand in each other deeper than :data:`DEEPEST`, written out."""
    depths: dict[str, int] = {}
    for name, root in _roots(query):
        depths[name] = fold(root, functools.partial(_depth, depths), children)
        if depths[name] > DEEPEST:
            raise QueryError(
                f"{_called(name)} is nested more than {DEEPEST} levels deep, with the definitions in it written out",
                hint="list alternatives side by side",
            )


def require_written_out(query: Query, most: int = MOST_WRITTEN_OUT) -> None:
    """QueryError, naming the definition, if the query has more than ``most`` criteria, its definitions written out."""
    sizes: dict[str, int] = {}
    for name, root in _roots(query):
        sizes[name] = sum(sizes.get(one.name, 1) if isinstance(one, Defined) else 1 for one in criteria(root))
        if sizes[name] > most:
            raise QueryError(
                f"{_called(name)} has more than {most:,} criteria with the definitions in it written out, which this "
                "needs",
                hint="use each definition once, or ask it of less",
            )


def _roots(query: Query) -> Iterator[tuple[str, PatientExpression]]:
    yield from ((definition.name, definition.body) for definition in query.definitions)
    yield "", query.body


def _called(name: str) -> str:
    return f"the definition '{name[:60]}'" if name else "the query"


def _depth(known: Mapping[str, int], node: PatientExpression, below: tuple[int, ...]) -> int:
    return known.get(node.name, 0) if isinstance(node, Defined) else 1 + max(below, default=0)


# --- all below --------------------------------------------------------------------------------------------------------


def walk(root: N, below: Callable[[N], tuple[N, ...]]) -> Iterator[N]:
    """``root`` and all that is ``below`` it, each before what it is made of, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        check()
        yield node
        waiting.extend(reversed(below(node)))


def criteria(root: PatientExpression) -> Iterator[PatientExpression]:
    """``root`` and every criterion in it; not those in the bodies of definitions."""
    return walk(root, children)


def definitions_used(root: PatientExpression) -> Iterator[str]:
    """The names of the definitions that stand in a criterion, once for each place; not those in their bodies."""
    return (one.name for one in criteria(root) if isinstance(one, Defined))


def nodes_in(root: Node) -> Iterator[Node]:
    """``root`` and every node in it, down to terms."""
    return walk(root, parts)


def find(root: Node, kind: type[N]) -> Iterator[N]:
    """The nodes of one ``kind`` among :func:`nodes_in`."""
    return (node for node in nodes_in(root) if isinstance(node, kind))


def named_concepts(expression: ConceptExpression) -> Iterator[Concept]:
    """The concepts that an expression names; not those that it takes away."""
    root: Node = expression
    kept = walk(root, lambda node: (node.base,) if isinstance(node, OtherThan) else parts(node))
    return (one for one in kept if isinstance(one, Concept))


def single_conditions(condition: Condition | None) -> Iterator[SingleCondition]:
    """The conditions on one attribute each that a condition is made of."""
    if condition is None:
        return
    waiting: list[Condition] = [condition]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _SINGLE):
            # Not looked into: there are many, and below them stand terms alone.
            yield one
        else:
            waiting.extend([part for part in reversed(parts(one)) if isinstance(part, _CONDITIONS)])


def attributes_of(condition: Condition | None) -> frozenset[str]:
    """The names of the attributes that a condition looks at."""
    if isinstance(condition, _SINGLE):
        return frozenset((condition.attribute,))
    return frozenset([one.attribute for one in single_conditions(condition)])


def fold(root: N, meaning: Callable[[N, tuple[T, ...]], T], below: Callable[[N], tuple[N, ...]]) -> T:
    """What ``meaning`` makes of ``root``, given what it made of each node ``below``: from the leaves up."""
    waiting: list[tuple[N, int | None]] = [(root, None)]
    done: list[T] = []
    while waiting:
        node, first = waiting.pop()
        check()
        if first is None and (inner := below(node)):
            waiting.append((node, len(done)))
            waiting.extend([(one, None) for one in reversed(inner)])
            continue
        made = tuple(done[first:]) if first is not None else ()
        if first is not None:
            del done[first:]
        done.append(meaning(node, made))
    return done[0]


# --- the same tree, changed -------------------------------------------------------------------------------------------


def map_parts(node: N, change: Callable[[Node], Node]) -> N:
    """``node`` with each of its :func:`parts` changed; ``node`` itself where none is."""
    changes: dict[str, object] = {}
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            changed = change(value)
            if changed is not value:
                changes[name] = changed
        elif isinstance(value, tuple):
            several = tuple([change(one) if isinstance(one, Node) else one for one in value])
            if any(new is not old for new, old in zip(several, value, strict=True)):
                changes[name] = several
    return replace(node, **changes) if changes else node


def map_children(node: N, change: Callable[[PatientExpression], PatientExpression]) -> N:
    """``node`` with each of the criteria that it is made of changed."""
    return map_parts(node, lambda one: change(one) if isinstance(one, PatientExpression) else one)


def map_event_sets(node: N, change: Callable[[Events], Events]) -> N:
    """``node`` with each of its own :func:`event_sets` changed."""

    def changed(one: Node) -> Node:
        if isinstance(one, Events):
            return change(one)
        return one if isinstance(one, PatientExpression) else map_event_sets(one, change)

    return map_parts(node, changed)


def map_nodes(root: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node changed, from the leaves up: ``change`` sees a node with its parts changed already."""

    def rebuilt(node: Node, made: tuple[Node, ...]) -> Node:
        fresh = iter(made)
        return change(map_parts(node, lambda _: next(fresh)))

    return fold(root, rebuilt, parts)
