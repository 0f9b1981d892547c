"""Definitions that use each other in any way: found once and remembered, they mean what they mean written out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.engine.answers.strength import Strengths
from cohortium.engine.fast import evaluate as fast
from cohortium.engine.proofs.prover import NoProof, proof_of
from cohortium.engine.reference import meaning as reference
from cohortium.engine.reference.views import View
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes as q
from cohortium.query_lang.canonical import canonical, inlined
from tests.amounts import examples
from tests.generated import kb_strategies as small
from tests.generated.memory_kb import MemoryKb
from tests.generated.records import CONCEPTS, SCALES

WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)


@st.composite
def webs(draw: st.DrawFn) -> q.Query:
    """Two to four definitions, each of which uses those before it several times, in and out of scopes and negations."""
    definitions: list[q.Definition] = []
    known: list[q.PatientExpression] = [draw(small.criteria())]
    for at in range(draw(st.integers(2, 4))):
        part = st.sampled_from([*known, draw(small.criteria())])
        several = st.lists(part, min_size=2, max_size=3).map(tuple)
        body = draw(
            st.one_of(
                st.builds(q.And, several),
                st.builds(q.Or, several),
                st.builds(q.Not, part),
                st.builds(q.Except, part, part),
                several.flatmap(lambda parts: st.builds(q.AtLeast, st.integers(1, len(parts)), st.just(parts))),
                st.builds(q.SameTumor, st.builds(q.Or, several)),
                st.builds(q.SameEvent, st.builds(q.And, several)),
            )
        )
        definitions.append(q.Definition(f"a{at}", body))
        known.append(q.Defined(f"a{at}"))
    return q.Query(q.Or((known[-1], q.SameTumor(q.And((known[-1], known[-2]))))), tuple(definitions))


@settings(max_examples=examples(120, share=10))
@given(small.records(patients=3), webs())
def test_definitions_mean_what_they_mean_written_out(records: list[Journey], query: q.Query) -> None:
    """Both engines find the same patients with the definitions and without, in each world."""
    kb = MemoryKb(records, CONCEPTS, SCALES)
    plain = q.Query(inlined(query))
    for world in WORLDS:
        expected = reference.evaluate(plain, records, CONCEPTS, SCALES, world)
        assert reference.evaluate(query, records, CONCEPTS, SCALES, world) == expected
        assert frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world)) == expected


@settings(max_examples=examples(60, share=6))
@given(small.records(patients=3), webs())
def test_strength_is_that_of_the_query_written_out(records: list[Journey], query: q.Query) -> None:
    """A definition's strength is kept for what a view shows, and is the same as reckoned anew."""
    plain = q.Query(inlined(query))
    for journey in records:
        for world in WORLDS:
            found = []
            for one in (query, plain):
                meaning = reference.Meaning(CONCEPTS, SCALES, one.definitions)
                view = View.from_journey(journey)
                if meaning.holds(one.body, view, world):
                    found.append(Strengths(one, view, meaning).of_query(world).value)
            assert len(found) in (0, 2)
            assert found[:1] == found[1:]


@settings(max_examples=examples(60, share=6))
@given(small.records(patients=2), webs())
def test_whoever_is_found_through_definitions_has_a_proof(records: list[Journey], query: q.Query) -> None:
    """The prover follows the definitions, for members and for no others."""
    for journey in records:
        try:
            proof = proof_of(query, journey, CONCEPTS, SCALES, World.BELIEVED, resolved="", generation="")
        except NoProof:
            proof = None
        assert (proof is not None) == reference.matches(query, journey, CONCEPTS, SCALES, World.BELIEVED)


@settings(max_examples=examples(60, share=6))
@given(webs())
def test_the_canonical_form_is_that_of_the_query_written_out(query: q.Query) -> None:
    """Definitions are no part of it."""
    assert canonical(query) == canonical(q.Query(inlined(query)))
