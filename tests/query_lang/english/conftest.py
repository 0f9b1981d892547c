"""What the tests of the English front end share: the ontology, a translator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.english.translate import Translation, translate

Ask = Callable[[str], Translation]


@pytest.fixture(scope="session")
def concepts() -> ConceptTable:
    """The shipped ontology."""
    return shipped_concepts()


@pytest.fixture(scope="session")
def scales() -> Scales:
    """The shipped scales."""
    return Scales.from_files()


@pytest.fixture(scope="session")
def ask(concepts: ConceptTable, scales: Scales) -> Ask:
    """The translation of a question."""
    return lambda text: translate(text, concepts, scales)
