"""On generated records and queries the edit admits the patient, and writing out all cheaper ones finds none."""

from __future__ import annotations

from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from cohortium.engine.reference import meaning as reference
from cohortium.engine.reference.meaning import Meaning
from cohortium.engine.why_not.cost import counts
from cohortium.engine.why_not.record import Record
from cohortium.engine.why_not.search import EditSearch, FoundEdit
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.render import render
from tests.generated.edit_enumeration import Enumeration
from tests.generated.enumerated_facts import TooMany
from tests.generated.queries import dividing_query
from tests.generated.records import CONCEPTS, NARROW_SHAPES, SCALES, SHAPES, records

SEEDS = st.integers(0, 2**32)


def drawn(seed: int, *, narrow: bool) -> tuple[nodes.Query, Journey]:
    """A query about generated records, and one of their patients whom it does not find."""
    random = Random(f"cheapest edit {seed}")
    journeys = records(random, 4, NARROW_SHAPES if narrow else SHAPES)
    query = dividing_query(random, journeys, deepest=random.randint(0, 2))
    left_out = [one for one in journeys if not found_by(query, one)]
    assume(left_out)
    return query, left_out[0]


def found_by(query: nodes.Query, journey: Journey) -> bool:
    """Whether the reference engine finds the patient, as believed."""
    return reference.matches(query, journey, CONCEPTS, SCALES, World.BELIEVED)


def cheapest(query: nodes.Query, journey: Journey) -> list[FoundEdit]:
    """The equally cheap edits that the search finds."""
    return EditSearch(query, Record(journey, Meaning(CONCEPTS, SCALES, query.definitions))).cheapest()


@given(seed=SEEDS, narrow=st.booleans())
def test_every_edit_admits_the_patient(seed: int, narrow: bool) -> None:
    """Each of the equally cheap edits gives a query that finds the patient, and says by which steps."""
    query, journey = drawn(seed, narrow=narrow)
    edits = cheapest(query, journey)
    assert edits
    assert len({edit.cost for edit in edits}) == 1
    for edit in edits:
        assert edit.steps
        assert edit.query is None or found_by(edit.query, journey)


@given(seed=SEEDS, narrow=st.booleans())
def test_no_cheaper_edit_exists(seed: int, narrow: bool) -> None:
    """Of all edits that cost less, written out one by one, none admits the patient."""
    query, journey = drawn(seed, narrow=narrow)
    limit = tuple(counts(cheapest(query, journey)[0].cost).values())
    meaning = Meaning(CONCEPTS, SCALES, query.definitions)
    try:
        cheaper = Enumeration(query, journey, meaning, limit, most=3_000).cheaper()
    except TooMany:
        assume(False)
    assert cheaper is None


@given(seed=SEEDS)
def test_the_enumeration_reaches_the_cost_that_is_found(seed: int) -> None:
    """With a limit just above that cost, an edit is written out: the comparison is not empty."""
    query, journey = drawn(seed, narrow=True)
    *dearer, days = counts(cheapest(query, journey)[0].cost).values()
    meaning = Meaning(CONCEPTS, SCALES, query.definitions)
    try:
        reached = Enumeration(query, journey, meaning, (*dearer, days + 1), most=3_000).cheaper()
    except TooMany:
        assume(False)
    assert reached is not None
    assert reached[0] == (*dearer, days)


@given(seed=SEEDS)
def test_edited_queries_can_be_written_and_read(seed: int) -> None:
    """The text of an edited query reads as a query with that text."""
    query, journey = drawn(seed, narrow=False)
    for edit in cheapest(query, journey):
        if edit.query is not None:
            text = render(edit.query)
            assert render(parse(text)) == text


@given(seed=SEEDS)
def test_a_query_that_finds_the_patient_is_its_own_cheapest_edit(seed: int) -> None:
    """It costs nothing, and has no steps."""
    random = Random(f"own edit {seed}")
    journeys = records(random, 4)
    query = dividing_query(random, journeys, deepest=2)
    inside = [journey for journey in journeys if found_by(query, journey)]
    assume(inside)
    assert cheapest(query, inside[0])[0] == FoundEdit(query, 0, ())
