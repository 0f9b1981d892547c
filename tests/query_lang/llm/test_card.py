"""The prompt says what is true of the language: each of its queries is one, and every kind of fact is told."""

from __future__ import annotations

import json
import re

import pytest

from cohortium.kb.kinds import OF_DERIVED, OF_RELATIVE, OF_REPORT, SEVERAL
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.llm.candidates import Candidates
from cohortium.query_lang.llm.card import CARD, card, question_message
from cohortium.query_lang.llm.faithful import dropped, invented
from cohortium.query_lang.llm.reply import read_reply
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.vocabulary import ATTRIBUTES, KIND_WORDS, kind_spelling

FORMS = [query for form in CARD["forms"] for query in form["queries"]]


@pytest.mark.parametrize("query", FORMS)
def test_every_form_is_a_query(query: str, concepts: ConceptTable, scales: Scales) -> None:
    """It parses, resolves and reads back under the shipped ontology."""
    assert read_back(resolve_text(query, concepts, scales), concepts)


@pytest.mark.parametrize("example", CARD["examples"], ids=lambda example: example["question"][:30])
def test_every_example_is_an_answer_that_would_be_taken(
    example: dict[str, object], concepts: ConceptTable, scales: Scales
) -> None:
    """The object is read, the query resolves, and its numbers are those of the question."""
    question = str(example["question"])
    text = json.dumps(
        {"query": example.get("query"), **{name: example.get(name, []) for name in ("unread", "unclear")}}
    )
    assert text in card()
    reply = read_reply(text, question, 4_000)
    if reply.query:
        resolve_text(reply.query, concepts, scales)
        assert invented(reply.query, question) == ()
        assert dropped(reply.query, question, reply.unread) == ()


def test_every_kind_and_attribute_is_told() -> None:
    """They come from the vocabulary, so that a new one is told as soon as it is there."""
    for kind, words in KIND_WORDS.items():
        (line,) = re.findall(rf"^- {kind_spelling(kind)}(?: \(.*?\))?(?:: (.*))?$", card(), re.M)
        assert [told.split()[0] for told in re.split(r", (?![^\[]*\])", line) if told] == [
            name for name in words.attributes if name not in {*OF_DERIVED, *OF_REPORT, *OF_RELATIVE, *SEVERAL}
        ]
    assert ATTRIBUTES


def test_the_card_is_short() -> None:
    """About 2,700 tokens: a small model on a small machine can hold it, and a question costs little."""
    assert len(card()) < 11_000


def test_the_card_is_the_same_for_every_question() -> None:
    """No question, and nothing of a knowledge base, is in it, so that a server can keep it warm."""
    assert card() == card()
    assert "{" not in re.sub(r'\{"query": .*\}', "", card())


@pytest.mark.parametrize(
    ("question", "kind", "name"),
    [
        ("NSCLC patients who progressed", "tumor", "non-small cell lung cancer"),
        ("patients on Tagrisso", "drug", "osimertinib"),
        ("patients on tagriso", "drug", "osimertinib"),
        ("patients on osimertinb", "drug", "osimertinib"),
        ("HER2 positive disease", "biomarker", "HER2"),
        ("any HRR genes altered", "named list", "HRR genes"),
        ("mets to the brain", "site", "brain"),
        ("lung cancer that spread", "site", "lung"),
    ],
)
def test_the_names_that_a_question_may_mean_are_offered(
    concepts: ConceptTable, question: str, kind: str, name: str
) -> None:
    """Synonyms, brands and misspellings lead to names that the query language knows."""
    names = json.loads(question_message(question, Candidates(concepts).named_in(question, 80)))["names"]
    assert name in names[kind]


def test_filler_offers_nothing(concepts: ConceptTable) -> None:
    """Words that join or ask lead to no name, not even by accident (*who*: World Health Organization)."""
    assert Candidates(concepts).named_in("Please find all of the patients who have had the …, or not", 80) == []


def test_names_are_bounded(concepts: ConceptTable) -> None:
    """However long the question, the message stays small; what stands in the question outright comes first."""
    question = " ".join(row.name for row in list(concepts.rows())[:300])
    assert len(Candidates(concepts).named_in(question, 80)) == 80


def test_every_offered_name_is_known(concepts: ConceptTable) -> None:
    """The query language resolves each of them."""
    question = (
        "her2 low breast ca, EGFR exon 19 del, gleason 8, platinum doublet, brain mets, RECIST progresion, colitis"
    )
    for one in Candidates(concepts).named_in(question, 80):
        assert concepts.lookup(one.name) or concepts.value_set(one.name) is not None
