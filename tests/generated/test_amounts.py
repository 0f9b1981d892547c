"""Counts beside another fact, changes, totals and numbers of tumors, so drawn that they are often so and often open."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import DayInterval, Event, Journey, World
from cohortium.query_lang import nodes as q
from tests.amounts import examples
from tests.generated.completions import random_completion
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, NARROW_FIRST, SCALES

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
NUMBERS = {"lab": "value", "performance": "value", "biomarker": "percent", "medication": "line"}
NAMES = {"lab": ("",), "performance": ("ecog", "kps"), "biomarker": ("her2", "er"), "medication": ("cisplatin", "drug")}


def journey(random: Random, patient: str) -> Journey:
    """Three to eight facts of four kinds, most with a number, of known and of open days, worlds and tumors."""
    return Journey(patient, events=tuple(event(random, patient) for _ in range(random.randint(3, 8))))


def event(random: Random, patient: str) -> Event:
    """One of them."""
    kind = random.choice(sorted(NUMBERS))
    low = NARROW_FIRST + random.randint(0, 20)
    end = NARROW_FIRST + random.randint(20, 40)
    number = random.choice([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
    return Event(
        patient,
        kind,
        random.choice(NAMES[kind]),
        DayInterval(low, low + random.choice([0, 0, 0, 2, 9])),
        attributes={NUMBERS[kind]: random.choice([number] * 6 + ["unknown"])} if random.random() < 0.9 else {},
        world=random.choice([World.CERTAIN, World.CERTAIN, World.CERTAIN, World.BELIEVED, World.POSSIBLE]),
        tumor=random.choice(["t1", "t2", "t3", "*", ""]),
        end=DayInterval(end, end + random.choice([0, 6])) if random.random() < 0.5 else None,
    )


def facts(random: Random, kinds: str = "lab performance biomarker medication") -> q.Events:
    """Some facts of a kind, perhaps in a window."""
    kind = random.choice(kinds.split())
    names = [one for one in NAMES[kind] if one]
    concept = q.Under(q.Concept(random.choice(names), "")) if names and random.random() < 0.4 else None
    window = q.Window(low=NARROW_FIRST + random.randint(0, 10)) if random.random() < 0.2 else None
    return q.Events(kind, concept, window=window)


def repeated(random: Random) -> q.Repeated:
    """Facts on so many days beside another, which may be the first."""
    relation = random.choice(q.COUNTED_BESIDE)
    gap = (1, None) if relation not in q.GAP_RELATIONS else (0 if relation == "within" else 1, random.choice([5, 15]))
    other = replace(facts(random), pick=q.Pick(random.choice(["any", "first", "latest"])))
    return q.Repeated(random.choice([1, 2, 2, 3]), facts(random), relation, other, *gap)


def change(random: Random) -> q.Change:
    """A rise or fall by a number, a part or anything, in some time, during something."""
    relative = random.random() < 0.5
    operator, amount = random.choice([(">=", 1.0), (">", 1.0), (">", 0.0), (">=", 2.0)])
    amount *= 50 if relative else 1
    during = random.choice([None, None, facts(random, "medication"), replace(facts(random), pick=q.Pick("first"))])
    changing = q.Events(random.choice(["lab", "performance", "lab", "biomarker"]))
    attribute = NUMBERS[changing.kind or ""]
    maximum = random.choice([None, None, 4, 12])
    return q.Change(
        random.choice(q.WAYS), changing, attribute, operator, amount, relative, maximum=maximum, during=during
    )


def total(random: Random) -> q.Total:
    """A sum, often one that is there."""
    added = facts(random)
    amount = random.choice([0.0, 2.0, 3.0, 4.5, 6.0])
    return q.Total(NUMBERS[added.kind or ""], added, random.choice(["<", "<=", "=", ">=", ">"]), amount)


def tumors(random: Random) -> q.PatientExpression:
    """So many tumors with a fact, a sum, a change, or without one."""
    one = random.choice([q.Exists(facts(random)), total(random), change(random), q.Not(q.Exists(facts(random)))])
    counted = q.SameTumor(one, random.choice([1, 2, 2, 3]))
    # Exactly so many: one and the same criterion on both sides.
    most = q.Not(replace(counted, least=counted.least + 1))
    return random.choice([counted, counted, q.And((counted, most)), q.And((counted, q.Not(q.SameTumor(one))))])


@pytest.mark.parametrize("drawn", [repeated, change, total, tumors])
def test_both_engines_agree_and_bound_the_completions(drawn) -> None:
    """One answer of both engines; certain of all completions, possible of any; and each of the four cases occurs."""
    found: Counter[tuple[bool, ...]] = Counter()
    for seed in range(examples(120, share=3)):
        random = Random(seed)
        records = [journey(random, f"P{number:02}") for number in range(25)]
        query = q.Query(drawn(random))
        kb = MemoryKb(records, CONCEPTS, SCALES)
        answers = []
        for world in WORLDS:
            answers.append({kb.patients[number] for number in fast.evaluate(query, kb, world)})
            assert answers[-1] == reference.evaluate(query, records, CONCEPTS, SCALES, world), (seed, world)
        certain, believed, possible = answers
        assert certain <= believed <= possible, seed
        for record in records:
            completed = random_completion(random, record)
            if reference.matches(query, completed, CONCEPTS, SCALES, World.BELIEVED):
                assert record.patient_id in possible, seed
            else:
                assert record.patient_id not in certain, seed
        found.update(tuple(patient in answer for answer in answers) for patient in kb.patients)
    assert min(found[tuple(at >= first for at in range(3))] for first in range(4)) >= 10, found
