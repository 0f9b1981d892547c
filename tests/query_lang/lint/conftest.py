"""What the tests of the lint share: how much is tried, the ontology and the scales that ship."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from tests.generated.records import SCALES

settings.register_profile(
    "lint",
    max_examples=int(os.environ.get("COHORTIUM_EXAMPLES", "30")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("lint")


@pytest.fixture(scope="session")
def shipped() -> ConceptTable:
    """The ontology that ships."""
    return shipped_concepts()


@pytest.fixture(scope="session")
def scales() -> object:
    """The scales that ship."""
    return SCALES
