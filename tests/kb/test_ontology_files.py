"""The ontology that ships is free of errors and says what the reading of the queries needs."""

from __future__ import annotations

import pytest

from cohortium.kb.concepts import ConceptTable
from cohortium.kb.graph import lint
from cohortium.kb.scales import ATTRIBUTE_SCALES, Scales


@pytest.fixture(scope="module")
def shipped() -> ConceptTable:
    """The shipped ontology."""
    return ConceptTable.from_files()


def test_lint_is_clean(shipped: ConceptTable) -> None:
    """No cycle, no undefined parent, no name or id twice."""
    assert lint(shipped) == []


def test_scales_are_there() -> None:
    """Every attribute with an order has its scale."""
    assert set(ATTRIBUTE_SCALES.values()) <= set(Scales.from_files().names())
