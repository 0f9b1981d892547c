"""Statements for free SQL: of a grammar that likes to reach where it should not, and of statements that were spoilt."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from random import Random
from typing import Final

import duckdb

from cohortium.kb.free_sql.allowed import functions, rules, view_names

#: Tables of the database itself, tables below the views, files, and names that look like one of them.
OUTSIDE: Final = (
    "duckdb_tables", "duckdb_databases", "duckdb_settings", "duckdb_views", "pragma_database_list", "sqlite_master",
    "information_schema.tables", "pg_catalog.pg_class", "kb.main.note", "kb.note", "memory.main.events", "main.notes",
    "'{file}'", '"{file}"', "'/proc/self/environ'", "\N{KELVIN SIGN}b.note", "system.main.duckdb_tables", "temp.x",
)  # fmt: skip
_DOORS: Final = (
    "read_text('{file}')", "read_csv('{file}')", "glob('*')", "duckdb_settings()", "duckdb_databases()",
    "duckdb_secrets()",
    "query_table('sqlite_master')", "query('FROM duckdb_databases()')", "pragma_database_size()", "sniff_csv('{file}')",
    "read_blob('/proc/self/environ')", "summary(TABLE duckdb_databases)", "json_execute_serialized_sql('{{}}')",
)  # fmt: skip
_SECRETS: Final = (
    "getenv('CANARY')",
    "current_setting('home_directory')",
    "getvariable('CANARY')",
    "current_query()",
    "version()",
)
_NAMES: Final = (
    "x", "x", "x", "y", "y", "events", "notes", '"a b"', "kept", "duckdb_tables", "sqlite_master",
    "pragma_database_list",
)  # fmt: skip
_COLUMNS: Final = ("*", "a", "patient_id", "text", "note_id", "date", "1", "x.*", "COLUMNS('.*')", "notes", "count(*)")
_VALUES: Final = (
    "1", "0", "-1", "NULL", "'a'", "'{file}'", "1.5", "DATE '2020-01-01'", "[1, 2]", "{{'a': 1}}", "MAP {{'a': 1}}",
    "true", "'['",
    "INTERVAL 1 DAY", "9223372036854775807", "1e308", "'\\0'", "x'00'", "text", "patient_id", "a", "$1",
    "repeat('x', 1000)",
)  # fmt: skip
_SIGNS: Final = (*"()[]{}'\",;.*+-/%$?:|<>=\\\0\n", " FROM ", " SELECT ", " WITH ", " AS ", "--", "/*", "é", "$$", "::")


@functools.cache
def _all_functions() -> tuple[str, ...]:
    with duckdb.connect() as connection:
        found = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    return tuple(sorted(name for (name,) in found if name.isidentifier()))


@functools.cache
def _allowed_functions() -> tuple[str, ...]:
    return tuple(sorted(name for name in functions() if name.isidentifier()))


class Writer:
    """Writes statements, drawn from ``random``; ``file`` is named where a file can be."""

    def __init__(self, random: Random, file: str) -> None:
        self._random = random
        self._file = file

    def statement(self) -> str:
        """One of the grammar, or one of it that was spoilt."""
        begin = self._one_of(("", "", "", "", "EXPLAIN ", "EXPLAIN ANALYZE ", "DESCRIBE ", "SUMMARIZE ", "SHOW "))
        text = begin + self._query(self._random.randint(0, 3))
        text = text.replace("{file}", self._file).replace("{{", "{").replace("}}", "}")
        return self._spoilt(text) if self._random.random() < 0.2 else text

    def _query(self, depth: int) -> str:
        parts = []
        if depth > 0 and self._random.random() < 0.4:
            recursive = self._one_of(("", "", "RECURSIVE "))
            names = self._random.sample(_NAMES, self._random.randint(1, 2))
            parts.append(f"WITH {recursive}" + ", ".join(f"{name} AS ({self._query(depth - 1)})" for name in names))
        if self._random.random() < 0.1:
            return " ".join([*parts, f"VALUES ({self._value(depth)}, {self._value(depth)})"])
        columns = ", ".join(
            self._one_of(_COLUMNS) if self._random.random() < 0.5 else f"{self._value(depth)} AS a"
            for _ in range(self._random.randint(1, 2))
        )
        parts.append(f"SELECT {columns} FROM {self._source(depth)}")
        if self._random.random() < 0.3:
            parts.append(f"WHERE {self._value(depth)} = {self._value(depth)}")
        if depth > 0 and self._random.random() < 0.3:
            parts.append(self._one_of(("UNION ALL", "UNION", "EXCEPT", "INTERSECT")) + f" ({self._query(depth - 1)})")
        elif self._random.random() < 0.2:
            parts.append(self._one_of(("ORDER BY ALL", "LIMIT 3", "GROUP BY ALL", "USING SAMPLE 2 ROWS", "ORDER BY 1")))
        return " ".join(parts)

    def _source(self, depth: int) -> str:
        kind = self._random.random()
        if kind < 0.35:
            return self._one_of(view_names())
        if kind < 0.5:
            return self._one_of(_NAMES)
        if kind < 0.6:
            return self._one_of(OUTSIDE)
        if kind < 0.65:
            return self._one_of(_DOORS)
        if kind < 0.7:
            return f"{self._one_of(rules()['table_functions'])}({self._value(depth)})"
        if depth <= 0:
            return "range(3) AS t(a)"
        if kind < 0.85:
            return f"({self._query(depth - 1)}) AS {self._one_of(('x', 'y', 't(a)', 'sqlite_master'))}"
        join = self._one_of((", ", " JOIN ", " LEFT JOIN ", " POSITIONAL JOIN ", " NATURAL JOIN ", ", LATERAL "))
        on = " ON true" if join in (" JOIN ", " LEFT JOIN ") else ""
        return f"{self._source(depth - 1)}{join}{self._source(depth - 1)}{on}"

    def _value(self, depth: int) -> str:
        kind = self._random.random()
        if depth <= 0 or kind < 0.35:
            return self._one_of(_VALUES)
        if kind < 0.7:
            given = ", ".join(self._value(depth - 1) for _ in range(self._random.randint(0, 3)))
            over = " OVER ()" if self._random.random() < 0.05 else ""
            return f"{self._one_of(_allowed_functions())}({given}){over}"
        if kind < 0.74:
            return f"{self._one_of(_all_functions())}({self._value(depth - 1)})"
        if kind < 0.78:
            return self._one_of(_SECRETS)
        if kind < 0.86:
            return f"({self._query(depth - 1)})"
        if kind < 0.9:
            return f"list_transform([{self._value(depth - 1)}], lambda x: {self._value(depth - 1)})"
        if kind < 0.95:
            kinds = ("INTEGER", "DATE", "VARCHAR", "JSON", "BLOB", "DECIMAL(4, 1)", "INTEGER[]", "UUID", "ENUM('a')")
            return f"TRY_CAST({self._value(depth - 1)} AS {self._one_of(kinds)})"
        sign = self._one_of(("+", "||", "=", "IN", "LIKE", "->>", "~", "<"))
        return f"({self._value(depth - 1)} {sign} {self._value(depth - 1)})"

    def _spoilt(self, text: str) -> str:
        for _ in range(self._random.randint(1, 4)):
            at = self._random.randint(0, len(text))
            until = at + self._random.randint(0, 8)
            how = self._random.randint(0, 3)
            put = ("", text[at:until] * 2, self._one_of(_SIGNS), self._one_of(OUTSIDE))[how]
            text = text[:at] + put + text[until if how != 2 else at :]
        return text.replace("{file}", self._file)

    def _one_of(self, choices: Sequence[str]) -> str:
        return self._random.choice(choices)
