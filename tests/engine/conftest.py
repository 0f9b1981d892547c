"""What the engine's tests share: records written as tables, a small ontology, and both engines side by side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang import nodes
from tests.generated.memory_kb import MemoryKb
from tests.generated.record_tables import journeys, small_ontology

ONTOLOGY = """
neoplasm: tumor
carcinoma: tumor < neoplasm
breast_cancer: tumor < carcinoma
lung_cancer: tumor < neoplasm
lung_carcinoma: tumor < lung_cancer carcinoma
lung: site
drug: drug
platinum: drug < drug
cisplatin: drug < platinum
carboplatin: drug < platinum
trastuzumab: drug < drug
result_positive: value
positive: value < result_positive
weakly_positive: value < result_positive
negative: value
her2: biomarker
er: biomarker
brca1: gene
ecog: performance
kps: performance
"""

Answer = Callable[[str, nodes.PatientExpression | nodes.Query], tuple[str, str, str]]


@pytest.fixture(scope="session")
def concepts() -> ConceptTable:
    """The small ontology."""
    return small_ontology(ONTOLOGY)


@pytest.fixture(scope="session")
def scales() -> Scales:
    """The scales that ship."""
    return Scales.from_files()


@pytest.fixture(params=["reference", "fast"])
def answer(request: pytest.FixtureRequest, concepts: ConceptTable, scales: Scales) -> Answer:
    """A table of records and a criterion to the certain, believed and possible patients, each in one line of text."""

    def ask(table: str, criterion: nodes.PatientExpression | nodes.Query) -> tuple[str, str, str]:
        query = criterion if isinstance(criterion, nodes.Query) else nodes.Query(criterion)
        records = journeys(table)
        kb = MemoryKb(records, concepts, scales)
        found = []
        for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE):
            if request.param == "reference":
                patients = sorted(reference.evaluate(query, records, concepts, scales, world))
            else:
                patients = [kb.patients[number] for number in fast.evaluate(query, kb, world)]
            found.append(" ".join(patients))
        return found[0], found[1], found[2]

    return ask
