"""Two queries agree when laws of sets alone make one from the other, and only then."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.canonical import same_question
from cohortium.query_lang.resolution.resolve import resolve_text

SAME = [
    ("lung cancer and death", "death and diagnosis 'lung cancer'"),
    ("lung cancer and death and HER2+", "lung cancer and (HER2+ and (death and death))"),
    ("lung cancer except death", "lung cancer and not death"),
    ("lung cancer except HER2+ and death", "lung cancer and death and not HER2+"),
    ("not (lung cancer or death)", "not lung cancer and not death"),
    ("not (lung cancer and not death)", "death or not lung cancer"),
    ("not not death", "death"),
    ("medication (cisplatin or carboplatin)", "medication carboplatin or medication cisplatin"),
    ("at least 1 of (ER+, HER2+)", "ER+ or HER2+"),
    ("at least 2 of (ER+, HER2+)", "ER+ and HER2+"),
    ("at least 2 of (ER+, HER2+, PR+)", "at least 2 of (PR+, ER+, HER2+)"),
    ("surgery before medication cisplatin", "medication cisplatin after surgery"),
    ("surgery within 30 days of death", "death within 30 days of surgery"),
    ("medication cisplatin overlapping radiation", "radiation overlapping medication cisplatin"),
    (
        "medication cisplatin and another medication osimertinib",
        "medication osimertinib and another medication cisplatin",
    ),
    ("surgery before radiation with no death between them", "radiation after surgery with no death between them"),
    ("variant EGFR with exon = 19, alteration = deletion", "variant EGFR with alteration = deletion and exon = 19"),
    ("variant EGFR with alteration in (mutation, fusion)", "variant EGFR with alteration in (fusion, mutation)"),
    ("let bad be stage >= IIIB; lung cancer and bad", "lung cancer and stage >= IIIB"),
    ("same tumor (lung cancer and HER2+)", "same tumor (HER2+ and lung cancer)"),
    ("medication Tagrisso", "drug osimertinib"),
]

DIFFERENT = [
    ("lung cancer and death", "lung cancer or death"),
    ("lung cancer", "lung adenocarcinoma"),
    ("stage >= IIIB", "stage > IIIB"),
    ("surgery before medication cisplatin", "surgery after medication cisplatin"),
    ("surgery within 30 days before death", "surgery within 30 days of death"),
    ("first medication (cisplatin or carboplatin)", "first medication cisplatin or first medication carboplatin"),
    ("at least 2 of (ER+, ER+, HER2+)", "at least 2 of (ER+, HER2+)"),
    ("breast cancer", "family history of breast cancer"),
    ("not metastasis", "no evidence of metastasis"),
    ("same tumor (lung cancer and HER2+)", "lung cancer and HER2+"),
    (
        "medication 'systemic therapy' except medication 'EGFR inhibitor'",
        "any 'systemic therapy' except 'EGFR inhibitor'",
    ),
    ("death in 2020", "death in 2021"),
    ("breast cancer", "exactly 'breast cancer'"),
    ("latest ECOG <= 1", "ECOG <= 1"),
    ("medication cisplatin during radiation", "radiation during medication cisplatin"),
    ("surgery before radiation", "surgery before radiation with no death between them"),
    ("HER2+", "undisputed HER2+"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_queries_that_ask_the_same_agree(one: str, other: str, concepts: ConceptTable, scales: Scales) -> None:
    """Order, repetition, brackets, names of one concept, and the ways to say *but not* make no difference."""
    assert same_question(resolve_text(one, concepts, scales), resolve_text(other, concepts, scales))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_queries_that_ask_something_else_do_not(one: str, other: str, concepts: ConceptTable, scales: Scales) -> None:
    """What changes the patients of some record is a difference."""
    assert not same_question(resolve_text(one, concepts, scales), resolve_text(other, concepts, scales))
