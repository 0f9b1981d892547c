"""Differences of days: which are admitted between two rows, and the orders in time that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .. import nodes
from .formula import Gap, NotSaid, Row

#: Differences of days: from, to; None is no bound.
Interval = tuple[int | None, int | None]
Pair = tuple[Row, Row]

EVERY: Final[Interval] = (None, None)


def admitted_gaps(found: Sequence[Gap]) -> dict[tuple[Row, Row], list[Interval]]:
    """For each two rows, which differences of their days are admitted."""
    admitted: dict[tuple[Row, Row], list[Interval]] = {}
    for gap in found:
        if not gap.apart:
            intervals: list[Interval] = [(gap.low, gap.high)]
        elif not gap.low:
            intervals = [(None if gap.high is None else -gap.high, gap.high)]
        else:
            intervals = [(None if gap.high is None else -gap.high, -gap.low), (gap.low, gap.high)]
        pair = (gap.left, gap.right)
        before = admitted.get(pair, [EVERY])
        admitted[pair] = [both for one in before for other in intervals if (both := common(one, other)) is not None]
        if not admitted[pair]:
            raise NotSaid("no two days lie so to each other", "check the bounds of the days between them")
    return {pair: intervals for pair, intervals in admitted.items() if intervals != [EVERY]}


def common(one: Interval, other: Interval) -> Interval | None:
    lows = [low for low in (one[0], other[0]) if low is not None]
    highs = [high for high in (one[1], other[1]) if high is not None]
    low, high = (max(lows) if lows else None), (min(highs) if highs else None)
    return None if low is not None and high is not None and low > high else (low, high)


def orders(
    pair: Pair,
    facts: Mapping[Row, nodes.Events],
    admitted: Sequence[Interval],
    different: bool,
    without: Mapping[Pair, nodes.Events],
) -> list[nodes.PatientExpression]:
    """The orders in time in which right's day less left's is admitted, nothing of ``without`` between the two."""
    left, right = (facts[row] for row in pair)
    absent = without.get(pair, without.get((pair[1], pair[0])))

    def order(relation: str, minimum: int = 1, maximum: int | None = None) -> nodes.PatientExpression:
        return nodes.Ordered(left, relation, right, minimum, maximum, different, absent)

    if list(admitted) == [EVERY]:
        return [order("beside")]
    stretches = [(relation, minimum, maximum) for relation, minimum, maximum in _relations(admitted)]
    if absent is not None and any(relation != ("before" if pair in without else "after") for relation, *_ in stretches):
        raise NotSaid(
            "NOT EXISTS lies between two events of which it is not said that one is later in just that order",
            "compare the days of the three in one order: a.day < b.day, and c.day > a.day AND c.day < b.day",
            pair[0],
        )
    return [order(*stretch) for stretch in stretches]


def _relations(admitted: Sequence[Interval]) -> list[tuple[str, int, int | None]]:
    """Relation, shortest and longest gap for each stretch of the differences."""
    if len(admitted) == 2:
        (first, last), (low, high) = admitted
        if low is not None and high is not None and first == -high and last == -low:
            return [("within", low, high)]
    found: list[tuple[str, int, int | None]] = []
    for low, high in admitted:
        if low is not None and low >= 1:
            found.append(("before", low, high))
        elif high is not None and high <= -1:
            found.append(("after", -high, None if low is None else -low))
        else:
            # The same day lies in it: first the stretch that is as long on both sides, then what is left of one side.
            around = min(bound for bound in (None if low is None else -low, high) if bound is not None)
            found.append(("within", 0, around))
            if high is None or high > around:
                found.append(("before", around + 1, high))
            if low is None or -low > around:
                found.append(("after", around + 1, None if low is None else -low))
    return found


def clear(events: nodes.Events, absent: nodes.Events, admitted: Sequence[Interval]) -> nodes.PatientExpression:
    """An event with none of ``absent`` at the admitted differences from its day."""
    if list(admitted) == [EVERY]:
        raise NotSaid("this NOT EXISTS is tied to every day", "tie it by patient_id alone")
    stretches = _relations(admitted)
    if len(stretches) != 1:
        raise NotSaid(
            "NOT EXISTS is read of one stretch of days: before an event, after it, or around it",
            "for example: NOT EXISTS (… b.day > a.day AND b.day <= a.day + INTERVAL 180 DAY)",
        )
    relation, minimum, maximum = stretches[0]
    # Seen from the event, what comes later lies after it.
    side = {"before": "after", "after": "before"}.get(relation, relation)
    return nodes.Clear(events, side, absent, minimum, maximum)


def sequence(
    facts: Mapping[Row, nodes.Events], gaps: Mapping[Pair, Sequence[Interval]], without: Mapping[Pair, nodes.Events]
) -> nodes.PatientExpression:
    """Three rows or more, each later than the one before it."""
    later: dict[Row, tuple[Row, Interval]] = {}
    for (left, right), admitted in gaps.items():
        low, high = admitted[0]
        if len(admitted) == 1 and low is not None and low >= 1:
            step = (left, right, (low, high))
        elif len(admitted) == 1 and high is not None and high <= -1:
            step = (right, left, (-high, None if low is None else -low))
        else:
            raise _no_sequence(left)
        if step[0] in later:
            raise _no_sequence(left)
        later[step[0]] = step[1:]
    firsts = set(facts) - {row for row, _ in later.values()}
    if len(firsts) != 1 or len(later) != len(facts) - 1:
        raise _no_sequence(next(iter(facts)))
    row = next(iter(firsts))
    steps, found, used = [facts[row]], [], 0
    while row in later:
        following, (low, high) = later[row]
        absent = without.get((row, following))
        used += absent is not None
        found.append(nodes.Gap(low or 1, high, absent))
        steps.append(facts[following])
        row = following
    if used < len(without):
        raise NotSaid(
            "NOT EXISTS does not lie between two neighbours of the sequence", "tie it to two that follow", row
        )
    return nodes.Sequence(tuple(steps), tuple(found))


def _no_sequence(row: Row) -> NotSaid:
    return NotSaid(
        "three events or more are read in one order of time, each later than the one before it",
        "write a < b AND b < c; or a SELECT for each two of them, joined by INTERSECT",
        row,
    )
