"""The shipped ontology knows the tumors of OncoTree and the antineoplastic names of RxNorm and GENIE BPC."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reading.ontology_coverage import measure
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts

pytestmark = pytest.mark.shared

Terminology = Callable[[str], Path]


@pytest.fixture(scope="module")
def concepts() -> ConceptTable:
    """The shipped ontology."""
    return shipped_concepts()


def _measured(source: str, path: Path, concepts: ConceptTable) -> dict[str, Any]:
    result: dict[str, Any] = measure({source: path}, concepts, reading=False)[source]
    return result


def test_oncotree_leaves_resolve_to_their_own_concept(terminology: Terminology, concepts: ConceptTable) -> None:
    """At least 95% of the leaves, to the concept that carries their code; none to another."""
    found = _measured("oncotree", terminology("oncotree/oncotree_2025_10_03.json"), concepts)["all"]
    assert found["names"] == 727
    assert found["resolved"] >= 0.98, found["listed"]["unresolved"]
    assert found["right"] >= 0.97, found["listed"]
    assert found["counts"].get("other", 0) == 0, found["listed"]["other"]


def test_rxnorm_names_resolve_to_their_ingredient(terminology: Terminology, concepts: ConceptTable) -> None:
    """At least 98% of the antineoplastic ingredients, salts, brands and combinations; as it is now, all of them."""
    found = _measured("rxnorm", terminology("rxnorm_prescribable/rxnorm_terms.tsv"), concepts)["all"]
    assert found["resolved"] == found["right"] == 1.0, found["listed"]


def test_genie_names_resolve_to_their_drug(terminology: Terminology, concepts: ConceptTable) -> None:
    """At least 98% of the drugs, codes and brands, to the drug in whose brackets they stand."""
    found = _measured("genie", terminology("genie_bpc_regimens/drug_regimen_list.tsv"), concepts)
    assert found["all"]["resolved"] >= 0.98, found["all"]["listed"]["unresolved"]
    assert found["code or brand"]["right"] >= 0.98, found["code or brand"]["listed"]


def test_symbols_of_genes_resolve(terminology: Terminology, concepts: ConceptTable) -> None:
    """Every gene that carries an HGNC id is found by its symbol."""
    found = _measured("hgnc", terminology("hgnc/hgnc_merged.tsv"), concepts)
    assert found["symbol"]["right"] == 1.0, found["symbol"]["listed"]
