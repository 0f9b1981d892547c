"""The query bank: whole, answerable against the shipped ontology, and each query beside its read-back."""

import re

import pytest

from cohortium.eval.bank.acr.bank import BANK_FILE, load_bank, load_definitions, with_definitions
from cohortium.eval.bank.acr.read_backs import read_backs, with_read_backs
from cohortium.eval.measures.classes import COMPLEXITIES
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import Defined, Query, Union
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text

BANK = {one.id: one for one in load_bank()}


@pytest.fixture(scope="module")
def ontology():
    return shipped_concepts(), Scales.from_files()


def test_the_bank_is_whole():
    """114 questions by id, each with a text, a complexity and a formal query."""
    assert len(BANK) == 114
    assert list(BANK) == sorted(BANK)
    assert all(one.text and one.query and one.complexity in COMPLEXITIES for one in BANK.values())


def test_the_classes_of_complexity_have_their_sizes():
    """7 base and 42 low make the 49 that are answered first."""
    sizes = {name: sum(one.complexity == name for one in BANK.values()) for name in COMPLEXITIES}
    assert sizes == {"base": 7, "low": 42, "medium": 47, "hard": 18}


@pytest.mark.parametrize("query", BANK.values(), ids=lambda one: str(one.id))
def test_every_query_resolves_and_what_is_rendered_means_the_same(query, ontology):
    """What is rendered can be asked again, and is the same query."""
    resolved = resolve_text(query.query, *ontology)
    assert resolve_text(render(resolved), *ontology) == resolved


@pytest.mark.parametrize("query", BANK.values(), ids=lambda one: str(one.id))
def test_every_query_brings_the_definitions_that_it_uses_and_no_others(query):
    """Each definition is used by the query or by a definition after it."""
    read = parse(query.query)
    for position, definition in enumerate(read.definitions):
        later = Query(read.body, read.definitions[position + 1 :])
        assert Defined(definition.name) in _nodes(later), definition.name


def _nodes(node):
    if isinstance(node, tuple):
        return [one for part in node for one in _nodes(part)]
    if not hasattr(node, "__dataclass_fields__"):
        return []
    return [node, *(one for name in node.__dataclass_fields__ for one in _nodes(getattr(node, name)))]


@pytest.mark.parametrize("query", BANK.values(), ids=lambda one: str(one.id))
def test_every_query_stands_beside_its_read_back(query, ontology):
    """The file holds what the query reads back as today; `make bank` writes it anew."""
    concepts, scales = ontology
    assert query.reads == read_back(resolve_text(query.query, concepts, scales), concepts, rules=False)


def test_queries_that_ask_for_different_things_read_back_differently(ontology):
    """Equal read-backs only of equal trees."""
    trees = {}
    for query in BANK.values():
        body = resolve_text(query.query, *ontology).body
        assert trees.setdefault(query.reads, body) == body, query.id


def test_read_backs_are_written_over_old_ones_and_nothing_else_changes():
    """Removed or outdated read-backs come back as they were."""
    whole = BANK_FILE.read_text(encoding="utf-8")
    reads = read_backs()
    outdated = with_read_backs(whole, dict.fromkeys(reads, "Patients with\nold 'things'"))
    assert outdated.count("old 'things'") == len(BANK) + len(load_definitions())
    assert with_read_backs(outdated, reads) == whole
    bare = re.sub(r"^reads = (?:'''.*?'''|.*?)\n", "", whole, flags=re.MULTILINE | re.DOTALL)
    assert "reads = " not in bare
    assert with_read_backs(bare, reads) == whole


@pytest.mark.parametrize("query", BANK.values(), ids=lambda one: str(one.id))
def test_long_lists_of_concepts_have_names(query):
    """Genes, drug classes, operations: four or more of them are a value set of the ontology."""
    spelled_out = [one for one in _nodes(parse(query.query)) if isinstance(one, Union) and len(one.parts) >= 4]
    assert not spelled_out


def test_queries_that_ask_for_the_same_are_the_same(ontology):
    """Osimertinib by name, by code and by brand; the two wordings of an NTRK fusion; DCIS and DCIS of the breast."""
    for same in ((97, 100, 101), (5, 118), (35, 36)):
        assert len({resolve_text(BANK[one].query, *ontology).body for one in same}) == 1


def test_definitions_come_with_those_that_they_use():
    """b uses a; c is used by nobody."""
    whole = with_definitions(
        {"1": "b and death", "2": "diagnosis x"}, {"a": "diagnosis y", "b": "a or stage IV", "c": "a"}
    )
    assert whole["1"] == 'let "a" be diagnosis y;\nlet "b" be a or stage IV;\nb and death'
    assert whole["2"] == "diagnosis x"


def test_a_query_may_define_more_of_its_own():
    """A definition of the query itself can use the shared ones."""
    whole = with_definitions({"1": "let own be a and death; own"}, {"a": "diagnosis y"})
    assert whole["1"] == 'let "a" be diagnosis y;\nlet own be a and death; own'


def test_a_definition_that_cannot_be_read_is_an_error():
    """Not an empty answer."""
    with pytest.raises(QueryError):
        with_definitions({"1": "a"}, {"a": "diagnosis ("})
