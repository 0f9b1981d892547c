"""What a statement may say: names of WITH hold where they hold for the database, functions stand on a list."""

from __future__ import annotations

import re

import duckdb
import pytest

from cohortium.kb.errors import SqlError
from cohortium.kb.free_sql.allowed import checked, functions, refusals, rules, view_names
from tests.amounts import ALL

#: Of the database itself: whoever reads one of them has left the views.
SYSTEM = ("pragma_database_list", "sqlite_master", "duckdb_tables", "duckdb_settings", "pg_tables")
#: Allowed although their values are not those of their arguments: chance, and the time.
CHANCE_AND_TIME = {"random", "uuid", "gen_random_uuid", "now", "today", "current_date"}


#: Parses, and is asked what it has; it holds nothing.
DATABASE = duckdb.connect()


def refused(statement: str) -> bool:
    """Whether the check refuses a statement that can be parsed."""
    try:
        checked(DATABASE, statement)
    except SqlError:
        return True
    return False


@pytest.mark.parametrize("name", [*SYSTEM, "secret", "\N{KELVIN SIGN}ept", "kept"])
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM {name}, (WITH {name} AS (SELECT 1 AS a) SELECT 1) AS x",
        "SELECT (WITH {name} AS (SELECT 1) SELECT 1) FROM {name}",
        "WITH x AS (WITH {name} AS (SELECT 1) SELECT 1) SELECT * FROM {name}",
        "WITH x AS (SELECT * FROM {name}), {name} AS (SELECT 1) SELECT * FROM x",
        "WITH {name} AS (SELECT * FROM {name}) SELECT * FROM {name}",
        "WITH RECURSIVE {name} AS (SELECT * FROM {name}) SELECT * FROM {name}",
        "WITH RECURSIVE {name} AS (SELECT a FROM {name} UNION ALL SELECT 1) SELECT * FROM {name}",
        "SELECT 1 WHERE EXISTS (WITH {name} AS (SELECT 1) SELECT 1) UNION SELECT 1 FROM {name}",
        "(WITH {name} AS (SELECT 1) SELECT * FROM {name}) UNION ALL SELECT * FROM {name}",
        "SELECT * FROM events AS {name} WHERE EXISTS (SELECT * FROM {name})",
        "SELECT list_transform([1], {name} -> (SELECT count(*) FROM {name}))",
        "FROM (SELECT 1 AS {name}) AS {name} JOIN (FROM {name}) AS x ON true",
        "SUMMARIZE {name}",
        "DESCRIBE {name}",
        "DESCRIBE SELECT * FROM {name}, (WITH {name} AS (SELECT 1) SELECT 1)",
        "FROM {name} PIVOT (count(*) FOR a IN (1))",
        "FROM {name} UNPIVOT (v FOR n IN (a))",
        "VALUES ((SELECT 1 FROM {name}))",
        "SELECT * FROM range((SELECT count(*) FROM {name}))",
        "SELECT 1 ORDER BY (SELECT 1 FROM {name})",
        "SELECT 1 LIMIT (SELECT count(*) FROM {name})",
        "SELECT row_number() OVER (ORDER BY (SELECT 1 FROM {name}))",
        "SELECT count(*) FILTER (WHERE EXISTS (FROM {name}))",
        "SELECT CASE WHEN EXISTS (FROM {name}) THEN 1 END",
        "SELECT * FROM {name} AT (VERSION => 1)",
    ],
)
def test_a_name_of_with_opens_nothing_outside_of_it(statement: str, name: str) -> None:
    """A name that is given elsewhere, later, inside or as an alias is not known."""
    assert refused(statement.format(name=name))


@pytest.mark.parametrize("name", ["x", "events", "Kept", '"two words"', "größe"])
@pytest.mark.parametrize(
    "statement",
    [
        "WITH {name} AS (SELECT 1 AS a) SELECT * FROM {name}",
        "WITH {name} AS (SELECT 1 AS a), y AS (SELECT * FROM {name}) SELECT * FROM y",
        "WITH RECURSIVE {name}(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM {name} WHERE a < 3) SELECT * FROM {name}",
        "WITH {name} AS (SELECT 1 AS a) SELECT [i FOR i IN (SELECT list(a) FROM {name})]",
        "WITH {name} AS (SELECT 1 AS a) SELECT * FROM (SELECT * FROM {name} UNION SELECT * FROM {name}) AS z",
        "WITH {name} AS (SELECT 1 AS a) SELECT * FROM {name} JOIN {name} AS other USING (a)",
        "WITH {name} AS (SELECT 1 AS a) FROM (WITH {name} AS (SELECT 2 AS a) FROM {name}) AS z, {name}",
        "WITH {name} AS MATERIALIZED (SELECT 1 AS a) FROM {name}",
        "SELECT * FROM (WITH {name} AS (SELECT 1 AS a) SELECT * FROM {name}) AS z",
        "DESCRIBE WITH {name} AS (SELECT 1 AS a) SELECT * FROM {name}",
    ],
)
def test_a_name_of_with_holds_where_it_holds(statement: str, name: str) -> None:
    """After it, inside of what follows, and in what is repeated."""
    statement = statement.format(name=name)
    assert checked(DATABASE, statement) == statement
    if name != "events":
        DATABASE.sql(statement).fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        'SELECT * FROM "data.csv"', "FROM '/etc/hostname'", 'WITH "a.csv" AS (SELECT 1) FROM "a.csv"',
        "FROM main.events",
        "SELECT system.main.abs(1)", "SELECT main.abs(1)", "FROM main.range(3)", "FROM query_table('events')",
        "FROM query('SELECT 1')", "SELECT getenv('HOME')", "SELECT GETENV('HOME')", "SELECT current_setting('threads')",
        "SELECT getvariable('x')", "FROM read_text('x')", "FROM glob('*')", "FROM duckdb_settings()",
        "FROM pragma_version()",
        "FROM information_schema.tables", "SELECT list_aggregate([1], 'sum')", "SELECT json_serialize_sql('SELECT 1')",
        "SELECT write_log('x')", "SELECT nextval('s')", "SELECT sleep_ms(1)", "SELECT current_query()",
        "SELECT version()",
        "SELECT x.getenv() FROM (SELECT 'HOME' AS x)", "SELECT list_transform(['HOME'], x -> getenv(x))",
        "SELECT sum(getvariable('x')) OVER ()", "FROM test_all_types()", "FROM recurring.x", "SHOW ALL TABLES",
        "SHOW DATABASES",
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(statement: str) -> None:
    """Files as tables, names with a schema, functions of the process, in every place where one can stand."""
    assert refused(statement)


def test_an_unknown_part_of_a_tree_is_refused() -> None:
    """What a later parser brings along is not passed over."""
    table = {"type": "BASE_TABLE", "alias": "", "sample": None, "table_name": "events"}
    node = {"type": "SELECT_NODE", "cte_map": {"map": []}, "from_table": table}
    assert not list(refusals(node))
    assert list(refusals({**node, "type": "WRITE_NODE"}))
    assert list(refusals({**node, "from_table": {**table, "type": "FILE_REF"}}))
    assert list(refusals({**node, "from_table": {**table, "schema_name": "main"}}))
    assert list(refusals({**node, "select_list": [{"class": "MAGIC", "type": "MAGIC"}]}))
    assert list(refusals({**node, "modifiers": [{"type": "INTO_MODIFIER"}]}))


def test_the_allowed_functions_exist_and_are_harmless() -> None:
    """Each is one of the installed database, in lower case; none has effects, and only chance and time vary."""
    found = DATABASE.execute(
        "SELECT lower(function_name), stability, has_side_effects, macro_definition FROM duckdb_functions() "
        "WHERE function_type NOT IN ('table', 'table_macro', 'pragma')"
    ).fetchall()
    known = {name for name, *_ in found}
    assert functions() - {"unnest"} <= known
    assert all(name == name.lower() for name in functions())
    for name, stability, effects, macro in found:
        if name in functions() - CHANCE_AND_TIME:
            assert not effects, name
            assert stability in (None, "CONSISTENT"), name
            called = set(called_in(macro)) & known if macro else set()
            assert called <= functions() | {"list_aggr", "json_group_structure", "error"}, name


def test_no_allowed_function_is_called_after_a_door() -> None:
    """Names of what tells of files, settings, the environment or the catalog are none of the list."""
    doors = set(
        "catalog current database duckdb env file getenv getvariable glob nextval pg pragma query read schema schemas "
        "secret serialize setseed setting sleep sql sniff version write".split()
    )
    assert not [name for name in functions() - CHANCE_AND_TIME if set(name.split("_")) & doors]


def called_in(expression: str) -> list[str]:
    """The functions that an expression calls, as the parser names them."""
    text = DATABASE.execute("SELECT json_serialize_sql($1)::VARCHAR", [f"SELECT {expression}"]).fetchall()[0][0]
    return [name.lower() for name in re.findall(r'"function_name":"([^"]*)"', text)]


def test_all_other_functions_are_refused() -> None:
    """Whatever the database version brings, by whatever name it is called."""
    found = DATABASE.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    others = [name for (name,) in found if name.lower() not in functions() and re.fullmatch(r"\w+", name)]
    assert len(others) > 400
    for name in others[:: 1 if ALL else 5]:
        assert refused(f'SELECT "{name}"(1)'), name
        if name not in rules()["table_functions"]:
            assert refused(f'FROM "{name}"(1)'), name


def test_no_view_has_a_reserved_name() -> None:
    """A view could not be shadowed by WITH otherwise."""
    assert not [name for name in view_names() if name.startswith(tuple(rules()["reserved_beginnings"]))]
