"""What ends a state: the table names states of the ontology, and is read closed over what lies below them."""

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.query_lang.nodes import Concept, OtherThan, Under
from cohortium.query_lang.resolution.states import _table, ending
from cohortium.query_lang.tree import named_concepts

CONCEPTS = shipped_concepts()


@pytest.mark.parametrize("state", _table())
def test_the_table_names_states(state: str) -> None:
    """A name that the ontology lacks would end nothing, unnoticed."""
    assert {CONCEPTS.kind(one) for one in (state, *_table()[state])} == {"state"}


@pytest.mark.parametrize(
    ("state", "ends"),
    [
        ("partial_response", {"progression", "recurrence", "refractory"}),
        ("castration_sensitive", {"castration_resistant"}),
        ("metastatic_disease", set()),
    ],
)
def test_what_ends_a_state_ends_its_forms_and_is_no_form_of_it(state: str, ends: set[str]) -> None:
    asked = Under(Concept(state, CONCEPTS.name(state)))
    found = ending(asked, CONCEPTS)
    assert ({one.id for one in named_concepts(found)} if found is not None else set()) == ends
    assert found is None or isinstance(found, OtherThan) and found.excluded == asked
