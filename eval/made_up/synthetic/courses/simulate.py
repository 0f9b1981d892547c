"""One course, or all of them: patient ``i`` of a seed is the same in every run, whatever else is simulated."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

from ..course import Course, Person
from . import encounters, outcome, people
from .profile import Allotment, allotment
from .staging import make_disease, spread_to
from .story import Disease, Story, later
from .tables import chosen, table

#: Patients in the paper's corpus.
FULL_SIZE = 1436


def courses(patients: int = FULL_SIZE, seed: int = 0, *, start: int = 0) -> Iterator[Course]:
    """The courses of patients ``start`` to ``start + patients``, each as :func:`course` makes it.

    With the first 1,436 all counts of ``profile.toml`` hold exactly (115,865 encounters).
    """
    for index in range(start, start + patients):
        yield course(index, seed)


def course(index: int, seed: int = 0) -> Course:
    """The course of one patient: the same for equal ``index`` and ``seed``."""
    given = allotment(index, seed)
    rng = random.Random(f"course/{seed}/{index}")
    entity = table("tumors")["tumor"][given.tumor]
    end = later(datetime.date(2023, 6, 30), -rng.randrange(0, 500))
    first, last = (2010, 2020) if given.brain else (2009, 2022)
    found = datetime.date(round(rng.triangular(first, last, 2018)), rng.randrange(1, 13), rng.randrange(1, 29))
    found = min(found, later(end, -200))
    age = min(93.0, max(19.0, rng.gauss(entity.get("age", 64), entity.get("spread", 12))))
    story = Story(rng, given, later(found, -age * 365.25), end)
    disease = make_disease(story, entity, found, "first", given.stage)
    outcome.live(story, disease, people.background(story, disease))
    _brain(story, disease)
    _second_tumor(story, given)
    facts, notes = encounters.record(story)
    person = Person(
        f"S{seed:02d}-{index + 1:05d}", given.hospital, given.sex, story.born, given.race, given.ethnicity, story.died
    )
    return Course(person, facts, notes)


def _second_tumor(story: Story, given: Allotment) -> None:
    """Some have a second primary before the records end; it is treated for itself."""
    last = story.died or story.end
    first = min(one.day for one in story.occasions)
    if not story.happens(0.035) or (last - first).days < 900:
        return
    tumors = table("tumors")["tumor"]
    wanted = "female" if given.female else "male"
    options = [
        one
        for one in tumors
        if one["group"] != given.group
        and one.get("sex", wanted) == wanted
        and "benign" not in one.get("traits", ())
        and one["group"] in ("breast", "lung", "prostate", "colorectal", "melanoma", "bladder", "kidney", "thyroid")
    ]
    if not given.female:
        options = [one for one in options if one["group"] != "breast"]
    entity = chosen(story.rng, options, [one["share"] for one in options])
    found = later(first, story.rng.randrange(400, (last - first).days - 100))
    second = make_disease(
        story,
        entity,
        found,
        "second",
        story.rng.choice(("I", "II")) if table("families")[entity["family"]]["extents"][0][0] != "0" else None,
    )
    second.stated = story.happens(0.6)
    outcome.live(story, second, [])


def _brain(story: Story, disease: Disease) -> None:
    """Whoever is to have brain metastases and had none till near the end has them found then."""
    last = story.died or story.end
    seen = (one for one in story.facts if one.kind == "metastasis" and one.attributes.get("site") == "brain")
    if story.given.brain and not any(one.assertion == "present" and one.date and one.date < last for one in seen):
        day = max(later(last, -40), min(one.day for one in story.occasions))
        story.meet(day, "radiology", "recurrence", spread_to(story, disease, day, 1, "brain"), 12)
