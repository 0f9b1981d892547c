"""Numbers of several events, as the reference engine defines them: how far one moves to the next, and what they add to.

Numbers are compared as they are written: what a sum or a difference of them misses by rounding is overlooked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ...kb.model import World
from ...query_lang import nodes

#: So far apart are two numbers that are not the same; of numbers above 1, so great a part of the number.
_CLOSE = 1e-9


def moves(node: nodes.Change, earlier: float, later: float) -> bool:
    """Whether the later number is so much higher, or lower, than the earlier."""
    difference = later - earlier if node.way == "rise" else earlier - later
    if node.relative and earlier <= 0:
        return False
    bound = node.amount / 100 * earlier if node.relative else node.amount
    near = _CLOSE * max(1.0, abs(earlier), abs(later))
    return difference > bound + near if node.operator == ">" else difference >= bound - near


def sums(sure: Sequence[float | None], maybe: Iterable[float | None]) -> tuple[float, float]:
    """From where to where the sum can lie of amounts that are there and others that may be; what is not known is 0 or
    more."""
    maybe = list(maybe)
    known = sum(one for one in sure if one is not None)
    low = known + sum(one for one in maybe if one is not None and one < 0)
    high = known + sum(one for one in maybe if one is not None and one > 0)
    return low, math.inf if None in sure or None in maybe else high


def compares(node: nodes.Total, low: float, high: float, world: World) -> bool:
    """Whether every sum from ``low`` to ``high`` compares so with the amount; for the possible answer, whether one
    does."""
    near = _CLOSE * max(1.0, abs(node.amount))
    first, last = (low, high) if world is not World.POSSIBLE else (high, low)
    match node.operator:
        case ">=":
            return first >= node.amount - near
        case ">":
            return first > node.amount + near
        case "<=":
            return last <= node.amount + near
        case "<":
            return last < node.amount - near
    if world is World.POSSIBLE:
        return low <= node.amount + near and high >= node.amount - near
    return low >= node.amount - near and high <= node.amount + near
