"""Parsing is total: any text gives a tree or a QueryError, soon, and no tree is deeper than recursion can bear."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.query_lang import nodes
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.parsing.parse import DEEPEST_QUERY, LONGEST_QUERY, parse
from cohortium.query_lang.render import render
from tests.amounts import examples

PIECES = (
    "and", "or", "not", "except", "but not", "(", ")", ",", ";", "'x'", "lung cancer", "stage", ">=", "=", "IIC",
    "with", "protein", "alteration = mutation", "T", "T2N0", "ECOG", "2", "at least", "of", "before", "after", "within",
    "days",
    "between", "2019", "since", "let", "be", "death", "any", "other than", "exactly", "first", "planned", "same tumor",
    "in", "documented", "metastasis", "to", "#", "--", "'", '"', "\x00", "\u2028", "💊", "ﬁ", "İ", "\ud800",
)  # fmt: skip


def parsed(text: str) -> tuple[nodes.Query | None, QueryError]:
    """The query, or None and the error."""
    try:
        return parse(text), QueryError("none")
    except QueryError as error:
        return None, error


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join) | st.text(max_size=40))
def test_any_text_gives_a_tree_or_a_query_error(text: str) -> None:
    """No text crashes the parser; what parses can be rendered and parsed again."""
    query, error = parsed(text)
    if query is not None:
        assert parse(render(query)) == query
    else:
        assert str(error)
        assert error.excerpt.count("\n") in (0, 1)


@pytest.mark.parametrize("text", ["", "   \n\t ", "-- only a comment", "# one\n-- two\n", "\ufeff", "\u200b", ";"])
def test_an_empty_query_is_told_to_be_empty(text: str) -> None:
    """Nothing, blanks and comments alone are an empty query."""
    with pytest.raises(QueryError, match="the query is empty"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5_000 + "death" + ")" * 5_000,
        "not " * 5_000 + "death",
        "not (" * 2_500 + "death" + ")" * 2_500,
        "medication " + "(" * 5_000 + "x" + ")" * 5_000,
        "death with " + "(" * 5_000 + "line = 1" + ")" * 5_000,
        "(" * 201 + "death" + ")" * 201,
        "a or b and (" * 150 + "death" + ")" * 150,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    """More than 200 levels are refused with a message, not with a crash."""
    with pytest.raises(QueryError, match="nested more than 200 levels deep"):
        parse(text)


def test_brackets_of_any_depth_that_are_not_closed_are_told() -> None:
    """An error in the brackets is told whichever limit is met first."""
    with pytest.raises(QueryError, match=r"nested more than|never closed"):
        parse("(" * 90_000)
    with pytest.raises(QueryError, match="closes no bracket"):
        parse(")" * 90_000)


def test_the_deepest_query_works_everywhere() -> None:
    """A tree of the greatest depth parses, renders, compares, hashes and prints."""
    text = "death"
    for _ in range(DEEPEST_QUERY // 2 - 2):
        text = f"x and (y or {text})"
    query = parse(text)
    assert parse(render(query)) == query
    assert hash(parse(text)) == hash(query)
    assert repr(query)


def test_a_chain_of_thousands_is_flat() -> None:
    """Wide queries are safe: alternatives, exceptions and definitions by the thousand."""
    query = parse(" or ".join(f"x{number}" for number in range(9_000)))
    assert isinstance(query.body, nodes.Or)
    assert len(query.body.parts) == 9_000
    assert parse(render(query)) == query
    assert isinstance(parse(" except ".join(["x"] * 8_000)).body, nodes.Except)
    assert isinstance(parse("x except y and " * 5_000 + "z").body, nodes.Except)
    assert parse("medication " + " other than ".join(["x"] * 7_000)).body
    assert parse("".join(f"let a{number} be x;" for number in range(4_000)) + "a1").body == nodes.Defined("a1")


def test_a_query_of_the_greatest_length_is_read_and_a_longer_one_refused() -> None:
    """100,000 characters are read; one more is refused with the number in the message."""
    text = "death" + " or death" * ((LONGEST_QUERY - 5) // 9)
    text += " " * (LONGEST_QUERY - len(text))
    assert len(text) == LONGEST_QUERY
    assert parse(text)
    with pytest.raises(QueryError, match="100,001 characters; at most 100,000"):
        parse(text + " ")


@pytest.mark.parametrize(
    "text",
    [
        "x" * LONGEST_QUERY,
        "x " * (LONGEST_QUERY // 2),
        "and " * (LONGEST_QUERY // 4),
        "'" * (LONGEST_QUERY - 1),
        "x and" + " " * (LONGEST_QUERY - 6) + "y",
        "x with a = 1 and" + " " * (LONGEST_QUERY - 20) + "y",
        ("x with line = 1 and" + " " * 900 + "not ") * 90 + "y",
        "at least " + "9" * 90_000 + " of (x, y)",
        "x within " + "9" * 90_000 + " days of y",
        "9" * 90_000 + "th death",
        "ECOG <= " + "9" * 90_000,
        "x before" + " " * 90_000,
        "-" * LONGEST_QUERY,
        "x\x00y and \x00",
        "\n" * 90_000 + ")",
    ],
)
def test_awkward_long_queries_end_soon(text: str) -> None:
    """No input keeps the parser busy without end (a hang here is the failure), and each error stays short."""
    _, error = parsed(text)
    assert len(str(error)) < 2_000
