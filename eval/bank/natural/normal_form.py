"""Query trees in one form: definitions put in, lists flat and sorted, so that equal trees are equal queries."""

from __future__ import annotations

import dataclasses
from typing import Any

from ....kb.ontology.concepts import ConceptTable
from ....query_lang.nodes import (
    AllOf,
    And,
    AnyOf,
    Concept,
    Defined,
    Except,
    Is,
    Not,
    Or,
    OtherThan,
    Query,
    SameEvent,
    Under,
    Union,
)


def inlined(query: Query) -> Any:
    """The criterion of a query with every definition in its place."""
    known: dict[str, Any] = {}
    for definition in query.definitions:
        known[definition.name] = _put_in(definition.body, known)
    return _put_in(query.body, known)


def _put_in(node: Any, known: dict[str, Any]) -> Any:
    if isinstance(node, Defined):
        return known[node.name]
    if isinstance(node, tuple):
        return tuple(_put_in(part, known) for part in node)
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        values = {one.name: _put_in(getattr(node, one.name), known) for one in dataclasses.fields(node)}
        return dataclasses.replace(node, **values)
    return node


def normal_form(query: Query, concepts: ConceptTable) -> Any:
    """A value that two queries share only if they denote the same sets on every knowledge base."""
    return _form(inlined(query), concepts)


def _form(node: Any, concepts: ConceptTable) -> Any:
    match node:
        case Under() | Union() | OtherThan():
            return ("concepts", frozenset(_members(node, concepts)))
        case Concept(id):
            return ("concept", id)
        case Is(attribute, values, exact):
            return ("is", attribute, frozenset(_form(value, concepts) for value in values), exact)
        case Except(left, right):
            return _form(And((left, Not(right))), concepts)
        case And(parts) | AllOf(parts):
            return _list("and", (And, AllOf), parts, concepts)
        case Or(parts) | AnyOf(parts):
            return _list("or", (Or, AnyOf), parts, concepts)
        case SameEvent(SameEvent() as inner):
            return _form(inner, concepts)
        case tuple():
            return tuple(_form(part, concepts) for part in node)
        case _ if dataclasses.is_dataclass(node) and not isinstance(node, type):
            values = tuple(_form(getattr(node, one.name), concepts) for one in dataclasses.fields(node))
            return (type(node).__name__, *values)
    return node


def _list(name: str, kinds: tuple[type, ...], parts: tuple[Any, ...], concepts: ConceptTable) -> Any:
    flat: set[Any] = set()
    for part in parts:
        form = _form(part, concepts)
        flat |= form[1] if isinstance(form, tuple) and form and form[0] == name else {form}
    return (name, frozenset(flat)) if len(flat) > 1 else next(iter(flat))


def _members(node: Any, concepts: ConceptTable) -> set[str]:
    match node:
        case Under(Concept(id), exact):
            return {id} if exact or id not in concepts else set(concepts.below(id))
        case Union(parts):
            return set().union(*[_members(part, concepts) for part in parts])
        case OtherThan(base, excluded):
            return _members(base, concepts) - _members(excluded, concepts)
    return {repr(node)}
