"""On generated denials both engines give the same sets, a wider denial denies what lies below it, and bounds hold."""

from __future__ import annotations

import dataclasses

from hypothesis import assume, given
from hypothesis import strategies as st

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import Context, Event, Journey, Polarity, World
from cohortium.query_lang import nodes as q
from cohortium.query_lang.tree import map_event_sets, map_nodes
from tests.generated import kb_strategies as small
from tests.generated.completions import completions, number_of_completions
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, SCALES

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
ABSENT = Context(polarity=Polarity.ABSENT)


@st.composite
def records(draw: st.DrawFn, patients: int = 3, **limits: int) -> list[Journey]:
    """Several patients most of whose facts are denied."""
    found = []
    for journey in draw(small.records(patients, **limits)):
        told = [
            dataclasses.replace(event, context=ABSENT, world=World.NONE)
            if event.kind != "birth" and draw(st.integers(0, 3))
            else event
            for event in journey.events
        ]
        found.append(dataclasses.replace(journey, events=tuple(told)))
    return found


def denied(node: q.Events) -> q.Events:
    """The same set, of denials."""
    return dataclasses.replace(node, context="absent", moment="begin", lasting=None)


@st.composite
def queries(draw: st.DrawFn) -> q.Query:
    """Queries all of whose facts are asked to be denied, but for those whose absence, or going on, is asked for."""

    def changed(node: q.Node) -> q.Node:
        # What is absent, or goes on, is asked of what there is.
        if not isinstance(node, q.PatientExpression) or isinstance(node, q.Lacking | q.Ongoing):
            return node
        return map_event_sets(node, denied)

    asked = draw(small.queries())
    named = tuple(dataclasses.replace(one, body=map_nodes(one.body, changed)) for one in asked.definitions)
    return q.Query(map_nodes(asked.body, changed), named)


def answers(query: q.Query, told: list[Journey]) -> list[frozenset[str]]:
    """The defining answers in the three worlds, which the fast engine must give, too."""
    kb = MemoryKb(told, CONCEPTS, SCALES)
    found = []
    for world in WORLDS:
        found.append(reference.evaluate(query, told, CONCEPTS, SCALES, world))
        assert frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world)) == found[-1]
    return found


@given(records(), queries())
def test_both_engines_agree_on_denials(told: list[Journey], query: q.Query) -> None:
    """In the three worlds, with picks, windows, scopes, relations and counts of denials; the worlds are nested."""
    certain, believed, possible = answers(query, told)
    assert certain <= believed <= possible


@given(records(patients=1, most=4, widest=2, unknown=False), queries())
def test_the_worlds_bound_every_completion_of_denials(told: list[Journey], query: q.Query) -> None:
    """What is certain holds in each completion, and what holds in one is possible."""
    (journey,) = told
    assume(number_of_completions(journey) <= 200)
    truths = {reference.matches(query, one, CONCEPTS, SCALES, World.BELIEVED) for one in completions(journey)}
    assert truths == {True} or not reference.matches(query, journey, CONCEPTS, SCALES, World.CERTAIN)
    assert truths == {False} or reference.matches(query, journey, CONCEPTS, SCALES, World.POSSIBLE)


@given(records(), st.data())
def test_a_wider_denial_denies_what_lies_below(told: list[Journey], data: st.DataObject) -> None:
    """Who is denied a concept is denied each below it; who is denied one of several is not denied them all."""
    child = data.draw(st.sampled_from(["lung_carcinoma", "breast_cancer", "cisplatin", "carboplatin"]))
    parent = data.draw(st.sampled_from(sorted(one for one in CONCEPTS.above(child) if CONCEPTS.parents(one))))
    other = data.draw(st.sampled_from(["carcinoma", "lung_cancer", "platinum", "cisplatin"]))
    one = denied(data.draw(small.event_sets(monotone=True)))
    kind = "diagnosis" if CONCEPTS.kind(child) == "tumor" else "medication"
    assume(CONCEPTS.kind(other) == CONCEPTS.kind(child))

    def of(concept: q.ConceptExpression) -> list[frozenset[str]]:
        asked = dataclasses.replace(one, kind=kind, concept=concept, condition=None)
        return answers(q.Query(q.Exists(asked)), told)

    under = {name: q.Under(small.term(name)) for name in (child, parent, other)}
    assert all(wide <= narrow for wide, narrow in zip(of(under[parent]), of(under[child]), strict=True))
    both = of(q.Union((under[child], under[other])))
    assert both == [one & other for one, other in zip(of(under[child]), of(under[other]), strict=True)]


def denial(kind: str, concept: str, **attributes: str) -> list[Journey]:
    """A record of one denial."""
    told = Event("P", kind, concept, attributes=attributes, context=ABSENT, world=World.NONE)
    return [Journey("P", events=(told,))]


def test_a_denial_never_answers_a_concept_above_it() -> None:
    """No carboplatin is not no platinum, and no left breast cancer not no breast cancer; the other way round it is."""

    def found(told: list[Journey], kind: str, concept: str, condition: q.Condition | None = None) -> bool:
        asked = q.Events(kind, q.Under(small.term(concept)), condition, "absent")
        return any(answers(q.Query(q.Exists(asked)), told))

    left = q.Is("laterality", (q.Name("left"),))
    assert found(denial("medication", "platinum"), "medication", "carboplatin")
    assert not found(denial("medication", "carboplatin"), "medication", "platinum")
    assert not found(denial("diagnosis", "breast_cancer", laterality="left"), "diagnosis", "breast_cancer")
    assert found(denial("diagnosis", "breast_cancer", laterality="left"), "diagnosis", "breast_cancer", left)
    assert found(denial("diagnosis", "breast_cancer"), "diagnosis", "breast_cancer", left)
    assert not found(denial("medication", "drug"), "medication", "carboplatin")
