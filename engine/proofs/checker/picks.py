"""Picks in the verifier's own words: which events are, or may be, the first, latest, n-th, worst or best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....kb.kinds import MAIN_ATTRIBUTE
from ....kb.model import BETTER_WHEN_HIGHER, World
from ....kb.ontology.scales import Scales
from ....query_lang import nodes
from .views import Seen

Days = tuple[int, int]


def picked(
    node: nodes.Events, world: World, members: dict[World, list[Seen]], satisfying: frozenset[str], scales: Scales
) -> list[tuple[Seen, ...]]:
    """The witnesses of a pick. ``members`` are those of each world, ``satisfying`` the events that the condition holds
    of.

    Believed: what is picked, if the condition holds of all of it. Certain: all that may be picked, if it holds of all
    of that and something must be. Possible: what may be picked and no event with it of which the condition fails.
    """
    if world is World.BELIEVED:
        chosen = _chosen(node, members[world], scales)
        return [(seen,) for seen in chosen] if all(seen.event_id in satisfying for seen in chosen) else []
    sure, maybe = members[World.CERTAIN], members[World.POSSIBLE]
    if world is World.CERTAIN:
        candidates = _candidates(node, sure, maybe, [], scales)
        right = _must(node, sure, scales) and all(seen.event_id in satisfying for seen in candidates)
        return [tuple(candidates)] if right and candidates else []
    spoilers = [seen for seen in sure if seen.event_id not in satisfying]
    return [(seen,) for seen in _candidates(node, sure, maybe, spoilers, scales) if seen.event_id in satisfying]


def _chosen(node: nodes.Events, members: Sequence[Seen], scales: Scales) -> list[Seen]:
    if node.pick.how in ("worst", "best"):
        return [seen for seen in members if _is_unexceeded(node, seen, members, scales)]
    days = sorted({seen.middle for seen in members}, reverse=node.pick.how == "latest")
    at = max(1, node.pick.n) - 1
    return [seen for seen in members if at < len(days) and seen.middle == days[at]]


def _must(node: nodes.Events, sure: Sequence[Seen], scales: Scales) -> bool:
    """Whether every completion has a pick."""
    if node.pick.how in ("worst", "best"):
        return any(_exceeds(node, seen, seen, scales) is not None for seen in sure)
    return len(fewest_days([_facing(node, seen) for seen in sure])) >= max(1, node.pick.n)


def _candidates(
    node: nodes.Events, sure: Sequence[Seen], maybe: Sequence[Seen], spoilers: Sequence[Seen], scales: Scales
) -> list[Seen]:
    if node.pick.how in ("worst", "best"):
        found = [seen for seen in maybe if _is_unexceeded(node, seen, sure, scales)]
        return [seen for seen in found if all(_may_yield(node, one, seen, maybe, scales) for one in spoilers)]
    n = max(1, node.pick.n)
    passed = fewest_days([_facing(node, seen) for seen in sure])
    found = []
    for seen in maybe:
        low, high = _facing(node, seen)
        before = earliest_days([_facing(node, other) for other in maybe if other.event_id != seen.event_id], n - 1)
        if len(before) < n - 1:
            continue
        low = max([low, *(day + 1 for day in before[-1:])])
        high = min([high, *passed[n - 1 : n]])
        taken = set()
        for first, last in (_facing(node, one) for one in spoilers):
            if n == 1:
                high = min(high, last - 1)
            if first == last:
                taken.add(first)
        while low <= high and low in taken:
            low += 1
        while low <= high and high in taken:
            high -= 1
        if low <= high:
            turned = node.pick.how == "latest"
            found.append(replace(seen, low=-high if turned else low, high=-low if turned else high))
    return found


def _facing(node: nodes.Events, seen: Seen) -> Days:
    """The days of an event, counted backwards for the latest."""
    return (-seen.high, -seen.low) if node.pick.how == "latest" else (seen.low, seen.high)


def fewest_days(intervals: Sequence[Days]) -> list[int]:
    """The fewest different days on which events of these intervals can lie, each as late as may be."""
    days: list[int] = []
    for low, high in sorted(intervals, key=lambda days_of: days_of[1]):
        if not any(low <= day for day in days[-1:]):
            days.append(high)
    return days


def earliest_days(intervals: Sequence[Days], number: int) -> list[int]:
    """The first different days, up to ``number``, of which each interval gives one at most."""
    left, days = list(intervals), list[int]()
    while len(days) < number:
        after = days[-1] + 1 if days else None
        open_ones = [
            (low if after is None else max(low, after), high, at)
            for at, (low, high) in enumerate(left)
            if after is None or high >= after
        ]
        if not open_ones:
            break
        day, _, at = min(open_ones)
        days.append(day)
        del left[at]
    return days


# --- by value ---------------------------------------------------------------------------------------------------------


def _exceeds(node: nodes.Events, one: Seen, other: Seen, scales: Scales) -> bool | None:
    """Whether the value of one is worse (of *best*: better) than that of the other; None where one has no rank."""
    name = MAIN_ATTRIBUTE[str(node.kind)]
    mine, theirs = one.event.attributes.get(name, ""), other.event.attributes.get(name, "")
    if not all(scales.compare(name, value, "=", value) for value in (mine, theirs)):
        return None
    turned = one.event.concept in BETTER_WHEN_HIGHER
    if turned != (other.event.concept in BETTER_WHEN_HIGHER):
        return False
    higher = (node.pick.how == "worst") != turned
    return scales.compare(name, mine, ">" if higher else "<", theirs)


def _is_unexceeded(node: nodes.Events, seen: Seen, others: Sequence[Seen], scales: Scales) -> bool:
    if _exceeds(node, seen, seen, scales) is None:
        return False
    return not any(_exceeds(node, other, seen, scales) for other in others)


def _may_yield(node: nodes.Events, spoiler: Seen, seen: Seen, maybe: Sequence[Seen], scales: Scales) -> bool:
    """Whether something that does not exceed the event can exceed the spoiler."""
    if _exceeds(node, spoiler, spoiler, scales) is None:
        return True
    return any(_exceeds(node, one, spoiler, scales) and not _exceeds(node, one, seen, scales) for one in maybe)
