"""The judge of translations: equal meaning is seen under other words, and any difference in meaning is found."""

from __future__ import annotations

import itertools

import pytest

from cohortium.engine.reference.meaning import matches
from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.bank.natural.equivalence import same_meaning
from cohortium.eval.bank.natural.grown_records import records
from cohortium.kb.model import World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.canonical import canonical
from cohortium.query_lang.nodes import Query
from cohortium.query_lang.resolution.resolve import resolve_text

SAME = [
    ("diagnosis lung cancer and ECOG <= 2", "ECOG <= 2 and diagnosis lung cancer"),
    ("not (HER2+ or ER+)", "not HER2+ and not ER+"),
    ("diagnosis lung cancer except death", "diagnosis lung cancer and not death"),
    ("variant 'BRCA1' or variant BRCA2", "variant (BRCA1 or BRCA2)"),
    ("let a be HER2+; a and ER+", "ER+ and HER2+"),
]
DIFFERENT = [
    ("diagnosis lung cancer", "diagnosis lung adenocarcinoma"),
    ("same tumor (diagnosis lung cancer and stage IV)", "diagnosis lung cancer and stage IV"),
    ("stage >= IIIB", "stage >= IIIC"),
    ("latest ECOG <= 2", "ECOG <= 2"),
    ("variant KRAS with protein = G12C", "variant KRAS with codon = 12"),
    ("HER2+ within 60 days of ER+", "HER2+ within 61 days of ER+"),
    ("biomarker HER2 exactly positive", "biomarker HER2 = positive"),
    ("diagnosis lung cancer and not death", "diagnosis lung cancer"),
    ("HER2-", "biomarker HER2 with result in (negative, '1+')"),
    ("biomarker PSA on at least 2 days", "biomarker PSA"),
    ("variant BRCA1 with not significance = vus", "variant BRCA1 with not significance in (vus, benign)"),
]


def query(text: str, concepts: ConceptTable, scales: Scales) -> Query:
    """The resolved query."""
    return resolve_text(text, concepts, scales)


@pytest.mark.parametrize("pair", SAME, ids=lambda pair: pair[0])
def test_equal_meaning_is_seen(pair: tuple[str, str], concepts: ConceptTable, scales: Scales) -> None:
    """Order, definitions, and the laws of sets make no difference."""
    one, other = (query(text, concepts, scales) for text in pair)
    assert same_meaning(one, other, concepts, scales).same


@pytest.mark.parametrize("pair", DIFFERENT, ids=lambda pair: pair[0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_difference_is_found(pair: tuple[str, str], seed: int, concepts: ConceptTable, scales: Scales) -> None:
    """A scope, a bound, a pick, an exception, one value more: whichever side it is on, a record shows it."""
    one, other = (query(text, concepts, scales) for text in pair)
    assert not same_meaning(one, other, concepts, scales, seed=seed).same
    assert not same_meaning(other, one, concepts, scales, seed=seed).same


def test_all_bank_queries_differ_on_the_generated_records(concepts: ConceptTable, scales: Scales) -> None:
    """Two queries of the bank have one answer there only if they are one query, as osimertinib under two names is."""
    queries = [query(one.query, concepts, scales) for one in load_bank()]
    forms = [canonical(one, concepts) for one in queries]
    journeys = records(queries, concepts, scales, each=25, seed=1)
    answers = [
        {one.patient_id for one in journeys if matches(query, one, concepts, scales, World.BELIEVED)}
        for query in queries
    ]
    alike = [(a, b) for a, b in itertools.combinations(range(len(queries)), 2) if answers[a] == answers[b]]
    assert [pair for pair in alike if forms[pair[0]] != forms[pair[1]]] == []
    assert len(alike) < 8
