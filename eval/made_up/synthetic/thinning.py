"""A course with fewer visits: those at which something new was found are all kept, others in even share."""

from __future__ import annotations

import random

from .course import Course, Encounter


def thinned(course: Course, share: float, seed: int) -> Course:
    """The course with about ``share`` of its encounters (0 to 1); never fewer than those with something new."""
    chance = random.Random(f"thinned:{seed}:{course.person.patient_id}")
    idle = [place for place, one in enumerate(course.encounters) if not one.new]
    informative = len(course.encounters) - len(idle)
    wanted = max(0, min(len(idle), round(share * len(course.encounters)) - informative))
    kept = {place for place, one in enumerate(course.encounters) if one.new} | set(chance.sample(idle, wanted))
    order = sorted(kept)
    moved = {place: number for number, place in enumerate(order)}
    return Course(
        course.person,
        course.facts,
        tuple(
            Encounter(one.date, one.type, one.purpose, one.new, one.recalled, moved.get(one.copies))
            if one.copies is not None
            else one
            for one in (course.encounters[place] for place in order)
        ),
    )
