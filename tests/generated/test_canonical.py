"""The canonical form of a query denotes what the query denotes."""

from __future__ import annotations

from hypothesis import given

from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes as q
from cohortium.query_lang.canonical import canonical, same_question
from tests.generated import kb_strategies as small
from tests.generated.records import CONCEPTS, SCALES


@given(small.records(), small.queries())
def test_the_canonical_form_finds_the_same_patients(records: list[Journey], query: q.Query) -> None:
    """On generated records, in each of the three worlds: so two queries of one form ask the same."""
    plain = q.Query(canonical(query))
    for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE):
        assert reference.evaluate(plain, records, CONCEPTS, SCALES, world) == reference.evaluate(
            query, records, CONCEPTS, SCALES, world
        )


@given(small.queries())
def test_the_canonical_form_is_its_own(query: q.Query) -> None:
    """Made twice it is the same."""
    assert same_question(query, q.Query(canonical(query)))
