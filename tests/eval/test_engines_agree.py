"""On the sample notes both engines answer the bank and the sample questions alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.eval.bank.acr.bank import load_queries
from cohortium.kb.model import Journey, World
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.query_lang.english.translate import translate
from cohortium.query_lang.render import name_text
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.terms import Term, terms
from tests.eval.sample_questions import load_questions

QUERIES = {f"bank {number}": text for number, text in load_queries().items()}
QUERIES |= {one.question: one.query for one in load_questions() if one.query}

Samples = tuple[KnowledgeBase, list[Journey]]


@pytest.fixture(scope="module")
def samples(samples_kb: Path) -> Iterator[Samples]:
    """The knowledge base of the sample notes, and its journeys."""
    with KnowledgeBase.open(samples_kb) as kb:
        yield kb, list(kb.journeys())


@pytest.mark.parametrize("name", QUERIES)
def test_the_engines_agree(samples: Samples, name: str) -> None:
    """The fast engine finds the very patients that the reference engine finds, in each of the three worlds."""
    kb, journeys = samples
    query = resolve_text(QUERIES[name], kb.concepts, kb.scales)
    for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE):
        found = frozenset(kb.patients[number] for number in fast.evaluate(query, kb, world))
        assert found == reference.evaluate(query, journeys, kb.concepts, kb.scales, world)


@pytest.mark.parametrize("term", [term for term in terms().values() if term.forms], ids=lambda term: term.name)
def test_a_term_finds_the_same_in_a_query_and_a_question(samples: Samples, term: Term) -> None:
    """Of every clinical term, in each of the three worlds, by both engines."""
    kb, journeys = samples
    formal = resolve_text(name_text(term.name), kb.concepts, kb.scales)
    asked = translate(f"patients with {term.name}", kb.concepts, kb.scales).query
    if asked is None:
        formal = resolve_text(
            f"same tumor (diagnosis 'breast cancer' and {name_text(term.name)})", kb.concepts, kb.scales
        )
        asked = translate(f"{term.name} breast cancer", kb.concepts, kb.scales).query
    assert asked is not None
    for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE):
        found = frozenset(kb.patients[number] for number in fast.evaluate(formal, kb, world))
        assert found == frozenset(kb.patients[number] for number in fast.evaluate(asked, kb, world))
        assert found == reference.evaluate(formal, journeys, kb.concepts, kb.scales, world)


def test_they_do_not_agree_on_nothing(samples: Samples) -> None:
    """More than a third of the queries find some of the patients and not all: agreement says something."""
    kb, _ = samples
    sizes = [
        len(fast.evaluate(resolve_text(text, kb.concepts, kb.scales), kb, World.POSSIBLE)) for text in QUERIES.values()
    ]
    assert sum(0 < size < len(kb.patients) for size in sizes) > len(sizes) // 3
