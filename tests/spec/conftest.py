"""What the spec's tests share: the ontology and scales that ship."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales


@pytest.fixture(scope="session")
def concepts() -> ConceptTable:
    """The ontology that ships."""
    return shipped_concepts()


@pytest.fixture(scope="session")
def scales() -> Scales:
    """The scales that ship."""
    return Scales.from_files()
