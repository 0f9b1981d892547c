"""The process in which a statement runs: its limits, its end, and what is left of it."""

from __future__ import annotations

import datetime
import decimal
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cohortium.kb.errors import CohortiumError, DeadlineExceeded, MissingKb, SqlError
from cohortium.kb.free_sql import cage, worker
from cohortium.kb.free_sql.cage import FreeSql
from tests.kb.free_sql.conftest import CANARY

ENDLESS = "SELECT count(*) FROM range(100000000000) AS a, range(1000000) AS b"
ONE_VALUE = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))"


def rows(free_sql: FreeSql, statement: str, parameters: cage.Parameters | None = None) -> list[tuple[object, ...]]:
    """The rows of a statement."""
    return [tuple(row.values()) for row in free_sql.answer(statement, parameters).to_pylist()]


def processes(free_sql: FreeSql) -> list[int]:
    """Of the statements."""
    return [worker._process.pid for worker in free_sql._workers]


def until(holds: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether something holds before that time."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def runs(pid: int) -> bool:
    """Whether a process does something (and is not only waited for)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("statement", [ENDLESS, ONE_VALUE])
def test_a_statement_ends_with_its_time(free_sql: FreeSql, statement: str) -> None:
    """Also in the midst of a single value; the next statement is answered."""
    begin = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"stopped after 0\.5 seconds") as caught:
        free_sql.answer(statement, seconds=0.5)
    assert time.monotonic() - begin < 10
    assert caught.value.exit_code == 9
    assert rows(free_sql, "SELECT 1") == [(1,)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process can be limited on Linux alone")
@pytest.mark.parametrize(
    "statement", ["SELECT repeat('x', 600000000)", "SELECT string_agg(repeat('x', 1000000), '') FROM range(1000)"]
)
def test_a_value_has_no_more_memory_than_a_statement(
    database: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """What the database does not count itself is limited by the system, and told as memory."""
    from cohortium.kb.free_sql import worker

    assert worker._UNCOUNTED <= 1 << 30
    monkeypatch.setattr(cage, "MEMORY", 64 << 20)
    limited = FreeSql(database)
    with pytest.raises(SqlError, match="more memory"):
        limited.answer(statement.replace("600000000", "1500000000"), seconds=50)
    assert rows(limited, "SELECT 1") == [(1,)]
    limited.close()


def test_the_process_can_open_nothing(free_sql: FreeSql) -> None:
    """Its limits are those of a process that has all it needs: no file, no core, no environment."""
    assert rows(free_sql, "SELECT 1") == [(1,)]
    if not sys.platform.startswith("linux"):
        return
    for pid in processes(free_sql):
        limits = Path(f"/proc/{pid}/limits").read_text()
        opened = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        told = {line[:26].strip(): line[26:].split() for line in limits.splitlines()}
        assert int(told["Max open files"][0]) <= opened
        assert told["Max core file size"][:2] == told["Max file size"][:2] == ["0", "0"]
        assert CANARY.encode() not in Path(f"/proc/{pid}/environ").read_bytes()


def test_parameters_arrive_as_they_are(free_sql: FreeSql) -> None:
    """Values of all types that a statement can be given; by place and by name."""
    day, noon = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 12, tzinfo=datetime.UTC)
    given = ["é'; --", 1, -(2**63), 2.5, True, None, b"\0\xff", day, decimal.Decimal("1.50"), ["a", "b"], {"x": 1}, []]
    marks = ", ".join("?" * len(given))
    assert list(rows(free_sql, f"SELECT {marks}", given)[0]) == given
    assert rows(free_sql, "SELECT $b, $a", {"a": 1, "b": "x"}) == [("x", 1)]
    east = noon.astimezone(datetime.timezone(datetime.timedelta(hours=9)))
    assert rows(free_sql, "SELECT ? = ?", [east, noon]) == [(True,)]
    with pytest.raises(SqlError, match="cannot be given"):
        free_sql.answer("SELECT ?", [object()])
    with pytest.raises(SqlError, match="parameters"):
        free_sql.answer("SELECT ?", "a")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM note_texts",
        "SELECT CAST('a' AS ENUM('a', 'b'))",
        "SELECT NULL",
        "SELECT 1 WHERE false",
        "FROM range(25000)",
    ],
)  # fmt: skip
def test_rows_are_those_of_the_database(free_sql: FreeSql, database: Path, statement: str) -> None:
    """With their types, in their order, however many batches they take."""
    from cohortium.kb.free_sql.instance import opened

    with opened(database, "1GB") as connection:
        wanted = connection.sql(statement).to_arrow_table()
    given = free_sql.answer(statement)
    assert given.to_pylist() == wanted.to_pylist()
    assert given.schema.names == wanted.schema.names


def test_caps_are_kept(free_sql: FreeSql, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows and of bytes; and senseless limits and times are told."""
    monkeypatch.setattr(cage, "MOST_BYTES", 100_000)
    with pytest.raises(SqlError, match="more than"):
        free_sql.answer("SELECT repeat('x', 1000) FROM range(1000)")
    assert free_sql.answer("SELECT repeat('x', 1000) FROM range(1000)", limit=10).num_rows == 10
    for limit, seconds in ((-1, 1.0), (1, 0.0), (1, -1.0), (1, float("nan"))):
        with pytest.raises(SqlError):
            free_sql.answer("SELECT 1", limit=limit, seconds=seconds)
    assert free_sql.answer("SELECT 1", seconds=float("inf")).num_rows == 1


def test_threads_have_processes_of_their_own(database: Path) -> None:
    """One that is stopped takes no other with it; no more run at once than may; close ends them all."""
    asked = FreeSql(database)
    with ThreadPoolExecutor(8) as pool:
        late = pool.submit(asked.answer, ENDLESS, seconds=1)
        others = [
            pool.submit(rows, asked, "SELECT count(*) FROM notes WHERE note_id <> $1", [str(at)]) for at in range(20)
        ]
        assert {tuple(other.result()) for other in others} == {((3,),)}
        assert isinstance(late.exception(), DeadlineExceeded)
    # The one that is stopped may have been the only one.
    assert len(processes(asked)) <= cage.AT_ONCE
    rows(asked, "SELECT 1")
    started = processes(asked)
    assert started
    asked.close()
    assert until(lambda: not any(runs(pid) for pid in started))
    with pytest.raises(SqlError, match="closed"):
        asked.answer("SELECT 1")


def test_the_size_of_whoever_asks_does_not_count(database: Path) -> None:
    """A process is used again, however much memory its parent held when it was started."""
    held = b"x" * (worker._GROWN + (64 << 20))
    asked = FreeSql(database)
    del held
    rows(asked, "SELECT 1")
    (first,) = processes(asked)
    rows(asked, "SELECT 2")
    assert processes(asked) == [first]


def test_close_ends_a_statement_that_runs(database: Path) -> None:
    """Whoever waits for it is told."""
    asked = FreeSql(database)
    rows(asked, "SELECT 1")
    threading.Timer(0.5, asked.close).start()
    with pytest.raises(CohortiumError):
        asked.answer(ENDLESS, seconds=50)


def test_one_that_is_forgotten_ends_its_process(database: Path) -> None:
    """Nobody has to call close."""
    asked = FreeSql(database)
    (pid,) = processes(asked)
    assert runs(pid)
    del asked
    assert until(lambda: not runs(pid))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_fork_uses_processes_of_its_own(free_sql: FreeSql) -> None:
    """Neither reads the other's answers, and the end of the fork ends nothing of its parent."""
    assert rows(free_sql, "SELECT 1") == [(1,)]
    child = os.fork()
    if child == 0:
        good = rows(free_sql, "SELECT 2") == [(2,)]
        free_sql.close()
        os._exit(0 if good else 1)
    assert rows(free_sql, "SELECT 3") == [(3,)]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert rows(free_sql, "SELECT 4") == [(4,)]


ASKS_FOR_LONG = f"""
import sys
from cohortium.kb.free_sql.cage import FreeSql
asked = FreeSql(sys.argv[1])
asked.answer("SELECT 1")
print(asked._workers[0]._process.pid, flush=True)
asked.answer({ENDLESS!r}, seconds=600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_one_that_asked(database: Path, how: signal.Signals) -> None:
    """However that ended."""
    asking = subprocess.Popen([sys.executable, "-c", ASKS_FOR_LONG, str(database)], stdout=subprocess.PIPE, text=True)
    assert asking.stdout
    pid = int(asking.stdout.readline())
    time.sleep(0.3)
    assert runs(pid)
    asking.send_signal(how)
    asking.communicate()
    assert until(lambda: not runs(pid))


def test_a_process_that_died_is_replaced(free_sql: FreeSql) -> None:
    """Whatever killed it, while it had nothing to do."""
    rows(free_sql, "SELECT 1")
    for idle in free_sql._idle:
        idle._process.kill()
        idle._process.wait()
    assert rows(free_sql, "SELECT 2") == [(2,)]


def test_a_state_that_is_gone_is_told(database: Path, tmp_path: Path) -> None:
    """Before the first statement, or when a process starts anew; no database is made in its place."""
    copy = tmp_path / "kb.duckdb"
    with pytest.raises(MissingKb):
        FreeSql(copy)
    copy.write_bytes(database.read_bytes())
    asked = FreeSql(copy)
    rows(asked, "SELECT 1")
    copy.unlink()
    assert rows(asked, "SELECT 2") == [(2,)]
    asked._idle[0].stop()
    with pytest.raises(MissingKb):
        asked.answer("SELECT 3")
    assert not copy.exists()
    asked.close()
    (tmp_path / "other.duckdb").write_text("no database")
    other = FreeSql(tmp_path / "other.duckdb")
    with pytest.raises(MissingKb):
        other.answer("SELECT 1")
    other.close()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT nothing FROM notes", "SELECT * FROM nowhere", "SELECT CAST(text AS INTEGER) FROM note_texts",
        "SELECT strptime(text, '%d') FROM note_texts", "EXPLAIN SELECT * FROM notes",
        "EXPLAIN ANALYZE SELECT * FROM notes",
        "SHOW TABLES", "DESCRIBE notes", "SELECT current_catalog, current_user", "SELECT kb.main.note.text FROM notes",
        "SELECT CAST(patient_id AS DATE) FROM patients", "SELECT notes FROM notes", "SELECT columns('[') FROM notes",
    ],
)  # fmt: skip
def test_neither_an_error_nor_a_plan_tells_the_place(free_sql: FreeSql, database: Path, statement: str) -> None:
    """Of the knowledge base; nor does an error tell a note."""
    try:
        told = str(free_sql.answer(statement).to_pylist())
    except SqlError as error:
        told = str(error)
        assert "mass" not in told
        assert "P1" not in told
    assert CANARY not in told
    assert str(database) not in told
