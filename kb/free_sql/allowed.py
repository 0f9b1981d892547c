"""The check of a statement of free SQL: one that reads, names the views and allowed functions, and nothing else.

DuckDB itself parses the statement, and its tree is walked with the names that WITH gives, each where it holds. Every
node, source, expression and function must be known (``allowed.toml``): what is not is refused, and so is what a later
version of the database brings along.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb

from ..errors import SqlError
from ..sql_files import statements

_EXPLAIN: Final = re.compile(
    r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*EXPLAIN(?P<how>\s+ANALYZE)?(?=[\s(])", re.IGNORECASE | re.DOTALL
)
_PLAIN_NAME: Final = re.compile(r"\w[\w ]*")
#: As the database compares names: str.lower() would take the Kelvin sign for a k, and the database does not.
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

_Scope = frozenset[str]


@functools.cache
def rules() -> Mapping[str, Any]:
    """The tables of ``allowed.toml``."""
    return tomllib.loads((Path(__file__).parent / "allowed.toml").read_text(encoding="utf-8"))


@functools.cache
def functions() -> frozenset[str]:
    """The functions of values that may be named, in lower case."""
    return frozenset(name for theme in rules()["functions"].values() for name in theme)


def view_names() -> tuple[str, ...]:
    """The views that a statement can select from."""
    return tuple(statements("free_sql/views"))


def checked(cursor: duckdb.DuckDBPyConnection, statement: str) -> str:
    """The text to run; SqlError if it is anything but one allowed statement, duckdb.Error if it cannot be parsed."""
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
    if refusal := next(refusals(tree), None):
        raise SqlError(refusal)
    return before + statement


def refusals(tree: Any) -> Iterator[str]:
    """What the tree of a statement (as ``json_serialize_sql`` gives it) says that is not allowed, one line each."""
    waiting: list[tuple[Any, _Scope]] = [(tree, frozenset())]
    while waiting:
        part, scope = waiting.pop()
        if isinstance(part, list):
            waiting.extend((inner, scope) for inner in part)
        elif isinstance(part, dict):
            yield from _own_refusals(part, scope)
            waiting.extend(_within(part, scope))


def _own_refusals(part: dict[str, Any], scope: _Scope) -> Iterator[str]:
    """What one part of the tree says that is not allowed; its parts are asked by themselves."""
    kind = part.get("type")
    if "cte_map" in part:
        if kind not in rules()["nodes"]:
            yield f"{_plain(kind)} is not allowed: only what reads is answered"
        yield from _refused_names(part)
    elif "class" in part:
        if part["class"] not in rules()["expressions"]:
            yield f"{_plain(part['class'])} is not allowed as a value"
        elif "function_name" in part and not (_is_plain(part, "function_name") and _called(part) in functions()):
            yield (
                f"the function '{_called(part)[:60]}' is not allowed, or not known. "
                "Hint: docs/guide/sql.md lists the functions"
            )
    elif {"alias", "sample"} <= part.keys():
        yield from _refused_source(part, scope)
    elif isinstance(kind, str) and kind not in rules()["others"]:
        yield f"{_plain(kind)} is not allowed"


def _refused_source(part: dict[str, Any], scope: _Scope) -> Iterator[str]:
    kind = part.get("type")
    if kind not in rules()["sources"]:
        yield f"{_plain(kind)} is not allowed in FROM. Hint: select from the views: {', '.join(view_names())}"
    elif kind == "BASE_TABLE":
        name = str(part.get("table_name", ""))
        known = _lower(name) in scope or _lower(name) in view_names()
        if not known or part.get("at_clause") or not _is_plain(part, "table_name"):
            yield _unknown_view(name)
    elif kind == "SHOW_REF":
        shown = _lower(str(part.get("table_name") or "").strip('"'))
        if shown not in ("", "tables"):
            yield f"'{shown[:60]}' cannot be shown. Hint: SHOW TABLES lists the views, DESCRIBE a view its columns"
    elif kind == "TABLE_FUNCTION":
        function = part.get("function") or {}
        if not _is_plain(function, "function_name") or _called(function) not in rules()["table_functions"]:
            others = ", ".join(rules()["table_functions"])
            yield (
                f"'{_called(function)[:60]}' is not allowed in FROM. "
                f"Hint: select from the views: {', '.join(view_names())}; or use {others}"
            )


def _within(part: dict[str, Any], scope: _Scope) -> Iterator[tuple[Any, _Scope]]:
    """The parts of a part, each with the names of WITH that hold there."""
    if "cte_map" in part:
        for name, body in _named(part):
            yield body, scope
            scope |= {_lower(name)}
        kept = {key: inner for key, inner in part.items() if key != "cte_map"}
        if part.get("type") == "RECURSIVE_CTE_NODE":
            # Only what is repeated sees itself; in the first part, the name means what it means outside.
            yield kept.pop("right", None), scope | {_lower(str(part.get("cte_name", "")))}
    elif part.get("type") == "TABLE_FUNCTION" and "function" in part:
        # The function itself stands on a list of its own.
        kept = {**{key: inner for key, inner in part.items() if key != "function"}, **_arguments(part["function"])}
    else:
        kept = part
    yield from ((inner, scope) for inner in kept.values())


def _named(part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names that WITH gives in a node, in order, each with what it stands for."""
    for entry in (part.get("cte_map") or {}).get("map", ()):
        yield str(entry.get("key", "")), entry.get("value")


def _refused_names(part: dict[str, Any]) -> Iterator[str]:
    given = [name for name, _ in _named(part)]
    if part.get("type") == "RECURSIVE_CTE_NODE":
        given.append(str(part.get("cte_name", "")))
    reserved, beginnings = rules()["reserved"], tuple(rules()["reserved_beginnings"])
    for name in given:
        if not _PLAIN_NAME.fullmatch(name) or _lower(name) in reserved or _lower(name).startswith(beginnings):
            yield f"'{name[:60]}' cannot be a name in WITH. Hint: give it another, of letters, digits and underscores"


def _is_plain(part: dict[str, Any], key: str) -> bool:
    """Whether a name stands alone, without a catalog or schema before it."""
    inside = [part.get(name) for name in ("catalog", "schema", "catalog_name", "schema_name")]
    path = (part.get("qualified_name") or {}).get("path") or [part.get(key)]
    return not any(inside) and path == [part.get(key)]


def _arguments(function: Any) -> dict[str, Any]:
    return {key: inner for key, inner in function.items() if isinstance(inner, dict | list)}


def _called(part: dict[str, Any]) -> str:
    return _lower(str(part.get("function_name", "")))


def _lower(name: str) -> str:
    return name.translate(_LOWER)


def _plain(kind: object) -> str:
    return str(kind).removesuffix("_NODE").removesuffix("_QUERY")[:60]


def _serialized(cursor: duckdb.DuckDBPyConnection, statement: str) -> str:
    rows = cursor.execute("SELECT CAST(json_serialize_sql($1) AS VARCHAR)", [statement]).fetchall()
    return str(rows[0][0])


def _unknown_view(name: str) -> str:
    near = difflib.get_close_matches(_lower(name), view_names(), n=1)
    known = f"did you mean '{near[0]}'?" if near else f"the views are {', '.join(view_names())}"
    return f"there is no view '{name[:60]}'. Hint: {known}"
