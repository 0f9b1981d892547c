"""The courses of made-up patients: who they are, their tumors, and what was found, done and given, in order of time."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .drawn import ALL, NONE, Drawn
from .draws import NOTHING, Array, Random, places
from .plans import BANDS, LINES, PHASES, SIDES, Plans, data

YEAR: Final = 365.25
#: Nothing is told after this day.
LAST_DAY: Final = datetime.date(2025, 12, 31).toordinal()
#: Shares that get drugs in early disease, by band.
_EARLY: Final = np.array([0.35, 0.6, 0.75, 0.0])
_RULES: Final = (np.array([1, 2, 3]), (0.3, 0.6, 0.1))
#: How much more is told of advanced disease.
_TOLD_BY_BAND: Final = np.array([0.87, 1.0, 1.13, 1.2])


@dataclass(frozen=True, slots=True)
class People:
    """Patients of a chunk; all arrays have a place for each. Days are ordinals; ``born`` has a fraction.

    ``amount``: how much is told of each, about a mean of one; ``last``: the last day of follow-up.
    """

    woman: Array
    cancer: Array
    day: Array
    born: Array
    last: Array
    amount: Array
    tumors: Array
    band: Array


@dataclass(frozen=True, slots=True)
class Tumors:
    """Tumors of a chunk's patients. ``side`` is a place in ``SIDES``; ``position`` counts with the patient."""

    owner: Array
    position: Array
    cancer: Array
    day: Array
    last: Array
    extent: Array
    band: Array
    profile: Array
    side: Array


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Tumors of a chunk while their events are drawn. ``unattached``: the share of facts linked to no tumor."""

    random: Random
    tumors: Tumors
    drawn: Drawn
    unattached: float

    def attach(
        self, fact: Array, day: Array, at: Array | None = None, *, end: Any = 0, voice: Any = 0, of_all: float = 0.0
    ) -> None:
        """Facts of the tumors at these places (of all, in their order), but those after the last day. Some are linked
        to no tumor, and a share ``of_all`` to all of the patient's."""
        random, tumors = self.random, self.tumors
        at = np.arange(len(tumors.owner)) if at is None else at
        in_time = day <= tumors.last[at]
        loose = random.random(len(at)) < self.unattached
        everywhere = random.random(len(at)) < of_all
        rules, shares = _RULES
        self.drawn.add(
            tumors.owner[at],
            np.where(in_time, fact, NOTHING),
            day,
            end=end,
            tumor=np.where(everywhere, ALL, np.where(loose, NONE, tumors.position[at])),
            rule=np.where(everywhere, 1, np.where(loose, 5, random.choice(rules, len(at), p=shares))),
            voice=voice,
        )


class Courses:
    """Draws courses from the tables of :class:`.plans.Plans`."""

    def __init__(self, plans: Plans) -> None:
        """``plans`` are the tables."""
        self._plans = plans
        self._people = data("records")["people"]
        self._shares: dict[str, Any] = data("records")["tumor"]

    def draw(self, random: Random, number: int) -> tuple[People, Tumors, Drawn]:
        """So many patients, with the events of their tumors."""
        people, tumors = self._draw_people(random, number)
        drawn = Drawn()
        drawing = _Drawing(random, tumors, drawn, self._plans.unattached)
        self._findings(drawing)
        self._molecules(drawing)
        self._operations(drawing)
        spread = self._spreading(drawing)
        self._therapies(drawing, spread)
        self._relatives(drawing, people)
        return people, tumors, drawn

    # --- who --------------------------------------------------------------------------------------------------------

    def _draw_people(self, random: Random, number: int) -> tuple[People, Tumors]:
        plans, shares = self._plans, self._people
        cancer = plans.cancer.draw(random, np.zeros(number, dtype=np.int64))
        woman = (random.random(number) < plans.female[cancer]).astype(np.int64)
        first, last = (datetime.date(year, 1, 1).toordinal() for year in shares["years"])
        # More of them lately.
        day = (first + (last + 365 - first) * random.random(number) ** 0.75).astype(np.int64)
        age = np.clip(random.normal(plans.ages[cancer, 0], plans.ages[cancer, 1]), 18, 97)
        most, median = shares["followed"]
        followed = np.minimum(random.exponential(median / np.log(2), number), most) * YEAR
        end = np.minimum(day + 20 + followed.astype(np.int64), LAST_DAY)
        spread = shares["spread"]
        amount = np.minimum(np.exp(random.normal(-(spread**2) / 2, spread, number)), shares["most"])
        two, three = shares["more_tumors"]
        more = random.random(number)
        count = 1 + (more < two + three) + (more < three)
        owner, position = places(count)
        kind = np.where(position == 0, cancer[owner], plans.next_cancer.draw(random, woman[owner]))
        later = (random.random(len(owner)) * (end - day)[owner] * 0.8).astype(np.int64)
        begun = day[owner] + np.where(position == 0, 0, later)
        extent = plans.extent.draw(random, kind)
        band = plans.band[extent]
        side = np.where(plans.paired[kind], random.integers(1, len(SIDES), len(owner)), 0)
        tumors = Tumors(owner, position, kind, begun, end[owner], extent, band, plans.profile.draw(random, kind), side)
        first_band = band[position == 0]
        people = People(
            woman, cancer, day, day - age * YEAR, end, amount * _TOLD_BY_BAND[first_band], count, first_band
        )
        return people, tumors

    # --- what it is -------------------------------------------------------------------------------------------------

    def _findings(self, drawing: _Drawing) -> None:
        random, tumors = drawing.random, drawing.tumors
        plans, shares = self._plans, self._shares
        number = len(tumors.owner)
        placed = tumors.cancer * len(SIDES) + tumors.side
        diagnosis = plans.diagnosis.draw(random, placed)
        drawing.drawn.add(tumors.owner, diagnosis, tumors.day, tumor=tumors.position, rule=0, kept=True)
        day = tumors.day + random.integers(0, 21, number)
        clinical = (random.random(number) < shares["clinical"]).astype(np.int64)
        with_nodes = plans.with_nodes[tumors.extent].astype(np.int64)
        found = (
            (plans.stage[tumors.extent], shares["stage"], 0),
            (plans.tnm[1 - clinical, tumors.extent], shares["tnm"], 0),
            # Pathology tells again, after the operation, what was seen before it.
            (plans.tnm[0, tumors.extent], shares["tnm"] * 0.5 * clinical, 35),
            (plans.grade.draw(random, tumors.cancer), shares["grade"], 0),
            (
                np.where(
                    plans.tnm[0, tumors.extent] == NOTHING,
                    NOTHING,
                    plans.nodes.draw(random, tumors.cancer * 2 + with_nodes),
                ),
                shares["nodes"],
                30,
            ),
        )
        for fact, share, later in found:
            drawing.attach(np.where(random.random(number) < share, fact, NOTHING), day + later)

    def _molecules(self, drawing: _Drawing) -> None:
        random, tumors = drawing.random, drawing.tumors
        plans, shares = self._plans, self._shares
        at, _, group = plans.results.spread(tumors.profile)
        fact = plans.result.draw(random, group)
        fact[random.random(len(at)) >= shares["result"]] = NOTHING
        drawing.attach(fact, tumors.day[at] + random.integers(2, 25, len(at)), at)
        tested = random.random(len(tumors.owner)) < shares["variant"] * (0.6 + 0.4 * tumors.band)
        at, rank, group = plans.variants.spread(tumors.profile)
        fact = plans.variant.draw(random, group)
        fact[~tested[at] | (random.random(len(at)) >= 0.6 / (1 + rank))] = NOTHING
        day = tumors.day + random.integers(10, 60, len(tumors.owner))
        drawing.attach(fact, day[at], at, of_all=shares["germline"])
        count = np.where(tested, random.poisson(shares["passengers"], len(tumors.owner)), 0)
        at, _ = places(count)
        fact = plans.passenger.draw(random, np.zeros(len(at), dtype=np.int64))
        drawing.attach(fact, day[at], at, of_all=shares["germline"])

    # --- what was done ----------------------------------------------------------------------------------------------

    def _operations(self, drawing: _Drawing) -> None:
        random, tumors = drawing.random, drawing.tumors
        plans = self._plans
        number = len(tumors.owner)
        placed = tumors.cancer * len(SIDES) + tumors.side
        wanted = random.random(number) < plans.operated[tumors.cancer, tumors.band]
        planned = random.random(number) < self._shares["operated_planned"]
        surgery = np.where(wanted, plans.surgery.draw(random, placed), NOTHING)
        day = tumors.day + random.integers(10, 80, number)
        drawing.attach(surgery, day, voice=np.where(planned, plans.voices["planned"], 0))
        wanted = random.random(number) < plans.irradiated[tumors.cancer, tumors.band]
        radiation = np.where(wanted, plans.radiation.draw(random, placed), NOTHING)
        begun = tumors.day + random.integers(60, 220, number)
        drawing.attach(radiation, begun, end=begun + random.integers(1, 50, number))

    def _spreading(self, drawing: _Drawing) -> Array:
        """Metastases; returns the day on which each tumor was known to have spread, 0 where it has not."""
        random, tumors = drawing.random, drawing.tumors
        plans = self._plans
        number = len(tumors.owner)
        back = random.random(number) < plans.relapse[tumors.cancer, tumors.band]
        later = tumors.day + 120 + random.exponential(900, number).astype(np.int64)
        day = np.where(tumors.band == BANDS - 1, tumors.day + 5, np.where(back & (later < tumors.last), later, 0))
        counts = np.array(self._shares["metastases"])
        count = np.where(day > 0, 1 + random.choice(len(counts), number, p=counts / counts.sum()), 0)
        at, position = places(count)
        fact = plans.metastasis.draw(random, tumors.cancer[at])
        seen = day[at] + position * random.integers(0, 400, len(at))
        doubted = np.where(random.random(len(at)) < 0.1, plans.voices["uncertain"], 0)
        drawing.attach(fact, seen, at, voice=doubted)
        back_at = np.flatnonzero((day > 0) & (tumors.band < BANDS - 1))
        fact = np.full(len(back_at), plans.recurrence)
        drawing.attach(fact, day[back_at], back_at)
        return day

    def _therapies(self, drawing: _Drawing, spread: Array) -> None:
        random, tumors = drawing.random, drawing.tumors
        number = len(tumors.owner)
        early = np.flatnonzero(random.random(number) < _EARLY[tumors.band])
        begun = tumors.day[early] + random.integers(20, 120, len(early))
        self._line(drawing, early, 0, begun, random.gamma(2.0, 90, len(early)))
        at = np.flatnonzero(spread > 0)
        begun = spread[at] + random.integers(7, 45, len(at))
        for line in range(1, LINES + 1):
            months = random.gamma(1.6, 30.4 * 7 / 1.6 / line**0.35, len(at))
            ended = self._line(drawing, at, line, begun, months)
            progressed = np.where(ended < tumors.last[at], self._plans.progression, NOTHING)
            drawing.attach(progressed, ended, at)
            further = (random.random(len(at)) < self._shares["lines"]) & (ended < tumors.last[at])
            at, begun = at[further], (ended + random.integers(7, 40, len(ended)))[further]
        trial = np.where(random.random(number) < self._shares["trial"], self._plans.trial.draw(random, tumors.band), -1)
        drawing.attach(trial, tumors.day + random.integers(10, 700, number))

    def _line(self, drawing: _Drawing, at: Array, line: int, begun: Array, days: Array) -> Array:
        """A therapy for each of these tumors: its regimen and its drugs; returns the days on which it ended. Line 0 is
        that of early disease."""
        plans, random, tumors = self._plans, drawing.random, drawing.tumors
        phase = "early" if line == 0 else "first" if line == 1 else "later"
        therapy = plans.therapy.draw(random, tumors.profile[at] * len(PHASES) + PHASES.index(phase))
        ending = plans.ending.draw(random, np.zeros(len(at), dtype=np.int64))
        ended = np.minimum(begun + 7 + days.astype(np.int64), np.maximum(tumors.last[at], begun))
        course, _, part = plans.parts.spread(therapy)
        ongoing = ending[course] == plans.ongoing
        fact = plans.part_fact[part, line, ending[course]]
        drawing.attach(fact, begun[course], at[course], end=np.where(ongoing, 0, ended[course]))
        return ended

    # --- and others -------------------------------------------------------------------------------------------------

    def _relatives(self, drawing: _Drawing, people: People) -> None:
        plans, random, tumors = self._plans, drawing.random, drawing.tumors
        at = np.flatnonzero((random.random(len(tumors.owner)) < self._shares["relatives"]) & (tumors.position == 0))
        fact = plans.diagnosis.draw(random, tumors.cancer[at] * len(SIDES))
        drawing.drawn.add(tumors.owner[at], fact, people.day[tumors.owner[at]] + 3, voice=plans.voices["family"])
