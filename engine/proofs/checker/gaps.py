"""Time relations in the verifier's own arithmetic: days between events, what lasts with what, ages."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from ....kb.courses import may_go_on
from ....kb.kinds import COURSES, OF_ONE_NOTE, OF_SAMPLE, values_of
from ....kb.model import LATEST_DAY, DayInterval, World
from ....query_lang import nodes
from .sets import Sets, UnknownNode
from .views import Seen

Witness = tuple[Seen, ...]


def gap_of(one: Witness, other: Witness, world: World) -> list[int]:
    """The fewest and the most days from the one to the other; believed counts from middle to middle."""
    if world is World.BELIEVED:
        return [other[0].middle - one[0].middle] * 2
    return [
        min(seen.low for seen in other) - max(seen.high for seen in one),
        max(seen.high for seen in other) - min(seen.low for seen in one),
    ]


def relate(
    node: nodes.Ordered, one: Witness, other: Witness, world: World, sets: Sets, between: Sequence[Witness] = ()
) -> bool:
    """Whether two witnesses stand in the relation, whichever of their events they are, and are never one event.

    ``between``: the witnesses of what must not lie between the two, in the opposite world.
    """
    return all(
        first.event_id != second.event_id
        and (not node.different or _differ(sets, first.event.concept, second.event.concept))
        and (
            _related(node, first, second, world) if node.relation != "specimen" else _is_one(first, second, world, sets)
        )
        and not any(_parts(node.relation, first, second, middle, world) for middle in between)
        for first in one
        for second in other
    )


def _differ(sets: Sets, one: str, other: str) -> bool:
    """Whether neither of two concepts is, or lies below, the other."""
    return bool(one and other) and one not in sets.above(other) and other not in sets.above(one)


def _is_one(one: Seen, other: Seen, world: World, sets: Sets) -> bool:
    """Whether both were found on a specimen of one id; possibly, where one has none, if nothing speaks against it."""
    told = {
        name: [
            set(values_of(name, value)) for seen in (one, other) if (value := seen.event.attributes.get(name, "")) != ""
        ]
        for name in OF_SAMPLE
    }
    ids = told.pop("specimen_id")
    if len(ids) == 2 and ids[0] & ids[1]:
        return True
    if len(ids) == 2 and all(any(not str(id_).startswith(OF_ONE_NOTE) for id_ in both) for both in ids):
        return False
    sites = told.pop("specimen_site")
    apart = len(sites) == 2 and all(_differ(sets, str(first), str(second)) for first in sites[0] for second in sites[1])
    return (
        world is World.POSSIBLE
        and max(one.low, other.low) <= min(one.high, other.high)
        and not apart
        and not any(len(both) == 2 and not both[0] & both[1] for both in told.values())
    )


def _related(node: nodes.Ordered, one: Seen, other: Seen, world: World) -> bool:
    if node.relation == "beside":
        return True
    if node.relation == "during":
        return _begins(other, one, world) and _start(one, world) <= _end(other, world)
    if node.relation == "overlapping":
        return _start(one, world) <= _end(other, world) and _start(other, world) <= _end(one, world)
    return lie_apart(node.relation, one, other, node.minimum, node.maximum, world)


def lie_apart(relation: str, one: Seen, other: Seen, minimum: int, maximum: int | None, world: World) -> bool:
    """Whether the other lies so many days after the one (*before*: the one is before it), before it, or either."""
    fewest, most = gap_of((one,), (other,), world)
    if relation == "after":
        fewest, most = -most, -fewest
    if relation in ("before", "after"):
        return _admits(fewest, most, minimum, maximum, world)
    if relation != "within" or maximum is None:
        raise UnknownNode(f"the relation {relation!r}")
    if minimum == 0 and world is not World.POSSIBLE:
        # In either order; the two orders meet at the same day.
        return -maximum <= fewest and most <= maximum
    return _admits(fewest, most, minimum, maximum, world) or _admits(-most, -fewest, minimum, maximum, world)


def _admits(fewest: int, most: int, minimum: int, maximum: int | None, world: World) -> bool:
    """Possible: some number of days from the fewest to the most is right; else all are."""
    if world is World.POSSIBLE:
        return most >= minimum and (maximum is None or fewest <= maximum)
    return fewest >= minimum and (maximum is None or most <= maximum)


def _begins(one: Seen, other: Seen, world: World) -> bool:
    """Whether one has begun when the other begins."""
    if world is World.BELIEVED:
        return one.middle <= other.middle
    return one.high <= other.low if world is World.CERTAIN else one.low <= other.high


def _start(seen: Seen, world: World) -> int:
    return {World.CERTAIN: seen.high, World.BELIEVED: seen.middle, World.POSSIBLE: seen.low}[world]


def _end(seen: Seen, world: World) -> int:
    """Until when it lasts; what has no recorded end lasts for its day, and possibly for ever."""
    # The end of something lasts for its day.
    end = DayInterval(seen.low, seen.high) if seen.ended else seen.event.end
    if world is World.CERTAIN:
        return seen.low if end is None else end.low
    if world is World.POSSIBLE:
        return LATEST_DAY if end is None else end.high
    return seen.middle if end is None or seen.ended else (end.low + end.high) // 2


def _parts(relation: str, one: Seen, other: Seen, middle: Witness, world: World) -> bool:
    """Whether what must not lie between lies there. For certain it must not on any days, possibly on all of them."""
    ways = {"before": [(one, other)], "after": [(other, one)]}.get(relation, [(one, other), (other, one)])
    return any(
        all(seen.event_id not in (one.event_id, other.event_id) and _lies(first, seen, last, world) for seen in middle)
        for first, last in ways
    )


def _lies(first: Seen, seen: Seen, last: Seen, world: World) -> bool:
    if world is World.BELIEVED:
        return first.middle < seen.middle < last.middle
    if world is World.CERTAIN:
        return max(seen.low, first.low + 1) <= min(seen.high, last.high - 1)
    return first.high < seen.low and seen.high < last.low


def lasts_until(seen: Seen, day: int, world: World) -> bool:
    """Whether a course has begun by the day and lasts at least until then: to its recorded end; without one for good,
    where what is told of it leaves that open, or for its own day."""
    event = seen.event
    if event.kind not in COURSES or _start(seen, world) > day:
        return False
    if event.end is None:
        last = {World.CERTAIN: seen.low, World.BELIEVED: seen.middle, World.POSSIBLE: seen.high}[world]
        return last >= day or may_go_on(event) >= world
    return _end(seen, world) >= day


def is_before(interval: DayInterval, day: int, world: World) -> bool:
    """Whether something lies before a day: whenever it was (certain), at the middle, or perhaps (possible)."""
    middle = (interval.low + interval.high) // 2
    return {World.CERTAIN: interval.high, World.BELIEVED: middle, World.POSSIBLE: interval.low}[world] < day


def is_aged(node: nodes.AgeAt, birth: DayInterval, seen: Seen | None, world: World) -> bool:
    """Whether the age is in the range, at an event or on the day that is asked for."""
    on = nodes.known_day(node.day or 0)
    low, high = (on, on) if seen is None else (seen.low, seen.high)
    if world is World.BELIEVED:
        middle = low if seen is None else seen.middle
        born = (birth.low + birth.high) // 2
        youngest = oldest = _years(born, middle)
    else:
        youngest, oldest = _years(birth.high, low), _years(birth.low, high)
    if world is World.POSSIBLE:
        return oldest >= node.low and (node.high is None or youngest <= node.high)
    return youngest >= node.low and (node.high is None or oldest <= node.high)


def _years(born: int, day: int) -> int:
    """Completed years from one day to another."""
    one, other = datetime.date.fromordinal(born), datetime.date.fromordinal(day)
    return other.year - one.year - ((other.month, other.day) < (one.month, one.day))
