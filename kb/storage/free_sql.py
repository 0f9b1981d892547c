"""Free SQL: read-only DuckDB statements over documented views of one generation, with everything else shut off.

Three walls stand behind each other. The statement is parsed by DuckDB itself, and its tree may name only the views and
harmless functions. It runs in a database instance of its own, in memory, that has the generation attached read-only.
In that instance files, network, extensions and settings are shut off for good. A clock and a memory limit stop what
would run on, and so does an interrupt.
"""

from __future__ import annotations

import functools
import json
import os
import re
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from ..errors import MissingKb, SqlError
from ..sql_files import statements

LONGEST_STATEMENT: Final = 100_000
#: Above this, an answer is refused unless a limit was given: it would have to fit into memory at once.
MOST_ROWS: Final = 5_000_000
MOST_BYTES: Final = 1 << 30
MEMORY: Final = "4GB"
SECONDS: Final = 60.0

_BATCH: Final = 10_000
_BETWEEN_INTERRUPTS: Final = 0.02
#: Settings of the instance, before and after the generation is attached. Once locked, none can be changed.
_OPENING: Final[Mapping[str, str]] = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": MEMORY,
}
_CLOSING: Final = (
    "SET enable_progress_bar = false",
    # No patient's data goes to a disk for want of memory.
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_EXPLAIN: Final = re.compile(
    r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*EXPLAIN(?P<how>\s+ANALYZE)?(?=[\s(])", re.IGNORECASE | re.DOTALL
)
_OWN_WORDS: Final = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)

Parameters = Sequence[object] | Mapping[str, object]


@functools.cache
def _rules() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "free_sql.toml").read_text(encoding="utf-8"))


def view_names() -> tuple[str, ...]:
    """The views that a statement can select from."""
    return tuple(statements("storage/views"))


class FreeSql:
    """Answers statements over one generation's database file. Safe across threads: a statement has its own cursor."""

    def __init__(self, database: str | os.PathLike[str]) -> None:
        """MissingKb when the file is gone."""
        self._connecting = threading.Lock()
        self._connection = duckdb.connect(":memory:", config=dict(_OPENING))
        # ATTACH takes no parameter; the path is ours, not a statement's.
        path = str(database).replace("'", "''")
        try:
            self._connection.execute(f"ATTACH '{path}' AS kb (READ_ONLY)")
        except duckdb.Error as error:
            self._connection.close()
            raise MissingKb("This state of the knowledge base is gone. Hint: open the knowledge base again.") from error
        for name, select in statements("storage/views").items():
            self._connection.execute(f"CREATE VIEW {name} AS {select}")
        for setting in _CLOSING:
            self._connection.execute(setting)

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def answer(
        self,
        statement: str,
        parameters: Parameters | None = None,
        *,
        limit: int | None = None,
        seconds: float = SECONDS,
    ) -> pa.Table:
        """The rows of one SELECT, EXPLAIN, DESCRIBE or SUMMARIZE as an Arrow table.

        ``parameters`` fill ``?`` and ``$1`` (a sequence) or ``$name`` (a mapping). ``limit`` keeps the first rows;
        without it, an answer of more than MOST_ROWS rows is an error. SqlError for whatever goes wrong.
        """
        if limit is not None and limit < 0:
            raise SqlError("a limit is a number from 0 up")
        with self._connecting:
            cursor = self._connection.cursor()
        clock = _Clock(cursor, seconds)
        # Not in this thread: DuckDB may work for long without looking whether a key was pressed, and then only the
        # clock can stop it.
        pool = ThreadPoolExecutor(1, thread_name_prefix="cohortium-sql")
        try:
            return pool.submit(self._answered, cursor, clock, statement, parameters, limit).result()
        except KeyboardInterrupt:
            clock.stop("interrupted")
            raise
        finally:
            pool.shutdown()

    def _answered(
        self,
        cursor: duckdb.DuckDBPyConnection,
        clock: _Clock,
        statement: str,
        parameters: Parameters | None,
        limit: int | None,
    ) -> pa.Table:
        try:
            allowed = _checked(cursor, statement)
            values = dict(parameters) if isinstance(parameters, Mapping) else list(parameters or ())
            relation = cursor.sql(allowed, params=values)
            return _rows(relation.limit(MOST_ROWS + 1 if limit is None else limit), clock)
        except (duckdb.Error, RuntimeError, pa.ArrowException, OSError) as error:
            # A stopped statement ends as one of several errors, by where it stood.
            if clock.reason:
                raise SqlError(clock.reason) from None
            if isinstance(error, RecursionError):
                raise SqlError("the statement is nested too deeply. Hint: name its parts with WITH") from None
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise SqlError(_message(error)) from None
        finally:
            clock.finish()
            cursor.close()


class _Clock:
    """Stops the statement of a cursor when its time is over, or at once when it is told to.

    An interrupt is lost on a cursor that does nothing at that moment, so it is repeated until the statement has ended.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self.reason = ""
        self._cursor = cursor
        self._seconds = seconds
        self._woken = threading.Event()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cohortium-sql-clock", daemon=True)
        self._thread.start()

    def stop(self, reason: str) -> None:
        """Begin to interrupt now; ``reason`` is what the user is told."""
        self.reason = reason
        self._woken.set()

    def finish(self) -> None:
        """The statement has ended: no interrupt comes after this."""
        self._finished.set()
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        if not self._woken.wait(self._seconds):
            self.reason = (
                f"the statement was stopped after {self._seconds:g} seconds. Hint: narrow it, or allow more time"
            )
        while not self._finished.is_set():
            self._cursor.interrupt()
            self._finished.wait(_BETWEEN_INTERRUPTS)


def _rows(relation: duckdb.DuckDBPyRelation, clock: _Clock) -> pa.Table:
    reader = relation.to_arrow_reader(_BATCH)
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    # The reader is always read to its end: one that is given up half way can block those that follow.
    for batch in reader:
        rows += batch.num_rows
        size += batch.nbytes
        if rows > MOST_ROWS or size > MOST_BYTES:
            batches.clear()
            clock.stop(
                f"the answer has more than {MOST_ROWS:,} rows, or more than 1 GiB. "
                "Hint: aggregate, select fewer columns, or give a limit"
            )
        if not clock.reason:
            batches.append(batch)
    if clock.reason:
        raise SqlError(clock.reason)
    return pa.Table.from_batches(batches, reader.schema)


# --- what is allowed --------------------------------------------------------------------------------------------------


def _checked(cursor: duckdb.DuckDBPyConnection, statement: str) -> str:
    """The text to run; SqlError if it is anything but one allowed statement."""
    try:
        statement.encode("utf-8")
    except UnicodeEncodeError:
        raise SqlError("the statement is no valid Unicode: it holds a lone surrogate") from None
    if len(statement) > LONGEST_STATEMENT:
        raise SqlError(f"the statement has {len(statement):,} characters; at most {LONGEST_STATEMENT:,} are read")
    found = cursor.extract_statements(statement)
    if not found:
        raise SqlError("the statement is empty. Hint: for example: SELECT kind, count(*) FROM events GROUP BY kind")
    if len(found) > 1:
        raise SqlError(f"these are {len(found)} statements, and one at a time is answered")
    before = ""
    kind = found[0].type.name
    if kind == "EXPLAIN" and (match := _EXPLAIN.match(statement)):
        # Rebuilt from what was checked, so that nothing rides along.
        before, statement = f"EXPLAIN{' ANALYZE' if match['how'] else ''} ", statement[match.end() :]
        inner = cursor.extract_statements(statement)
        kind = inner[0].type.name if len(inner) == 1 else kind
    if kind != "SELECT":
        what = "a statement of several steps (PIVOT)" if kind == "MULTI" else kind.replace("_", " ")
        raise SqlError(
            f"{what} is not allowed: only what reads is answered. "
            "Hint: SELECT, WITH, EXPLAIN, DESCRIBE, SUMMARIZE and FROM … PIVOT (…) are"
        )
    tree = json.loads(_serialized(cursor, statement))
    if tree.get("error"):
        raise SqlError(f"the statement cannot be read: {tree.get('error_message', '')}".rstrip(": "))
    if refusal := next(_refusals(tree), None):
        raise SqlError(refusal)
    return before + statement


def _serialized(cursor: duckdb.DuckDBPyConnection, statement: str) -> str:
    rows = cursor.execute("SELECT CAST(json_serialize_sql($1) AS VARCHAR)", [statement]).fetchall()
    return str(rows[0][0])


def _refusals(tree: Any) -> Iterator[str]:
    """What the tree of a statement names that is not allowed."""
    rules = _rules()
    views = frozenset(view_names())
    named = {name.lower() for part in _parts(tree) for name in _named_parts(part)}
    for part in _parts(tree):
        kind = part.get("type")
        if not isinstance(kind, str):
            continue
        if kind.endswith("_NODE") and kind not in rules["nodes"]:
            yield f"{kind.removesuffix('_NODE').removesuffix('_QUERY')} is not allowed: only what reads is answered"
        elif "class" not in part and {"alias", "sample"} <= part.keys() and kind not in rules["sources"]:
            yield f"{kind} is not allowed in FROM. Hint: select from the views: {', '.join(view_names())}"
        elif kind == "BASE_TABLE":
            name = str(part.get("table_name", "")).lower()
            inside = [str(part.get(key) or "").lower() for key in ("catalog_name", "schema_name")]
            if any(inside) or name not in views | named:
                yield _unknown_view(str(part.get("table_name", "")))
        elif kind == "SHOW_REF":
            shown = str(part.get("table_name") or "").strip('"').lower()
            if shown not in ("", "tables"):
                yield f"'{shown[:60]}' cannot be shown. Hint: SHOW TABLES lists the views, DESCRIBE a view its columns"
        elif kind == "TABLE_FUNCTION":
            name = _function_name(part.get("function") or {})
            if name not in rules["table_functions"]:
                yield (
                    f"'{name[:60]}' is not allowed in FROM. Hint: select from the views: {', '.join(view_names())}; "
                    f"or use {', '.join(rules['table_functions'])}"
                )
        elif kind == "FUNCTION":
            name = _function_name(part)
            if name in rules["refused_functions"] or name.startswith(tuple(rules["refused_beginnings"])):
                yield f"the function '{name[:60]}' is not allowed: it does not speak of the records"


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _named_parts(part: dict[str, Any]) -> Iterator[str]:
    """The names that WITH gives in one part of the tree."""
    listed = part.get("cte_map")
    if isinstance(listed, dict):
        for entry in listed.get("map", ()):
            yield str(entry.get("key", ""))
    if part.get("type") in ("CTE_NODE", "RECURSIVE_CTE_NODE"):
        yield str(part.get("cte_name") or part.get("ctename") or "")


def _function_name(part: dict[str, Any]) -> str:
    return str(part.get("function_name", "")).lower()


def _unknown_view(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name.lower(), view_names(), n=1)
    known = f"did you mean '{near[0]}'?" if near else f"the views are {', '.join(view_names())}"
    return f"there is no view '{name[:60]}'. Hint: {known}"


# --- messages ---------------------------------------------------------------------------------------------------------


def _message(error: Exception) -> str:
    """The database's own words where they can only quote the statement, otherwise ours: they could quote a note."""
    if "expression depth" in str(error):
        return "the statement is nested too deeply. Hint: name its parts with WITH"
    if isinstance(error, _OWN_WORDS):
        lines = [line.rstrip() for line in str(error).split("\n")]
        lines[0] = re.sub(r"^[A-Z]\w+ Error: ", "", lines[0])
        return "\n".join(line for line in lines if line)
    return _failure(type(error).__name__)


def _failure(name: str) -> str:
    message, hint = _rules()["failures"].get(name, ("the statement failed while it ran", "simplify it part by part"))
    return f"{message}. Hint: {hint}"
