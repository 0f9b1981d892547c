"""Any statement is answered or refused in time, and none reaches beyond the views."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium.kb.errors import DeadlineExceeded, SqlError
from cohortium.kb.free_sql.cage import FreeSql
from cohortium.kb.free_sql.instance import opened
from tests.amounts import examples
from tests.generated.fuzzed_sql import Writer
from tests.kb.free_sql.conftest import CANARY

SECONDS = 1.0
#: What no statement can say by itself: of the database's own tables, of its settings, of the tables below the views.
TRACES = (CANARY, "CREATE TABLE", "CREATE VIEW", "lock_configuration", "allow_community_extensions", "first_event")


@settings(max_examples=examples(800), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**63))
def test_fuzzed_statements_stay_in_their_cage(free_sql: FreeSql, canary_file: Path, seed: int) -> None:
    """Rows or an error of ours, within the time; never the file, the environment, a setting or a system table."""
    # A file has this name in the statement, so that only what it holds can tell that it was read.
    statement = Writer(Random(seed), "canary.csv").statement()
    begin = time.monotonic()
    try:
        told = str(free_sql.answer(statement, limit=20, seconds=SECONDS).to_pylist())
    except (SqlError, DeadlineExceeded) as error:
        told = str(error)
    assert time.monotonic() - begin < SECONDS + 15, statement
    assert not [trace for trace in TRACES if trace in told and trace not in statement], statement
    assert str(canary_file.parent) not in told, statement


def test_the_traces_would_be_seen(database: Path) -> None:
    """Without the check of the statement, what it must not reach tells itself by them."""
    with opened(database, "1GB") as connection:
        for statement, trace in (
            ("FROM duckdb_databases()", CANARY),
            ("FROM sqlite_master", "CREATE VIEW"),
            ("SELECT name FROM duckdb_settings()", "lock_configuration"),
            ("DESCRIBE kb.main.patient", "first_event"),
        ):
            assert trace in str(connection.sql(statement).to_arrow_table().to_pylist())


def test_some_fuzzed_statements_are_answered(free_sql: FreeSql) -> None:
    """The grammar does not only write what cannot be read."""
    answered = 0
    for seed in range(60):
        with contextlib.suppress(SqlError, DeadlineExceeded):
            free_sql.answer(Writer(Random(seed), "canary.csv").statement(), limit=20, seconds=SECONDS)
            answered += 1
    assert answered >= 3
