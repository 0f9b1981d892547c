"""The canonical form of a query: one tree for all spellings that laws of sets alone make of each other.

Two queries with one canonical form ask the same; two with different forms may still do so. What is canonical here is
the question. How it is answered is another matter: the rewrites of a plan (``engine/fast``) make it cheap, not unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from ..kb.ontology.concepts import ConceptTable
from .nodes import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Concept,
    ConceptExpression,
    Defined,
    Events,
    Exists,
    Is,
    Node,
    Not,
    Or,
    Ordered,
    OtherThan,
    PatientExpression,
    Pick,
    Query,
    SameEvent,
    Under,
    Union,
)
from .render import render_concept
from .tree import (
    children,
    decided_by,
    fold,
    map_children,
    map_event_sets,
    map_parts,
    named_concepts,
    require_written_out,
)

N = TypeVar("N", bound=Node)


def same_question(one: Query, other: Query, concepts: ConceptTable | None = None) -> bool:
    """Whether the canonical forms are equal. If so, the queries ask the same; if not, they may still do so."""
    return canonical(one, concepts) == canonical(other, concepts)


def canonical(query: Query, concepts: ConceptTable | None = None) -> PatientExpression:
    """The criterion with definitions put in, and every list of parts flat, without repeats, and in one order.

    QueryError, naming the definition, where definitions of definitions come to too much (see :mod:`.tree`).

    Rests on laws of sets alone: associative, commutative, idempotent, De Morgan, ``A except B`` is ``A and not B``,
    *any of these concepts* is an ``or`` where nothing is picked, ``A after B`` is ``B before A``. With ``concepts``,
    what selects the same concepts under that ontology is the same, too: such a form compares, and is no query.
    """
    form = _criterion(inlined(query))
    return form if concepts is None else _criterion(_selected(form, concepts))


def plain_leaf(node: PatientExpression) -> PatientExpression:
    """The form of a criterion that no other criteria make up. One of which a single fact is enough stays as it is:
    the facts tell what it has in common with another."""
    if isinstance(node, Exists):
        return node if node.events.is_of_single_days else Exists(_plain(node.events))
    return _criterion(node)


def inlined(query: Query) -> PatientExpression:
    """The criterion of a query with every definition in its place. QueryError if that is too much."""
    require_written_out(query)
    known: dict[str, PatientExpression] = {}
    for definition in query.definitions:
        known[definition.name.casefold()] = _put_in(definition.body, known)
    return _put_in(query.body, known)


def _put_in(root: PatientExpression, known: Mapping[str, PatientExpression]) -> PatientExpression:
    def put_in(node: PatientExpression, made: tuple[PatientExpression, ...]) -> PatientExpression:
        return known.get(node.name.casefold(), node) if isinstance(node, Defined) else _with_parts(node, made)

    return fold(root, put_in, children)


def _with_parts(node: PatientExpression, made: tuple[PatientExpression, ...]) -> PatientExpression:
    fresh = iter(made)
    return map_children(node, lambda _: next(fresh))


# --- patients ---------------------------------------------------------------------------------------------------------


def _criterion(root: PatientExpression) -> PatientExpression:
    """A criterion in its form, its parts being put into theirs first."""
    return fold(root, _formed, decided_by)


def _formed(node: PatientExpression, made: tuple[PatientExpression, ...]) -> PatientExpression:
    if node.expansion is not None:
        return made[0]
    node = _with_parts(node, made)
    match node:
        case And(parts):
            return _joined(And, parts)
        case Or(parts) | AtLeast(1, parts):
            return _joined(Or, parts)
        case AtLeast(n, parts):
            return _joined(And, parts) if n == len(parts) else AtLeast(n, _sorted(parts))
        case Not(part):
            return _opposite(part)
        case SameEvent(SameEvent() as inner):
            return inner
        case Exists(events):
            return _exists(_plain(events))
    node = map_event_sets(node, _plain)
    match node:
        case Ordered(relation="after"):
            return replace(node, left=node.right, relation="before", right=node.left)
        case Ordered(relation="within" | "overlapping" | "specimen" | "beside"):
            first, second = _sorted((node.left, node.right))
            return replace(node, left=first, right=second)
    return node


def _opposite(node: PatientExpression) -> PatientExpression:
    """``not node``, with ``not`` moved inwards."""
    match node:
        case Not(part):
            return part
        case And(parts):
            return _joined(Or, tuple(map(_opposite, parts)))
        case Or(parts):
            return _joined(And, tuple(map(_opposite, parts)))
    return Not(node)


def _exists(events: Events) -> PatientExpression:
    """*Medication (A or B)* is *medication A or medication B*, unless one of them all is picked."""
    if isinstance(events.concept, Union) and events.pick == Pick() and events.context != "absent":
        return _joined(Or, tuple(_exists(replace(events, concept=part)) for part in events.concept.parts))
    return Exists(events)


def _joined(how: type[And] | type[Or], parts: Iterable[PatientExpression]) -> PatientExpression:
    kept = _listed([inner for part in parts for inner in (part.parts if isinstance(part, how) else (part,))])
    return kept[0] if len(kept) == 1 else how(kept)


# --- facts ------------------------------------------------------------------------------------------------------------


def _plain(node: N) -> N:
    """Concepts and conditions with their alternatives flat and in one order."""
    changed: Node = map_parts(node, _plain)
    match changed:
        case Union(parts) | AllOf(parts) | AnyOf(parts):
            same: Any = type(changed)
            kept = _listed([inner for part in parts for inner in (part.parts if isinstance(part, same) else (part,))])
            changed = kept[0] if len(kept) == 1 else same(kept)
        case Is(_, values):
            changed = replace(changed, values=_listed(values))
    return cast("N", changed)


@dataclass(frozen=True, slots=True)
class _Selected(Node):
    """The ids that a concept expression selects under an ontology."""

    ids: tuple[str, ...]


def _selected(node: N, concepts: ConceptTable) -> N:
    """The tree with concepts for concept expressions, and with values for what they are called."""
    match node:
        case Events(context="absent", concept=Under() | Union() | OtherThan() as asked):
            # To deny what is left of a concept is to deny the concept: what is named decides, not what is selected.
            plain = _selected(replace(node, concept=None), concepts)
            named = _Selected(tuple(sorted({one.id for one in named_concepts(asked)})))
            return cast("N", replace(plain, concept=cast("ConceptExpression", named)))
        case Under() | Union() | OtherThan():
            return cast("N", _Selected(tuple(sorted(_ids(node, concepts)))))
        case Concept(concept):
            return cast("N", Concept(concept, ""))
    return map_parts(node, lambda part: _selected(part, concepts))


def _ids(node: ConceptExpression, concepts: ConceptTable) -> frozenset[str]:
    match node:
        case Under(Concept(concept), exact):
            return frozenset({concept}) if exact or concept not in concepts else frozenset(concepts.below(concept))
        case Union(parts):
            return frozenset[str]().union(*(_ids(part, concepts) for part in parts))
        case OtherThan(base, excluded):
            return _ids(base, concepts) - _ids(excluded, concepts)
    return frozenset({render_concept(node)})


def _listed(parts: Iterable[N]) -> tuple[N, ...]:
    return _sorted(dict.fromkeys(parts))


def _sorted(parts: Iterable[N]) -> tuple[N, ...]:
    return tuple(sorted(parts, key=repr))
