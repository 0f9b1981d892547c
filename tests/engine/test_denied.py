"""What is told beside an answer about denials: who has the fact all the same, and why others are left out."""

from __future__ import annotations

import pytest

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.writer import build_generation
from tests.generated.record_tables import journeys

RECORDS = """
patient | kind       | concept            | day        | attributes      | context
Ana     | state      | metastatic_disease | 2020-01-01 |                 | absent
Ana     | metastasis | bone               | 2020-03-01 |                 |
Ben     | metastasis | brain              | 2020-01-01 |                 | absent
Ben     | metastasis | bone               | 2019-01-01 |                 |
Cleo    | diagnosis  | breast_cancer      | 2020-01-01 | laterality=left | absent
"""


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> OpenKb:
    """Three patients of whom a note denies something."""
    path = tmp_path_factory.mktemp("denied") / "small.kb"
    build_generation(path, journeys(RECORDS), concepts=shipped_concepts(), scales=Scales.from_files())
    return cohortium.open(path)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("no evidence of metastasis", ["1 of them also has a present 'metastasis': Ana"]),
        ("no evidence of metastasis to brain", []),
        ("no evidence of metastasis in 2020-01", []),
        (
            "no evidence of metastasis to (bone or lung)",
            ["1 of them also has a present 'metastasis to (bone or lung)': Ana"],
        ),
        ("not no evidence of metastasis", []),
    ],
)
def test_who_has_what_is_denied_is_named(kb: OpenKb, query: str, told: list[str]) -> None:
    """In the same window, and of those alone who are in the answer by the denial."""
    found = [finding for finding in kb.find(query).findings() if finding.code == "denied-and-present"]
    assert [finding.message for finding in found] == told


@pytest.mark.parametrize(
    ("query", "patient", "lack"),
    [
        ("no evidence of metastasis", "Ben", "a denial of brain says less than one of any metastasis"),
        ("denied 'breast cancer'", "Cleo", "it denies no more than what has laterality left, less than is asked"),
    ],
)
def test_why_a_narrower_denial_does_not_do(kb: OpenKb, query: str, patient: str, lack: str) -> None:
    """It is shown as the nearest, with what it leaves out; and what is asked is not edited into less."""
    found = kb.find(query).why_not(patient)
    assert (lack,) in [near.lacks for part in found.failing for near in part.nearest]
    assert found.edit is not None
    assert found.edit.query == ""
