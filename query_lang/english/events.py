"""Criteria as events of the query tree: what is one fact or one of several, and what is changed of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import QueryError
from ..nodes import (
    AllOf,
    And,
    Condition,
    Defined,
    Events,
    Exists,
    Name,
    Or,
    Ordered,
    PatientExpression,
    Query,
    SameEvent,
    Under,
)
from ..parsing.parse import parse
from ..render import render
from ..terms import terms


@functools.lru_cache(maxsize=8192)
def events_of(query: str) -> tuple[Events, ...]:
    """The facts of which the criterion asks for any one; empty where it asks for more than that."""
    try:
        return _events(parse(query).body)
    except QueryError:
        return ()


def _events(body: PatientExpression) -> tuple[Events, ...]:
    match body:
        case Exists(Events(kind=None, concept=Under(term=Name(name)))) if name in terms():
            return _events(terms()[name].body)
        case Exists(events):
            return (events,)
        case Defined(name):
            return _events(terms()[name].body) if name in terms() else ()
        case Or(parts):
            found = [_events(part) for part in parts]
            return tuple(one for part in found for one in part) if all(found) else ()
        case SameEvent(And(parts)):
            return _merged([_events(part) for part in parts])
        case _:
            return ()


def _merged(parts: Sequence[tuple[Events, ...]]) -> tuple[Events, ...]:
    """What is said of one event in several criteria, as one: the concept of the first, all conditions."""
    if not all(len(part) == 1 for part in parts):
        return ()
    events = [part[0] for part in parts]
    kinds = {one.kind for one in events}
    concepts = [one.concept for one in events if one.concept is not None]
    if len(kinds) != 1 or len(concepts) > 1:
        return ()
    conditions = [one.condition for one in events if one.condition is not None]
    return (
        replace(
            events[0],
            concept=concepts[0] if concepts else None,
            condition=None if not conditions else conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions)),
        ),
    )


def text_of_events(events: Sequence[Events]) -> str:
    """The criterion that one of the facts is there."""
    found = tuple(dict.fromkeys(Exists(one) for one in events))
    return text_of(found[0] if len(found) == 1 else Or(found))


def text_of(body: PatientExpression) -> str:
    """The text of a criterion, in brackets where it is more than one."""
    text = render(Query(body))
    return f"({text})" if isinstance(body, Or | And | Ordered) else text


def with_condition(events: Events, condition: Condition) -> Events:
    """The fact with one more condition."""
    if events.condition is None:
        return replace(events, condition=condition)
    return replace(events, condition=AllOf((events.condition, condition)))


def each(query: str, change: Callable[[Events], Events | None]) -> str | None:
    """The criterion with each of its facts changed; None where it is more than one of several
    facts, or one cannot be."""
    found = [change(one) for one in events_of(query)]
    if not found or any(one is None for one in found):
        return None
    return text_of_events([one for one in found if one is not None])
