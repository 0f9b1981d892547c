"""Makes the records and strategies of the generative tests importable, and opens one stored knowledge base."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(_ROOT / "tests" / folder) for folder in ("generative", "spec")] + [str(_ROOT / "benchmarks")]

from generated_records import SCALES  # noqa: E402

from cohortium.kb.ontology.concepts import ConceptTable  # noqa: E402

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
    return ConceptTable.from_files()


@pytest.fixture(scope="session")
def scales() -> object:
    """The scales that ship."""
    return SCALES
