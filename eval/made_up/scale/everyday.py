"""What is told of made-up patients besides their tumors: visits, labs, complaints, illnesses, birth and death."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from ....kb.kinds import OF_PATIENT
from ....kb.ontology.concepts import ConceptTable
from .broad import FIRST, SECOND, SINGLE, code
from .courses import YEAR, People, Tumors
from .drawn import ALL, NONE, Drawn
from .draws import NOTHING, Array, Choice, Random, places, weighted
from .facts import Facts
from .plans import BANDS, Plans, data

_AGES: Final = range(18, 101)
#: Scores of performance by band of stage.
_ECOG: Final = ((55, 33, 9, 2, 1), (45, 38, 12, 4, 1), (32, 42, 18, 6, 2), (18, 42, 25, 11, 4))
_GRADES: Final = (("1", 35), ("2", 38), ("3", 22), ("4", 5))


class Everyday:
    """Tables of ``records.toml``, and what is drawn from them."""

    def __init__(self, concepts: ConceptTable, facts: Facts, plans: Plans, codes: int) -> None:
        """``codes``: how many codes the broad class has."""
        self._facts, self._plans = facts, plans
        records = data("records")
        self._visit: float = records["telling"]["visit"]
        self._set: Mapping[str, float] = records["set"]
        self._death = np.array(records["people"]["death"])
        routine: list[dict[str, Any]] = records["routine"]
        self._routine = Choice([[(at, entry["share"]) for at, entry in enumerate(routine)]])
        self._linked = np.array([entry["linked"] for entry in routine])
        self._of_patient = np.array([entry["kind"] in OF_PATIENT for entry in routine])
        self._voice = Choice([self._voices(entry["voices"]) for entry in routine])
        # A group for each sort of event and cancer, where the cancer bears on it, or band of stage.
        self._of_cancer = np.array([bool(entry.get("markers")) for entry in routine])
        self._of_band = np.array([entry["kind"] == "performance" for entry in routine])
        self._routine_facts = Choice([self._pool(concepts, entry) for entry in routine])
        self._performance = Choice(
            [
                [
                    (facts.patterned("performance", "ecog", {"value": float(score)}, f"ECOG {score}", "ecog"), weight)
                    for score, weight in enumerate(weights)
                ]
                for weights in _ECOG
            ]
        )
        self._illness = records["comorbidity"]
        self._illnesses = Choice([self._pool(concepts, {"kind": "comorbidity", **self._illness})])
        self._illness_voice = Choice([self._voices(self._illness["voices"])])
        self._smoking = [facts.named("social", one) for one in ("never_smoker", "former_smoker", "current_smoker")]
        self._born = np.array([facts.patterned("birth", "", {}, f"{age} years old", "age") for age in _AGES])
        self._died = facts.named("death", "death")
        self._codes = np.array([facts.named("procedure", code(at)) for at in range(codes)])
        self._single, self._first, self._second = (facts.named("procedure", one) for one in (SINGLE, FIRST, SECOND))

    def _voices(self, shares: Mapping[str, float]) -> list[tuple[int, float]]:
        return weighted({self._plans.voices[name]: share for name, share in shares.items()})

    def _pool(self, concepts: ConceptTable, entry: Mapping[str, Any]) -> list[tuple[int, float]]:
        if "root" not in entry:
            return []
        common = entry["common"].split()
        rest = sorted(concepts.below(entry["root"]) - {entry["root"], *common})
        pool = []
        for rank, concept in enumerate((*common, *rest), start=1):
            weight = 1.0 / rank ** entry["zipf"]
            pool += [(fact, weight * share) for fact, share in self._ways(entry["kind"], concept)]
        return pool

    def _ways(self, kind: str, concept: str) -> Iterable[tuple[int, float]]:
        facts = self._facts
        if kind == "adverse_event":
            for grade, weight in _GRADES:
                yield facts.named(kind, concept, {"grade": grade}, f", grade {grade}"), weight / 200
            yield facts.named(kind, concept), 0.5
        elif kind == "lab":
            for value in (1.0, 3.0, 7.0, 12.0, 40.0, 110.0, 250.0, 600.0):
                yield facts.named(kind, concept, {"value": value}, f" {value:g}"), 0.125
        else:
            yield facts.named(kind, concept), 1.0

    # --- drawing ----------------------------------------------------------------------------------------------------

    def standing(self, random: Random, people: People, tumors: Tumors, drawn: Drawn) -> None:
        """Birth, smoking, illnesses and the procedures whose share is set: whatever else is told of a patient."""
        number = len(people.day)
        everyone = np.arange(number)
        age = np.clip(((people.day - people.born) / YEAR).astype(np.int64), _AGES[0], _AGES[-1])
        drawn.add(everyone, self._born[age - _AGES[0]], people.day, tumor=ALL, rule=1, kept=True)
        smoked = random.random(number) < self._plans.smokers[people.cancer]
        now = random.random(number) < 0.3
        social = np.array(self._smoking)[np.where(smoked, np.where(now, 2, 1), 0)]
        social[random.random(number) < 0.25] = NOTHING
        drawn.add(everyone, social, people.day + 1, tumor=ALL, rule=1)
        mean = np.maximum(self._illness["mean"] + self._illness["by_year"] * (age - 50), 0.2)
        owner, _ = places(random.poisson(mean))
        group = np.zeros(len(owner), dtype=np.int64)
        fact = self._illnesses.draw(random, group)
        # Once each: whoever has an illness has it for good.
        _, once = np.unique(owner * (fact.max(initial=0) + 1) + fact, return_index=True)
        owner, fact, group = owner[once], fact[once], group[once]
        begun = people.day[owner] - (random.random(len(owner)) * 10 * YEAR).astype(np.int64)
        drawn.add(owner, fact, begun, tumor=ALL, rule=1, voice=self._illness_voice.draw(random, group))
        self._set_shares(random, people, tumors, drawn)

    def _set_shares(self, random: Random, people: People, tumors: Tumors, drawn: Drawn) -> None:
        """The procedures that exactly a share of each chunk's patients have."""
        number = len(people.day)
        for facts, share in ((self._codes, self._set["broad"]), (np.array([self._single]), self._set["broad"])):
            owner = random.permutation(number)[: round(share * number)]
            fact = facts[random.integers(0, len(facts), len(owner))]
            drawn.add(owner, fact, self._some_day(random, people, owner), kept=True)
        first_size, second_size = (round(self._set[one] * number) for one in ("first", "second"))
        both = round(self._set["both"] * second_size)
        people_in_order = random.permutation(number)
        first = people_in_order[:first_size]
        second = people_in_order[first_size - both : first_size - both + second_size]
        tumor = (random.random(number) * people.tumors).astype(np.int64)
        day = self._some_day(random, people, np.arange(number))
        later = day + random.integers(-60, 400, number)
        # Mostly of one tumor, some of another of the patient's.
        other = np.where(random.random(number) < 0.8, tumor, (tumor + 1) % people.tumors)
        drawn.add(first, np.full(len(first), self._first), day[first], tumor=tumor[first], rule=1, kept=True)
        drawn.add(second, np.full(len(second), self._second), later[second], tumor=other[second], rule=1, kept=True)

    def _some_day(self, random: Random, people: People, owner: Array) -> Array:
        span = np.maximum(people.last - people.day, 1)[owner]
        day: Array = people.day[owner] + (random.random(len(owner)) * span).astype(np.int64)
        return day

    def visits(self, random: Random, people: People, number: Array, drawn: Drawn) -> None:
        """So many routine events for each patient, on days of visits that are denser near the diagnosis."""
        owner, _ = places(number)
        visits = np.maximum(1, np.rint(number / self._visit)).astype(np.int64)
        whose, _ = places(visits)
        span = np.maximum(people.last - people.day, 1)[whose]
        days = people.day[whose] + (random.random(len(whose)) ** 1.5 * span).astype(np.int64)
        starts = np.cumsum(visits) - visits
        day = days[starts[owner] + (random.random(len(owner)) * visits[owner]).astype(np.int64)]
        sort = self._routine.draw(random, np.zeros(len(owner), dtype=np.int64))
        fact = self._routine_facts.draw(random, sort)
        marked = np.flatnonzero(self._of_cancer[sort] & (random.random(len(owner)) < 0.7))
        fact[marked] = self._plans.marker.draw(random, people.cancer[owner[marked]])
        scored = np.flatnonzero(self._of_band[sort])
        # Who declines, declines with time.
        elapsed = (day - people.day[owner])[scored] / np.maximum(span_of(people, owner[scored]), 1)
        worse = (random.random(len(scored)) < elapsed * 0.5).astype(np.int64)
        fact[scored] = self._performance.draw(random, np.minimum(people.band[owner[scored]] + worse, BANDS - 1))
        linked = random.random(len(owner)) < self._linked[sort]
        position = (random.random(len(owner)) * people.tumors[owner]).astype(np.int64)
        of_patient = self._of_patient[sort]
        drawn.add(
            owner,
            fact,
            day,
            tumor=np.where(of_patient, ALL, np.where(linked, position, NONE)),
            rule=np.where(of_patient, 1, np.where(linked, 2, 5)),
            voice=self._voice.draw(random, sort),
        )

    def deaths(self, random: Random, people: People, last: Array, drawn: Drawn) -> None:
        """Deaths, after all else that is told; ``last`` is the last day on which anything was."""
        dead = np.flatnonzero(random.random(len(last)) < self._death[people.band])
        day = last[dead] + random.integers(1, 40, len(dead))
        drawn.add(dead, np.full(len(dead), self._died), day, tumor=ALL, rule=1, kept=True)


def span_of(people: People, owner: Array) -> Array:
    """Days of follow-up of the owners."""
    days: Array = (people.last - people.day)[owner]
    return days
