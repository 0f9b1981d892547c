"""SQL that finds patients: examples beside the query language, parameters, wrong statements, any text."""

from __future__ import annotations

import datetime
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium.engine.api import OpenKb
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.sql.front import parse_sql
from cohortium.query_lang.sql.tables import TABLES
from tests.amounts import examples

_FOLDER = Path(__file__).parent
EXAMPLES = tomllib.loads((_FOLDER / "examples.toml").read_text(encoding="utf-8"))["example"]
MISTAKES = tomllib.loads((_FOLDER / "mistakes.toml").read_text(encoding="utf-8"))["mistake"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["query"])
def test_sql_means_what_the_query_language_means(kb: OpenKb, example: dict[str, str]) -> None:
    """The SQL is resolved to the very query, and finds its patients."""
    found, asked = kb.find_sql(example["sql"]), kb.find(example["query"])
    assert found.resolved == asked.resolved
    assert list(found) == list(asked)
    assert found.text == example["sql"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["sql"])
def test_wrong_sql_is_told_with_its_place(mistake: dict[str, object]) -> None:
    """Each wrong statement meets its message, at its column, and exit code 3."""
    with pytest.raises(QueryError) as caught:
        parse_sql(str(mistake["sql"]))
    assert caught.value.message == mistake["message"]
    assert caught.value.column == mistake["column"]
    assert caught.value.exit_code == 3


def test_what_is_outside_is_told_with_what_to_write() -> None:
    """A construct that is not read has a hint."""
    silent = []
    for mistake in MISTAKES:
        if "not read here" in mistake["message"]:
            with pytest.raises(QueryError) as caught:
                parse_sql(mistake["sql"])
            if not caught.value.hint:
                silent.append(mistake["sql"])
    assert not silent


def test_unknown_names_are_told_at_their_place_in_the_sql(kb: OpenKb) -> None:
    """Resolution's errors point into the SQL, with the nearest names."""
    with pytest.raises(QueryError) as caught:
        kb.find_sql("SELECT patient_id\nFROM diagnosis\nWHERE concept = 'lung cancr'")
    assert (caught.value.line, caught.value.column) == (3, 17)
    assert "lung cancer" in caught.value.hint


@pytest.mark.parametrize(("table", "column"), [(name, column) for name, t in TABLES.items() for column in t.columns])
def test_every_table_and_column_can_be_written(table: str, column: str) -> None:
    """No table or column collides with a word of SQL: whatever the condition means, its names are read."""
    told = message_of(f"SELECT patient_id FROM {table} AS x WHERE x.{column} = 'positive' AND {column} = 'positive'")
    assert "not expected" not in told
    assert "no column" not in told
    assert "no table" not in told


def message_of(text: str) -> str:
    """The message that the text meets; empty if it is read."""
    try:
        parse_sql(text)
    except QueryError as error:
        return error.message
    return ""


# --- parameters -------------------------------------------------------------------------------------------------------

ASKED = "SELECT patient_id FROM medication WHERE concept = {} AND day >= {} AND line IN ({})"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (ASKED.format(":drug", ":since", ":lines"), {"drug": "cisplatin", "since": "2020-01-01", "lines": [1, 2]}),
        (ASKED.format("?", "?", "?"), ["cisplatin", datetime.date(2020, 1, 1), [1, 2]]),
        (ASKED.format("$drug", "$since", "1, $more"), {"drug": "cisplatin", "since": "2020-01-01", "more": 2}),
        (ASKED.format("$1", "$2", "$3"), ("cisplatin", "2020-01-01", (1, 2))),
    ],
)
def test_parameters_are_bound_to_the_tree(text: str, values: object) -> None:
    """Named and numbered parameters take texts, dates, numbers and lists."""
    wanted = ASKED.format("'cisplatin'", "DATE '2020-01-01'", "1, 2")
    assert parse_sql(text, values).query == parse_sql(wanted).query


def test_a_parameter_is_never_read_as_sql() -> None:
    """Whatever a value holds, it is one name."""
    value = "x' OR concept = 'y"
    query = parse_sql("SELECT patient_id FROM diagnosis WHERE concept = :x", {"x": value}).query
    assert query.body.events.concept.term.text == value


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("SELECT patient_id FROM diagnosis WHERE concept = ?", [], "the parameter '1' has no value"),
        ("SELECT patient_id FROM diagnosis WHERE concept = ?", ["a", "b"], "the parameter '2' does not occur"),
        ("SELECT patient_id FROM diagnosis WHERE concept = :x", {"y": "a"}, "the parameter 'x' has no value"),
        ("SELECT patient_id FROM diagnosis WHERE concept = :x", {"x": ["a"]}, "this parameter is a list"),
        ("SELECT patient_id FROM diagnosis WHERE concept = :x", {"x": None}, "the parameter 'x' is a NoneType"),
        ("SELECT patient_id FROM diagnosis WHERE concept = :x", {"x": True}, "the parameter 'x' is a bool"),
        ("SELECT patient_id FROM diagnosis WHERE concept = :x", "a", "parameters are a mapping"),
    ],
)
def test_wrong_parameters_are_told(text: str, values: object, message: str) -> None:
    """A missing, left-over or unfit value is an error that names the parameter."""
    with pytest.raises(QueryError, match=message):
        parse_sql(text, values)


def test_places_are_right_behind_question_marks() -> None:
    """Question marks do not shift the place of an error."""
    text = "SELECT patient_id FROM diagnosis WHERE laterality IN (?, ?, ?) AND wrong = 1"
    with pytest.raises(QueryError) as caught:
        parse_sql(text, ["left", "right", "bilateral"])
    assert text[caught.value.offset :].startswith("wrong")


# --- any text ---------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    (
        "SELECT patient_id FROM WHERE AND OR NOT IN EXISTS JOIN ON USING ( ) , = <> < >= . ; diagnosis AS a b concept "
        "day 'x' \"y\" 3 ? :p UNION EXCEPT INTERSECT ALL WITH GROUP BY HAVING COUNT * BETWEEN INTERVAL DAY DATE IS "
        "'2020-01-01' NULL TRUE CASE WHEN THEN ELSE END LIMIT LEFT CROSS NATURAL ABS year tumor -- /* */ [ ] { } -> :: "
        "+ - % | & $1 é \0"
    ).split(" ")
)
FUZZ = settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))


def only_query_errors(text: str) -> None:
    """Reading the text gives a query or a QueryError whose place lies in it, at once."""
    begin = time.monotonic()
    found = None
    try:
        parse_sql(text)
    except QueryError as error:
        found = error
    assert time.monotonic() - begin < 5
    assert found is None or found.message and str(found)
    assert found is None or found.offset is None or 0 <= found.offset <= len(text)


@FUZZ
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text crashes the front end."""
    only_query_errors(text)


@FUZZ
@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_any_words_of_sql_are_read_or_refused(text: str) -> None:
    """No order of SQL's words crashes it or makes it hang."""
    only_query_errors(text)
    only_query_errors(f"SELECT patient_id FROM diagnosis a WHERE {text}")
    only_query_errors(f"SELECT patient_id FROM {text}")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT patient_id FROM a" + " JOIN b" * 40,
        "SELECT patient_id FROM diagnosis a" + " JOIN b USING (patient_id)" * 500,
        "SELECT patient_id FROM diagnosis WHERE " + "(" * 5000 + "x",
        "SELECT patient_id FROM diagnosis WHERE " + "(" * 39 + "concept = 'x'" + ")" * 39,
        "SELECT patient_id FROM diagnosis WHERE " + "NOT " * 5000 + "concept = 'x'",
        "SELECT patient_id FROM diagnosis WHERE " + " OR ".join(["concept = 'x'"] * 3000),
        "SELECT patient_id FROM diagnosis WHERE " + " AND ".join(["(day = '2020-01-01' OR concept = 'x')"] * 40),
        " EXCEPT ".join(["SELECT patient_id FROM death"] * 1500),
        " UNION ".join(["SELECT patient_id FROM death"] * 1500),
        "SELECT patient_id FROM diagnosis WHERE concept = " + "-" * 3000 + "1",
        "SELECT patient_id FROM diagnosis WHERE concept IN (" + ", ".join(["'x'"] * 10_000) + ")",
        "SELECT " + "x" * 200_000,
        "SELECT patient_id FROM death WHERE patient_id IN (" * 39 + "SELECT patient_id FROM death" + ")" * 39,
    ],
    ids=lambda text: f"{text[:60]} … {len(text)}",
)
def test_huge_and_deep_sql_ends_at_once(text: str) -> None:
    """Length, depth and many joins end in an answer or an error, in seconds."""
    only_query_errors(text)
