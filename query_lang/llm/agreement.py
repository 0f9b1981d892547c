"""Whether two queries ask the same: their trees in one canonical form, in which order and spelling no longer show."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..nodes import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Defined,
    Events,
    Except,
    Exists,
    Is,
    Not,
    Or,
    Ordered,
    PatientExpression,
    Pick,
    Query,
    Union,
)


def agree(one: Query, other: Query) -> bool:
    """Whether the canonical forms are equal. If so, the queries ask the same; if not, they may still do so."""
    return canonical(one) == canonical(other)


def canonical(query: Query) -> PatientExpression:
    """The criterion with definitions put in, and every list of parts flat, without repeats, and in one order.

    Rests on laws of sets alone: associative, commutative, idempotent, De Morgan, ``A except B`` is ``A and not B``,
    *any of these concepts* is an ``or`` where nothing is picked, ``A after B`` is ``B before A``.
    """
    defined: dict[str, PatientExpression] = {}
    for definition in query.definitions:
        defined[definition.name.casefold()] = _patients(definition.body, defined)
    return _patients(query.body, defined)


def _patients(node: PatientExpression, defined: Mapping[str, PatientExpression]) -> PatientExpression:
    match node:
        case Defined(name) if name.casefold() in defined:
            return defined[name.casefold()]
        case And(parts):
            return _joined(And, tuple(_patients(part, defined) for part in parts))
        case Or(parts):
            return _joined(Or, tuple(_patients(part, defined) for part in parts))
        case Except(left, right):
            return _joined(And, (_patients(left, defined), _opposite(_patients(right, defined))))
        case Not(part):
            return _opposite(_patients(part, defined))
        case AtLeast(1, parts):
            return _joined(Or, tuple(_patients(part, defined) for part in parts))
        case AtLeast(n, parts):
            found = tuple(_patients(part, defined) for part in parts)
            return _joined(And, found) if n == len(parts) else AtLeast(n, _sorted(found))
        case Exists(events):
            return _exists(_plain(events))
        case Ordered(left, "after", right):
            return _patients(dataclasses.replace(node, left=right, relation="before", right=left), defined)
        case Ordered(left, "within" | "overlapping" | "beside", right):
            first, second = _sorted((_plain(left), _plain(right)))
            return dataclasses.replace(_plain(node), left=first, right=second)
    return _parts_of(node, defined)


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
    if isinstance(events.concept, Union) and events.pick == Pick():
        return _joined(Or, tuple(_exists(dataclasses.replace(events, concept=part)) for part in events.concept.parts))
    return Exists(events)


def _joined(how: type[And] | type[Or], parts: tuple[PatientExpression, ...]) -> PatientExpression:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, how) else (part,))]
    kept = _sorted(tuple(dict.fromkeys(flat)))
    return kept[0] if len(kept) == 1 else how(kept)


def _parts_of(node: Any, defined: Mapping[str, PatientExpression]) -> Any:
    """Any other node: what is a criterion in it made canonical, and the rest as :func:`_plain` has it."""
    changed = {
        one.name: _patients(held, defined)
        if isinstance(held := getattr(node, one.name), PatientExpression)
        else _plain(held)
        for one in dataclasses.fields(node)
    }
    return dataclasses.replace(node, **changed)


def _plain(node: Any) -> Any:
    """Concepts and conditions with their alternatives flat and in one order."""
    if isinstance(node, tuple):
        return tuple(map(_plain, node))
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    changed = {one.name: _plain(getattr(node, one.name)) for one in dataclasses.fields(node)}
    match node:
        case Union() | AllOf() | AnyOf():
            flat = [
                inner for part in changed["parts"] for inner in (part.parts if type(part) is type(node) else (part,))
            ]
            kept = _sorted(tuple(dict.fromkeys(flat)))
            return kept[0] if len(kept) == 1 else type(node)(kept)
        case Is():
            changed["values"] = _sorted(tuple(dict.fromkeys(changed["values"])))
    return dataclasses.replace(node, **changed)


def _sorted(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(sorted(parts, key=repr))
