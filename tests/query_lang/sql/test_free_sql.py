"""Free SQL: the views, what is shut off, what stops a statement, and what its errors may tell."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium.engine.api import OpenKb
from cohortium.engine.api import open as open_kb
from cohortium.kb.errors import DeadlineExceeded, MissingKb, SqlError
from cohortium.kb.free_sql import allowed, cage
from cohortium.kb.free_sql.instance import opened
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY
from cohortium.kb.sql_files import script
from tests.amounts import examples


def one(kb: OpenKb, statement: str, parameters: object = None) -> object:
    """The only value of an answer."""
    ((value,),) = [tuple(row.values()) for row in kb.sql(statement, parameters).to_pylist()]
    return value


# --- the views --------------------------------------------------------------------------------------------------------


def test_the_views_hold_what_the_kb_holds(kb: OpenKb) -> None:
    """Counts of the views are those of info()."""
    held = kb.info()
    assert one(kb, "SELECT count(*) FROM patients") == held["patients"] == len(kb.patients)
    assert one(kb, "SELECT count(*) FROM notes WHERE status = 'current'") == held["notes"]
    assert one(kb, "SELECT count(*) FROM mentions") == held["mentions"]
    assert one(kb, "SELECT count(*) FROM relations") == held["relations"]
    assert one(kb, "SELECT count(*) FROM decisions") == held["decisions"]
    assert one(kb, "SELECT count(*) FROM concepts") == held["concepts"]
    kinds = kb.sql("SELECT kind, count(*) AS n FROM events GROUP BY kind").to_pylist()
    assert {row["kind"]: row["n"] for row in kinds} == held["events"]
    assert one(kb, "SELECT sum(events) FROM patients") == sum(held["events"].values())
    assert one(kb, "SELECT sum(notes) FROM patients") == held["notes"]


@pytest.mark.parametrize("view", allowed.view_names())
def test_every_view_can_be_read_to_its_end(kb: OpenKb, view: str) -> None:
    """Each view gives as many rows as it counts."""
    assert kb.sql(f"SELECT * FROM {view}").num_rows == one(kb, f"SELECT count(*) FROM {view}")


def test_notes_come_without_their_text(kb: OpenKb) -> None:
    """The text of notes is only in the view that is named after it."""
    assert "text" not in kb.sql("SELECT * FROM notes", limit=1).schema.names
    assert one(kb, "SELECT count(*) FROM notes JOIN note_texts USING (note_id) WHERE length(text) <> characters") == 0


def test_days_are_dates_or_null(kb: OpenKb) -> None:
    """Days of events are real dates between their bounds; an open bound is NULL."""
    assert str(EARLIEST_DAY) in script("free_sql/views")
    assert str(LATEST_DAY) in script("free_sql/views")
    rows = kb.sql("SELECT day, earliest, latest FROM events").to_pylist()
    assert any(row["day"] for row in rows)
    for row in rows:
        if row["day"] is not None:
            assert row["earliest"] <= row["day"] <= row["latest"]
            assert isinstance(row["day"], datetime.date)
        assert (row["day"] is None) == (row["earliest"] is None or row["latest"] is None)


def test_days_are_those_of_the_journey(kb: OpenKb) -> None:
    """The bounds of each event are those that the journey shows."""
    for patient in kb.patients[:3]:
        shown = sorted((row.kind, row.concept, row.earliest, row.latest) for row in kb.journey(patient).rows)
        asked = kb.sql(
            "SELECT kind, concept, earliest, latest FROM events WHERE patient_id = $1", [patient]
        ).to_pylist()
        assert shown == sorted(
            (
                row["kind"],
                row["concept"],
                *("" if row[day] is None else str(row[day]) for day in ("earliest", "latest")),
            )
            for row in asked
        )


def test_the_closure_is_that_of_the_ontology(kb: OpenKb) -> None:
    """Below a concept are itself and its descendants."""
    rows = kb.sql("SELECT descendant FROM concept_closure WHERE ancestor = 'lung_cancer'").to_pylist()
    assert {row["descendant"] for row in rows} == kb.concepts.below("lung_cancer")


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("diagnosis 'lung cancer'", "kind = 'diagnosis' AND ancestor = 'lung_cancer'"),
        ("medication cisplatin", "kind = 'medication' AND ancestor = 'cisplatin'"),
        (
            "diagnosis 'breast cancer' since 2019-06-01",
            "kind = 'diagnosis' AND ancestor = 'breast_cancer' AND day >= DATE '2019-06-01'",
        ),
    ],
)  # fmt: skip
def test_both_doors_find_the_same_believed_patients(kb: OpenKb, query: str, where: str) -> None:
    """What the query language believes can be counted over the views."""
    rows = kb.sql(
        "SELECT DISTINCT patient_id FROM events JOIN concept_closure ON descendant = concept "
        f"WHERE world IN ('believed', 'certain') AND {where} ORDER BY patient_id"
    )
    assert rows["patient_id"].to_pylist() == list(kb.find(query))


def test_rows_keep_their_order_under_a_limit(kb: OpenKb) -> None:
    """A limit keeps the first rows of the order that was asked for."""
    everything = kb.sql("SELECT event_id FROM events ORDER BY event_id DESC")
    assert kb.sql("SELECT event_id FROM events ORDER BY event_id DESC", limit=7).equals(everything.slice(0, 7))
    assert kb.sql("SELECT * FROM events", limit=0).num_rows == 0


def test_parameters_are_bound(kb: OpenKb) -> None:
    """Question marks, numbers and names take values, which are never SQL."""
    assert one(kb, "SELECT ? || ?", ["a", "'; DROP VIEW events; --"]) == "a'; DROP VIEW events; --"
    assert one(kb, "SELECT $2 || $1", ["a", "'; --"]) == "'; --a"
    assert one(kb, "SELECT $name", {"name": "x"}) == "x"


@pytest.mark.parametrize(
    "statement",
    [
        "EXPLAIN SELECT * FROM events",
        "explain analyze select 1",
        "DESCRIBE events",
        "DESCRIBE SELECT 1",
        "SUMMARIZE concepts",
        "SHOW TABLES",
        "FROM notes",
        "VALUES (1)",
        "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
        "SELECT * FROM range(3)",
        "SELECT * FROM (SELECT kind, world FROM events) PIVOT (count(*) FOR world IN ('certain', 'believed'))",
        "SELECT unnest([1, 2])",
    ],
)
def test_what_reads_is_answered(kb: OpenKb, statement: str) -> None:
    """SELECT, WITH, FROM, VALUES, EXPLAIN, DESCRIBE, SUMMARIZE and SHOW TABLES give rows."""
    assert kb.sql(statement).num_rows > 0


# --- what is shut off -------------------------------------------------------------------------------------------------

FILES = ["/etc/passwd", "s3://bucket/x", "https://example.org/x.csv"]
READERS = (
    "read_csv read_csv_auto read_text read_blob read_json read_json_auto read_json_objects read_ndjson glob sniff_csv "
    "read_parquet parquet_scan parquet_metadata parquet_schema parquet_file_metadata parquet_kv_metadata "
    "read_ndjson_auto read_duckdb read_xlsx st_read iceberg_scan delta_scan"
).split()
SHUT_OFF = [
    *[f"SELECT * FROM {reader}('{FILES[at % 3]}')" for at, reader in enumerate(READERS)],
    "SELECT * FROM 'data.csv'",
    "FROM 'https://example.org/x.parquet'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM sqlite_scan('a.db', 't')",
    "SELECT * FROM postgres_scan('host=x', 'public', 't')",
    "SELECT * FROM mysql_query('x', 'SELECT 1')",
    "SELECT getenv('HOME')",
    "SELECT current_setting('temp_directory')",
    "SELECT getvariable('x')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM which_secret('s3://x', 's3')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM duckdb_logs()",
    "SELECT * FROM pragma_database_size()",
    "SELECT * FROM pragma_table_info('kb.event')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('kb.main.note')",
    "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT * FROM seq_scan('note')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM kb.main.note",
    "SELECT * FROM kb.note",
    "SELECT * FROM main.events",
    "SELECT * FROM memory.main.events",
    "SELECT (SELECT count(*) FROM kb.main.note)",
    "WITH x AS (SELECT * FROM kb.main.note) SELECT * FROM x",
    "WITH x AS (DELETE FROM kb.main.note RETURNING *) SELECT * FROM x",
    "SELECT * FROM events WHERE event_id IN (SELECT text FROM kb.main.note)",
    "SELECT count(*) FROM events, LATERAL (SELECT * FROM kb.main.note)",
    "EXPLAIN SELECT * FROM read_text('/etc/passwd')",
    "EXPLAIN ANALYZE COPY events TO 'x.csv'",
    "EXPLAIN CREATE TABLE x (a INT)",
    "DESCRIBE kb.main.note",
    "SUMMARIZE kb.main.note",
    "SHOW DATABASES",
    "SHOW ALL TABLES",
    "COPY events TO 'x.csv'",
    "COPY (SELECT 1) TO '/dev/stdout'",
    "COPY events FROM 'x.csv'",
    "EXPORT DATABASE 'x'",
    "IMPORT DATABASE 'x'",
    "ATTACH 'x.db'",
    "ATTACH ':memory:' AS y",
    "DETACH kb",
    "USE kb",
    "SET threads = 1",
    "SET enable_external_access = true",
    "SET GLOBAL lock_configuration = false",
    "RESET memory_limit",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL spatial FROM community",
    "CREATE TABLE x (a INT)",
    "CREATE VIEW x AS SELECT 1",
    "CREATE OR REPLACE VIEW events AS SELECT 1",
    "CREATE MACRO f(x) AS x",
    "CREATE SECRET s (TYPE S3)",
    "DROP VIEW events",
    "ALTER VIEW events RENAME TO x",
    "INSERT INTO kb.main.note VALUES (1)",
    "UPDATE kb.main.note SET text = ''",
    "DELETE FROM kb.main.note",
    "MERGE INTO kb.main.note USING events ON true WHEN MATCHED THEN DELETE",
    "TRUNCATE kb.main.note",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "BEGIN TRANSACTION",
    "CHECKPOINT",
    "VACUUM",
    "CALL pragma_version()",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW events",
]


@pytest.mark.parametrize("statement", SHUT_OFF)
def test_files_network_settings_and_writing_are_shut_off(kb: OpenKb, statement: str) -> None:
    """Whatever could reach beyond the views is refused with a plain error (exit 3)."""
    with pytest.raises(SqlError) as caught:
        kb.sql(statement)
    assert caught.value.exit_code == 3
    assert "Traceback" not in str(caught.value)
    assert kb.sql("SELECT * FROM events", limit=1).num_rows == 1


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "ATTACH 'x.db'",
        "COPY (SELECT 1) TO 'x.csv'",
        "SET threads = 1",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "INSTALL httpfs",
        "LOAD httpfs",
        "INSERT INTO kb.main.manifest VALUES ('a', 'b')",
        "CREATE TABLE kb.main.x (a INT)",
    ],
)
def test_the_database_itself_refuses_too(sample_path: Path, statement: str) -> None:
    """Behind the check of the statement, the instance has no way out of its own."""
    with open_kb(sample_path) as kb, opened(kb._store.database, "1GB") as connection, pytest.raises(duckdb.Error):
        connection.execute(statement)


def test_every_table_function_is_refused_or_harmless(kb: OpenKb) -> None:
    """No function in FROM is admitted but those of the list, whatever the database version brings."""
    found = duckdb.sql(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE function_type IN ('table', 'table_macro', 'pragma')"
    ).fetchall()
    harmless = set(allowed.rules()["table_functions"])
    assert len(found) > 50
    for (name,) in found:
        if name not in harmless:
            with pytest.raises(SqlError, match="not allowed"):
                kb.sql(f"SELECT * FROM \"{name}\"('x')")


# --- what stops a statement -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM range(100000000000) AS a, range(1000000) AS b",
        "WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT count(*) FROM x",
        "WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT * FROM x",
        "SELECT list(i) FROM range(100000000000) AS t(i)",
    ],
)
def test_a_runaway_statement_is_stopped(kb: OpenKb, statement: str) -> None:
    """After its time a statement ends, and the next one is answered."""
    begin = time.monotonic()
    with pytest.raises((DeadlineExceeded, SqlError), match=r"stopped after 0\.3 seconds|more memory"):
        kb.sql(statement, seconds=0.3)
    assert time.monotonic() - begin < 10
    assert one(kb, "SELECT 1") == 1


def test_too_many_rows_are_refused_without_a_limit(kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that would not fit is an error; with a limit it is cut."""
    monkeypatch.setattr(cage, "MOST_ROWS", 50_000)
    with pytest.raises(SqlError, match="more than"):
        kb.sql("SELECT * FROM range(1000000)")
    assert kb.sql("SELECT * FROM range(1000000)", limit=10).num_rows == 10
    with pytest.raises(SqlError, match="limit"):
        kb.sql("SELECT 1", limit=-1)


def test_an_interrupt_ends_a_statement(sample_path: Path) -> None:
    """Ctrl-C on the command line stops the statement: exit code 130, no traceback."""
    runaway = "SELECT count(*) FROM range(100000000000) AS a, range(1000000) AS b"
    process = subprocess.Popen(
        [sys.executable, "-m", "cohortium", "sql", str(sample_path), runaway],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # By then it runs, be the machine as busy as it may.
    threading.Timer(15, lambda: os.kill(process.pid, signal.SIGINT)).start()
    _, errors = process.communicate(timeout=50)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_threads_ask_at_the_same_time(sample_path: Path) -> None:
    """Several threads share one open knowledge base, from the first statement on."""
    with open_kb(sample_path) as kb, ThreadPoolExecutor(8) as pool:
        wanted = sum(kb.info()["events"].values())
        asked = [pool.submit(one, kb, "SELECT count(*) FROM events WHERE kind <> $1", [str(at)]) for at in range(40)]
        assert {answer.result() for answer in asked} == {wanted}


def test_a_closed_or_removed_kb_is_told(sample_path: Path, tmp_path: Path) -> None:
    """A database file that is gone is an error of ours."""
    with pytest.raises(MissingKb):
        cage.FreeSql(tmp_path / "nothing.duckdb")


# --- what errors tell -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT CAST(text AS INTEGER) FROM note_texts",
        "SELECT CAST(text AS UUID) FROM note_texts",
        "SELECT strptime(text, '%d') FROM note_texts",
        "SELECT CAST(text AS JSON) FROM note_texts",
        "SELECT CAST(surface AS DATE) FROM mentions",
        "SELECT regexp_matches('a', text) FROM note_texts",
    ],
)
def test_an_error_quotes_no_note(kb: OpenKb, statement: str) -> None:
    """What fails on a note's text tells nothing of it."""
    words = {word for row in kb.sql("SELECT text FROM note_texts").to_pylist() for word in row["text"].split()}
    told: set[str] = set()
    try:
        kb.sql(statement)
    except SqlError as error:
        told = {word.strip(".,:;…()") for word in str(error).split()}
    if told:
        ours = (
            "a value cannot be converted to the type asked for Hint TRY_CAST AS gives NULL instead the statement failed"
        )
        ours += " while it ran simplify it part by function was given that can not take or parameters do fit check"
        ours += " arguments and each parameter has"
        assert {word for word in told & words if len(word) > 4} <= set(ours.split())


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("", "the statement is empty"),
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM events", "nothing"),
        ("SELECT * FROM evnts", "did you mean 'events'"),
        ("SELECT * FROM events WHERE", "syntax error"),
        ("SELECT \ud800", "no valid Unicode"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "nested too deeply"),
        ("SELECT " + "x" * 200_000, "at most 100,000 are read"),
        ("SELECT $1", "parameters|given"),
    ],
)
def test_wrong_statements_are_told(kb: OpenKb, statement: str, message: str) -> None:
    """What is wrong is said in a line, with exit code 3."""
    with pytest.raises(SqlError, match=message):
        kb.sql(statement)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.text(max_size=100)
    | st.lists(
        st.sampled_from(
            "SELECT FROM events WHERE ( ) * kind = 'x' 1 EXPLAIN WITH x AS range(3) UNION ALL ; -- /* COPY SET".split()
        ),
        max_size=15,
    ).map(" ".join)
)
def test_any_text_is_answered_or_refused(kb: OpenKb, text: str) -> None:
    """No text ends in anything but rows or a SqlError."""
    told = "rows"
    try:
        kb.sql(text, limit=5, seconds=5)
    except SqlError as error:
        told = str(error)
    assert told
