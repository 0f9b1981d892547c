"""Courses: each treatment that was given gets when it began and ended, why, and where it stands, from all its notes.

A drug given again after a stop is another course, and another event. What says so is told by the notes themselves
(``ingest/treatments/courses.py``); a stop without a day lies between the last day on which it was spoken of as going on
and its note.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ...kb.kinds import COURSES
from ...kb.model import EARLIEST_DAY, DayInterval, Value
from ..text.cue_files import cue_file
from ..text.dates.intervals import days_of
from .bench import Workbench, is_dated, is_own
from .facts import ABSTRACTION, Fact

#: Days without the treatment after which it is given again, rather than on.
PAUSE: Final = 60
#: Courses of radiation that begin so many days apart are two.
_APART: Final = 90
#: A begin told within so many days is told exactly; a year is not.
_EXACT, _YEAR = 31, 300
#: A note may speak of a treatment so many days before it really began.
_EARLY: Final = 120
#: Radiation takes no longer.
_LONGEST_RADIATION: Final = 60
_OVER: Final = frozenset({"stopped", "completed"})
#: What is told as an attribute once for the whole course.
_ONCE: Final = ("intent", "line", "change", "dose", "fractions")


def summarise_courses(bench: Workbench) -> None:
    """Begin, end, standing and reason of each course; courses of one treatment kept apart."""
    treatments: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        if fact.kind in COURSES and is_own(fact) and fact.document_class != ABSTRACTION:
            if fact.context.really_happened:
                treatments[fact.kind, fact.concept, fact.tumor].append(fact)
            elif fact.context.reason in ("declined", "never_started"):
                fact.attributes["status"] = fact.context.reason
            elif fact.status == "planned":
                fact.attributes["status"] = "planned"
    note_days = [read.note.date.toordinal() if read.note.date else EARLIEST_DAY for read in bench.notes]
    for facts in treatments.values():
        courses = courses_of(facts)
        for number, course in enumerate(courses, start=1):
            _state_once(course, max(note_days[fact.note] for fact in course))
            if len(courses) > 1:
                for fact in course:
                    fact.attributes["course"] = float(number)


def courses_of(facts: Sequence[Fact]) -> list[list[Fact]]:
    """The facts of one treatment by course: a stated beginning after a stated end begins another."""
    begins = sorted({day for fact in facts if (day := stated_begin(fact)) is not None})
    ends = sorted({day for fact in facts if (day := stated_day(fact, "ended")) is not None})
    starts: list[DayInterval] = []
    for day in begins:
        if not starts:
            starts.append(day)
        elif facts[0].kind == "radiation":
            if day.low > starts[-1].high + _APART:
                starts.append(day)
        elif any(starts[-1].low <= end.low and end.high + PAUSE < day.low for end in ends):
            starts.append(day)
    if len(starts) < 2:
        return [list(facts)]
    courses: list[list[Fact]] = [[] for _ in starts]
    for fact in facts:
        courses[_course_at(starts, _day_in_course(fact))].append(fact)
    return [course for course in courses if course]


def stated_day(fact: Fact, name: str) -> DayInterval | None:
    """When a course ``began`` or ``ended`` in the words of a note; None where they do not say."""
    stated = fact.mention.attributes.get(name)
    return None if stated is None else days_of(str(stated))


def stated_begin(fact: Fact) -> DayInterval | None:
    """The day on which a course began, where the fact states it: in words, or by a plain date beside the treatment."""
    stated = fact.mention.attributes
    if (day := stated_day(fact, "began")) is not None:
        return day
    plain = "ended" not in stated and stated.get("standing", "started") == "started"
    return fact.day if plain and is_dated(fact) and fact.day.high - fact.day.low <= _EXACT else None


def _day_in_course(fact: Fact) -> DayInterval:
    """A day on which the course that a fact is of was going on, or had just ended."""
    return stated_day(fact, "began") or stated_day(fact, "ended") or fact.day


def _course_at(starts: Sequence[DayInterval], day: DayInterval) -> int:
    """The last course that had begun on a day; the first before all of them, and for a day that nothing tells."""
    if day.low <= EARLIEST_DAY:
        return 0
    return max((number for number, start in enumerate(starts) if start.low <= day.high), default=0)


def _state_once(course: Sequence[Fact], last_stated: int) -> None:
    """The same attributes and end for all facts of one course; ``last_stated``: when a note last spoke of it."""
    stated: dict[str, Value] = {}
    own = [fact for fact in course if not fact.copied] or list(course)
    implied = implied_intent(course[0].concept)
    if implied:
        stated["intent"] = implied
    # The dose of a drug is that of one day.
    once = [name for name in _ONCE if name != "dose" or course[0].kind == "radiation"]
    for name in once:
        values = [fact.attributes[name] for fact in course if name in fact.attributes]
        if values:
            stated[name] = Counter(values).most_common(1)[0][0]
    counts = [float(fact.attributes["cycles"]) for fact in course if "cycles" in fact.attributes]
    if counts:
        stated["cycles"] = max(counts)
    standing, over = _standing(own)
    end = _end(course, own, standing)
    status = {"started": "ongoing", "stopped": "discontinued"}.get(standing, standing)
    if status:
        stated["status"] = status
    if not status and course[0].kind == "radiation":
        begun = min(fact.day.high for fact in course)
        if begun + _LONGEST_RADIATION < last_stated:
            # No course of radiation goes on for so long.
            status = stated["status"] = "completed"
    reasons = [str(fact.attributes["reason"]) for fact in over if "reason" in fact.attributes]
    if reasons:
        stated["reason"] = reasons[-1]
        if status == "completed" and reasons[-1] != "completion":
            stated["status"] = "discontinued"
    elif status == "completed" and any(fact.mention.attributes.get("standing") == "completed" for fact in own):
        stated["reason"] = "completion"
    _settle_begin(course)
    for fact in course:
        for name in (*once, "cycles", "reason"):
            fact.attributes.pop(name, None)
        fact.attributes.update(stated)
        fact.end = end


@lru_cache(maxsize=1)
def _implied_intents() -> dict[str, str]:
    return {concept: intent for intent, concepts in cue_file("lines")["implied_intent"].items() for concept in concepts}


def implied_intent(concept: str) -> str:
    """The intent that a treatment's name says (radiation after mastectomy is adjuvant); empty for none."""
    return _implied_intents().get(concept, "")


def _settle_begin(course: Sequence[Fact]) -> None:
    """A stated begin stands against a note that spoke of the treatment shortly before, and against a bare year."""
    begins = [day for fact in course if (day := stated_begin(fact)) is not None]
    if begins:
        first = min(begins, key=lambda day: (day.high, -day.low))
        for fact in course:
            early = not is_dated(fact) and 0 < first.low - fact.day.high <= _EARLY
            vague = (
                fact.day.high - fact.day.low >= _YEAR
                and fact.day.low > EARLIEST_DAY
                and "began" not in fact.mention.attributes
            )
            if (early or vague) and fact.day.high < first.low:
                fact.day = first
    elif course[0].kind == "radiation":
        for fact in course:
            if (end := stated_day(fact, "ended")) is not None:
                fact.day = DayInterval(max(EARLIEST_DAY, end.low - _LONGEST_RADIATION), end.high)


def _standing(facts: Sequence[Fact]) -> tuple[str, list[Fact]]:
    """Where the course stands by its latest word, and the facts that tell of its end, in the order of the record.

    That it was started is told of again and again: it undoes no end. That it goes on does, in a later note.
    """
    stated = [fact for fact in facts if fact.mention.attributes.get("standing")]
    stated.sort(key=lambda fact: (fact.note, fact.mention.start))
    standing, over, last_end = "", [], -1
    for fact in stated:
        word = str(fact.mention.attributes["standing"])
        if word in _OVER or word == "held":
            standing, last_end = word, fact.note
            over.append(fact)
        elif word == "ongoing" and fact.note > last_end:
            standing, over = word, []
        elif not standing:
            standing = word
    ended = [fact for fact in facts if "ended" in fact.mention.attributes]
    if not standing and not ended and any("began" in fact.mention.attributes for fact in facts):
        # "On it since May": it goes on, as far as its words go.
        standing = "started"
    if ended and standing in ("", "started"):
        standing = "stopped" if any("reason" in fact.attributes for fact in ended) else "completed"
        over = over or ended
    return standing, over


def _end(course: Sequence[Fact], own: Sequence[Fact], standing: str) -> DayInterval | None:
    """When the course ended: as the notes state it, of several the latest word; else between what is known of it."""
    stated = [(fact.note, fact.mention.start, day) for fact in own if (day := stated_day(fact, "ended")) is not None]
    if stated and standing != "ongoing":
        days = [day for _, _, day in stated]
        _, _, day = max(stated, key=lambda one: one[:2])
        # The same end, told more closely elsewhere.
        closer = [one for one in days if day.low <= one.low and one.high <= day.high]
        return min(closer, key=lambda one: one.high - one.low)
    if standing in _OVER:
        over = [fact for fact in own if fact.mention.attributes.get("standing") in _OVER]
        if over:
            first = min(over, key=lambda fact: (fact.day.high, fact.note))
            if is_dated(first) and "began" not in first.mention.attributes:
                return first.day
            of_end = set(map(id, over))
            before = [
                fact.day.low
                for fact in course
                if fact.day.low > EARLIEST_DAY and fact.day.high < first.day.high and id(fact) not in of_end
            ]
            if before and first.day.low > EARLIEST_DAY:
                return DayInterval(max(before), first.day.high)
    return None
