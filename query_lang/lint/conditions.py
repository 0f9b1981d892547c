"""The conditions that stand in a criterion, whichever its kind."""

from __future__ import annotations

from collections.abc import Iterator

from ..nodes import AllOf, AnyOf, Condition, NotThat, PatientExpression
from ..tree import event_sets


def conditions_in(node: PatientExpression) -> Iterator[Condition]:
    """Every condition on the events of a leaf, each before its parts."""
    for events in event_sets(node):
        if events.condition is not None:
            yield from conditions_below(events.condition)


def conditions_below(condition: Condition) -> Iterator[Condition]:
    """The condition and all that it is made of."""
    waiting = [condition]
    while waiting:
        one = waiting.pop()
        yield one
        match one:
            case AllOf(parts) | AnyOf(parts):
                waiting.extend(reversed(parts))
            case NotThat(part):
                waiting.append(part)
