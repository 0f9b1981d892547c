"""What the tests of near misses share: one small knowledge base."""

from __future__ import annotations

import pytest

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.writer import build_generation
from tests.generated.record_tables import journeys

#: Invented patients, one line an event.
RECORDS = """
patient | kind        | concept                      | day        | attributes      | context   | tumor
Ana     | diagnosis   | breast_cancer                | 2019-03-04 |                 |           | A
Ana     | biomarker   | her2                         | 2019-03-10 | result=positive |           | A
Ana     | medication  | trastuzumab                  | 2019-06-01 |                 |           | A
Ana     | performance | ecog                         | 2019-07-01 | value=1         |           |
Ben     | diagnosis   | breast_cancer                | 2018-12-20 |                 |           | A
Ben     | diagnosis   | lung_adenocarcinoma          | 2020-01-10 |                 |           | B
Ben     | biomarker   | her2                         | 2020-02-01 | result=positive |           | B
Ben     | medication  | carboplatin                  | 2020-03-01 |                 |           | B
Ben     | performance | ecog                         | 2020-03-01 | value=3         |           |
Cleo    | diagnosis   | breast_cancer                | 2019-05-01 |                 |           | A
Cleo    | metastasis  | liver                        | 2019-06-01 |                 | uncertain | A
Cleo    | medication  | trastuzumab                  | 2019-06-01 |                 | planned   | A
Cleo    | performance | ecog                         | 2019-06-01 | value=2         |           |
Dan     | diagnosis   | lung_squamous_cell_carcinoma | 2019-05-01 |                 |           | A
Dan     | metastasis  | brain                        | 2019-07-01 |                 |           | A
"""


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory) -> OpenKb:
    """The invented patients under the shipped ontology, stored and opened."""
    concepts, scales = shipped_concepts(), Scales.from_files()
    path = tmp_path_factory.mktemp("why_not") / "small.kb"
    build_generation(path, journeys(RECORDS), concepts=concepts, scales=scales)
    return cohortium.open(path)
