"""On generated records and queries both engines give the same sets, and both obey the set laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.fast.repeats import matters
from cohortium.engine.reference import meaning as reference
from cohortium.engine.reference.views import View
from cohortium.kb.model import Journey, World
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang import nodes as q
from cohortium.query_lang.boolean_form import boolean_form
from tests.generated import kb_strategies as small
from tests.generated import query_strategies
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, SCALES

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)


def by_reference(query: q.Query, records: list[Journey], world: World) -> frozenset[str]:
    """The defining answer."""
    return reference.evaluate(query, records, CONCEPTS, SCALES, world)


def by_fast(query: q.Query, records: list[Journey], world: World) -> frozenset[str]:
    """The fast answer."""
    kb = MemoryKb(records, CONCEPTS, SCALES)
    return frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world))


ENGINES = pytest.mark.parametrize("answer", [by_reference, by_fast], ids=["reference", "fast"])


@given(small.records(), small.queries())
def test_both_engines_agree_in_the_three_worlds(records: list[Journey], query: q.Query) -> None:
    """The fast engine finds the very patients that the reference engine finds."""
    for world in WORLDS:
        assert by_fast(query, records, world) == by_reference(query, records, world)


@given(small.records(), small.criteria(plain=True))
def test_boolean_queries_never_touch_events(records: list[Journey], body: q.PatientExpression) -> None:
    """Posting lists alone answer and, or, not, except and at least over kinds and expressions of concepts; but of those
    whom its parts leave open, a query that asks one fact twice looks at the events."""
    kb = MemoryKb(records, CONCEPTS, SCALES)
    for world in WORLDS:
        found = frozenset(kb.patients[number] for number in fast.evaluate(q.Query(body), kb, world))
        assert found == by_reference(q.Query(body), records, world)
    by_parts = reference.Meaning(CONCEPTS, SCALES).bounded
    views = {number: View.from_journey(journey) for number, journey in enumerate(kb.journeys)}
    open_ = {
        number
        for number, view in views.items()
        if by_parts(body, view, World.CERTAIN) != by_parts(body, view, World.POSSIBLE)
    }
    assert {patient for asked in kb.asked for patient in asked} <= open_
    if not matters(boolean_form(body), CONCEPTS):
        assert kb.asked == []


@ENGINES
@given(records=small.records(), query=small.queries())
def test_certain_lies_in_believed_and_believed_in_possible(answer, records: list[Journey], query: q.Query) -> None:
    """The three worlds are nested, whatever the query."""
    certain, believed, possible = (answer(query, records, world) for world in WORLDS)
    assert certain <= believed <= possible


@ENGINES
@given(records=small.records(patients=3), one=small.criteria(), other=small.criteria())
def test_operators_are_set_operations(answer, records: list[Journey], one, other) -> None:
    """And, or, not and except are intersection, union, complement and difference of the believed sets."""
    everyone = {journey.patient_id for journey in records}

    def believed(body: q.PatientExpression) -> frozenset[str]:
        return answer(q.Query(body), records, World.BELIEVED)

    assert believed(q.And((one, other))) == believed(one) & believed(other)
    assert believed(q.Or((one, other))) == believed(one) | believed(other)
    assert believed(q.Not(one)) == everyone - believed(one)
    assert believed(q.Except(one, other)) == believed(one) - believed(other)


@ENGINES
@given(records=small.records(patients=3), one=small.criteria(), other=small.criteria())
def test_laws_hold_in_every_world(answer, records: list[Journey], one, other) -> None:
    """De Morgan, except = and-not, double negation, and at-least as and/or, in each of the three worlds."""
    pairs = [
        (q.Not(q.And((one, other))), q.Or((q.Not(one), q.Not(other)))),
        (q.Not(q.Or((one, other))), q.And((q.Not(one), q.Not(other)))),
        (q.Except(one, other), q.And((one, q.Not(other)))),
        (q.Not(q.Not(one)), one),
        (q.AtLeast(1, (one, other)), q.Or((other, one))),
        (q.AtLeast(2, (one, other)), q.And((other, one))),
    ]
    for world in WORLDS:
        for left, right in pairs:
            assert answer(q.Query(left), records, world) == answer(q.Query(right), records, world)


@ENGINES
@given(records=small.records(), data=st.data())
def test_a_child_concept_never_finds_more(answer, records: list[Journey], data: st.DataObject) -> None:
    """In a monotone query, a concept in place of one above it gives a part of the cohort, in every world."""
    child = data.draw(st.sampled_from(["lung_carcinoma", "cisplatin", "carcinoma", "platinum"]))
    parent = data.draw(st.sampled_from(sorted(CONCEPTS.above(child))))
    kind = "diagnosis" if CONCEPTS.kind(child) == "tumor" else "medication"
    rest = data.draw(small.criteria(monotone=True))
    scope = data.draw(st.sampled_from([lambda body: body, q.SameTumor]))

    def asked(concept: str) -> q.Query:
        return q.Query(scope(q.And((q.Exists(q.Events(kind, q.Under(small.term(concept)))), rest))))

    for world in WORLDS:
        assert answer(asked(child), records, world) <= answer(asked(parent), records, world)


@given(records=small.records(patients=3), query=small.queries())
def test_a_definition_means_its_body(records: list[Journey], query: q.Query) -> None:
    """A named criterion gives what it gives when written out."""
    named = q.Query(q.Defined("it"), (*query.definitions, q.Definition("it", query.body)))
    for world in WORLDS:
        assert by_fast(named, records, world) == by_reference(query, records, world)


def test_both_engines_agree_on_a_stored_kb(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What holds of the stand-in in memory holds of the store."""

    @given(small.records(patients=3), st.lists(small.queries(), min_size=10, max_size=10))
    def agree(records: list[Journey], asked: list[q.Query]) -> None:
        path = tmp_path_factory.mktemp("kb") / "generated.kb"
        build_generation(path, records, concepts=CONCEPTS, scales=SCALES)
        with KnowledgeBase.open(path) as kb:
            for query in asked:
                for world in WORLDS:
                    found = frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world))
                    assert found == by_reference(query, records, world)

    from hypothesis import settings

    settings(max_examples=max(5, settings().max_examples // 20))(agree)()


#: What :mod:`.query_strategies` (the language's own generator) needs to know of these records.
TERMS = {kind: [small.term(one) for one in named] for kind, named in small.NAMED.items() if named}
ATTRIBUTES = {
    kind: {
        name: [small.term(value) for value in values] if name == "result" else list(values)
        for name, values in attributes.items()
    }
    for kind, (_, attributes) in small.KINDS.items()
}


@given(
    records=small.records(),
    query=query_strategies.queries(
        TERMS, ATTRIBUTES, kinds=("tnm", "stage"), days=(small.DAY, small.DAY + small.LAST_DAY)
    ),
)
def test_both_engines_agree_on_what_the_language_can_say(records: list[Journey], query: q.Query) -> None:
    """The queries that the language's own tests generate have one answer, too."""
    for world in WORLDS:
        assert by_fast(query, records, world) == by_reference(query, records, world)
