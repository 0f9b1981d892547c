"""The language guide is what the builder makes of the chapters, and the chapters leave no part of the language out."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from cohortium.kb.kinds import KINDS
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang import nodes
from cohortium.query_lang.keywords import KEYWORDS
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.resolution.resolve import resolve_text
from tests.spec import book, guide

QUESTIONS = [question for part in book.parts() for question in part.questions]
#: Every class of node, by name.
NODES = {
    name
    for name, value in vars(nodes).items()
    if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == nodes.__name__
}


def walk(value: object) -> Iterator[object]:
    """A node and everything inside it."""
    if isinstance(value, tuple):
        for one in value:
            yield from walk(one)
    elif dataclasses.is_dataclass(value):
        yield value
        for field in dataclasses.fields(value):
            yield from walk(getattr(value, field.name))


def told(node: object) -> Iterator[str]:
    """What a node is an example of: its class, and the variant that it is of a class with variants."""
    yield type(node).__name__
    match node:
        case nodes.Pick(how):
            yield f"pick {how}"
        case nodes.Events(kind, _, _, context, moment=moment):
            yield f"kind {kind}"
            yield f"context {context}"
            yield f"moment {moment}"
        case nodes.Ordered(_, relation):
            yield f"relation {relation}"
        case nodes.Compare(_, operator):
            yield f"operator {operator}"
        case nodes.Under(_, True) | nodes.Is(_, _, True):
            yield f"exactly {type(node).__name__}"


VARIANTS = {
    *(f"pick {how}" for how in nodes.PICKS),
    *(f"context {context}" for context in nodes.CONTEXTS),
    *(f"moment {moment}" for moment in nodes.MOMENTS),
    *(f"relation {relation}" for relation in nodes.RELATIONS),
    *(f"operator {operator}" for operator in nodes.OPERATORS),
    *(f"kind {kind}" for kind in KINDS),
    "exactly Under",
    "exactly Is",
}


def examples(questions: list[book.Question], concepts: ConceptTable, scales: Scales) -> Counter[str]:
    """How many questions show each class of node and each variant, as parsed or as resolved."""
    found: Counter[str] = Counter()
    for question in questions:
        trees = parse(question.query), resolve_text(question.query, concepts, scales, today=question.today)
        found.update({word for tree in trees for node in walk(tree) for word in told(node)})
    return found


def test_the_guide_is_made_of_the_chapters(concepts: ConceptTable) -> None:
    """docs/guide/language.md is what ``make guide`` writes."""
    assert guide.PAGE.read_text(encoding="utf-8") == guide.page(concepts), "the guide is old. Hint: make guide"


def test_what_a_reader_copies_parses() -> None:
    """Each query of the guide, with its answer beside or below it as a comment, is a query."""
    blocks = re.findall(r"^```query\n(.*?)^```$", guide.PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    copied = []
    for block in blocks:
        lines: list[str] = []
        for line in block.splitlines():
            lines.append(line)
            if re.search(r"\s{2,}-- ", line):
                copied.append(parse("\n".join(lines)))
                lines = []
        assert not lines
    assert copied == [parse(question.query) for question in QUESTIONS]


def test_the_addresses_within_the_guide_exist() -> None:
    """Each link to a place of the page names one of its headings."""
    page = guide.PAGE.read_text(encoding="utf-8")
    headings = {guide._anchor(title) for title in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}
    links = re.findall(r"\]\(#([^)]+)\)", page)
    assert len(links) > len(book.chapters())
    assert not set(links) - headings


def test_every_node_occurs(concepts: ConceptTable, scales: Scales) -> None:
    """Each class of node, kind, context, pick, relation and operator is in a query of some chapter."""
    found = examples(QUESTIONS, concepts, scales)
    assert not (NODES | VARIANTS) - found.keys()


#: Words of time are written in singular and plural.
UNITS = ("days", "weeks", "months", "years")


@pytest.mark.parametrize("word", KEYWORDS)
def test_every_keyword_occurs(word: str) -> None:
    """Each word of the language (kinds, contexts and picks are words of it) is in a query of some chapter."""
    spelled = re.escape(word) + ("?" if word in UNITS else "")
    pattern = re.compile(rf"(?<![\w-]){spelled}(?![\w-])", re.IGNORECASE)
    quoted_or_comment = re.compile(r"'[^']*'|\"[^\"]*\"|--.*")
    assert any(pattern.search(quoted_or_comment.sub("''", question.query)) for question in QUESTIONS)


def test_every_construct_is_shown_where_the_worlds_differ(concepts: ConceptTable, scales: Scales) -> None:
    """Each class of node, context, pick and relation is in a question whose certain and possible answers differ."""
    open_ones = [question for question in QUESTIONS if question.certain != question.possible]
    found = examples(open_ones, concepts, scales)
    wanted = NODES | {word for word in VARIANTS if word.split()[0] in ("context", "pick", "relation")}
    assert not wanted - found.keys()
