"""Results on one specimen, over records of nothing but such results: both engines, the worlds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

import tests.generated.kb_strategies as small
from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import DayInterval, Event, Journey, Note, World
from cohortium.query_lang import nodes as q
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, SCALES

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
TOLD = {
    "specimen": ("biopsy", "resection", "biopsy;resection"),
    "specimen_of": ("primary", "metastasis"),
    "specimen_site": ("abdomen", "liver", "lung", "liver;lung"),
    "specimen_id": ("S1 A", "S1 B", "S1 A;S2", "~n@1", "~n@1;S2"),
}
SIDES = (q.Events("biomarker"), q.Events("grade"), q.Events("biomarker", q.Under(small.term("er"))))
QUESTIONS = st.builds(
    lambda left, right, different: q.Query(q.Ordered(left, "specimen", right, different=different)),
    st.sampled_from(SIDES),
    st.sampled_from(SIDES),
    st.booleans(),
)


@st.composite
def results(draw: Callable, patient: str) -> Journey:
    """A few results of a patient, each with some of what can be told of its specimen."""
    events = []
    for number in range(draw(st.integers(0, 4))):
        kind, concept = draw(st.sampled_from([("biomarker", "er"), ("biomarker", "her2"), ("grade", "")]))
        low = small.DAY + draw(st.integers(0, 3))
        told = {name: draw(st.sampled_from(values)) for name, values in TOLD.items() if draw(st.booleans())}
        day = DayInterval(low, low + draw(st.integers(0, 2)))
        world = draw(st.sampled_from([World.CERTAIN, World.CERTAIN, World.BELIEVED, World.POSSIBLE]))
        events.append(Event(patient, kind, concept, day, attributes={**told, "number": float(number)}, world=world))
    return Journey(patient, (Note(patient, "n", "…"),), events=tuple(events))


RECORDS = st.tuples(*(results(f"P{number}") for number in range(4))).map(list)


@given(RECORDS, QUESTIONS)
def test_both_engines_agree_and_the_worlds_are_nested(records: list[Journey], query: q.Query) -> None:
    """Whatever is told of the specimens, both find the same patients, of each world no more than of the next."""
    kb = MemoryKb(records, CONCEPTS, SCALES)
    found = []
    for world in WORLDS:
        by_fast = frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world))
        assert by_fast == reference.evaluate(query, records, CONCEPTS, SCALES, world)
        found.append(by_fast)
    assert found[0] <= found[1] <= found[2]


@given(RECORDS, QUESTIONS)
def test_the_relation_is_the_same_from_either_side(records: list[Journey], query: q.Query) -> None:
    """A on the specimen of B is B on the specimen of A."""
    assert isinstance(query.body, q.Ordered)
    turned = q.Query(replace(query.body, left=query.body.right, right=query.body.left))
    for world in WORLDS:
        one, other = (reference.evaluate(each, records, CONCEPTS, SCALES, world) for each in (query, turned))
        assert one == other
