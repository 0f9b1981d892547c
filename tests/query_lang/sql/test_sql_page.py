"""The page of SQL: its examples run and mean what stands under them, its lists are those of the program."""

from __future__ import annotations

import re

import pytest

from cohortium.engine.api import OpenKb
from cohortium.kb.free_sql.allowed import rules, view_names
from cohortium.kb.kinds import KINDS
from cohortium.query_lang.sql.tables import TABLES
from tests.places import DOCS

PAGE = (DOCS / "guide" / "sql.md").read_text(encoding="utf-8")
COHORTS = re.findall(r"^```sql cohort\n(.*?)\n-- ([^\n]*)\n```$", PAGE, re.M | re.S)
ROWS = re.findall(r"^```sql rows\n(.*?)```$", PAGE, re.M | re.S)


@pytest.mark.parametrize(("sql", "query"), COHORTS, ids=[query for _, query in COHORTS])
def test_the_cohorts_of_the_page_mean_what_is_said(kb: OpenKb, sql: str, query: str) -> None:
    """Each example is resolved to the query under it, and finds its patients."""
    assert kb.find_sql(sql).resolved == kb.find(query).resolved
    assert list(kb.find_sql(sql)) == list(kb.find(query))


@pytest.mark.parametrize("sql", ROWS)
def test_the_rows_of_the_page_are_given(kb: OpenKb, sql: str) -> None:
    """Each statement has an answer on the sample notes."""
    assert kb.sql(sql).num_rows > 0


def test_every_example_was_found() -> None:
    """No block of SQL escapes the tests."""
    assert len(COHORTS) + len(ROWS) == PAGE.count("```sql ") >= 12


def test_the_views_of_the_page_are_those_of_the_program(kb: OpenKb) -> None:
    """Names, order and columns of the views."""
    listed = re.findall(r"^\| `(\w+)` \| ([^|]*?) \|$", PAGE.split("| view |")[1], re.M)
    assert tuple(name for name, _ in listed) == view_names()
    for name, columns in listed:
        shown = [column.split(" ")[0] for column in columns.split(", ")]
        assert shown == kb.sql(f"SELECT * FROM {name}", limit=0).schema.names


def test_the_tables_of_the_page_are_those_of_the_program() -> None:
    """Every kind of event, and every shared column, is on the page."""
    first, *others = [table.columns for table in TABLES.values() if table.events]
    shared = {name for name in first if all(name in columns for columns in others)}
    assert {"patient_id", "concept", "day", "age", "context", "pick", "source", "tumor", "event"} <= shared
    for name in (*KINDS, "event", "patient", *shared):
        assert f"`{name}`" in PAGE
    assert all(kind in TABLES for kind in KINDS)
    # What a kind says of itself never hides what all tables have.
    assert all(columns[name] == first[name] for columns in others for name in shared)


def test_the_functions_of_the_page_are_those_of_the_program() -> None:
    """By theme, in the order of the list."""
    listed = re.findall(r"^\| (\w+) \| `(.*)` \|$", PAGE.split("### Functions")[1], re.M)
    assert {theme: names.replace("\\|", "|").split(" ") for theme, names in listed} == rules()["functions"]
    for name in rules()["table_functions"]:
        assert f"`{name}`" in PAGE.split("### Functions")[1]
