"""Imports of published terminologies: each lints clean beside the shipped ontology, and doubles nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.kb.importers.importing import import_terms
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.lint import lint_shipped
from tests.places import SHARED

PLACE = SHARED / "ontology"

#: Format, file, and the least that it must add: new concepts, extended ones.
IMPORTS = (
    ("obo", "doid/NCIthesaurus.obo", 1500, 400),
    ("obo", "maxo/maxo-base.obo", 1500, 40),
    ("oncotree", "oncotree/oncotree_2025_10_03.json", 20, 30),
    ("hgnc", "hgnc/hgnc_merged.tsv", 39000, 400),
)


@pytest.mark.shared
@pytest.mark.parametrize(("form", "file", "new", "extended"), IMPORTS, ids=[file for _, file, _, _ in IMPORTS])
def test_a_terminology_comes_in_clean(tmp_path: Path, form: str, file: str, new: int, extended: int) -> None:
    """What is known is extended under its own id, and no known code gets a second concept."""
    source = PLACE / file
    if not source.exists():
        pytest.skip(f"no ontology/{file} in the shared folder; set COHORTIUM_SHARED to the folder that holds ontology/")
    report = import_terms(form, [source], tmp_path)
    assert (report.new >= new, report.extended >= extended) == (True, True)
    assert lint_shipped(tmp_path) == []
    shipped, joined = shipped_concepts(), shipped_concepts(tmp_path)
    assert len(joined) == len(shipped) + report.new
    for row in shipped.rows():
        for code in row.codes:
            if not code.startswith("GENE:"):
                assert set(joined.lookup(code)) == set(shipped.lookup(code)), code
