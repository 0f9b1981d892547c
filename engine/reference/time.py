"""One event, or two, in a world, as the reference engine defines it: contexts, windows, gaps, durations, ages."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

from ...kb.courses import may_go_on
from ...kb.kinds import COURSES, KIND_TABLE, RULE_OF_DERIVED
from ...kb.model import LATEST_DAY, DayInterval, Event, Experiencer, Journey, Note, World
from ...kb.note_classes import evidence_classes, note_class
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from .views import Seen, View, end_of, has_known_end


def admits(context: str, event: Event, world: World) -> bool:
    """Whether the atom's context admits the event. What is asked for by its context is as recorded, in every world."""
    recorded = event.context
    own = recorded.experiencer is Experiencer.PATIENT
    match context:
        case "present":
            return event.world >= world
        case "current" | "historical":
            return event.world >= world and recorded.temporality == context
        case "absent" | "uncertain" | "planned" | "hypothetical":
            return own and recorded.assertion == context
        case "declined":
            return own and recorded.reason == "declined"
        case "family":
            return recorded.experiencer is Experiencer.FAMILY and recorded.assertion in ("present", "historical")
        case "any":
            return True
    raise QueryTreeError(f"context {context!r} has no meaning")


def is_known_so(node: nodes.Events, event: Event, journey: Journey) -> bool:
    """Whether the event is told where, by how many, in which way and as undisputedly as the atom asks: the same in
    every world."""
    if node.known and (event.attributes.get(RULE_OF_DERIVED, "") != "") is not (node.known == "derived"):
        return False
    if event.sources < node.sources:
        return False
    if node.undisputed and any(
        event.event_id in decision.believed or event.event_id in decision.rejected for decision in journey.decisions
    ):
        return False
    if not node.source:
        return True
    notes = {note.note_id: note for note in journey.notes}
    return any(
        mention.mention_id in event.evidence
        and mention.note_id in notes
        and node.source in evidence_classes(notes[mention.note_id].type, notes[mention.note_id].title, mention.section)
        for mention in journey.mentions
    )


def lies_in(window: nodes.Window, day: DayInterval, world: World) -> bool:
    """Certain: the whole interval lies inside; believed: its midpoint; possible: some day of it."""
    match world:
        case World.CERTAIN:
            return window.low <= day.low and day.high <= window.high
        case World.POSSIBLE:
            return day.low <= window.high and window.low <= day.high
    return window.low <= day.midpoint <= window.high


def observed(events: nodes.Events, view: View, world: World) -> bool:
    """Whether a note that would tell of such an event lies in the window."""
    window = nodes.Window() if events.window is None else events.window
    return any(
        (events.kind is None or note_class(note.type, note.title) in KIND_TABLE[events.kind].noted_in)
        and events.source in ("", note_class(note.type, note.title))
        and lies_in(window, _day_of(note), world)
        for note in view.journey.notes
    )


def _day_of(note: Note) -> DayInterval:
    return DayInterval() if note.date is None else DayInterval(note.date.toordinal(), note.date.toordinal())


def in_window(seen: Seen, window: nodes.Window | None, world: World) -> Seen:
    """As it lies in the window. Believed looks at midpoints alone."""
    if window is None or world is World.BELIEVED:
        return seen
    return replace(seen, narrowed=DayInterval(max(seen.days.low, window.low), min(seen.days.high, window.high)))


def lasts(lasting: nodes.Lasting, seen: Seen, world: World) -> bool:
    """Whether it lasted so long: for every begin and end (certain), for the midpoints, or for some (possible)."""
    event = seen.event
    if world is not World.POSSIBLE and not has_known_end(event):
        return False
    begin, end = event.day, end_of(event)
    if world is World.BELIEVED:
        shortest = longest = end.midpoint - begin.midpoint
    else:
        # As far as the day that is looked at is narrowed, it is one of those.
        begin, end = (seen.days, end) if seen.moment == "begin" else (begin, seen.days)
        shortest, longest = end.low - begin.high, end.high - begin.low
    if event.end is None and has_known_end(event):
        shortest = longest = 0
    # What is told to have ended before it began has no length.
    shortest, longest = max(0, shortest), max(0, longest)
    most = longest if lasting.maximum is None else lasting.maximum
    if world is World.POSSIBLE:
        return lasting.minimum <= longest and shortest <= most
    return lasting.minimum <= shortest and longest <= most


def lasts_with(relation: str, left: Seen, right: Seen, world: World) -> bool:
    """Whether left begins while right lasts, or the two last on a common day.

    Certain: for every day and end in the intervals; believed: for the midpoints; possible: for some. What has no
    recorded end lasts for its day alone, and possibly for ever.
    """
    if relation == "during":
        return _begins_by(right, left, world) and _latest(left, world) <= _ends(right, world)
    return _latest(left, world) <= _ends(right, world) and _latest(right, world) <= _ends(left, world)


def _begins_by(one: Seen, other: Seen, world: World) -> bool:
    """Whether one begins on the other's day or before it."""
    match world:
        case World.CERTAIN:
            return one.days.high <= other.days.low
        case World.POSSIBLE:
            return one.days.low <= other.days.high
    return one.middle <= other.middle


def _latest(seen: Seen, world: World) -> int:
    """The day by which the event begins: at the latest (certain), as believed, at the earliest (possible)."""
    match world:
        case World.CERTAIN:
            return seen.days.high
        case World.POSSIBLE:
            return seen.days.low
    return seen.middle


def _ends(seen: Seen, world: World) -> int:
    """The day until which the event lasts: at least (certain), as believed, at most (possible)."""
    # The end of an event lasts for its day.
    end = seen.event.end if seen.moment == "begin" else seen.days
    match world:
        case World.CERTAIN:
            return seen.days.low if end is None else end.low
        case World.POSSIBLE:
            return LATEST_DAY if end is None else end.high
    return seen.middle if end is None or seen.moment == "end" else end.midpoint


def separated(relation: str, left: Seen, right: Seen, between: Sequence[tuple[Seen, ...]], world: World) -> bool:
    """Whether one of ``between`` (witnesses in the opposite world) lies strictly between the two days.

    For the certain answer it is enough that it may lie there on some days; for the possible one it must on all.
    """
    orders = {"before": [(left, right)], "after": [(right, left)]}.get(relation, [(left, right), (right, left)])
    return any(
        all(
            one.position not in (left.position, right.position) and _lies_between(first, one, last, world)
            for one in witness
        )
        for witness in between
        for first, last in orders
    )


def _lies_between(first: Seen, one: Seen, last: Seen, world: World) -> bool:
    match world:
        case World.CERTAIN:
            return max(one.days.low, first.days.low + 1) <= min(one.days.high, last.days.high - 1)
        case World.POSSIBLE:
            return first.days.high < one.days.low and one.days.high < last.days.low
    return first.middle < one.middle < last.middle


def goes_on(day: int, seen: Seen, world: World) -> bool:
    """Whether an event is a course that goes on at the day: it has begun by then, and does not end before.

    Where no end is recorded it goes on as its status and the reason told with it say (``kb/courses.toml``), and else
    lasts for its own day.
    """
    event = seen.event
    if event.kind not in COURSES or _latest(seen, world) > day:
        return False
    if event.end is None and may_go_on(event) >= world:
        return True
    match world:
        case World.CERTAIN:
            return day <= (seen.days.low if event.end is None else event.end.low)
        case World.POSSIBLE:
            return day <= (seen.days.high if event.end is None else event.end.high)
    return day <= (event.day.midpoint if event.end is None else event.end.midpoint)


def has_died_before(day: int, event: Event, world: World) -> bool:
    """Whether an event is the patient's death, before the day: surely (certain), as believed, or perhaps (possible)."""
    if event.kind != "death" or not admits("present", event, world):
        return False
    match world:
        case World.CERTAIN:
            return event.day.high < day
        case World.POSSIBLE:
            return event.day.low < day
    return event.day.midpoint < day


def aged(node: nodes.AgeAt, birth: DayInterval, day: DayInterval, middle: int, world: World) -> bool:
    """Whether the age is in the range: for every birthday and day (certain), the midpoints, or some (possible)."""
    if world is World.BELIEVED:
        youngest = oldest = completed_years(birth.midpoint, middle)
    else:
        youngest, oldest = completed_years(birth.high, day.low), completed_years(birth.low, day.high)
    high = oldest if node.high is None else node.high
    if world is World.POSSIBLE:
        return node.low <= oldest and youngest <= high
    return node.low <= youngest and oldest <= high


def completed_years(birth: int, day: int) -> int:
    """How many birthdays lie between two days (ordinals); below 0 before birth."""
    born, then = datetime.date.fromordinal(birth), datetime.date.fromordinal(day)
    return then.year - born.year - ((then.month, then.day) < (born.month, born.day))


def relates(node: nodes.Ordered, left: Seen, right: Seen, world: World) -> bool:
    """Certain: for every pair of days in the two intervals; believed: for the midpoints; possible: for some pair."""
    first, second = left.days, right.days
    if world is World.BELIEVED:
        low = high = right.middle - left.middle
    else:
        # Every gap from the smallest to the largest occurs for some pair of days.
        low, high = second.low - first.high, second.high - first.low
    longest = max(abs(low), abs(high)) if node.maximum is None else node.maximum
    match node.relation:
        case "before":
            admitted = [(node.minimum, longest)]
        case "after":
            admitted = [(-longest, -node.minimum)]
        case _:
            admitted = [(node.minimum, longest), (-longest, -node.minimum)] if node.minimum else [(-longest, longest)]
    if world is World.POSSIBLE:
        return any(low <= upper and lower <= high for lower, upper in admitted)
    return any(lower <= low and high <= upper for lower, upper in admitted)
