"""*Now* in a query: the day as of which the knowledge base is asked is put in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ..errors import QueryError
from ..nodes import (
    AgeAt,
    Definition,
    Events,
    Node,
    Now,
    NowWindow,
    Ongoing,
    PatientExpression,
    Query,
    QueryTreeError,
    StateAt,
    Window,
)
from ..tree import children, criteria, event_sets, fold, map_parts

#: What tells the day (an ordinal); asked only where a query names it, and None where no note has a date.
Today = Callable[[], int | None]


def names_now(query: Query) -> bool:
    """Whether the query, or one of its definitions, names now. Looks into no concept and no condition."""
    return any(_names_now(node) for node in _criteria(query))


def at_day(query: Query, today: Today | None) -> Query:
    """The query with the day for *now*, which it then tells; as it is where it does not name that. QueryError where no
    day is known, or nothing can lie in a window."""
    if not names_now(query):
        return query
    day = None if today is None else today()
    if day is None:
        raise QueryError(
            "which day 'now' is, is not known here" if today is None else "no note has a date, and none is 'now'",
            hint="name the day: --today 2021-03-04 on the command line, today='2021-03-04' where a knowledge base is "
            "opened",
        )
    try:
        definitions = tuple(Definition(one.name, _put(one.body, day)) for one in query.definitions)
        return Query(_put(query.body, day), definitions, day)
    except QueryTreeError as error:
        raise QueryError(str(error), hint="ask of days that can be, as of that one") from None


def _criteria(query: Query) -> Iterator[PatientExpression]:
    for root in (*(one.body for one in query.definitions), query.body):
        yield from criteria(root)


def _names_now(node: PatientExpression) -> bool:
    if isinstance(node, AgeAt | StateAt | Ongoing) and isinstance(node.day, Now):
        return True
    return any(events.now is not None for events in event_sets(node))


def _put(root: PatientExpression, day: int) -> PatientExpression:
    def put(node: PatientExpression, made: tuple[PatientExpression, ...]) -> PatientExpression:
        fresh = iter(made)

        def changed(part: Node) -> Node:
            if isinstance(part, PatientExpression):
                return next(fresh)
            if isinstance(part, Events):
                return _in_window(part, day)
            return part if isinstance(part, Now) else map_parts(part, changed)

        node = map_parts(node, changed)
        if isinstance(node, AgeAt | StateAt | Ongoing) and isinstance(node.day, Now):
            return dataclasses.replace(node, day=day)
        return node

    return fold(root, put, children)


def _in_window(events: Events, day: int) -> Events:
    if events.now is None:
        return events
    own = Window() if events.window is None else events.window
    low, high = _ends(events.now, day)
    return dataclasses.replace(events, window=Window(max(own.low, low), min(own.high, high)), now=None)


def _ends(window: NowWindow, day: int) -> tuple[int, int]:
    low = EARLIEST_DAY if window.low is None else max(EARLIEST_DAY, day + window.low)
    return low, LATEST_DAY if window.high is None else day + window.high
