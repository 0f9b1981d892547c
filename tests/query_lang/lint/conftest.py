"""What the tests of the lint share: the ontology and the scales that ship."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from tests.generated.records import SCALES


@pytest.fixture(scope="session")
def shipped() -> ConceptTable:
    """The ontology that ships."""
    return shipped_concepts()


@pytest.fixture(scope="session")
def scales() -> object:
    """The scales that ship."""
    return SCALES
