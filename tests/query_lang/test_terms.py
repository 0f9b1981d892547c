"""A clinical term means one thing, in a query as in a question in English, by every name, wherever it can stand."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.rows import ConceptRow
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.canonical import same_question
from cohortium.query_lang.english.translate import translate
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import Defined, Events, Exists, Name, Query, Under
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.render import name_text, render
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.terms import Term, definitions, term_called, terms
from cohortium.query_lang.tree import nodes_in

CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()
SPOKEN = [term for term in terms().values() if term.forms]
#: Said of a disease alone, English asks of which; then both are asked of this one.
OF = "breast cancer"
#: Forms that a question takes otherwise: with a disease of its own, or with an apostrophe that only a sentence has.
OTHERWISE = {"tnbc", "hasn't metastasized"}


def asked(text: str) -> Query:
    """The resolved query."""
    return resolve_text(text, CONCEPTS, SCALES)


def forms(term: Term) -> list[str]:
    """The words for a term, its name among them."""
    return list(dict.fromkeys([term.name, *(form.strip() for form in term.forms.split("|"))]))


@pytest.mark.parametrize("term", SPOKEN, ids=[term.name for term in SPOKEN])
def test_a_query_and_a_question_ask_the_same(term: Term) -> None:
    """By every form of the term."""
    compared = 0
    for form in forms(term):
        if form in OTHERWISE:
            continue
        question = translate(f"patients with {form}", CONCEPTS, SCALES).query
        formal = asked(name_text(form))
        if question is None:
            question = translate(f"{form} {OF}", CONCEPTS, SCALES).query
            formal = asked(f"same tumor (diagnosis '{OF}' and {name_text(form)})")
        if question is not None:
            assert same_question(formal, question, CONCEPTS), form
            compared += 1
    assert compared >= len(forms(term)) / 2


def named_rows() -> list[ConceptRow]:
    """All concepts whose name is not a list of drugs."""
    return [row for row in CONCEPTS.rows() if row.kind not in ("value", "site", "regimen")]


@pytest.mark.parametrize("part", range(8))
def test_a_preferred_name_asks_the_same_in_both(part: int) -> None:
    """Of nearly every concept that a bare name and a question both read: the table lacks no term.

    The few are taken apart by a question (*HER2-positive breast cancer*), given a disease (*systemic therapy*) or a
    result (*HRD status*), or misread by it.
    """
    compared = 0
    other: list[str] = []
    for row in named_rows()[part::8]:
        try:
            formal = asked(name_text(row.name))
        except QueryError:
            continue
        question = translate(f"patients with {row.name}", CONCEPTS, SCALES).query
        if question is not None:
            compared += 1
            other += [] if same_question(formal, question, CONCEPTS) else [row.name]
    assert compared > 300
    assert len(other) < compared / 50, other


@pytest.mark.parametrize("term", SPOKEN, ids=[term.name for term in SPOKEN])
def test_every_name_of_what_it_is_recorded_as_is_the_term(term: Term) -> None:
    """All names of the concept, unless they name something else besides; with the kind it is the recorded fact."""
    for concept, value in term.recorded:
        if value:
            continue
        whole = asked(name_text(term.name))
        for name in CONCEPTS.names(concept):
            # Abbreviations of the state of one disease name that disease, too.
            if term_called(name) in (None, term) and not re.search("[A-Z]{2}", name):
                assert asked(name_text(name)) == whole, name
        row = CONCEPTS.get(concept)
        kinds = {"tumor": "diagnosis", "biomarker": "biomarker", "state": "state"}
        kind = kinds.get(row.kind, row.kind)
        recorded = asked(f"{kind} {name_text(row.name)}")
        assert isinstance(recorded.body, Exists)
        exactly = asked(f"exactly {name_text(row.name)}")
        assert isinstance(exactly.body, Exists)


def test_the_table_is_in_order_and_names_facts_by_their_kinds() -> None:
    """Each term is read; none is hidden by another; no name in a definition is itself a term."""
    assert len(SPOKEN) > 25
    seen: set[str] = set()
    for one in definitions():
        assert {node.name for node in nodes_in(one) if isinstance(node, Defined)} <= seen
        seen.add(one.name)
        bare = [node for node in nodes_in(one) if isinstance(node, Events) and node.kind is None]
        assert not bare, one.name
    for term in SPOKEN:
        assert all(term_called(form) == term for form in forms(term)), term.name
        for concept, value in term.recorded:
            assert {concept, value or concept} <= {row.id for row in CONCEPTS.rows()}


@pytest.mark.parametrize("term", SPOKEN, ids=[term.name for term in SPOKEN])
def test_what_is_shown_can_be_asked_again(term: Term) -> None:
    """The rendered query, with its definitions, is the same query."""
    for text in (name_text(term.name), f"not {name_text(term.name)}", f"same tumor ({name_text(term.name)} and death)"):
        query = asked(text)
        assert asked(render(query)) == query
        assert parse(render(query))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("HER2- after trastuzumab",
         "biomarker HER2 with result in (negative, '1+') after trastuzumab"
         " or diagnosis ('triple-negative breast cancer' or 'HER2-negative breast cancer') after trastuzumab"),
        ("mets since 2020", "state 'metastatic disease' since 2020 or M = M1 since 2020 or metastases since 2020"
         " or stage = IV since 2020"),
        ("surgery then leptomeningeal disease then death",
         "surgery then (state 'leptomeningeal disease' or metastasis to leptomeninges) then death"),
        ("age >= 65 at leptomeningeal disease",
         "age >= 65 at state 'leptomeningeal disease' or age >= 65 at metastasis to leptomeninges"),
        ("latest ER+", "latest biomarker ER with (result = positive or percent >= 1)"),
        ("no evidence of ER+", "no evidence of biomarker ER with (result = positive or percent >= 1)"),
        ("surgery before died", "surgery before death"),
        # At a place for one fact a term that is more is the fact that is recorded.
        ("latest triple negative", "latest biomarker 'triple negative receptor status'"),
        ("triple negative since 2020", "biomarker 'triple negative receptor status' since 2020"),
        ("no evidence of metastatic disease", "no evidence of state 'metastatic disease'"),
        ("metastatic disease on at least 2 days", "state 'metastatic disease' on at least 2 days"),
        ("surgery with no metastatic disease within 90 days after it",
         "surgery with no state 'metastatic disease' within 90 days after it"),
        ("denied absence of metastatic disease", "denied absence of state 'metastatic disease'"),
        ("HER2 negative with method = FISH", "biomarker HER2 = negative with method = FISH"),
        # A definition of one's own goes before a term of that name, and leaves the others as they are.
        ("let advanced be stage = IV; advanced", "stage = IV"),
        ("let 'spread as recorded' be death; mets and 'spread as recorded'", "metastatic and death"),
        ("let advanced be stage = IV; any advanced", "state 'advanced disease'"),
        ("let index be mets; surgery before index", "surgery before mets"),
        ("let a be mets; let b be advanced; a and not b", "metastatic and not advanced"),
    ],
)  # fmt: skip
def test_a_term_stands_where_a_fact_can(text: str, same: str) -> None:
    """As the facts that it is any of, as the one fact that it is, or as what is recorded."""
    one, other = asked(text), asked(same)
    if "triple negative receptor status" in same:
        # A bare name leaves open which kind of result.
        assert not {"diagnosis", "estrogen"} & set(render(one).split())
    else:
        assert same_question(one, other, CONCEPTS)


@pytest.mark.parametrize(
    "text",
    [
        "latest 'HR+/HER2-'",
        "first 'no distant spread'",
        "denied absence of 'HR+/HER2-'",
        "'HR+/HER2-' then surgery then death",
    ],
)
def test_what_cannot_stand_there_is_refused_with_what_to_write(text: str) -> None:
    """A term under which nothing is recorded, where one fact is wanted."""
    with pytest.raises(QueryError, match=r"means more than one fact(?s:.)*let it stand by itself"):
        asked(text)


def test_too_many_ways_are_refused() -> None:
    """As of definitions that are any of several facts."""
    with pytest.raises(QueryError, match="would compare 1024 sets of facts"):
        asked("mets then mets then mets then mets then mets")


def test_an_ontology_without_the_parts_keeps_the_recorded_fact() -> None:
    """Where the meaning of a term cannot be asked, its name is the concept."""
    rows = [row for row in CONCEPTS.rows() if row.kind != "biomarker" or row.id == "triple_negative_status"]
    small = ConceptTable(rows)
    query = resolve_text("'triple negative'", small, SCALES)
    assert isinstance(query.body, Exists)


def test_a_tree_of_names_is_read_as_text_is() -> None:
    """Whoever builds the tree gets the term, too; concepts in a tree stay as they are."""
    from cohortium.query_lang.resolution.resolve import resolve

    tree = Query(Exists(Events(None, Under(Name("triple negative")))))
    assert resolve(tree, CONCEPTS, SCALES) == asked("triple negative")
    again = resolve(asked("triple negative"), CONCEPTS, SCALES)
    assert again == asked("triple negative")


@pytest.mark.parametrize(
    "marker", ["ER", "PR", "HER2", "'ER or PR'", "HRD status", "alteration", "MSI", "TMB", "adv", "tn"]
)
def test_a_marker_alone_is_no_term(marker: str) -> None:
    """A sign against a name is none of its hyphens."""
    assert term_called(marker.strip("'")) is None


def test_no_two_terms_share_a_form() -> None:
    """A form is of one term."""
    every = sorted(
        (" ".join(form.replace("-", " ").casefold().split()), term.name) for term in SPOKEN for form in forms(term)
    )
    assert not [(one, other) for one, other in pairwise(every) if one[0] == other[0] and one[1] != other[1]]
