"""The ontology that ships is free of errors and says what the reading of the queries needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.kb.concepts import ConceptTable
from cohortium.kb.errors import OntologyError
from cohortium.kb.lint import lint
from cohortium.kb.regimens import read_components
from cohortium.kb.scales import ATTRIBUTE_SCALES, Scales
from cohortium.kb.words import ONTOLOGY_FOLDER


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


def test_regimens_consist_of_drugs(shipped: ConceptTable) -> None:
    """Every regimen with components, and every component, is a concept of its kind."""
    components = read_components()
    assert components
    for regimen, parts in components.items():
        assert regimen in shipped, regimen
        assert shipped.kind(regimen) == "regimen", regimen
        for part in parts:
            assert part.drug in shipped, (regimen, part.drug)
            assert shipped.kind(part.drug) in ("drug", "regimen"), (regimen, part.drug)
    assert len({(regimen, part.drug) for regimen, parts in components.items() for part in parts}) == sum(
        map(len, components.values())
    )


def test_components_file_must_be_whole(tmp_path: Path) -> None:
    """A line that lacks a cell is told with its place."""
    path = tmp_path / "regimen_components.tsv"
    path.write_text("regimen\tcomponent\toptional\nfolfox\tfluorouracil\t0\nfolfox\toxaliplatin\n", encoding="utf-8")
    with pytest.raises(OntologyError, match=r"regimen_components\.tsv:3"):
        read_components(path)


@pytest.mark.parametrize("file", ["variants.tsv", "exons.tsv"])
def test_genes_of_companion_files_exist(shipped: ConceptTable, file: str) -> None:
    """Variants and exons name genes of the ontology."""
    lines = (ONTOLOGY_FOLDER / file).read_text(encoding="utf-8").splitlines()
    genes = {line.split("\t")[0] for line in lines if line and not line.startswith("#")} - {"gene"}
    assert genes
    assert {gene for gene in genes if gene not in shipped or shipped.kind(gene) != "gene"} == set()
