"""Wrong questions: each gets the message that was written for it, and every message points somewhere."""

from __future__ import annotations

import pytest

from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.parsing.mistakes import Mistake, hint_for_name, mistakes
from cohortium.query_lang.parsing.parse import parse

CASES = [(example, mistake) for mistake in mistakes() for example in mistake.examples]


@pytest.mark.parametrize(("text", "mistake"), [case for case in CASES if not case[1].in_name])
def test_the_example_of_a_mistake_gets_its_message(text: str, mistake: Mistake) -> None:
    """The message of the table is told, with its hint and a place."""
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert (caught.value.message, caught.value.hint) == (mistake.message, mistake.hint)
    assert caught.value.offset is not None


@pytest.mark.parametrize(("text", "mistake"), [case for case in CASES if case[1].in_name])
def test_a_mistake_inside_a_name_is_recognised(text: str, mistake: Mistake) -> None:
    """What the grammar takes for one long name gets its hint when the name turns out unknown."""
    name = text.split(" before ")[0].split(" after ")[0]
    assert hint_for_name(name) == f"{mistake.message}: {mistake.hint}"


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("diagnosis 'lung cancer", "this quotation mark is never closed", 11),
        ("(death", "this '(' is never closed", 1),
        ("death)", "this ')' closes no bracket", 6),
        ("(death]", "this ']' closes no bracket", 7),
        ("worst N >= N2", "worst N cannot be asked: worst orders TNM events by their T", 1),
        ("first latest death", "'first' and 'latest' cannot both stand before one fact", 1),
        ("death since 2019-13", "2019-13 is not a date", 7),
        ("death since 2019-02-30", "2019-02-30 is not a date", 7),
        ("death since 2020 until 2019", "the window ends before it begins", 1),
        ("at least 3 of (death, metastasis)", "'at least 3 of' has 2 criteria", 1),
        ("death then at least 0 days later metastasis", "the shortest gap is too small", 7),
        ("let x be death; let x be metastasis; x", "two definitions bear the same name", 1),
        ("let x be stage IV and death; x before death", "'before' relates two single facts", 30),
        ("medication cisplatin = 3", "what is compared? medication has several attributes", 1),
        ("worst lung cancer", "worst and best need a kind with an order", 1),
        ("diagnosis ''", "a name is empty", 11),
    ],
)  # fmt: skip
def test_what_fits_the_grammar_and_means_nothing_is_told_with_its_place(text: str, message: str, column: int) -> None:
    """A query that means nothing is refused, and the column is that of the part that is wrong."""
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert message in caught.value.message
    assert caught.value.column == column


def test_an_error_shows_its_place_under_a_caret() -> None:
    """Line, column, the words around the place, a caret under it, a hint; exit code 3."""
    with pytest.raises(QueryError) as caught:
        parse("diagnosis 'lung cancer'\n  and stage >= and death")
    error = caught.value
    assert (error.line, error.column, error.exit_code) == (2, 16, 3)
    assert str(error) == (
        "a value is missing after the comparison (line 2, column 16)\n"
        "      and stage >= and death\n"
        "                   ^\n"
        "Hint: for example: stage >= IIIB, with protein = L858R, with percent >= 50"
    )
